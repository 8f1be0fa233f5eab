"""This module tests whether a miner (an object that searches for rules) keeps the contract of the
protocol ``Miner``.

It runs the miner on random truth tables, in which each subset of the sources has a verdict. Verdicts
arrive late, in parts and out of order, and some are UNKNOWN. Whenever verdicts have arrived, every rule
that the miner claims is checked against the definition of a rule.
"""

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from ..lattice import Antecedent, Lattice, Subset, minimal
from ..mining import Miner, RuleSearch
from ..rules import Claim, RuleKind
from ..verdicts import Verdict


@dataclass(frozen=True, slots=True)
class _Trial:
    miner: Miner
    lattice: Lattice
    verdicts: tuple[Verdict, ...]
    seed: int
    finds_all: bool

    def __str__(self) -> str:
        table = "".join(verdict.value[0] for verdict in self.verdicts)
        return f"{self.miner} on the table {table} (by mask, 0 first) with seed {self.seed}"


def check_miner(
    make: Callable[[RuleKind], Miner], *, trials: int = 200, seed: int = 0, finds_all: bool = True
) -> None:
    """Checks an exact miner against the definition of its rules, with up to 5 sources.

    ``make``: a function that returns the miner for a kind of rule. ``trials``: the number of random truth
    tables. ``seed``: the seed of these tables; the same seed gives the same tables. ``finds_all``: False
    for a miner that may leave out rules, because it considers only some of the sources at a time.

    Raises AssertionError, with the truth table and the seed, in four cases: a claimed rule does not
    follow from the verdicts so far; a rule is missing at the end; a subset is requested twice; or a
    search that is resumed from saved verdicts requests a subset that it already has.
    """
    for trial in _trials(make, trials, seed, finds_all):
        _check(trial)


def _trials(
    make: Callable[[RuleKind], Miner], trials: int, seed: int, finds_all: bool
) -> Iterator[_Trial]:
    draw = random.Random(seed)  # noqa: S311 -- the draws must be reproducible, not secret
    for number in range(trials):
        lattice = Lattice(draw.randint(0, 5))
        holds, unknown = draw.random(), draw.choice((0.0, 0.0, 0.1))
        verdicts = tuple(
            Verdict.UNKNOWN if draw.random() < unknown else Verdict.of(draw.random() < holds**0.3)
            for _ in lattice.masks()
        )
        for kind in RuleKind:
            yield _Trial(make(kind), lattice, verdicts, number, finds_all)


def _check(trial: _Trial) -> None:
    saved = _run(trial, RuleSearch(trial.miner, trial.lattice))
    resumed = RuleSearch(trial.miner, trial.lattice, known=saved)
    _require(resumed.finished, f"{trial}: a search resumed from all its verdicts asks for more")
    fresh = RuleSearch(trial.miner, trial.lattice, known=dict(list(saved.items())[: len(saved) // 2]))
    _run(trial, fresh)


def _run(trial: _Trial, search: RuleSearch) -> Mapping[Subset, Verdict]:
    draw = random.Random(trial.seed)  # noqa: S311 -- the draws must be reproducible, not secret
    waiting: list[Subset] = []
    asked: set[Subset] = set(search.verdicts)
    while not search.finished:
        for ask in search.ask(draw.randint(1, 4)):
            _require(ask.key not in asked, f"{trial}: mask {ask.key} is asked for twice")
            asked.add(ask.key)
            waiting.append(ask.key)
        _require(bool(waiting), f"{trial}: it is not finished, and asks for nothing")
        draw.shuffle(waiting)
        delivered = [waiting.pop() for _ in range(draw.randint(1, len(waiting)))]
        search.tell({mask: trial.verdicts[mask] for mask in delivered})
        _check_claims(trial, search)
    _check_complete(trial, search)
    return search.verdicts


def _check_claims(trial: _Trial, search: RuleSearch) -> None:
    for claim in search.claims:
        for own in claim.hangs_on:
            _check_claim(trial, search, claim, own)


def _check_claim(trial: _Trial, search: RuleSearch, claim: Claim, own: Antecedent) -> None:
    # A relative claim says nothing about subsets with sources outside of its antecedent and ``kept``, so
    # these are not checked.
    in_scope = own | claim.kept if claim.status == "relative" else trial.lattice.full
    for wider in trial.lattice.supersets(own):
        seen = search.verdicts.get(search.kind.subset(trial.lattice, wider))
        if claim.status != "unverified" and wider & ~in_scope == 0:
            complaint = "is claimed, but was not seen on all subsets"
            _require(seen is Verdict.HOLDS, f"{trial}: {claim} {complaint}")
        _require(seen is not Verdict.BREAKS, f"{trial}: {claim} is claimed, but was seen to break")


def _check_complete(trial: _Trial, search: RuleSearch) -> None:
    def holds(antecedent: Antecedent) -> bool:
        above = trial.lattice.supersets(antecedent)
        return all(
            trial.verdicts[search.kind.subset(trial.lattice, wider)] is Verdict.HOLDS for wider in above
        )

    if not trial.finds_all:
        return
    expected = set(minimal(filter(holds, map(Antecedent, trial.lattice.masks()))))
    claimed = {claim.antecedent for claim in search.claims if claim.status != "unverified"}
    _require(expected == set(minimal(claimed)), f"{trial}: claimed {claimed}, the rules are {expected}")


def _require(condition: bool, complaint: str) -> None:
    if not condition:
        raise AssertionError(complaint)
