"""This module searches an input or a memory, from which omitted turns were taken out, for remains of
these turns: the application may have the text of a turn a second time, beside its messages."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any, cast

from ..rewinding.companies import is_own
from .listed_messages import Spoken, spoken_in

_WORDS = re.compile(r"\w+")
_LABEL = re.compile(r"^\s*\w+\s*:")
"""Matches a label at the beginning of a line of a transcript, such as "user:"."""
_FEWEST = 3
"""The minimum number of words of a message that is searched for inside other texts. A shorter message
could be there by chance, so it is only compared as a whole."""
_LEVELS = 16
_PLAIN_MODULES = ("types", "collections")


@dataclass(slots=True, eq=False)
class TurnRemains:
    """A ``TurnRemains`` finds the omitted turns whose text is still in an input or a memory.

    ``turns``: the texts of the messages of each omitted turn, by id; ``others``: the texts of all
    messages that are in no omitted turn. ``cleared``: the ids of the turns that were taken out of a list
    of messages, by the ``id()`` of the list. Messages that are still in such a list belong to other
    turns.
    """

    turns: Mapping[str, Sequence[str]]
    others: Sequence[str]
    cleared: dict[int, tuple[object, Set[str]]] = field(
        default_factory=dict[int, tuple[object, Set[str]]]
    )
    _repeated: Counter[str] = field(default_factory=Counter[str], init=False)

    def note_cleared(self, listed: object, ids: Set[str]) -> None:
        """Records that these turns were taken out of the list ``listed``. The list is kept alive from now
        on."""
        _, known = self.cleared.get(id(listed), (listed, frozenset[str]()))
        self.cleared[id(listed)] = listed, known | ids

    def found_in(self, content: Any) -> dict[str, str]:
        """Returns the ids of the turns of which a text is still in the content, each with the text in
        which it was found. Searches containers, and the attributes of messages, of the user's own
        objects, of objects that have only slots, and of objects such as a SimpleNamespace."""
        found = dict[str, str]()
        for text, gone in self._texts_in(content, frozenset(), frozenset()):
            words = _words(text)
            for identity, said in self.turns.items():
                if identity not in found and identity not in gone and self._is_any(said, text, words):
                    found[identity] = text
        return found

    def _is_any(self, said: Sequence[str], text: str, words: str) -> bool:
        after_label = _words(_LABEL.sub("", text, count=1))
        for each in map(_words, said):
            is_whole = each.strip() and each in (words, after_label)
            if not is_whole and (len(each.split()) < _FEWEST or each not in words):
                continue
            if words not in map(_words, self.others):
                return True
            # Another message has the same text, as when a question is asked twice. That message explains
            # one further copy of the text, for example in a field with the last question, but no second
            # one.
            if is_whole:
                self._repeated[words] += 1
                if self._repeated[words] > 1:
                    return True
        return False

    def _texts_in(
        self, content: Any, above: frozenset[int], gone: Set[str]
    ) -> Iterator[tuple[str, Set[str]]]:
        """Yields the texts in the content, each with the ids of the turns to which it cannot belong."""
        if isinstance(content, str):
            yield content, gone
            return
        if len(above) > _LEVELS or id(content) in above:
            return
        above |= {id(content)}
        cleared: Set[str] = self.cleared.get(id(content), (None, frozenset[str]()))[1]
        for each in _parts_of(content):
            is_message = bool(cleared) and bool(spoken_in(each))
            yield from self._texts_in(each, above, gone | cleared if is_message else gone)


def continues(talk: Sequence[tuple[int, Spoken]], end: int, known: Sequence[Spoken], last: int) -> bool:
    """Returns True iff a turn has more messages in a list than in the first request.

    ``talk``: the messages in the list; ``end``: the index after the known messages of the turn.
    ``known``: the messages of the first request; ``last``: the index in it after the messages of the
    turn.
    """
    if end >= len(talk):
        return False
    after = talk[end][1]
    if after.role:
        return after.role != "user"
    return last < len(known) and after.text != known[last].text


def _parts_of(content: Any) -> Iterator[Any]:
    """Yields the values inside a container or an object: keys and values, elements, or values of
    attributes."""
    if isinstance(content, Mapping):
        for name, each in cast("Mapping[Any, Any]", content).items():
            yield name
            yield each
    elif isinstance(content, (list, tuple, set, frozenset)):
        yield from cast("Sequence[Any]", content)
    elif not isinstance(content, (bytes, int, float, type(None), type)):
        yield from _attributes_of(content)


def _attributes_of(thing: Any) -> Iterator[Any]:
    """Yields the values of the attributes of messages, of the user's own objects, of objects such as a
    SimpleNamespace, and of objects that have only slots, such as the items of a store. Yields nothing for
    other objects."""
    kind: type = type(cast("object", thing))
    is_plain = kind.__module__ in _PLAIN_MODULES
    if is_plain and hasattr(kind, "__iter__"):
        yield from thing
    is_record = not hasattr(thing, "__dict__")
    if is_plain or is_record or spoken_in(thing) or is_own(kind.__module__):
        yield from cast("dict[str, Any]", getattr(thing, "__dict__", {})).values()
        slots = [name for each in kind.__mro__ for name in getattr(each, "__slots__", ())]
        yield from (getattr(thing, each) for each in slots if hasattr(thing, each))


def _words(text: str) -> str:
    """Returns the words of a text in lower case, each between two spaces."""
    return f" {' '.join(_WORDS.findall(text.casefold()))} "
