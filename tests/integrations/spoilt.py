"""Applications behind a server on which everything goes wrong, and what is true of them all the same."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import chain, combinations
from typing import Any

from rag_rule_explainer import Explanation, equals
from tests.integrations.known import omission, retention, shown_in
from tests.support.faults import Fault

BAD_NEWS, GOOD_NEWS = "bad news", "bad news, or not"
"""Half of the one is not the other, half of the other is the one: no half reply may pass unnoticed."""
PREDICATE = equals(BAD_NEWS)

Names = frozenset[str]
CONDITIONS: dict[str, Callable[[Names], bool]] = {
    "one": lambda shown: "b" in shown,
    "pair": lambda shown: {"a", "b"} <= shown,
    "either": lambda shown: bool({"a", "b"} & shown),
    "neither": lambda shown: not {"a", "b"} & shown,
}


@dataclass(frozen=True)
class Spoilt:
    """``patience``: of the model's client, as a share of ours."""

    names: str
    condition: str
    seed: int = 0
    share: float = 0.2
    kinds: tuple[Fault, ...] = tuple(Fault)
    patience: float = 2.0

    def script(self, body: dict[str, Any]) -> str:
        """What the server answers, by the texts that it is sent."""
        return self.answer(shown_in(" ".join(str(each.get("content")) for each in body["messages"])))

    def answer(self, shown: Iterable[str]) -> str:
        return BAD_NEWS if CONDITIONS[self.condition](frozenset(shown)) else GOOD_NEWS

    def is_the_truth(self, explanation: Explanation) -> bool:
        """Whether these are all the rules there are, and nothing is left open."""
        holds = {each: self.answer(each) == BAD_NEWS for each in subsets(self.names)}
        retained = smallest(s for s in holds if all(holds[t] for t in holds if s <= t))
        omitted = smallest(s for s in holds if not any(holds[t] for t in holds if not s & t))
        found = retention(explanation), omission(explanation)
        return explanation.complete and found == (retained, omitted)


def subsets(names: str) -> list[Names]:
    sizes = (combinations(names, size) for size in range(len(names) + 1))
    return [frozenset(each) for each in chain.from_iterable(sizes)]


def smallest(sets: Iterable[Names]) -> set[Names]:
    known = list(sets)
    return {each for each in known if not any(other < each for other in known)}


def many(count: int, start: int = 0) -> list[Spoilt]:
    """Different ones; in every other the client gives up before we do."""
    return [
        Spoilt(
            "abcd"[: 2 + seed % 3],
            list(CONDITIONS)[seed // 3 % 4],
            seed=seed,
            patience=0.75 if seed % 2 else 1.4,
        )
        for seed in range(start, start + count)
    ]
