"""Random logs over a small corpus, and what is true of their documents by trying every subset."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

from hypothesis import strategies as st

from rag_rule_explainer import Explainer, Source, contains
from rag_rule_explainer.audit import Audit, LoggedQuestion, audit
from rag_rule_explainer.rules import RuleKind

CORPUS = "abcdefg"
BAD, GOOD = contains("bad"), contains("good")
Kept = frozenset[str]
Rule = tuple[RuleKind, str, Kept]


@dataclass(frozen=True)
class Log:
    """``says``: by question, the answer to each subset of its documents. ``good``: whether the audit is
    told what a good answer is."""

    shown: tuple[tuple[str, ...], ...]
    says: tuple[dict[Kept, str], ...]
    good: bool

    def audited(self, limits: int = 10**6, **fields: Any) -> Audit:
        asked = [
            LoggedQuestion(f"q{n}", f"question {n}", None, tuple(map(source, names)))
            for n, names in enumerate(self.shown)
        ]
        explainer = Explainer(self.replay, check_repeatable=False, miner="exact", limits=limits)
        return audit(explainer, asked, BAD, good=GOOD if self.good else None, workers=2, **fields)

    def replay(self, question: str, sources: Sequence[Source]) -> str:
        return self.says[int(question.rsplit(maxsplit=1)[-1])][frozenset(each.id for each in sources)]

    @cached_property
    def questions(self) -> list["Truth"]:
        pairs = zip(self.shown, self.says, strict=True)
        return [Truth(f"q{n}", names, says, self.good) for n, (names, says) in enumerate(pairs)]


@dataclass(frozen=True)
class Truth:
    """What is true of one question, by its definition."""

    id: str
    shown: tuple[str, ...]
    says: dict[Kept, str]
    has_good: bool

    @property
    def everything(self) -> Kept:
        return frozenset(self.shown)

    def is_so(self, outcome: str, kept: Kept) -> bool:
        holds = outcome.removeprefix("not ") in self.says[kept]
        return holds is not outcome.startswith("not ")

    def always(self, outcome: str, kept: Iterable[Kept]) -> bool:
        return all(self.is_so(outcome, each) for each in kept)

    def without(self, names: Iterable[str]) -> list[Kept]:
        gone = frozenset(names)
        return [each for each in self.says if not each & gone]

    @cached_property
    def rules(self) -> set[Rule]:
        """All minimal rules of all outcomes."""
        outcomes = ("bad", "not bad", *(("good", "not good") if self.has_good else ()))
        wanted = {(kind, each) for kind in RuleKind for each in outcomes}
        return {(kind, outcome, each) for kind, outcome in wanted for each in self.minimal(kind, outcome)}

    def minimal(self, kind: RuleKind, outcome: str) -> set[Kept]:
        retained = kind is RuleKind.RETENTION
        valid = {
            names
            for names in self.says
            if self.always(
                outcome,
                [kept for kept in self.says if (names <= kept if retained else not names & kept)],
            )
        }
        return {each for each in valid if not any(other < each for other in valid)}

    def naming(self, ways: Iterable[tuple[RuleKind, str]]) -> set[str]:
        wanted = set(ways)
        return {name for kind, outcome, each in self.rules if (kind, outcome) in wanted for name in each}

    @property
    def implicated(self) -> set[str]:
        ways = [(RuleKind.RETENTION, "bad"), (RuleKind.OMISSION, "not bad"), (RuleKind.OMISSION, "good")]
        return self.naming(ways)

    @property
    def decisive(self) -> set[str]:
        if not self.is_so("bad", self.everything):
            return set()
        return {each for each in self.shown if self.always("not bad", self.without([each]))}

    @property
    def single_points(self) -> set[str]:
        fine = "good" if self.has_good else "not bad"
        spoilt = "not good" if self.has_good else "bad"
        if not self.is_so(fine, self.everything):
            return set()
        return {each for each in self.shown if self.always(spoilt, self.without([each]))}

    @property
    def redundant(self) -> set[tuple[str, str]]:
        retained = [(out, each) for kind, out, each in self.rules if kind is RuleKind.RETENTION]
        return {
            (one, other)
            for one, other in combinations(sorted(self.shown), 2)
            for outcome, each in retained
            if one in each and other not in each and (outcome, each - {one} | {other}) in retained
        }

    @property
    def conflicts(self) -> set[tuple[str, str]]:
        kinds = RuleKind.RETENTION, RuleKind.OMISSION
        worse = {(kinds[0], "bad"), (kinds[1], "not bad"), (kinds[1], "good"), (kinds[0], "not good")}
        better = {(kinds[0], "not bad"), (kinds[0], "good"), (kinds[1], "bad"), (kinds[1], "not good")}
        pairs = {(one, other) for one in self.naming(worse) for other in self.naming(better)}
        return {(min(pair), max(pair)) for pair in pairs if pair[0] != pair[1]}

    def is_ended_by(self, removed: Kept) -> bool:
        return self.always("not bad", self.without(removed))


def source(name: str) -> Source:
    return Source(name, f"text of {name}")


def logs(most_questions: int = 3, most_shown: int = 3) -> st.SearchStrategy[Log]:
    return st.composite(_log)(most_questions, most_shown)


def _log(draw: Callable[..., Any], most_questions: int, most_shown: int) -> Log:
    shown: list[tuple[str, ...]] = []
    says: list[dict[Kept, str]] = []
    for _ in range(draw(st.integers(1, most_questions))):
        names = draw(st.lists(st.sampled_from(CORPUS), min_size=1, max_size=most_shown, unique=True))
        subsets = [frozenset(each) for n in range(len(names) + 1) for each in combinations(names, n)]
        answers = draw(
            st.lists(
                st.sampled_from(["bad", "good", "N/A"]), min_size=len(subsets), max_size=len(subsets)
            )
        )
        shown.append(tuple(names))
        says.append(dict(zip(subsets, answers, strict=True)))
    return Log(tuple(shown), tuple(says), draw(st.booleans()))
