"""Sources, and the only way from a mask to what the application is shown."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, TypeAlias, cast

from .allowed import told
from .duplicates import Tie, near_duplicates
from .errors import InvalidInput
from .given import FrameworkDocument, Given, given_parts, named_ids, names, no_source, pinned_ids
from .lattice import Lattice, Mask, Order, Subset

MOST_SOURCES = 10_000
"""That are read back: each is a bit, and a file of a million could take all memory."""


@dataclass(frozen=True, slots=True)
class Source:
    """One retrieved text under an id that is unique within its set.

    ``metadata`` is carried along and never compared: two sources are the same when id and text are.
    """

    id: str
    text: str
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any], compare=False)
    fingerprint: str = field(init=False, repr=False, compare=False, default="")

    def __post_init__(self) -> None:
        for name, value in (("id", self.id), ("text", self.text)):
            if not isinstance(value, str):  # pyright: ignore[reportUnnecessaryIsInstance] -- users pass more
                raise InvalidInput(f"the {name} of a source is {told(value)}; give a str")
        if not isinstance(self.metadata, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance] -- users pass more
            raise InvalidInput(
                f"the metadata of source {self.id!r} is {told(self.metadata)}; give a dict, or nothing"
            )
        if not self.id.strip():
            raise InvalidInput(
                f"a source has an empty id (its text begins {self.text[:40]!r}); give it one, as 'D1'"
            )
        if any(0xD800 <= ord(character) <= 0xDFFF for character in self.id):
            raise InvalidInput(f"the id {self.id!r} has a lone surrogate; give an id that is text")
        object.__setattr__(self, "fingerprint", _digest(self.id, self.text))

    @property
    def passage(self) -> str:
        """Returns the text under its title, where ``metadata`` has one: what a reader is shown."""
        title = self.metadata.get("title")
        return f"{title}\n{self.text}" if isinstance(title, str) and title.strip() else self.text


def _digest(identity: str, text: str) -> str:
    # The id's length keeps ("ab", "c") and ("a", "bc") apart.
    content = f"{len(identity)}:{identity}{text}"
    return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:32]


SourceLike: TypeAlias = Source | str | Mapping[str, Any] | FrameworkDocument
"""What callers may give as a source."""


@dataclass(frozen=True, slots=True)
class SourceSet:
    """This class represents the retrieved sources in the order in which the application shows them to its
    model.

    ``pinned``: the ids of those that every arrangement retains (the paper's c, the context that is not
    up for explanation). They are no units, so no rule can name them. ``ties``: of the others, those that
    every arrangement retains or leaves out together: one unit each.
    """

    sources: tuple[Source, ...]
    pinned: frozenset[str] = frozenset()
    ties: tuple[Tie, ...] = ()
    by_bit: tuple[tuple[Mask, Source], ...] = field(init=False, repr=False, compare=False)

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

    @classmethod
    def of(
        cls,
        sources: "Iterable[SourceLike]",
        pinned: Iterable[str] = (),
        tied_from: float | None = None,
    ) -> "SourceSet":
        """Returns the sources as a set. Texts, dicts with a "text" or a "page_content", and documents of
        LangChain or LlamaIndex are taken as they are; what has no name is D1, D2, … by its place.
        ``tied_from``: texts at least so alike are tied, if any are to be.

        Raises InvalidInput for no sources at all, an empty id, an id used twice, a pinned id that is
        none of theirs, or nothing left to explain by.
        """
        if isinstance(sources, (str, bytes)):
            raise InvalidInput("sources is one string; pass a list with a Source for each document")
        if not isinstance(sources, Iterable):  # pyright: ignore[reportUnnecessaryIsInstance] -- users pass more
            raise InvalidInput(f"sources is {sources!r}; pass a list with a Source for each document")
        if isinstance(sources, (Mapping, set, frozenset)):
            # Of the one, only the keys would be taken; the other has no order to name sources by.
            kind = type(cast("object", sources)).__name__
            raise InvalidInput(
                f"sources is a {kind}; pass a list with a source for each document, such as "
                '[{"id": "D1", "text": "..."}]'
            )
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
        """Returns what the bits stand for, in order: the sources that rules may name, each alone or with
        those that are tied to it."""
        together = dict[Mask, tuple[Source, ...]]()
        for bit, source in self.by_bit:
            if source.id not in self.pinned:
                together[bit] = (*together.get(bit, ()), source)
        return tuple(together.values())

    @property
    def lattice(self) -> Lattice:
        """Returns the lattice of all subsets of the units."""
        followers = sum(len(tie.sources) - 1 for tie in self.ties)
        return Lattice(len(self.sources) - len(self.pinned) - followers)

    @property
    def full(self) -> Subset:
        """Returns the subset of all units."""
        return Subset(self.lattice.full)

    @property
    def ids(self) -> tuple[str, ...]:
        """Returns the ids, in order."""
        return tuple(source.id for source in self.sources)

    @property
    def _pin(self) -> Mask:
        """Returns a bit beyond those of all units, which every arrangement has."""
        return 1 << self.lattice.size

    def mask_of(self, ids: Iterable[str]) -> Mask:
        """Returns the mask of the units that these are of; any id of a unit stands for it.

        Raises InvalidInput for anything else.
        """
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
        """Returns the units in batches: of at most so many, in order and as evenly as can be, or by this
        key.

        Raises InvalidInput for a key that none of them has.
        """
        if isinstance(by, str):
            return self.partition(by, "partition")
        size, count = self.lattice.size, -(-self.lattice.size // by)
        ends = [size * place // count for place in range(count + 1)]
        return tuple(self.lattice.mask(range(*pair)) for pair in pairwise(ends))

    def partition(self, key: str, setting: str = "granularity") -> tuple[Mask, ...]:
        """Returns the units by what their metadata has under this key, in the order in which that first
        occurs; one without it is a group of its own. What is tied belongs where the first of its sources
        does.

        Raises InvalidInput for a key that none of them has, with the ``setting`` that names it.
        """
        groups: dict[str, Mask] = {}
        free = [unit[0] for unit in self.units]
        for place, source in enumerate(free):
            # Values need not be hashable, nor may 1 and "1" be one document.
            name = repr(source.metadata[key]) if key in source.metadata else f"of {source.id!r} alone"
            groups[name] = groups.get(name, 0) | self.lattice.bit(place)
        known = sorted({str(name) for source in free for name in source.metadata})
        if key not in known:
            raise InvalidInput(
                f"{setting} names {key!r}, which no source has in its metadata; they have "
                f"{', '.join(map(repr, known[:20])) or 'none'}"
            )
        return tuple(groups.values())

    def ids_of(self, mask: Mask) -> tuple[str, ...]:
        """Returns the ids of all sources in a mask's units, in order."""
        return tuple([source.id for bit, source in self.by_bit if mask & bit])

    def reordered(self, shown: Iterable[Source], order: Order) -> Iterator[Source]:
        """These sources, with those of the units in this order and what is pinned where it is."""
        units = self.units
        others = (source for place in order for source in units[place])
        return (source if source.id in self.pinned else next(others) for source in shown)

    def tied_in(self, mask: Mask) -> tuple[tuple[str, ...], ...]:
        """Returns the ids of those units in a mask that are more than one source."""
        ids = frozenset(self.ids_of(mask)) if self.ties else ()
        return tuple([tie.sources for tie in self.ties if tie.sources[0] in ids])

    def __len__(self) -> int:
        return len(self.sources)

    def __iter__(self) -> Iterator[Source]:
        return iter(self.sources)


