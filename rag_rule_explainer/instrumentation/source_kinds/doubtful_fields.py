"""This module finds what an application is given, or holds, beside the messages of a conversation, and of
which nothing shows that it is independent of them.

A summary, a translation or an embedding of a turn has nothing in common with it that could be recognised.
So a content is doubted unless something speaks for it: its name, its form, that code has it too, or its
size.
"""

import re
import sys
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, time, timedelta
from enum import Enum
from numbers import Number
from pathlib import PurePath
from types import FunctionType
from typing import Any, TypeAlias, cast
from uuid import UUID

from ..rewinding.companies import is_of_own
from .contents_beside import is_message, own_fields, values_in
from .doubtful_texts import DoubtfulTexts
from .field_names import Naming, naming_in, naming_of
from .listed_messages import listed_text, spoken_in
from .readable_forms import MEDIA, read_as
from .turn_copies import told

_LEVELS = 12
_MOST = 5_000
"""The largest number of values that are judged."""
_LONGEST_NAME = 64
_VECTOR = 8
"""The smallest number of numbers in a list that may say something of a text."""
_CODE = re.compile(r"[a-z0-9]+(?:[-_.:/][A-Za-z0-9]+)*|[A-Z0-9_]+")
"""Matches names of tools, tags and choices."""
_PLAIN = (bool, type(None), type, date, time, timedelta, UUID, PurePath, Enum, re.Pattern)
_FEWEST = 3
"""The smallest number of documents of which one may be like a reply."""
_OF_DOCUMENTS = frozenset({"source", "doc_id", "document_id", "chunk_id", "page_content", "node_id"})
"""The fields that show that a dict is a document."""
_DOCUMENTS = frozenset({"Document", "BaseNode", "NodeWithScore", "BaseMedia"})

_Found: TypeAlias = Iterator[tuple[str, str]]
"""The names of the fields that are doubted, each with a text of it."""


