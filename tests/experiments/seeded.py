"""Models behind a real socket whose errors are drawn from a seed, and what these errors imply.

What is implied is counted here by sets and by the definition of a rule, and shares no code with the
package: no mask, no miner, no vote of its own.
"""

import json
import random
import re
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import ceil, comb, prod
from pathlib import Path
from typing import Any, Literal

from tests.experiments.records import jsonl

Kept = frozenset[int]
"""The places of the sources shown, from 1 on; 1 and 2 are the necessary ones."""
Kind = Literal["retention", "omission"]

SIZE = 5
NECESSARY: Kept = frozenset({1, 2})
EVERY: tuple[Kept, ...] = tuple(
    frozenset(chosen) for size in range(SIZE + 1) for chosen in combinations(range(1, SIZE + 1), size)
)
EXPECTED: Mapping[Kind, frozenset[Kept]] = {
    "retention": frozenset(rule for rule in EVERY if rule >= NECESSARY),
    "omission": frozenset(rule for rule in EVERY if rule & NECESSARY),
}


@dataclass(frozen=True)
class ErrorRates:
    """How often a model errs where all that is necessary is shown, and where it is not."""

    wrong_with: float
    right_without: float

    def of(self, kept: Kept) -> float:
        return self.wrong_with if kept >= NECESSARY else self.right_without

    def told(self, kept: Kept) -> float:
        """The chance that one sample tells the truth."""
        if not kept:
            return 0.0
        return 1 - self.wrong_with if kept >= NECESSARY else self.right_without

    def voted(self, kept: Kept, samples: int) -> float:
        """The chance that half or more of the samples tell it."""
        chance = self.told(kept)
        return sum(
            comb(samples, hits) * chance**hits * (1 - chance) ** (samples - hits)
            for hits in range(ceil(samples / 2), samples + 1)
        )

    def chance(self, kind: Kind, rule: Kept, samples: int) -> float:
        """The chance that a rule is valid: the votes on all subsets that it speaks about agree."""
        held = [self.voted(kept, samples) for kept in applicable(kind, rule)]
        return prod(held) if kind == "retention" else prod(1 - each for each in held)

    def expected_counts(self, kind: Kind, samples: int) -> tuple[float, float]:
        """How many rules are found in the mean, and how many of these are expected ones."""
        chances = {rule: self.chance(kind, rule, samples) for rule in EVERY}
        return sum(chances.values()), sum(chances[rule] for rule in EXPECTED[kind])


def applicable(kind: Kind, rule: Kept) -> list[Kept]:
    if kind == "retention":
        return [kept for kept in EVERY if kept >= rule]
    return [kept for kept in EVERY if not kept & rule]


@dataclass(frozen=True)
class Counted:
    """Of one question: the rules by definition."""

    found: frozenset[Kept]
    kind: Kind

    @property
    def right(self) -> int:
        return len(self.found & EXPECTED[self.kind])

    @property
    def precision(self) -> float | None:
        return self.right / len(self.found) if self.found else None

    @property
    def recall(self) -> float:
        return self.right / len(EXPECTED[self.kind])


@dataclass
class Seeded:
    """``models``: by name. The same request is another sample each time it comes, at temperature 0 the
    same one. Thread-safe."""

    models: Mapping[str, ErrorRates]
    questions: int
    seed: int = 0
    asked: Counter[tuple[str, float, int, Kept]] = field(
        default_factory=Counter[tuple[str, float, int, Kept]]
    )
    on_request: Callable[[], object] = lambda: None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def write(self, path: Path) -> Path:
        """The questions as a file."""
        return jsonl(path, *(_record(number) for number in range(self.questions)))

    def script(self, body: dict[str, Any]) -> str:
        """For ``OpenAIServer``."""
        self.on_request()
        prompt = str(body["messages"])
        (question,) = map(int, re.findall(r"code of city (\d+)\?", prompt))
        kept = frozenset(map(int, re.findall(rf"Leaf {question}-(\d)\b", prompt)))
        key = str(body["model"]), float(body["temperature"]), question, kept
        with self._lock:
            sample = self.asked[key]
            self.asked[key] += 1
        return self.said(*key, sample)

    def said(self, model: str, temperature: float, question: int, kept: Kept, sample: int) -> str:
        """The answer: right or wrong, and if right, in words that need a judge every other time."""
        number = 0 if temperature == 0 else sample
        draw = random.Random(f"{self.seed} {model} {temperature} {question} {sorted(kept)} {number}")
        errs = draw.random() < self.models[model].of(kept)
        if (kept >= NECESSARY) != errs:
            return truth(question) if draw.random() < 0.5 else f"That is {truth(question)} of course"
        return draw.choice(["N/A", f"code {draw.randrange(100, 200)}"])

    def is_right(self, model: str, temperature: float, question: int, kept: Kept, sample: int) -> bool:
        return bool(kept) and truth(question) in self.said(model, temperature, question, kept, sample)

    def counted(
        self, model: str, kind: Kind, samples: int, temperature: float = 1.0
    ) -> Iterator[Counted]:
        """Of each question, the rules that the first so many samples imply."""
        for question in range(self.questions):
            held = {
                kept: 2
                * sum(self.is_right(model, temperature, question, kept, n) for n in range(samples))
                >= samples
                for kept in EVERY
            }
            wanted = kind == "retention"
            found = frozenset(
                rule for rule in EVERY if all(held[kept] is wanted for kept in applicable(kind, rule))
            )
            yield Counted(found, kind)

    def unsettled(self, model: str, question: int, samples: int, temperature: float = 1.0) -> set[str]:
        """The answers that are not literally the truth; N/A, given to no sources, among them."""
        said = {
            self.said(model, temperature, question, kept, n)
            for kept in EVERY
            if kept
            for n in range(samples)
        }
        return (said | {"N/A"}) - {truth(question)}


def truth(question: int) -> str:
    return f"code {question + 500}"


def judged_true(answer: str) -> bool:
    """What an unerring judge says: only codes above 499 are anybody's truth."""
    return any(int(found) >= 500 for found in re.findall(r"code (\d+)", answer))


def candidates_in(requests: Iterable[Mapping[str, Any]]) -> list[list[str]]:
    """The answers in each request to a judge."""
    contents = [json.loads(request["messages"][-1]["content"]) for request in requests]
    return [[each["answer"] for each in content["candidates"]] for content in contents]


def mean(values: Sequence[float | None]) -> float | None:
    defined = [value for value in values if value is not None]
    return sum(defined) / len(defined) if defined else None


def _record(number: int) -> dict[str, Any]:
    return {
        "id": f"q{number}",
        "question": f"What is the code of city {number}?",
        "answer": truth(number),
        "sources": [
            {"title": "Leaf", "text": f"Leaf {number}-{place} of a book.", "necessary": place <= 2}
            for place in range(1, SIZE + 1)
        ],
    }
