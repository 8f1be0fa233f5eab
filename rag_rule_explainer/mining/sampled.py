"""How rules are tested where there are too many subsets to see them all, and what that guarantees."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from math import ceil, log, log1p
from random import Random
from typing import cast

from ..allowed import checked_flag, checked_whole
from ..errors import InvalidInput
from ..lattice import Lattice, Mask, bits, subset_count
from ..rules import RuleKind

_MOST_DRAWS = 1_000_000
_MOST_WITH_NEIGHBOURS = 12
"""Sources; of more, neighbours cost more than they find."""


@dataclass(frozen=True, slots=True)
class Sampled:
    """Test each rule on random subsets that it speaks about.

    Of a rule that held on all of them it can be said with ``confidence`` that it fails on at most a share
    ``max_violation`` of such subsets: they are drawn with replacement, half of them uniformly over all
    subsets, half uniformly over sizes. ``sizes``: numbers of sources retained that matter most, such as
    the k that a retriever returns; then a third of the draws are of these sizes. ``jointly``: the
    statement is about all reported rules together, not about each; it takes more draws. ``max_rules`` of
    a kind end the search; more may exist. ``neighbours``: up to 12 sources, each rule is tried with each
    one source more and with all but each one as well, whatever is drawn: a lone subset that breaks it is
    found there for sure, and seldom by chance. It adds to the cost (one pair among ten: 68 probes instead
    of 58), and nothing to the statement.

    Raises InvalidInput for a value outside of these.
    """

    max_violation: float = 0.05
    confidence: float = 0.95
    jointly: bool = False
    sizes: tuple[int, ...] | None = None
    max_rules: int = 20
    neighbours: bool = False

    def __post_init__(self) -> None:
        for name in ("max_violation", "confidence"):
            share = getattr(self, name)
            if type(share) is not float or not 0 < share < 1:
                raise InvalidInput(f"{name} is {share!r}; give a share between 0 and 1, such as 0.05")
        for name in ("jointly", "neighbours"):
            checked_flag(name, getattr(self, name))
        checked_whole("max_rules", self.max_rules, 1)
        object.__setattr__(self, "sizes", _checked_sizes(self.sizes))
        if self.draws(self.error(0)) > _MOST_DRAWS:
            raise InvalidInput(
                f"max_violation={self.max_violation:g} takes more than {_MOST_DRAWS:,} random subsets "
                "for each rule; give a larger share, such as 0.001"
            )

    def draws(self, error: float) -> int:
        """Random subsets on which a rule must hold, for a chance of at most ``error`` that one is
        reported which fails on more than ``max_violation`` of such: 59 for 5 % and 5 %."""
        # Of a share that is lost beside 1 the other logarithm would be 0.
        return max(1, ceil(log(error) / log1p(-self.max_violation)))

    def statement(self, count: int, draws: "Draws") -> str:
        """Returns what is said of a rule that held on so many of these."""
        whose = "no rule here fails on more than" if self.jointly else "it fails on at most"
        return (
            f"held on {count} random subsets of {subset_count(draws.everything)} ({draws.ways}); with "
            f"{_percent(self.confidence)} confidence {whose} {_percent(self.max_violation)} of such"
        )

    def error(self, tested: int, kinds: int = 1) -> float:
        """Returns what the test of one more candidate may err, after so many, for one of ``kinds``
        searches.

        Jointly, all of them together may err by as much as one alone: 1/2 + 1/6 + 1/12 + ... = 1.
        """
        error = 1 - self.confidence
        return error / (kinds * (tested + 1) * (tested + 2)) if self.jointly else error


def _percent(share: float) -> str:
    # As it was given: rounded, 0.9999999 would be certainty.
    return f"{(Decimal(repr(share)) * 100).normalize():f} %"


def _checked_sizes(sizes: object) -> tuple[int, ...] | None:
    if sizes is None:
        return None
    is_listed = isinstance(sizes, Iterable) and not isinstance(sizes, (str, bytes))
    given = tuple(cast("Iterable[object]", sizes)) if is_listed else ()
    checked = {size for size in given if type(size) is int and size >= 0}
    if not given or len(checked) < len(set(given)):
        raise InvalidInput(f"sizes is {sizes!r}; give numbers of sources, such as (5,), or None")
    return tuple(sorted(checked))


@dataclass(frozen=True, slots=True)
class Draws:
    """Random supersets of an antecedent. ``sizes``: numbers of sources retained, ``pinned`` ones, which
    are no units, among them."""

    kind: RuleKind
    lattice: Lattice
    antecedent: Mask
    sizes: tuple[int, ...]
    pinned: int = 0

    @property
    def everything(self) -> int:
        """Returns how many supersets there are."""
        return 1 << self._free

    @property
    def ways(self) -> str:
        """Returns how they are drawn, in words."""
        if not self._named:
            return "half drawn uniformly, half by size"
        named = " or ".join(map(str, self._named))
        return f"a third each drawn uniformly, by size, and with {named} retained"

    def supersets(self, count: int, draw: Random) -> Iterator[Mask]:
        """So many, with replacement."""
        free = tuple(bits(self.lattice.complement(self.antecedent)))
        named = tuple(map(self._added, self._named))
        for _ in range(count):
            way = draw.randrange(3 if named else 2)
            if way == 0:
                chosen = draw.getrandbits(len(free)) if free else 0
                added = (bit for place, bit in enumerate(free) if chosen >> place & 1)
            else:
                size = draw.choice(named) if way == 2 else draw.randint(0, len(free))
                added = iter(draw.sample(free, size))
            yield self.antecedent | sum(added)

    @property
    def neighbours(self) -> tuple[Mask, ...]:
        """Returns the supersets with one unit more, and those with all but one; none among too many."""
        if self.lattice.size > _MOST_WITH_NEIGHBOURS:
            return ()
        free = self.lattice.complement(self.antecedent)
        fewer = (self.lattice.full ^ bit for bit in bits(free))
        return *self.lattice.one_more(self.antecedent), *fewer

    @property
    def _free(self) -> int:
        return self.lattice.size - self.antecedent.bit_count()

    @property
    def _named(self) -> tuple[int, ...]:
        """Returns the sizes that a superset can have."""
        return tuple(size for size in self.sizes if 0 <= self._added(size) <= self._free)

    def _added(self, retained: int) -> int:
        """Units beside the antecedent in a superset with so many retained."""
        units = retained - self.pinned
        named = units if self.kind is RuleKind.RETENTION else self.lattice.size - units
        return named - self.antecedent.bit_count()
