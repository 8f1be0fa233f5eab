"""This module names the sources of an explanation in HTML, by title and id, with links to their texts."""

import re
from collections.abc import Iterable

from markupsafe import Markup

from ...explanation.explanation import Explanation
from ...explanation.records import SourceRecord
from ...explanation.wording import phrase
from ...printable import plain_id
from ..short_names import short_ids, title_of
from .markup import as_one, isolated, raw

_PLACE = re.compile("\x00(\\d+)\x00")
_MOST_NAMED = 12
_MOST_SHOWN_SOURCES = 1000


class SourceNames:
    """A ``SourceNames`` names sources by their titles. ``linked``: whether names are links to the texts.

    A sentence is first written with a placeholder for every source. Then the whole sentence is escaped,
    and the placeholders are replaced by links. A placeholder contains a NUL character. Printable texts
    contain no such character, so no text can imitate a placeholder.
    """

    def __init__(self, explanation: Explanation, *, linked: bool = True) -> None:
        self._place = {source.id: place for place, source in enumerate(explanation.sources, 1)}
        self._sources = explanation.sources
        self._linked = set(shown_places(explanation) if linked else ())
        # There may be ten thousand sources, but a page names only a few of them. So a name is made only
        # when it is needed.
        self._names: dict[int, Markup] = {}
        self._short = short_ids([source.id for source in explanation.sources])
        self._everything = [source.id for source in explanation.sources]

    def placeholder(self, identity: str) -> str:
        """Returns a placeholder for a source. If the explanation has no source with this id, returns the
        id itself, in printable form."""
        place = self._place.get(identity)
        return plain_id(identity) if place is None else f"\x00{place}\x00"

    def sentence(self, text: str) -> Markup:
        """Returns a sentence as HTML, with links in place of the placeholders. The sentence must be
        printable."""
        return raw(_PLACE.sub(lambda found: self._name(int(found[1])), isolated(text)))

    def ids(self, identities: Iterable[str]) -> Markup:
        """Returns ids as a phrase without links. If there are more than four ids, and they are more than
        half of all sources, the phrase is "all but" followed by the other ids."""
        among = list(dict.fromkeys(identities))
        if not among:
            return Markup("no documents")
        if len(among) == len(self._everything):
            return Markup("all documents")
        if len(among) > 4 and len(among) * 2 > len(self._everything):
            named = set(among)
            rest = [identity for identity in self._everything if identity not in named]
            return Markup("all but ") + self._few(rest)
        return self._few(among)

    def _few(self, identities: list[str]) -> Markup:
        if len(identities) > _MOST_NAMED:
            first, last = (self._id(identities[place]) for place in (0, -1))
            return raw(f"{len(identities):,} documents, {first} … {last}")
        return raw(phrase([self._id(identity) for identity in identities]))

    def _name(self, place: int) -> Markup:
        if place not in self._names:
            source = self._sources[place - 1]
            self._names[place] = self._named(place, source, place in self._linked)
        return self._names[place]

    def _id(self, identity: str) -> Markup:
        return as_one(self._short[identity])

    def _named(self, place: int, source: SourceRecord, linked: bool) -> Markup:
        title, identity = title_of(source), self._id(source.id)
        named = Markup("<b>{}</b> <code>{}</code>").format(as_one(title), identity)
        named = named if title else Markup("<b>{}</b>").format(identity)
        return (
            Markup('<a class="source" href="#source-{}">{}</a>').format(place, named) if linked else named
        )


def shown_places(explanation: Explanation) -> list[int]:
    """Returns the places, counted from 1, of the sources whose texts the page shows. There are at most a
    thousand. Sources that a rule or a change names are chosen before all others."""
    named = {
        each for found in (*explanation.rules, *explanation.counterfactuals) for each in found.sources
    }
    places = range(1, len(explanation.sources) + 1)
    by_need = sorted(places, key=lambda place: explanation.sources[place - 1].id not in named)
    return sorted(by_need[:_MOST_SHOWN_SOURCES])
