"""This module finds out whether the application already had a mark before the baseline. A *mark* is a
short text that identifies a source; this mark was found in a request."""

from collections.abc import Sequence
from dataclasses import dataclass

from ...sources import Source
from ..shared_state.counting import is_read, is_shown
from ..shared_state.held import Held
from ..shared_state.holdings import Holdings, changed_values
from .marks import AROUND, FoundMark
from .source_recognition import words_of

_MORE = 2
"""The minimum number of words that must follow a name, or another text that identifies a source, in a
line of the application's texts. If a line of a request begins with the same name, the name then counts as
taken from the application's line, whatever words follow it in the request."""


@dataclass(slots=True, eq=False)
class Origins:
    """An ``Origins`` finds out whether a mark (a text that identifies a source) in a request comes from a
    text that the application already had before the baseline.

    ``before``: the application's state when it was first read. ``sources``: the sources that the baseline
    retrieved. ``is_after_the_run``: True if the state was first read after the baseline. Texts in
    collections of this state may then come from the baseline.
    """

    before: Holdings
    sources: Sequence[Source]
    is_after_the_run: bool
    _constants: list[tuple[tuple[str, ...], bool]] | None = None
    _records: set[int] | None = None

    def stands_in_a_text(self, found: FoundMark) -> bool:
        """Returns True iff the mark (the text that identifies a source) may come from a text that existed
        before the baseline. That text must contain the mark, and next to it the same words as the request
        in which the mark was found: before it or after it."""
        if self._constants is None:
            records = self._records_before()
            self._constants = [
                (words_of(line), "\n" in value)
                for held in self.before.all
                for _, value in held.plain
                if isinstance(value, str)
                and id(held) not in records
                and not self._is_of_source(value)
                and (held.is_code or not (self.is_after_the_run and self.before.is_in_users(held)))
                for line in value.split("\n")
            ]
        return any(_has(line, found, is_part) for line, is_part in self._constants)

    def _is_of_source(self, value: str) -> bool:
        return any(each.text in value or value in each.text for each in self.sources)

    def is_an_entry(self, found: FoundMark) -> bool:
        """Returns True iff the application had a value with exactly the words in ``found`` before the
        baseline, and may show this value in a request: it is a constant in code, or code puts it into a
        text. Values that belong to documents are ignored."""
        records = self._records_before()
        return any(
            held.is_code
            or any(is_shown(self.before, each) for each in (name, *self.before.names(held)) if each)
            for held in self.before.all
            if id(held) not in records
            for name, value in held.plain
            if words_of(str(value)) == found.mark.words
        )

    def _records_before(self) -> set[int]:
        if self._records is None:
            self._records = _records(self.before, self.sources)
        return self._records

    def newly_held(self, found: FoundMark, after: Holdings) -> tuple[bool, str]:
        """Returns two values. The first is True iff an object of the application has the text in
        ``found`` now (in the state ``after``), but did not have it before the baseline. The second
        describes that object; it is empty if the object itself is new."""
        is_new = False
        line = f" {' '.join(found.mark.words)} "
        records = _records(after, self.sources)
        for held, name, value in changed_values(self.before, after, after.is_in_users):
            if id(held) in records or line not in line_of(str(value)):
                continue
            places = [each for each in (name, *after.names(held)) if each]
            if places and not any(is_read(after, each) for each in places):
                # The code only writes to this object, as to a log, so the text in the request does not
                # come from it.
                continue
            is_new = True
            if self._was_there(held, name, after):
                return True, after.named(held, name)
        return is_new, ""

    def _was_there(self, held: Held, name: str, after: Holdings) -> bool:
        """Returns True iff the text is in an attribute or a collection that existed before the baseline.
        A new collection counts too, if the attribute that refers to it existed before."""
        earlier = self.before.of(held.thing)
        if earlier is not None:
            is_collection = not (held.is_users)
            return is_collection or any(known == name for known, _ in earlier.plain)
        # Setting an attribute of an old object to a new collection counts as a change of the old object.
        owner = None if held.holder is None else self.before.of(after.all[held.holder].thing)
        if owner is None:
            return False
        place = id(owner)
        return any(
            each.name == held.name
            and each.holder is not None
            and id(self.before.all[each.holder]) == place
            for each in self.before.all
        )


def _records(holdings: Holdings, sources: Sequence[Source]) -> set[int]:
    """Returns the ``id()`` of each ``Held`` (an object of the application's state) that belongs to a
    document, such as its text and metadata."""
    texts = {source.text for source in sources}
    roots: set[int] = set()
    for held in holdings.all:
        if (
            held.is_users
            or held.is_code
            or texts.isdisjoint(v for _, v in held.plain if isinstance(v, str))
        ):
            continue
        roots.add(id(held))
        for _, each in zip(range(2), holdings.above(held), strict=False):
            if each.is_users or each.is_code:
                break
            roots.add(id(each))
    inside = set(roots)
    for held in holdings.all:
        for _, each in zip(range(2), holdings.above(held), strict=False):
            if id(each) in roots:
                inside.add(id(held))
    return inside


def line_of(text: str) -> str:
    """Returns the words of a text in a single line, with a space before and after each word. In such a
    line, a search for a phrase finds only whole words."""
    return f" {' '.join(words_of(text))} "


def _has(line: tuple[str, ...], found: FoundMark, is_part: bool) -> bool:
    """Returns True iff a line has the mark (the text that identifies a source), and next to it the same
    words as the request in which the mark was found: before it or after it. ``is_part``: True if the line
    is a part of a text of several lines."""
    mark, before, after = found.mark.words, found.before, found.after
    size = len(mark)
    for start in range(len(line) - size + 1):
        if line[start : start + size] != mark:
            continue
        left, right = line[max(0, start - AROUND) : start], line[start + size :][:AROUND]
        if before and left[-len(before) :] == before:
            return True
        if after and right[: len(after)] == after:
            return True
        if not before and not left and len(line) >= size + _MORE:
            return True
        if is_part and line == mark and not before and not after:
            return True
    return False
