"""This module defines the settings for tests of rules on random subsets, draws these subsets, and
computes the statistical guarantee."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import ceil, log, log1p
from random import Random
from typing import cast

from ..allowed import called_as, checked_flag, checked_whole
from ..errors import InvalidInput
from ..lattice import Lattice, Mask, bits, subset_count
from ..rules import RuleKind

FIRST_DRAWS = 8
"""The number of random subsets on which a candidate is tested first. Most candidates that are no rules
already fail on these."""
_MOST_DRAWS = 1_000_000
_MOST_WITH_NEIGHBOURS = 12
"""The maximum number of sources for which the setting ``neighbours`` has an effect. With more sources,
the tests that it adds would cost too many probes and seldom find a broken rule."""


@called_as("Sampled")
@dataclass(frozen=True, slots=True)
class Sampled:
    """The Sampled settings say how each rule is tested on random subsets to which it applies.

    ``max_violation`` and ``confidence``: if a rule held on all its random subsets, it fails on at most
    the share ``max_violation`` of such subsets, with this confidence. The subsets are drawn with
    replacement: half of them uniformly from all subsets, half by first drawing a size uniformly.

    ``sizes``: numbers of retained sources that matter most, such as the k of a retriever: a third of the
    draws then has these sizes. None: no sizes are preferred. ``jointly``: True for a guarantee about all
    reported rules together instead of each one; it takes more draws. ``max_rules``: the search ends after
    this many rules of a kind, although there may be more.

    ``neighbours``: True to test each rule also on each subset with one source more than the rule, and on
    each subset with one source fewer than all, for up to 12 sources. If only a single subset breaks a
    rule, random draws seldom find it. These tests take more probes (68 instead of 58 if two of ten
    sources decide together), and does not change the guarantee.

    ``if_many``: True to sample only if ``miner="auto"`` would do so. With few sources, or if the limit of
    replays allows it, the search is exact, and its rules are proved.

    Raises InvalidInput for any other value.
    """

    max_violation: float = 0.05
    confidence: float = 0.95
    jointly: bool = False
    sizes: tuple[int, ...] | None = None
    max_rules: int = 20
    neighbours: bool = False
    if_many: bool = False

    def __post_init__(self) -> None:
        for name in ("max_violation", "confidence"):
            share = getattr(self, name)
            if type(share) is not float or not 0 < share < 1:
                raise InvalidInput(f"{name} is {share!r}; give a share between 0 and 1, such as 0.05")
        for name in ("jointly", "neighbours", "if_many"):
            checked_flag(name, getattr(self, name))
        checked_whole("max_rules", self.max_rules, 1)
        object.__setattr__(self, "sizes", _checked_sizes(self.sizes))
        if self.draws(self.error(0)) > _MOST_DRAWS:
            raise InvalidInput(
                f"max_violation={self.max_violation:g} takes more than {_MOST_DRAWS:,} random subsets "
                "for each rule; give a larger share, such as 0.001"
            )

    def draws(self, error: float, missed: float = 0.0) -> int:
        """Returns the number of random subsets on which a rule must hold to be reported.

        With this number, a rule that fails on more than ``max_violation`` of all such subsets is reported
        with a chance of at most ``error``. If ``max_violation`` and ``error`` are 5 %, the number is 59.
        ``missed``: the chance that a subset on which the rule fails is judged to hold, for example by a
        wrong majority of votes.
        """
        # For a very small share, log(1 - share) would be 0, because 1 - share would be rounded to 1.
        # log1p avoids this.
        return max(1, ceil(log(error) / log1p(-self.max_violation * (1 - missed))))

    def most_violated(self, draws: int, error: float, missed: float = 0.0) -> float:
        """Returns an upper bound of the share of subsets on which a rule may fail although it held on
        ``draws`` random ones: ``max_violation`` if ``draws`` is at least the result of ``draws()``, else
        more.

        The bound holds no matter after how many draws the test stopped. If a rule fails on a larger share
        of all subsets, the chance that it passes ``draws`` draws is at most ``error``.
        """
        if draws >= self.draws(error, missed):
            return self.max_violation
        return min(1.0, ceil((1 - error ** (1 / draws)) / (1 - missed) * 1000) / 1000)

    def statement(self, count: int, draws: "Draws", share: float | None = None) -> str:
        """Returns the guarantee, in words, for a rule that held on ``count`` subsets drawn from
        ``draws``: "held on 59 random subsets ...; with 95 % confidence it fails on at most 5 % of such".

        ``share``: the share on which it may still fail; by default ``max_violation``.
        """
        whose = "no rule here fails on more than" if self.jointly else "it fails on at most"
        return (
            f"held on {count} random subsets of {subset_count(draws.everything)} ({draws.ways}); with "
            f"{_percent(self.confidence)} confidence {whose} "
            f"{_percent(self.max_violation if share is None else share)} of such"
        )

    def error(self, tested: int, kinds: int = 1) -> float:
        """Returns the largest chance of a wrong result that the next test may have. Without a joint
        guarantee, it is the same for each test.

        With a joint guarantee, each test has a smaller chance than the one before: the first has 1/2 of
        the whole chance, the second 1/6, the third 1/12, and so on. These shares sum to 1, so the chance
        of any wrong result is at most that of a single test without a joint guarantee. ``tested``: the
        number of tests before this one. ``kinds``: the number of searches that share the guarantee.
        """
        error = 1 - self.confidence
        return error / (kinds * (tested + 1) * (tested + 2)) if self.jointly else error


def _percent(share: float) -> str:
    # All digits are shown, because a rounded 0.9999999 would look like certainty.
    from decimal import Decimal  # imported late, because only claims in words need it

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
    """A ``Draws`` generates random supersets of an antecedent (the units that a rule names), on which the
    rule is tested.

    ``sizes``: the numbers of retained sources that the setting ``Sampled.sizes`` names. ``pinned``: the
    number of sources that are always retained. The numbers in ``sizes`` include these sources, but no
    mask contains them.
    """

    kind: RuleKind
    lattice: Lattice
    antecedent: Mask
    sizes: tuple[int, ...]
    pinned: int = 0

    @property
    def everything(self) -> int:
        """Returns the number of all subsets on which the rule can be tested: the supersets of its
        antecedent."""
        return 1 << self._free

    @property
    def ways(self) -> str:
        """Returns a text that says how the supersets are drawn."""
        if not self._named:
            return "half drawn uniformly, half by size"
        named = " or ".join(map(str, self._named))
        return f"a third each drawn uniformly, by size, and with {named} retained"

    def supersets(self, count: int, draw: Random) -> Iterator[Mask]:
        """Yields ``count`` random supersets of the antecedent (the units that the rule names), drawn
        with replacement."""
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
        """Returns the supersets of the antecedent that have exactly one unit more than the antecedent,
        and the supersets that lack exactly one of all units. Returns none if the lattice has more than
        ``_MOST_WITH_NEIGHBOURS`` units."""
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
        """Returns the numbers of retained sources that the setting ``sizes`` names, without those that no
        superset of the antecedent can have."""
        return tuple(size for size in self.sizes if 0 <= self._added(size) <= self._free)

    def _added(self, retained: int) -> int:
        """Returns how many units must be added to the antecedent, so that ``retained`` sources are
        retained in the resulting subset. A unit is one source, or several tied sources."""
        units = retained - self.pinned
        named = units if self.kind is RuleKind.RETENTION else self.lattice.size - units
        return named - self.antecedent.bit_count()