@dataclass(slots=True, eq=False)
class DoubtfulFields:
    """A ``DoubtfulFields`` judges contents.

    ``_texts``: judges single texts and numbers. ``is_ignored``: returns True iff the user has said that
    the field with this name has nothing to do with the conversation.
    """

    _texts: DoubtfulTexts
    is_ignored: Callable[[str], bool]
    _is_held: bool = field(default=False, init=False)
    _visited: int = field(default=0, init=False)
    _known: frozenset[str] = field(default=frozenset(), init=False)

    def __post_init__(self) -> None:
        self._known = frozenset(told(each).squeezed for each in self._texts.said)

    def found_in(
        self,
        content: Any,
        path: str,
        names: Sequence[str] = (),
        *,
        trusts: bool = False,
        is_held: bool = False,
    ) -> dict[str, str]:
        """Returns the names of the fields in a content that are doubted, each with a text of it.
        ``path``: the name under which the content is found; ``names``: the words of it that say what it
        is, from the inside out. ``trusts``: True if a field whose name says nothing is trusted.
        ``is_held``: True if the application holds the content, whose other objects of the user's are
        judged on their own."""
        self._visited, self._texts.trusts, self._is_held = 0, trusts, is_held
        self._texts.trusts_short = is_held
        found = dict[str, str]()
        for at, text in self._judged(content, path, tuple(names), frozenset()):
            if not self.is_ignored(at):
                found.setdefault(at, text)
        return found

    def _judged(self, value: Any, path: str, names: tuple[str, ...], above: frozenset[int]) -> _Found:
        self._visited += 1
        if isinstance(value, _PLAIN) or id(value) in above:
            return
        if len(above) > _LEVELS or self._visited > _MOST:
            if self._texts.naming(names) is not Naming.OTHER:
                yield path, "..."
            return
        above |= {id(value)}
        if isinstance(value, Number):
            if self._texts.is_number_of_talk(value, names):
                yield path, str(value)
        elif isinstance(value, (str, bytes, bytearray, memoryview)):
            yield from self._of_text(value, path, names, above)
        elif isinstance(value, Mapping):
            yield from self._of_mapping(cast("Mapping[Any, Any]", value), path, names, above)
        elif isinstance(value, (list, tuple, set, frozenset, deque)):
            yield from self._of_list(list(cast("Collection[Any]", value)), path, names, above)
        else:
            yield from self._of_object(value, path, names, above)

    def _of_object(self, value: Any, path: str, names: tuple[str, ...], above: frozenset[int]) -> _Found:
        if is_message(value):
            yield from self._of_message(value, path, names, above)
        elif not self._is_held or not is_of_own(value) or isinstance(value, FunctionType):
            is_document = any(each.__name__ in _DOCUMENTS for each in type(value).__mro__)
            inner = (*names, "documents") if is_document else names
            for name, each in values_in(value):
                at = f"{path}.{name}" if name else path
                yield from self._judged(each, at, (name, *inner) if name else inner, above)

    def _of_text(self, value: Any, path: str, names: tuple[str, ...], above: frozenset[int]) -> _Found:
        if not isinstance(value, str):
            value = bytes(value)
            if value.startswith(MEDIA):
                return
        read = read_as(value)
        if read.parsed:
            for each in read.parsed:
                yield from self._judged(each, path, names, above)
            return
        text = value if isinstance(value, str) else value.decode("utf-8", "replace")
        if text.strip().isdecimal() and self._texts.is_number_of_talk(int(text), names):
            yield path, text
        if text.strip() and self._texts.is_doubtful(text, names, read.texts):
            yield path, text

    def _of_mapping(
        self, entries: Mapping[Any, Any], path: str, names: tuple[str, ...], above: frozenset[int]
    ) -> _Found:
        if is_message(entries):
            yield from self._of_message(entries, path, names, above)
            return
        keys = [each for each in entries if isinstance(each, str)]
        of_words = [each for each in keys if naming_of(each) is Naming.NEUTRAL]
        is_list = len(of_words) == len(keys) > 0 and all(
            isinstance(entries[each], Number) for each in keys
        )
        is_told = self._texts.like.is_like(" ".join(keys)) or any(map(self._is_told_key, keys))
        is_bag = is_list and not all(isinstance(entries[each], bool) for each in keys)
        is_trie = all(len(each) == 1 and isinstance(entries[each], Mapping) for each in keys)
        is_bag = (is_bag and len(keys) >= _VECTOR) or (bool(keys) and is_trie)
        if is_told or (is_bag and self._texts.naming(names) is Naming.NEUTRAL):
            yield path, ", ".join(keys)
        if not _OF_DOCUMENTS.isdisjoint(keys) and naming_in(names) is not Naming.TALK:
            names = ("documents", *names)
        for key, each in entries.items():
            name = key if isinstance(key, str) and len(key) < _LONGEST_NAME else ""
            at = f"{path}.{name}" if name.isidentifier() else path
            yield from self._judged(each, at, (name, *names) if name else names, above)

    def _is_told_key(self, key: str) -> bool:
        return " " in key and self._texts.like.is_like(key)

    def _of_message(self, value: Any, path: str, names: tuple[str, ...], above: frozenset[int]) -> _Found:
        """Judges the fields of a message beside what is said in it, and this too, unless it is one of the
        conversation's."""
        text = listed_text(value)
        if told(text).squeezed not in self._known and self._texts.is_doubtful(
            text, names, read_as(text).texts
        ):
            yield path, text
        for name, each in own_fields(value):
            if each is not value and not (isinstance(each, str) and each == text):
                yield from self._judged(each, f"{path}.{name}", (name, *names), above)

    def _of_list(
        self, listed: list[Any], path: str, names: tuple[str, ...], above: frozenset[int]
    ) -> _Found:
        if self._is_conversation(listed):
            yield from self._of_conversation(listed, path, names, above)
            return
        texts = [each for each in listed if isinstance(each, str)]
        numbers = [each for each in listed if type(each) is not bool and isinstance(each, Number)]
        naming = self._texts.naming(names)
        if len(numbers) == len(listed) and (len(listed) >= _VECTOR or naming is Naming.TALK):
            if listed and (naming is not Naming.OTHER or self._texts.like.is_like(_of_signs(numbers))):
                yield path, ", ".join(map(str, numbers[:_VECTOR]))
            return
        if naming is not Naming.OTHER and _is_of_places(listed):
            yield path, str(listed[:_VECTOR])
        elif len(texts) == len(listed) and texts:
            yield from self._of_texts(texts, path, names)
        else:
            yield from self._of_elements(listed, path, names, above)

    def _of_elements(
        self, listed: list[Any], path: str, names: tuple[str, ...], above: frozenset[int]
    ) -> _Found:
        """Judges a list of any elements: each, and the pieces of a text that all of them have."""
        for joined in _joined_in(listed, self._is_known):
            if self._texts.like.is_like(joined):
                yield path, joined
        found = [[*self._judged(each, path, names, above)] for each in listed]
        if not self._is_by_chance(sum(map(bool, found)), len(listed), self._texts.naming(names)):
            yield from (one for each in found for one in each)

    def _is_by_chance(self, doubted: int, of: int, naming: Naming) -> bool:
        """Returns True iff so few of the elements that the application holds, such as documents, are like
        a turn that a reply may have been made of them."""
        return self._is_held and naming is Naming.OTHER and of >= _FEWEST and 2 * doubted < of

    def _of_texts(self, texts: list[str], path: str, names: tuple[str, ...]) -> _Found:
        """Judges a list of texts: each, and all of them as one."""
        is_of_names = self._texts.naming(names) is not Naming.TALK and all(map(_CODE.fullmatch, texts))
        whole = " ".join(texts)
        is_reply = any(map(self._texts.like.is_like, texts))
        is_one = not is_reply or not self._is_by_chance(0, len(texts), self._texts.naming(names))
        is_in_pieces = self._texts.naming(names) is Naming.NEUTRAL and not any(
            " " in each for each in texts
        )
        is_run = is_in_pieces and self._texts.like.shares_words(whole)
        if is_run or (is_one and any(map(self._texts.like.is_like, (whole, "".join(texts))))):
            yield path, whole
        elif not is_of_names and not self._texts.is_question(whole, names, Naming.NEUTRAL):
            doubted = [
                each
                for each in texts
                if self._texts.is_doubtful(each, names, read_as(each).texts, len(texts))
            ]
            naming = self._texts.naming(names)
            is_long = naming is Naming.NEUTRAL and self._texts.is_long(whole)
            constants = all(map(self._texts.is_constant, texts))
            by_chance = self._is_by_chance(len(doubted), len(texts), naming)
            if doubted and not is_long and not by_chance:
                yield path, doubted[0]
            elif naming is Naming.NEUTRAL and len(texts) >= _VECTOR and not is_long and not constants:
                yield path, whole

    def _of_conversation(
        self, listed: list[Any], path: str, names: tuple[str, ...], above: frozenset[int]
    ) -> _Found:
        """Judges what is in a list of messages and is none, and the other fields of the messages. A
        message that the first request does not have is none of its turns."""
        for each in listed:
            if is_message(each):
                for name, inner in own_fields(each):
                    if not (isinstance(inner, str) and inner == listed_text(each)):
                        yield from self._judged(inner, f"{path}.{name}", (name, *names), above)
            elif not self._is_known(each):
                yield from self._judged(each, path, names, above)

    def _is_conversation(self, listed: list[Any]) -> bool:
        """Returns True iff messages of the first request are in a list: any one, or most of the texts in
        a list of texts alone."""
        known = [each for each in listed if self._is_known(each)]
        if all(isinstance(each, str) for each in listed):
            return len(known) > 1 and 2 * len(known) >= len(listed)
        return bool(known)

    def _is_known(self, element: Any) -> bool:
        return any(told(each.text).squeezed in self._known for each in spoken_in(element) if each.text)


