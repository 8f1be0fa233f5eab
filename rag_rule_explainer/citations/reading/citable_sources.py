"""This module finds the source that a citation means: by its number, by a name, or by quoted words."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from .citing_text import Citable
from .meaning import ALIKE, FROM_NOUGHT, ORDER_OPEN, Meaning
from .names import NamesOfSources, in_small_letters

_LEAST_QUOTED = 12
"""The least number of characters of a quotation by which a source is recognised. Fewer may stand in
several sources by chance."""


@dataclass(frozen=True, slots=True)
class CitableSources:
    """A ``CitableSources`` holds the sources that the model was shown, in the order of their numbers.

    ``held_out``: the sources that were retrieved but not shown. ``numbers_from``: the number of the first
    source in the application's numbering, 1 or 0. ``why_open``: the reason why a number means nothing
    certain; empty if it does. ``unsure``: the ids of the sources whose place is not known, as others have
    the same text.
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
        this order; if it is None, the order stays. Of an id that is repeated, the place is not known.
        Sources that it lacks were not shown."""
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
        """Returns the ids of all sources."""
        return (*self.ids, *[source.id for source in self.held_out])

    def by_number(self, number: int) -> Meaning:
        """Returns what this number means. An id that is this number comes first. If all ids are numbers,
        the number is an id. A number that only counts sources that were not shown as well shows that
        these have numbers too, so it is not known which."""
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
        """Returns the same sources, of which no number means a certain one if the numbers of the answer
        include 0, although the first source should have 1."""
        is_nought = self.numbers_from == 1 and 0 in {*numbers} and "0" not in self.known
        return replace(self, why_open=FROM_NOUGHT) if is_nought else self

    def at_address(self, address: str) -> tuple[str, ...] | None:
        """Returns the ids of the sources at an address, or in a file; None if it may be something else,
        since the sources have no addresses."""
        bare = address.partition("#")[0].partition("?")[0].rstrip("/")
        found = self.named(address) or self.named(bare) or self.named(bare.rpartition("/")[2])
        return found or (() if "://" in address and self._names.have_addresses else None)

    def at(self, place: int) -> str | None:
        """Returns the id of the source at this place, counted from 0; None if there is none."""
        return self.shown[place].id if 0 <= place < len(self.shown) else None

    def by_name(self, name: object) -> Meaning:
        """Returns what a name means: an id, or a title, a file name or an address in the metadata."""
        return Meaning.one_of(self.named(name))

    def named(self, name: object) -> tuple[str, ...]:
        """Returns the ids of the sources with this id, or with this name in their metadata."""
        if not isinstance(name, str) or not name.strip():
            return ()
        return (name,) if name in self.known else self._names.exactly(name)

    def quoted(self, quote: str) -> tuple[str, ...]:
        """Returns the ids of the sources whose text contains these words, or is contained in them."""
        words = in_small_letters(quote)
        if len(words) < _LEAST_QUOTED:
            return ()
        return tuple(each.id for each in (*self.shown, *self.held_out) if _says(each, words))

    def says(self, identity: str | None, quote: str) -> bool:
        """Returns whether the source with this id contains these words, or is contained in them. It does
        if there are no words."""
        words = in_small_letters(quote)
        sources = (*self.shown, *self.held_out)
        return any(each.id == identity and (not words or _says(each, words)) for each in sources)

    def in_reference(self, text: str) -> Meaning:
        """Returns what a line of a list of references means, by the names and the words in it."""
        named, quoted = self._names.in_reference(text), self.quoted(text)
        if named.sources or not quoted:
            return named
        return Meaning.one_of(quoted) if len(quoted) == 1 or not named.is_open else named


def _says(source: Citable, words: str) -> bool:
    text = in_small_letters(source.text)
    return bool(text) and (words in text or (len(text) >= _LEAST_QUOTED and text in words))
