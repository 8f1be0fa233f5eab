"""This module finds sources by their names: ids, titles, file names and addresses."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from ...late_patterns import compiled_late
from .citing_text import Citable
from .meaning import Meaning

_NAMING = compiled_late(
    r"(?:doc(?:ument)?|source|file|page|ref(?:erence)?doc|node|original)?(?:title|name|source|file|filename|"
    r"path|ur[il]|link|href|address|doi|isbn|id|key|permalink|slug|label|citation|reference|headline)"
)
"""Matches the keys of metadata whose values name a source, after "_" and "-" are removed. Other keys,
such as a topic, do not match."""
_LONGEST = 2000
_SHORT = 2
"""The maximum number of letters of a short name. A short name counts only at the beginning of a
reference, or between commas."""
_BEFORE = compiled_late(
    r"(?:^|[^\w\s/&-]|\b(?:and|und|et|y|see|from|source|document|doc|title|file|id))\s*\Z"
)
_AFTER = compiled_late(
    r"\s*(?:\Z|[^\w\s/&-]|(?:and|und|et|y|pp?|pages?|sections?|sec|chapter|ch|seite|\d{4})\b|[-–—]\s)"
)
_APART = compiled_late(r"\s*(?:\Z|[,;:|–—]|-\s)")


@dataclass(frozen=True, slots=True)
class _Found:
    """A ``_Found`` is a name that was found in a text. ``is_sure``: True if punctuation separates the
    name from the text around it, and the name is not a word that may also occur in another title."""

    start: int
    end: int
    ids: tuple[str, ...]
    is_sure: bool


class NamesOfSources:
    """A ``NamesOfSources`` finds sources by their names. If several sources have the same name, only
    those that the model was shown count."""

    def __init__(self, shown: Sequence[Citable], held_out: Sequence[Citable]) -> None:
        self._ids = {in_small_letters(each.id) for each in (*held_out, *shown)}
        first, other = _by_name(shown), _by_name(held_out)
        self._named: Mapping[str, tuple[str, ...]] = {**other, **first}

    @property
    def have_addresses(self) -> bool:
        """Returns True iff the address of at least one source is known."""
        return any("://" in name for name in self._named)

    def exactly(self, name: str) -> tuple[str, ...]:
        """Returns the ids of the sources with this name."""
        return self._named.get(in_small_letters(name), ())

    def in_reference(self, text: str) -> Meaning:
        """Returns the meaning of a line in a list of references. The line cites all sources that it
        names. If a name is inside another name, only the longer one counts."""
        whole = self.exactly(text.strip().strip("."))
        if whole:
            return Meaning.one_of(whole)
        found = self._longest(f"{in_small_letters(text[:_LONGEST])}")
        groups = list[tuple[str, ...]]()
        for ids in (each.ids for each in found if each.is_sure):
            same = next((place for place, group in enumerate(groups) if {*group} & {*ids}), None)
            if same is None:
                groups.append(ids)
            else:
                groups[same] = tuple(each for each in groups[same] if each in ids)
        for group in groups:
            if len(group) > 1:
                return Meaning.one_of(group)
        if groups:
            return Meaning(tuple(group[0] for group in groups))
        unsure = Meaning.one_of(identity for each in found for identity in each.ids)
        if len(unsure.sources) == 1:
            why = f"it is not sure that this names {unsure.sources[0]}"
            return Meaning(why=why, is_open=True)
        return unsure

    def _longest(self, text: str) -> list[_Found]:
        """Returns the names in a text, in order, without those that overlap a longer one."""
        found = list[_Found]()
        for name in sorted((each for each in self._named if each in text), key=len, reverse=True):
            for start in _places(name, text):
                end = start + len(name)
                if all(end <= each.start or start >= each.end for each in found):
                    is_sure = self._is_sure(name, text[:start], text[end:])
                    if is_sure or not _is_short(name):
                        found.append(_Found(start, end, self._named[name], is_sure))
        return sorted(found, key=lambda each: each.start)

    def _is_sure(self, name: str, before: str, after: str) -> bool:
        if _is_short(name):
            is_first = not before.strip() or before.rstrip()[-1] in ",;"
            return is_first and _APART.match(after) is not None
        if not _BEFORE.search(before) or not _AFTER.match(after):
            return False
        is_special = name in self._ids or re.search(r"[\d./]|\w\s+\w", name) is not None
        return is_special or 2 * _letters(name) >= _letters(f"{before}{name}{after}")


def _by_name(sources: Sequence[Citable]) -> dict[str, tuple[str, ...]]:
    names = dict[str, dict[str, None]]()
    for source in sources:
        for name in _names_of(source):
            names.setdefault(name, {})[source.id] = None
    return {name: tuple(ids) for name, ids in names.items()}


def _names_of(source: Citable) -> Sequence[str]:
    values = (each for key, each in source.metadata.items() if _is_naming(key))
    names = [source.id, *(each for each in values if isinstance(each, str))]
    found = [in_small_letters(each) for each in names if len(each) <= _LONGEST]
    return [each for each in dict.fromkeys((*found, *map(_file_of, found))) if each]


def _is_naming(key: Any) -> bool:
    return isinstance(key, str) and bool(_NAMING.fullmatch(re.sub(r"[\s_-]", "", key.casefold())))


def _file_of(name: str) -> str:
    """Returns the last part of a path or an address; empty if there is only one part."""
    return PurePosixPath(name).name if "/" in name else ""


def in_small_letters(text: str) -> str:
    """Returns the form of the text in which names are compared: in lower case, with single spaces."""
    return " ".join(text.casefold().split())


def _is_short(name: str) -> bool:
    return len(name) <= _SHORT and name.isalpha()


def _letters(text: str) -> int:
    return sum(each.isalpha() for each in text)


def _places(name: str, text: str) -> Iterator[int]:
    """Yields the positions at which the name occurs as whole words."""
    place = text.find(name)
    while place >= 0:
        end = place + len(name)
        around = text[max(0, place - 1) : place] + text[end : end + 1]
        if not any(character.isalnum() or character in "-_" for character in around):
            yield place
        place = text.find(name, place + 1)