def _named(given: Sequence[object]) -> tuple[Source, ...]:
    parts = [
        Given(each.text, each.id, each.metadata) if isinstance(each, Source) else given_parts(each)
        for each in given
    ]
    for place, (source, part) in enumerate(zip(given, parts, strict=True), start=1):
        if part is None:
            raise InvalidInput(
                f"source {place} is a {type(source).__name__}; pass Source(id, text), a plain string, a "
                'dict such as {"id": "D1", "text": "..."}, or a document of LangChain or LlamaIndex'
            )
    found = [part for part in parts if part is not None]
    return tuple(
        source if isinstance(source, Source) else Source(name, part.text, part.metadata)
        for source, part, name in zip(given, found, names(found), strict=True)
    )


@dataclass(frozen=True, slots=True)
class Arrangement:
    """This class represents the ordered sources that one replay puts before the application.

    Memory and store know arrangements by ``key`` (ids and content, in order), never by mask: a mask
    means nothing outside its own source set.
    """

    sources: tuple[Source, ...]

    @classmethod
    def of(cls, sources: SourceSet, key: Subset | Order) -> "Arrangement":
        """Returns the arrangement of a mask: its sources and the pinned ones, in the order of the set.

        Of an order other than that, the same with its units in that order: what is pinned keeps its place
        among them, and the sources of a unit follow each other.
        """
        if not isinstance(key, int):
            recorded = cls.of(sources, Subset(sources.lattice.mask(key)))
            is_recorded = list(key) == sorted(key)
            return recorded if is_recorded else cls(tuple(sources.reordered(recorded.sources, key)))
        mask: Mask = key
        if sources.pinned:
            mask |= 1 << sources.lattice.size
        return cls(tuple([source for bit, source in sources.by_bit if mask & bit]))

    @property
    def key(self) -> tuple[str, ...]:
        """Equal exactly for arrangements that show the same ids and texts in the same order."""
        return tuple([source.fingerprint for source in self.sources])

    @property
    def ids(self) -> tuple[str, ...]:
        """Returns the ids shown, in order."""
        return tuple([source.id for source in self.sources])
