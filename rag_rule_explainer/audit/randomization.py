"""This module contains the exact tests behind a list of documents to blame.

A *table* counts the replays of one pair of subsets that differ by one document: how many of the replays
with the document are bad, and how many of those without. A random draw decides which of the replays are
made with the document. If the document changes nothing, these replays are a random choice among all
replays of the pair. The number of bad ones among them then has a hypergeometric distribution, whatever
made single replays bad, and however they depend on each other. This is the randomization test of R. A.
Fisher (The Design of Experiments, 1935, chapter 2).

Several pairs of one document are drawn independently, so their numbers are added up: the exact test of
strata by M. Zelen (Biometrika 58, 1971), on one side.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import comb

from ..errors import InvalidInput

MOST_REPETITIONS = 200
"""The largest number of replays of one pair with the document. There are as many without it."""


@dataclass(frozen=True, slots=True)
class PairTable:
    """A ``PairTable`` counts the replays of a pair, two subsets that differ by one document. ``bad_with``
    of ``of_with`` replays with the document are bad, and ``bad_without`` of ``of_without`` replays
    without it. ``unknown_with`` and ``unknown_without`` count replays without a verdict, which are not in
    the other counts."""

    bad_with: int
    of_with: int
    bad_without: int
    of_without: int
    unknown_with: int = 0
    unknown_without: int = 0

    def __post_init__(self) -> None:
        fits = 0 <= self.bad_with <= self.of_with and 0 <= self.bad_without <= self.of_without
        if not fits or min(self.unknown_with, self.unknown_without) < 0:
            raise InvalidInput(f"{self} counts more bad replays than replays, or fewer than none")


def stratified_p_value(tables: Iterable[PairTable]) -> Fraction:
    """Returns the probability of at least as many bad replays with the document as were seen, if the
    document changes nothing in any of these pairs. ``tables``: the numbers of replays of each pair, which
    is two subsets that differ by one document.

    The probability is exact. The test is also valid (the probability is never too small) if the document
    only makes bad answers rarer, as long as replays do not depend on each other. If replays have no
    verdict, the largest probability over all verdicts that they could have had is returned, so the test
    stays valid.
    """
    chances, seen = [Fraction(1)], 0
    for table in tables:
        of_with = table.of_with + table.unknown_with
        of_without = table.of_without + table.unknown_without
        # The probability is largest if all unknown replays without the document are bad, and none of the
        # unknown replays with it is.
        bad = table.bad_with + table.bad_without + table.unknown_without
        seen += table.bad_with
        chances = _added(chances, _hypergeometric(of_with, of_without, bad))
    return sum(chances[seen:], Fraction(0))


def benjamini_yekutieli(p_values: Sequence[Fraction], rate: float) -> list[bool]:
    """Returns for each p-value True iff its null hypothesis is rejected. The expected share of true
    hypotheses among the rejected ones is at most ``rate``, whatever the dependence among the p-values.

    Source: Y. Benjamini and D. Yekutieli, The control of the false discovery rate in multiple testing
    under dependency, Annals of Statistics 29 (2001), theorem 1.3.
    """
    smallest = smallest_threshold(len(p_values), rate)
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    passing = [rank for rank, place in enumerate(order, start=1) if p_values[place] <= rank * smallest]
    rejected = set(order[: max(passing, default=0)])
    return [place in rejected for place in range(len(p_values))]


def smallest_threshold(count: int, rate: float) -> float:
    """Returns the bound with which ``benjamini_yekutieli`` compares the smallest of ``count`` p-values.
    The bound for the second smallest is twice as large, and so on."""
    return rate / (count * sum(1 / n for n in range(1, count + 1))) if count else rate


def repetitions_for(bound: float, pairs: int, error: float, power: float) -> int:
    """Returns how often to replay each of the two subsets of each pair. A document that is to blame in
    all its ``pairs`` is then expected to have a p-value of at most ``bound`` with the probability
    ``power``.

    It is a plan and no guarantee. It assumes that each replay comes out wrong with the probability
    ``error``, independently of the others, and treats the pairs as one pair with all their replays. The
    test is valid with any number of replays. Returns MOST_REPETITIONS if no smaller number is enough.
    """
    for count in range(1, MOST_REPETITIONS):
        perfect = Fraction(1, comb(2 * count, count) ** pairs)
        if perfect <= bound and _power(bound, pairs * count, error) >= power:
            return count
    return MOST_REPETITIONS


@lru_cache(maxsize=4096)
def _power(bound: float, count: int, error: float) -> float:
    """Returns the probability that a document to blame gets a p-value of at most ``bound``, with
    ``count`` replays with it and as many without it. ``error``: the probability that a single replay
    comes out wrong."""
    right = [comb(count, n) * (1 - error) ** n * error ** (count - n) for n in range(count + 1)]
    return sum(
        chance * other
        for with_it, chance in enumerate(right)
        for missing, other in enumerate(right)
        if chance * other > 1e-9
        and stratified_p_value([PairTable(with_it, count, count - missing, count)]) <= bound
    )


def _added(one: Sequence[Fraction], other: Sequence[Fraction]) -> list[Fraction]:
    """Returns the probabilities that the sum of two independent counts is 0, 1, 2, and so on. ``one``,
    ``other``: the probabilities that the single counts are 0, 1, 2, and so on."""
    total = [Fraction(0)] * (len(one) + len(other) - 1)
    for here, chance in enumerate(one):
        for there, and_chance in enumerate(other):
            total[here + there] += chance * and_chance
    return total


@lru_cache(maxsize=4096)
def _hypergeometric(of_with: int, of_without: int, bad: int) -> list[Fraction]:
    whole = comb(of_with + of_without, of_with)
    return [
        Fraction(comb(bad, n) * comb(of_with + of_without - bad, of_with - n), whole)
        if n <= bad and of_with - n <= of_with + of_without - bad
        else Fraction(0)
        for n in range(of_with + 1)
    ]