def _of_signs(numbers: Sequence[Any]) -> str:
    """Returns the text whose signs have these numbers."""
    return "".join(chr(each) for each in numbers if isinstance(each, int) and 8 < each <= sys.maxunicode)


def _is_of_places(listed: Sequence[Any]) -> bool:
    """Returns True iff a list has nothing but a few lists of numbers, as of places in a text."""
    inner = [cast("Sequence[Any]", each) for each in listed if isinstance(each, (list, tuple))]
    is_all = len(inner) == len(listed) > 1
    return is_all and all(each and all(isinstance(one, Number) for one in each) for each in inner)


def _joined_in(listed: Sequence[Any], is_known: Callable[[Any], bool]) -> Iterator[str]:
    """Yields the texts that the elements of a list have in the same field, joined, as they are pieces of
    a text in a stream or in a list of tokens. Leaves out the messages that ``is_known`` names."""
    joined = dict[str, list[str]]()
    for each in listed:
        for name, text in _texts_in(each, "", _LEVELS, is_known):
            joined.setdefault(name, []).append(text)
    for texts in joined.values():
        if len(texts) > 1:
            yield "".join(texts)
            yield " ".join(texts)


def _texts_in(
    value: Any, name: str, levels: int, is_known: Callable[[Any], bool]
) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield name, value
    elif not levels or is_known(value):
        return
    elif isinstance(value, Mapping):
        for key, each in cast("Mapping[Any, Any]", value).items():
            yield from _texts_in(each, f"{name}.{key}", levels - 1, is_known)
    elif isinstance(value, (list, tuple)):
        for each in cast("Sequence[Any]", value):
            yield from _texts_in(each, f"{name}.", levels - 1, is_known)
