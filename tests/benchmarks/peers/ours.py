"""This project's miners, over one memory."""

from collections.abc import Callable, Sequence

from rag_rule_explainer.lattice import Mask
from rag_rule_explainer.mining import Exhaustive, Grouped, Miner, Mono, RuleSearch, Transversal
from rag_rule_explainer.rules import Claim, RuleKind
from rag_rule_explainer.verdicts import Verdict
from tests.benchmarks.peers.subject import Subject

Made = Callable[[RuleKind, int], Miner]
"""A miner of this kind, with this seed."""


def mined(subject: Subject, miners: Sequence[Miner], *, first: bool = False) -> list[Claim]:
    """What they claim in the end; with ``first``, as soon as there is something to claim."""
    held, claims = dict[Mask, bool](), list[Claim]()
    for miner in miners:
        search = RuleSearch(miner, subject.lattice)
        wanted = miner.kind is RuleKind.RETENTION
        while not (first and search.claims) and (asks := search.ask()):
            for ask in asks:
                if ask.key not in held:
                    held[ask.key] = subject.holds(ask.key)
            search.tell({ask.key: Verdict.of(held[ask.key] == wanted) for ask in asks})
        claims += search.claims
    return claims


def one_kind(made: Made) -> Callable[[Subject, int], list[Claim]]:
    return lambda subject, seed: mined(subject, [made(subject.kind, seed)])


def both_kinds(made: Made) -> Callable[[Subject, int], list[Claim]]:
    return lambda subject, seed: mined(subject, [made(kind, seed) for kind in RuleKind])


def first_unverified(subject: Subject, seed: int) -> list[Claim]:
    """The sampled search, left at its first candidate."""
    return mined(subject, [sampled(subject.kind, seed)], first=True)


def exhaustive(kind: RuleKind, _seed: int) -> Miner:
    return Exhaustive(kind)


def mono(kind: RuleKind, _seed: int) -> Miner:
    return Mono(kind)


def sampled(kind: RuleKind, seed: int) -> Miner:
    return Transversal(kind, seed=seed)


def grouped(kind: RuleKind, seed: int) -> Miner:
    return Grouped(kind, seed=seed)
