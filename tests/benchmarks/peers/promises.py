"""What must be true of this project's miners, whatever the condition."""

from collections.abc import Callable, Sequence
from itertools import chain, combinations
from math import comb

from rag_rule_explainer.mining import Sampled
from rag_rule_explainer.rules import Claim
from tests.benchmarks.peers.methods import EXACT, FIRST, RELATIVE, TESTED, Method
from tests.benchmarks.peers.running import Run
from tests.mining.blockers import violation

SHARE = Sampled().max_violation
ERROR = 1 - Sampled().confidence


def check(method: Method, runs: Sequence[Run]) -> None:
    for methods, promise in PROMISES.items():
        if method in methods:
            promise(runs)


def exact(runs: Sequence[Run]) -> None:
    for run in runs:
        assert run.said == run.rules
        assert all(claim.status == "proved" for claim in run.claims)


def tested(runs: Sequence[Run]) -> None:
    """No more fail by more than is said than chance explains; and each rule is found, or contains what
    was said to be one."""
    claims = [(run, claim) for run in runs for claim in run.claims]
    assert not any(claim in run.wrong for run, claim in claims if claim.status == "proved")
    drawn = [(run, claim) for run, claim in claims if claim.status == "tested"]
    bad = sum(violated(run, claim) > SHARE for run, claim in drawn)
    assert chance_of(bad, len(drawn)) > 0.001, f"{bad} of {len(drawn)}"
    assert len(drawn) + sum(claim.status == "proved" for _, claim in claims) == len(claims)
    for run in runs:
        for kind, rule in run.rules:
            assert any(kind is said and rule & mask == mask for said, mask in run.said)


def relative(runs: Sequence[Run]) -> None:
    """What is said to be proved is a rule; else it is one as long as all that was dropped is left out of
    the antecedent. No rule of what was kept is missed."""
    for run in runs:
        assert run.claims
        for claim in run.claims:
            assert claim.status == "relative" or claim not in run.wrong
            assert claim.status in {"proved", "relative"}
            kept = run.condition.lattice.units(claim.kept & ~claim.antecedent)
            for more in chain.from_iterable(combinations(kept, n) for n in range(len(kept) + 1)):
                mask = claim.antecedent | run.condition.lattice.mask(more)
                assert run.condition.implied(claim.kind, mask)
            others = [rule for kind, rule in run.rules if kind is claim.kind and rule & ~claim.kept == 0]
            said = [mask for kind, mask in run.said if kind is claim.kind]
            assert all(any(mask & rule == mask for mask in said) for rule in others)


def unverified(runs: Sequence[Run]) -> None:
    """It says that nothing was tested but the candidate's own subset."""
    for run in runs:
        (claim,) = run.claims
        assert claim.status == "unverified"
        assert run.condition.implied(claim.kind, claim.antecedent)


def violated(run: Run, claim: Claim) -> float:
    """The share of random subsets on which it fails."""
    if claim not in run.wrong:
        return 0.0
    lattice = run.condition.lattice
    return violation(lattice, claim.antecedent, lambda mask: run.condition.implied(claim.kind, mask))


def chance_of(bad: int, count: int) -> float:
    """Of at least so many, if each is bad by the chance that is stated."""
    return sum(comb(count, n) * ERROR**n * (1 - ERROR) ** (count - n) for n in range(bad, count + 1))


PROMISES: dict[tuple[Method, ...], Callable[[Sequence[Run]], None]] = {
    EXACT: exact,
    TESTED: tested,
    RELATIVE: relative,
    (FIRST,): unverified,
}
