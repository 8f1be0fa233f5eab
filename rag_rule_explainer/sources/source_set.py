"""This module defines sets of sources, and gives each source a name."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple, TypeAlias

from ..duplicates import Tie, near_duplicates
from ..errors import InvalidInput
from ..lattice import Lattice, Mask, Order, Subset
from .given import (
    Given,
    check_list_of_sources,
    given_parts,
    named_ids,
    names,
    no_source,
    no_text,
    pinned_ids,
)
from .source import Source, SourceLike

GROUP = 8
"""The largest number of neighbouring sources whose selections are remembered together. A group has at
most ``2 ** GROUP`` selections."""

MOST_GROUPED = 100
"""With more sources than this, each source is tested: the masks are then so long that looking up their
parts takes longer."""


Selection: TypeAlias = tuple[tuple[Source, ...], tuple[str, ...]]
"""Some sources, and their fingerprints."""


class _Group(NamedTuple):
    """A ``_Group`` holds some neighbouring sources with the bits of their units, all these bits as one
    mask, and the selections of these sources that were made before, each with the fingerprints of its
    sources. Looking these up takes less time than testing each source for each of thousands of
    subsets."""

    bits: Mask
    pairs: Sequence[tuple[Mask, Source]]
    known: dict[Mask, Selection]


@dataclass(frozen=True, slots=True)
class SourceSet:
    """A ``SourceSet`` holds the retrieved sources in the order in which the application shows them to its
    model.

    ``pinned``: the ids of the sources that every arrangement retains. Pinned sources belong to no unit,
    so no rule can name them. ``ties``: the near-duplicates that every arrangement retains or omits
    together; each tie is one unit. ``by_bit``: each source with the bit of its unit; all pinned sources
    have one further bit.
    """

    sources: tuple[Source, ...]
    pinned: frozenset[str] = frozenset()
    ties: tuple[Tie, ...] = ()
    by_bit: tuple[tuple[Mask, Source], ...] = field(init=False, repr=False, compare=False)
    _groups: tuple[_Group, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        seen: set[str] = set()
        for source in self.sources:
            if source.id in seen:
                raise InvalidInput(
                    f"the id {source.id!r} stands for two sources; give each source its own id"
                )
            seen.add(source.id)
        lattice = self.lattice
        unit_of = {identity: tie.sources[0] for tie in self.ties for identity in tie.sources}
        bits, pairs = dict[str, Mask](), list[tuple[Mask, Source]]()
        for each in self.sources:
            if each.id in self.pinned:
                pairs.append((self._pin, each))
                continue
            unit = unit_of.get(each.id, each.id)
            if unit not in bits:
                bits[unit] = lattice.bit(len(bits))
            pairs.append((bits[unit], each))
        object.__setattr__(self, "by_bit", tuple(pairs))
        object.__setattr__(self, "_groups", tuple(_groups(pairs)) if len(pairs) <= MOST_GROUPED else ())

    @classmethod
    def of(
        cls,
        sources: "Iterable[SourceLike]",
        pinned: Iterable[str] = (),
        tied_from: float | None = None,
    ) -> "SourceSet":
        """Returns the set of these sources.

        Texts, dicts with a "text" or a "page_content", and documents of LangChain or LlamaIndex are
        accepted. A source without a name is called D1, D2, … by its position. ``pinned``: the ids of
        sources that are always retained. ``tied_from``: sources whose texts are at least this similar (0
        to 1) are tied, that is, retained or omitted together; None ties no sources. Raises InvalidInput
        if there are no sources or only pinned ones, for an empty id, an id used twice, or an unknown
        pinned id.
        """
        check_list_of_sources(sources)
        named = _named(tuple(sources))
        if not named:
            raise InvalidInput("there are no sources to explain the answer by; pass at least one")
        alone = cls(named, pinned_ids(pinned, tuple(source.id for source in named)))
        if tied_from is None:
            return alone
        texts = {source.id: source.text for source in named if source.id not in alone.pinned}
        return cls(named, alone.pinned, near_duplicates(texts, tied_from))

    @property
    def units(self) -> tuple[tuple[Source, ...], ...]:
        """Returns the units in the order of the bits. A unit is one source, or several tied sources."""
        together = dict[Mask, list[Source]]()
        for bit, source in self.by_bit:
            if source.id not in self.pinned:
                together.setdefault(bit, []).append(source)
        return tuple(map(tuple, together.values()))

    @property
    def lattice(self) -> Lattice:
        """Returns the lattice of all subsets of the units (sources, or groups of tied ones)."""
        followers = sum(len(tie.sources) - 1 for tie in self.ties)
        return Lattice(len(self.sources) - len(self.pinned) - followers)

    @property
    def full(self) -> Subset:
        """Returns the subset that retains all units (sources, or groups of tied ones)."""
        return Subset(self.lattice.full)

    @property
    def none(self) -> Subset:
        """Returns the subset that retains no unit; only the pinned sources are then retained."""
        return Subset(0)

    @property
    def ids(self) -> tuple[str, ...]:
        """Returns the ids of all sources, in order."""
        return tuple(source.id for source in self.sources)

    @property
    def _pin(self) -> Mask:
        """Returns the bit that stands for all pinned sources in ``by_bit``. It is the first bit above the
        bits of the units, so no mask of units contains it."""
        return 1 << self.lattice.size

    def mask_of(self, ids: Iterable[str]) -> Mask:
        """Returns the mask (one bit for each unit) of the units with these ids. Any id of a tied source
        stands for the whole unit. Raises InvalidInput for an unknown or a pinned id."""
        named, bit_of = named_ids(ids), {source.id: bit for bit, source in self.by_bit}
        unknown = [each for each in named if each not in bit_of]
        if unknown:
            raise InvalidInput(f"the rule names {no_source(unknown, self.ids)}")
        pinned = sorted(self.pinned.intersection(named))
        if pinned:
            raise InvalidInput(
                f"the rule names {', '.join(map(repr, pinned))}, which is pinned: always retained and in "
                "no rule; name others, or do not pin it"
            )
        return sum({bit_of[each] for each in named})

    def batches(self, by: int | str) -> tuple[Mask, ...]:
        """Divides all units into batches, and returns the mask of each batch, which has one bit for each
        of its units. A number ``by`` is the maximum number of units in a batch; batches are in order and
        as equal in size as possible. A str ``by`` is a metadata key; units with the same value are in one
        batch. Raises InvalidInput for a key that no source has."""
        if isinstance(by, str):
            return self.partition(by, "partition")
        size, count = self.lattice.size, -(-self.lattice.size // by)
        ends = [size * place // count for place in range(count + 1)]
        return tuple(self.lattice.mask(range(*pair)) for pair in pairwise(ends))

    def partition(self, key: str, setting: str = "granularity") -> tuple[Mask, ...]:
        """Returns a mask for each group of units that have the same value under this metadata key. A mask
        has one bit for each unit of the group.

        Groups are in the order of their first units. A unit without the key is a group of its own. For a
        tied unit, the value of its first source is used. ``setting``: the setting that error messages
        name. Raises InvalidInput for a key that no source has.
        """
        groups: dict[str, Mask] = {}
        free = [unit[0] for unit in self.units]
        for place, source in enumerate(free):
            # ``repr`` makes unhashable values usable as keys, and distinguishes 1 from "1".
            name = repr(source.metadata[key]) if key in source.metadata else f"of {source.id!r} alone"
            groups[name] = groups.get(name, 0) | self.lattice.bit(place)
        known = sorted({str(name) for source in free for name in source.metadata})
        if key not in known:
            raise InvalidInput(
                f"{setting} names {key!r}, which no source has in its metadata; they have "
                f"{', '.join(map(repr, known[:20])) or 'none'}"
            )
        return tuple(groups.values())

    def retained(self, mask: Mask) -> tuple[Source, ...]:
        """Returns the sources in the units of a mask (one bit for each unit), and the pinned ones, in the
        order of this set."""
        return self.selected(mask)[0]

    def selected(self, mask: Mask) -> Selection:
        """Returns the sources that ``retained`` returns, and their fingerprints."""
        if self.pinned:
            mask |= self._pin
        if not self._groups:
            return _selection(self.by_bit, mask)
        sources: tuple[Source, ...] = ()
        fingerprints: tuple[str, ...] = ()
        for bits, pairs, known in self._groups:
            part = mask & bits
            found = known.get(part)
            if found is None:
                found = known[part] = _selection(pairs, part)
            sources += found[0]
            fingerprints += found[1]
        return sources, fingerprints

    def ids_of(self, mask: Mask) -> tuple[str, ...]:
        """Returns the ids of all sources in the units of a mask (one bit for each unit), in the order of
        this set."""
        return tuple([source.id for bit, source in self.by_bit if mask & bit])

    def reordered(self, shown: Iterable[Source], order: Order) -> Iterator[Source]:
        """Returns these sources with the units in ``order``; pinned sources stay at their positions."""
        units = self.units
        others = (source for place in order for source in units[place])
        return (source if source.id in self.pinned else next(others) for source in shown)

    def tied_in(self, mask: Mask) -> tuple[tuple[str, ...], ...]:
        """Returns, for each unit in the mask (one bit for each unit) that has several tied sources, the
        ids of these sources."""
        ids = frozenset(self.ids_of(mask)) if self.ties else ()
        return tuple([tie.sources for tie in self.ties if tie.sources[0] in ids])

    def __len__(self) -> int:
        return len(self.sources)

    def __iter__(self) -> Iterator[Source]:
        return iter(self.sources)


def _selection(pairs: Iterable[tuple[Mask, Source]], mask: Mask) -> Selection:
    sources = [source for bit, source in pairs if mask & bit]
    return tuple(sources), tuple([source.fingerprint for source in sources])


def _groups(pairs: Sequence[tuple[Mask, Source]]) -> Iterator[_Group]:
    # Groups of equal size have the fewest selections. Two small groups have fewer than one group.
    count = max(2, -(-len(pairs) // GROUP))
    ends = [len(pairs) * place // count for place in range(count + 1)]
    for start, end in pairwise(ends):
        group = pairs[start:end]
        bits = 0
        for bit, _ in group:
            bits |= bit
        yield _Group(bits, group, {})


def _named(given: Sequence[object]) -> tuple[Source, ...]:
    parts = [
        Given(each.text, each.id, each.metadata) if isinstance(each, Source) else given_parts(each)
        for each in given
    ]
    for place, (source, part) in enumerate(zip(given, parts, strict=True), start=1):
        if part is None:
            raise no_text(source, place)
    found = [part for part in parts if part is not None]
    return tuple(
        source if isinstance(source, Source) else Source(name, part.text, part.metadata)
        for source, part, name in zip(given, found, names(found), strict=True)
    )
