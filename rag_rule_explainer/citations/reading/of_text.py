"""This module reads the citations in the text of an answer."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from ...predicates.citation_marks import CitationMark, citation_marks
from ...predicates.footnotes import Footnote, footnotes
from ...predicates.mark_contents import Citation, MarkContents, spelt_out
from ...predicates.mark_places import matches_of, places_of_marks, widened
from ...predicates.plain_signs import plain_signs
from ...predicates.source_lists import SourceList, source_lists
from ...predicates.without_marks import without_marks
from ...printable import printable, shortened
from .citable_sources import CitableSources
from .citing_text import CitingText, ReadCitation
from .meaning import OTHERS_NAMED, Meaning

_NOTED = re.compile(r"\[\^([\w-]{1,30})\]")
_NO_LIST = "it is not known whether this line is a source or a part of what is said"
_ROUND = "it is not known whether “({})” in the text leads to this line"
_LONGEST_NOTE = 100
_RANGE = re.compile(r"(\d{1,5})(?: ?[-–] ?(\d{1,5}))?")
_TARGET = re.compile(r"\]?\(([^()\s]{1,300})")
_NUMBER = re.compile(r"(?:\[|source )(\d{1,3})\]?")


def read_answer_text(text: str, shown: CitableSources, pattern: str | None = None) -> CitingText:
    """Returns the text with the citations in it, in the forms that ``cites`` recognises.

    If the text has footnotes or a list of references, a number means the source that is named there. If
    only such a list has citations, they belong to the whole answer. ``pattern``: a regular expression for
    citations in another form; its first group, or else the whole match, is the number or the name of a
    source. If it is given, only its matches count.
    """
    if pattern is not None:
        found = list(_by_pattern(text, shown, pattern))
    else:
        notes = footnotes(text)
        found = list(_in_text(text, notes, shown)) or list(_listed(text, notes, shown))
    marks = widened(text, places_of_marks(text, shown.known, pattern)) if found else []
    lists = source_lists(text, marks)
    return CitingText(text, tuple(_in_lists(found, lists)), pattern)


def _in_text(text: str, notes: Sequence[Footnote], shown: CitableSources) -> Iterator[ReadCitation]:
    """Yields the citations in the text, in order, without those in footnotes."""
    inside = {place for note in notes for place in range(note.start, note.end)}
    marks = [each for each in citation_marks(text, shown.ids, shown.known) if each.start not in inside]
    taken = {mark.start for mark in marks}
    shown = shown.counted_from_nought(_numbers(marks))
    meant = _meanings(notes, shown)
    for mark in marks:
        beside = _named_beside(text, mark, shown)
        for each in mark.citations:
            yield from _of_mark(each, meant, shown, (mark.start, mark.end), beside)
    for found in _NOTED.finditer(text):
        if found.start() not in taken and found.start() not in inside:
            said = meant.get(found[1]) or shown.by_name(found[1])
            unknown = Meaning(why="it is not known what this footnote means", is_open=True)
            yield from (said if said.sources or said.is_open else unknown).citations(
                found[0], *found.span()
            )


def _numbers(marks: Sequence[CitationMark]) -> Iterator[int]:
    for mark in marks:
        found = (_NUMBER.fullmatch(each.written) for each in mark.citations if not each.doubt)
        yield from (int(each[1]) for each in found if each is not None)


def _named_beside(text: str, mark: CitationMark, shown: CitableSources) -> tuple[str, ...] | None:
    """Returns the ids of the sources that a citation names besides its number, as in "[2:
    guideline.pdf]" or "[2](https://x.org/guideline.pdf)"; None if it names none."""
    target = _TARGET.match(text, mark.end)
    at_address = None if target is None else shown.at_address(target[1])
    own = {each.id for each in mark.citations if _NUMBER.fullmatch(each.written) is None}
    said = text[mark.start : mark.end].strip("[]【】()")
    named = shown.in_reference(said).sources if any(map(str.isalpha, said)) else ()
    others = tuple(each for each in named if each not in own)
    return others or at_address


def _meanings(notes: Sequence[Footnote], shown: CitableSources) -> dict[str, Meaning]:
    """Returns the meaning of each label, such as the "1" in "[1]", if the answer's own footnotes or
    references define it. ``notes``: the footnotes and references."""
    meant = dict[str, Meaning]()
    for note in notes:
        if note.label and note.text:
            said, before = _meant(note.text, shown), meant.get(note.label)
            if not note.is_sure and not said.sources:
                said = Meaning(why=_NO_LIST, is_open=True)
            if before is not None and before != said:
                said = Meaning(why=f"{note.label} stands there twice", is_open=True)
            meant[note.label] = said
    bullets = [note for note in notes if note.text and not note.label]
    for place, note in enumerate(() if meant else bullets, 1):
        listed = _meant(note.text, shown)
        if listed.sources and listed != shown.by_number(place):
            why = "the answer lists its sources in another order than they were shown in"
            meant[str(place)] = Meaning(why=why, is_open=True)
    return meant


def _meant(text: str, shown: CitableSources) -> Meaning:
    """Returns the meaning of a footnote: the sources that it names, or else those that it cites, as in
    "Source 3"."""
    named = shown.in_reference(text)
    if named.sources:
        return named
    marks = citation_marks(text, shown.ids, shown.known)
    cited = [
        each
        for mark in marks
        for citation in mark.citations
        for each in _of_mark(citation, {}, shown, (mark.start, mark.end))
    ]
    if cited and all(each.source is not None for each in cited):
        return Meaning(tuple(dict.fromkeys(each.source for each in cited if each.source is not None)))
    said = shortened(printable(text), _LONGEST_NOTE)
    why = named.why if named.is_open else "that names none of the sources"
    is_open = named.is_open or any(each.is_open for each in cited)
    return Meaning(why=f"the answer says that it stands for “{said}”, and {why}", is_open=is_open)


def _of_mark(
    citation: Citation,
    meant: Mapping[str, Meaning],
    shown: CitableSources,
    place: tuple[int, int],
    beside: tuple[str, ...] | None = None,
) -> Iterator[ReadCitation]:
    """Yields the citations of one mark, such as "[2]", in the text.

    If the answer itself defines the meaning of a number, this meaning is used; otherwise, the number is
    the position among the shown sources. ``meant``: the meanings that the answer defines, by label.
    ``place``: the position of the mark. ``beside``: the ids of the sources that the mark also names.
    """
    found = _meaning_of(citation, meant, shown, beside)
    for each in found.citations(citation.written, *place):
        yield replace(each, is_said=citation.is_said)


def _meaning_of(
    citation: Citation,
    meant: Mapping[str, Meaning],
    shown: CitableSources,
    beside: tuple[str, ...] | None = None,
) -> Meaning:
    number = _NUMBER.fullmatch(citation.written)
    if citation.doubt:
        return Meaning(why=citation.doubt, is_open=True)
    if number is None:
        return Meaning() if citation.id is None else Meaning((citation.id,))
    found = meant[number[1]] if number[1] in meant else shown.by_number(int(number[1]))
    return found if beside is None else _agreed(found, beside)


def meanings_of(entry: str, shown: CitableSources) -> Sequence[Meaning]:
    """Returns the meanings of an entry in a list of citations. The entry may be a source's name, the
    content of a citation, such as "Source 2, p. 3", or a line of references."""
    by_name = shown.by_name(entry)
    if by_name.sources or by_name.is_open:
        return [by_name]
    inside = plain_signs(entry).strip(" []【】()")
    contents = MarkContents(shown.ids, frozenset(shown.known))
    found = [_meaning_of(each, {}, shown) for each in contents.in_brackets(inside, square=True)]
    return found or [shown.in_reference(entry)]


def _agreed(by_number: Meaning, named: tuple[str, ...]) -> Meaning:
    """Returns the meaning of a number next to names of sources. If number and names disagree, the meaning
    is unknown."""
    if by_number.is_open and len(named) == 1:
        return Meaning(named)
    if by_number.is_open or not {*by_number.sources}.isdisjoint(named):
        return by_number
    return Meaning(why=OTHERS_NAMED, is_open=True)


def _listed(text: str, notes: Sequence[Footnote], shown: CitableSources) -> Iterator[ReadCitation]:
    """Yields the citations of a list of references whose numbers do not occur in the text.

    A line that names no source may be a part of the answer itself, so its citation is open
    (``is_open``).
    """
    scope, after, above = (0, 0), 0, text[: notes[0].start] if notes else ""
    for note in notes:
        scope = (after, note.start) if text[after : note.start].strip() else scope
        after = note.end
        if note.text and scope[1]:
            found = _meant(note.text, shown)
            bare = without_marks(note.text, shown.ids, shown.known)
            is_named = bool(shown.in_reference(bare).sources) or not any(map(str.isalnum, bare))
            if not is_named and (not note.label or not text.startswith("[", note.start) or found.sources):
                found = Meaning(why=_NO_LIST, is_open=True)
            is_said = bool(note.label) and f"({note.label})" in above
            found = Meaning(why=_ROUND.format(note.label), is_open=True) if is_said else found
            where = (note.start, note.end)
            for each in found.citations(shortened(printable(note.text), _LONGEST_NOTE), *where):
                yield replace(each, scope=scope, is_said=is_said)


def _in_lists(citations: Sequence[ReadCitation], lists: Sequence[SourceList]) -> Iterator[ReadCitation]:
    """Yields the citations. If a citation is in a list, its ``scope`` becomes the part of the text that
    the list supports."""
    starts = [each.start for each in lists]
    for each in citations:
        place = -1 if each.start is None else bisect_right(starts, each.start) - 1
        is_listed = place >= 0 and each.start is not None and each.start < lists[place].end
        yield replace(each, scope=lists[place].scope) if is_listed and each.scope is None else each


def _by_pattern(text: str, shown: CitableSources, pattern: str) -> Iterator[ReadCitation]:
    for found in matches_of(pattern, text):
        written, named = found[0], (found[1] if found.re.groups else found[0]) or ""
        for name in re.split(r"\s*[,;]\s*", named.strip()):
            for meant in _named(name, shown):
                yield from meant.citations(written, *found.span())


def _named(name: str, shown: CitableSources) -> Sequence[Meaning]:
    """Returns the meaning of a number, of a range of numbers such as "2-4", or of a name: one ``Meaning``
    for each source."""
    numbers, by_name = _RANGE.fullmatch(name), shown.by_name(name)
    if numbers is None or by_name.sources:
        return [by_name]
    places = spelt_out(int(numbers[1]), int(numbers[2] or numbers[1]))
    return [shown.by_number(each) for each in places]
