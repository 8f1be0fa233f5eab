"""All methods with the same budget: so many distinct subsets, and what each then says of the sources.

A subset that is asked about again is free, for all. So are the run on all sources, and the time that a
method takes for itself. What a method says is a number for each source: those that are above 0 are the
ones that it names, highest first.
"""

import random
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any

import pytest

from rag_rule_explainer.lattice import Mask
from rag_rule_explainer.mining import Miner, RuleSearch
from rag_rule_explainer.rules import Claim, RuleKind
from rag_rule_explainer.verdicts import Verdict
from tests.benchmarks.peers import ours, scores, sets
from tests.benchmarks.peers.conditions import Condition
from tests.benchmarks.peers.subject import Subject

Named = list[float]


class Spent(Exception):
    """The budget is used up."""


class Budgeted(Subject):
    """Answers so many questions about distinct subsets of a condition, and raises Spent at the next."""

    def __init__(self, condition: Condition, budget: int) -> None:
        super().__init__(condition)
        self.budget = budget
        self.held = {self.lattice.full: condition.holds(self.lattice.full)}

    def _holds(self, retained: Mask) -> bool:
        if retained not in self.held:
            if len(self.held) > self.budget:
                raise Spent
            self.held[retained] = self.condition.holds(retained)
        self.calls += 1
        return self.held[retained]


def counted(subject: Subject, claims: Iterable[Claim]) -> Named:
    """In how many of the rules a source is."""
    units = subject.lattice.units
    times = Counter(unit for claim in claims for unit in units(claim.antecedent))
    return [float(times[unit]) for unit in subject.units]


def mined(made: ours.Made) -> Callable[[Budgeted, int], Named]:
    """By a miner of this project, asked about one subset at a time, with what it claims at the end."""

    def named(subject: Budgeted, seed: int) -> Named:
        miner: Miner = made(RuleKind.RETENTION, seed)
        search = RuleSearch(miner, subject.lattice)
        with suppress(Spent):
            while (ask := search.next()) is not None:
                search.tell({ask.key: Verdict.of(subject.holds(ask.key))})
        search.stop("the budget is spent")
        return counted(subject, search.claims)

    return named


def marco(subject: Budgeted, _seed: int) -> Named:
    found = list[Mask]()
    with suppress(Spent):
        for each in sets.marco_found(subject):
            found.append(each)
    return counted(subject, sets.said(subject, found))


def one_set(made: Callable[[Subject, int], list[Claim]]) -> Callable[[Budgeted, int], Named]:
    """A method that says one set at its end, and nothing before."""

    def named(subject: Budgeted, seed: int) -> Named:
        try:
            return counted(subject, made(subject, seed))
        except Spent:
            return counted(subject, ())

    return named


def leave_one_out(subject: Budgeted, _seed: int) -> Named:
    """From the first to the last, as far as the budget goes."""
    lattice, found = subject.lattice, [0.0 for _ in subject.units]
    with suppress(Spent):
        for unit in subject.units:
            found[unit] = float(not subject.suffices(lattice.full ^ lattice.bit(unit)))
    return found


def lasso(subject: Budgeted, seed: int) -> Named:
    """LASSO on verdicts: the solver of ContextCite and its subsets, each source in or out by a coin. But
    it is fitted to verdicts, as a black box has no probabilities of tokens."""
    linear: Any = pytest.importorskip("sklearn.linear_model")
    draw = random.Random(seed)
    masks, held = list[list[int]](), list[float]()
    with suppress(Spent):
        # Subsets that come again are free: without an end, small lattices would never be used up.
        for _ in range(8 * subject.budget):
            mask = [draw.randint(0, 1) for _ in subject.units]
            held.append(float(subject.suffice(n for n, kept in enumerate(mask) if kept)))
            masks.append(mask)
    return linear.Lasso(alpha=0.01).fit(masks, held).coef_.tolist()


def shap_permutation(subject: Budgeted, seed: int) -> Named:
    """As many permutations as the budget has room for; none of them, and it says nothing."""

    def with_times(times: int) -> Named | None:
        try:
            fresh = Budgeted(subject.condition, subject.budget)
            found = scores.shap_permutation(fresh, seed, times)
        except Spent:
            return None
        return found

    least, most, best = 0, 8 * subject.budget // (2 * len(subject.units)), None
    while least < most:
        times = (least + most + 1) // 2
        tried = with_times(times)
        least, most, best = (least, times - 1, best) if tried is None else (times, most, tried)
    return best or [0.0 for _ in subject.units]


def proxy_spex(subject: Budgeted, seed: int) -> Named:
    """With as much as there is."""
    try:
        return scores.proxy_spex(subject, seed, subject.budget)
    except (Spent, ValueError, IndexError):
        # It fails where the budget is too small for what it fits, and where all that it saw is the same.
        return [0.0 for _ in subject.units]
