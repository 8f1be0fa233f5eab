"""This module finds the source that a citation refers to: by its number, by a name, or by quoted
words."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from .citing_text import Citable
from .meaning import ALIKE, FROM_NOUGHT, ORDER_OPEN, Meaning
from .names import NamesOfSources, in_small_letters

_LEAST_QUOTED = 12
"""The minimum number of characters of a quotation by which a source is recognised. A shorter one may
occur in several sources by chance."""


@dataclass(frozen=True, slots=True)
class CitableSources:
    """A ``CitableSources`` holds the sources that the model was shown, in the order of their numbers.

    ``held_out``: the sources that were retrieved but not shown. ``numbers_from``: the number of the
    first source in the application's numbering, 1 or 0. ``why_open``: the reason why it is unknown which
    source a number means; empty if it is known. ``unsure``: the ids of the sources whose position is not
    known, because other sources have the same text.
    """

    shown: tuple[Citable, ...]
    held_out: tuple[Citable, ...] = ()
    numbers_from: int = 1
    why_open: str = ""
    unsure: frozenset[str] = frozenset()
    _names: NamesOfSources = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_names", NamesOfSources(self.shown, self.held_out))

    def as_seen(self, seen: Sequence[str] | None) -> "CitableSources":
        """Returns the same sources in the order in which the model was shown them. ``seen``: their ids in
        this order; None to keep the present order. If an id is repeated in ``seen``, the position of its
        source is unknown. Sources that ``seen`` lacks were not shown."""
        by_id = {source.id: source for source in self.shown}
        order = tuple(dict.fromkeys(seen or ()))
        if not seen or not by_id.keys() >= set(order):
            return self
        counts = Counter(seen)
        unsure = frozenset(each for each in order if counts[each] > 1)
        if len(unsure) == len(order):
            return replace(self, why_open=ORDER_OPEN)
        others = tuple(source for source in self.shown if source.id not in counts)
        shown = tuple(by_id[each] for each in order)
        return replace(self, shown=shown, held_out=(*self.held_out, *others), unsure=unsure)

    @property
    def ids(self) -> tuple[str, ...]:
        """Returns the ids of the shown sources, in their order."""
        return tuple([source.id for source in self.shown])

    @property
    def known(self) -> tuple[str, ...]:
        """Returns the ids of all sources, also of those that were not shown."""
        return (*self.ids, *[source.id for source in self.held_out])

    def by_number(self, number: int) -> Meaning:
        """Returns the meaning of a number in a citation: the source whose id is this number, otherwise
        the shown source at this position.

        If the ids of all sources are numbers, only an id counts. If the position is above the number of
        shown sources, but not above the number of all sources, it is unknown which source is meant: the
        application then seems to number sources that were not shown, too.
        """
        known = self.known
        if str(number) in known:
            return Meaning((str(number),))
        if known and all(each.isdecimal() for each in known):
            return Meaning()
        place = number - self.numbers_from
        if self.why_open or len(self.shown) <= place < len(known):
            return Meaning(why=self.why_open or ORDER_OPEN, is_open=True)
        source = self.at(place)
        if source in self.unsure:
            text = in_small_letters(self.shown[place].text)
            alike = (each for each in self.shown if each.id in self.unsure)
            among = tuple(each.id for each in alike if in_small_letters(each.text) == text)
            return Meaning(why=ALIKE, is_open=True, among=among)
        return Meaning() if source is None else Meaning((source,))

    def counted_from_nought(self, numbers: Iterable[int]) -> "CitableSources":
        """Returns these sources. If the answer cites a number 0, although the first source should have
        the number 1, returns a copy in which it is unknown which source any number means."""
        is_nought = self.numbers_from == 1 and 0 in {*numbers} and "0" not in self.known
        return replace(self, why_open=FROM_NOUGHT) if is_nought else self

    def at_address(self, address: str) -> tuple[str, ...] | None:
        """Returns the ids of the sources with this address or file name; an empty tuple if it is certain
        that no source has it; None if this is not known.

        It is certain for an address with "://" if addresses of sources are known. Otherwise, a source
        that does not state its address may have it.
        """
        bare = address.partition("#")[0].partition("?")[0].rstrip("/")
        found = self.named(address) or self.named(bare) or self.named(bare.rpartition("/")[2])
        return found or (() if "://" in address and self._names.have_addresses else None)

    def at(self, place: int) -> str | None:
        """Returns the id of the source at this position, counted from 0; None if there is none."""
        return self.shown[place].id if 0 <= place < len(self.shown) else None

    def by_name(self, name: object) -> Meaning:
        """Returns the meaning of a name in a citation. It means the source with this id, or with this
        title, file name or address in its metadata."""
        return Meaning.one_of(self.named(name))

    def named(self, name: object) -> tuple[str, ...]:
        """Returns the ids of the sources with this id, or with this name in their metadata."""
        if not isinstance(name, str) or not name.strip():
            return ()
        return (name,) if name in self.known else self._names.exactly(name)

    def quoted(self, quote: str) -> tuple[str, ...]:
        """Returns the ids of the sources whose text contains these words, or is contained in them.
        Returns none if the words have fewer than ``_LEAST_QUOTED`` characters."""
        words = in_small_letters(quote)
        if len(words) < _LEAST_QUOTED:
            return ()
        return tuple(each.id for each in (*self.shown, *self.held_out) if _says(each, words))

    def says(self, identity: str | None, quote: str) -> bool:
        """Returns True iff the source with this id contains these words, or is contained in them. Also
        returns True if there are no words."""
        words = in_small_letters(quote)
        sources = (*self.shown, *self.held_out)
        return any(each.id == identity and (not words or _says(each, words)) for each in sources)

    def in_reference(self, text: str) -> Meaning:
        """Returns the meaning of a line in a list of references, by the names and the words in it."""
        named, quoted = self._names.in_reference(text), self.quoted(text)
        if named.sources or not quoted:
            return named
        return Meaning.one_of(quoted) if len(quoted) == 1 or not named.is_open else named


def _says(source: Citable, words: str) -> bool:
    text = in_small_letters(source.text)
    return bool(text) and (words in text or (len(text) >= _LEAST_QUOTED and text in words))
