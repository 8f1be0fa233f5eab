"""What a method says of conditions, beside the truth, and what that took it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from time import process_time

from rag_rule_explainer.rules import Claim, RuleKind
from tests.benchmarks.peers.conditions import Condition, pair_of
from tests.benchmarks.peers.methods import Method, Saying
from tests.benchmarks.peers.subject import Subject

HEADING = (
    "condition",
    "method",
    "runs",
    "calls",
    "distinct",
    "rules found",
    "missed",
    "not minimal",
    "wrong",
    "named come first",
    "CPU s",
)


@dataclass(frozen=True, slots=True)
class Run:
    """One method on one condition. ``seconds``: of the method alone."""

    condition: Condition
    kinds: tuple[RuleKind, ...]
    calls: int
    distinct: int
    seconds: float
    claims: tuple[Claim, ...] = ()
    scores: tuple[float, ...] = ()

    @property
    def said(self) -> frozenset[tuple[RuleKind, int]]:
        return frozenset((claim.kind, claim.antecedent) for claim in self.claims)

    @property
    def rules(self) -> frozenset[tuple[RuleKind, int]]:
        return frozenset((kind, rule) for kind in self.kinds for rule in self.condition.rules[kind])

    @property
    def wrong(self) -> list[Claim]:
        """What is no rule, minimal or not."""
        return [c for c in self.claims if not self.condition.is_rule(c.kind, c.antecedent)]

    @property
    def named(self) -> frozenset[int]:
        """The sources that rules name."""
        units = self.condition.lattice.units
        return frozenset(unit for _, rule in self.rules for unit in units(rule))

    @property
    def first(self) -> frozenset[int]:
        """Those of them whose score is above that of all others."""
        others = (s for unit, s in enumerate(self.scores) if unit not in self.named)
        bar = max(others, default=float("-inf")) + 1e-9
        return frozenset(unit for unit in self.named if self.scores[unit] > bar)


def runs_of(method: Method, conditions: Sequence[Condition], kinds: tuple[RuleKind, ...]) -> list[Run]:
    """Each with a seed of its own."""
    # What a package does when it is first used is not counted.
    method.run(Subject(pair_of(10)), 0)
    return [_run(method, each, kinds, seed) for seed, each in enumerate(conditions)]


def _run(method: Method, condition: Condition, kinds: tuple[RuleKind, ...], seed: int) -> Run:
    # Scores know of no kinds.
    says = isinstance(method, Saying)
    subject = Subject(condition, kinds[0] if says else RuleKind.RETENTION)
    started = process_time()
    told = method.run(subject, seed)
    seconds = process_time() - started - subject.seconds
    claims = tuple(each for each in told if isinstance(each, Claim))
    scores = tuple(each for each in told if isinstance(each, float))
    return Run(condition, kinds, subject.calls, len(subject.asked), seconds, claims, scores)


def row(name: str, method: Method, runs: Sequence[Run]) -> tuple[str, ...]:
    """Calls and seconds of a mean run; rules and sources of all runs."""
    found = sum(len(run.said & run.rules) for run in runs)
    wrong = sum(len(run.wrong) for run in runs)
    rules = sum(len(run.rules) for run in runs)
    others = sum(len(run.said) for run in runs) - found - wrong
    told = [f"{found} of {rules}", str(rules - found), str(others), str(wrong), "-"]
    if not isinstance(method, Saying):
        first, named = sum(len(run.first) for run in runs), sum(len(run.named) for run in runs)
        told = ["-", "-", "-", "-", f"{first} of {named}"]
    calls, distinct = mean(run.calls for run in runs), mean(run.distinct for run in runs)
    cost = f"{calls:,.0f}", f"{distinct:,.0f}"
    return name, method.name, str(len(runs)), *cost, *told, f"{mean(r.seconds for r in runs):.5f}"


def mean(values: Iterable[float]) -> float:
    given = list(values)
    return sum(given) / len(given)
