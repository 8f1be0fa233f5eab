"""This module searches an input or a memory for copies of omitted turns after these turns were removed
from the messages. The application may have the text of a turn a second time, for example in a log."""

from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from .contents_beside import ContentsBeside
from .listed_messages import Spoken
from .readable_forms import read_as
from .turn_copies import TurnCopies


class Copy(NamedTuple):
    """A ``Copy`` is a place in which a turn is, or may be, a second time. ``path``: the name of the
    field; ``text``: its text; empty if it cannot be read. ``others``: the names of further such fields.
    ``is_like``: False if nothing but doubt speaks for it: nothing shows that the field is independent of
    the turn."""

    path: str
    text: str = ""
    others: tuple[str, ...] = ()
    is_like: bool = True


@dataclass(slots=True, eq=False)
class TurnRemains:
    """A ``TurnRemains`` finds the omitted turns of which a copy remains.

    ``copies``: recognises copies of the omitted turns. ``is_ignored``: returns True iff the user has said
    that the field with this name has nothing to do with the conversation. ``cleared``: for each list of
    messages from which turns were removed, the list and the ids of these turns; the key is the ``id()``
    of the list.
    """

    copies: TurnCopies
    is_ignored: Callable[[str], bool] = lambda _: False
    cleared: dict[int, tuple[object, Set[str]]] = field(
        default_factory=dict[int, tuple[object, Set[str]]]
    )

    def note_cleared(self, listed: object, ids: Set[str]) -> None:
        """Records that these turns were removed from the list ``listed``. Keeps the list alive, so that
        no other list gets the same ``id()``."""
        _, known = self.cleared.get(id(listed), (listed, frozenset[str]()))
        self.cleared[id(listed)] = listed, known | ids

    def found_in(self, content: Any, path: str) -> dict[str, Copy]:
        """Returns the ids of the turns of which ``content`` still contains a copy, each with the place of
        the copy. A field that cannot be read counts as a copy of every turn. ``path``: the name of the
        content."""
        found, unread = dict[str, Copy](), dict[str, Copy]()
        walk = ContentsBeside(self._gone_from, self.copies.says_only_messages)
        for each in walk.texts_in(content, path):
            ids = self.copies.in_text(each.value, is_field=each.is_field, is_prompt=each.is_prompt)
            if self.is_ignored(each.path):
                continue
            new = ids - each.gone - found.keys()
            found.update(dict.fromkeys(new, Copy(each.path, str(each.value))))
            if read_as(each.value).is_opaque:
                unread.update(dict.fromkeys(self.copies.turns, Copy(each.path)))
        return {**unread, **found}

    def _gone_from(self, listed: object) -> Set[str]:
        return self.cleared.get(id(listed), (None, frozenset[str]()))[1]


def continues(talk: Sequence[tuple[int, Spoken]], end: int, known: Sequence[Spoken], last: int) -> bool:
    """Returns True iff a turn has more messages in the application's list than in the first request.

    ``talk``: the messages in the list; ``end``: the index in ``talk`` after the turn's known messages.
    ``known``: the messages of the first request; ``last``: the index in ``known`` after the turn's
    messages.
    """
    if end >= len(talk):
        return False
    after = talk[end][1]
    if after.role:
        return after.role != "user"
    return last < len(known) and after.text != known[last].text
