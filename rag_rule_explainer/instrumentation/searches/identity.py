"""Retrieved texts as sources: who is who, by id or content, never by position."""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...given import NAMING_METADATA, is_made_up
from ...sources import Source
from ..copies.copying import described

_DIGITS = (4, 8, 16, 64)
_VOLATILE = re.compile(
    r"score|distance|similarity|relevance|rank$|rerank|retrieved|timestamp|latency|^_?id$"
)


@dataclass(frozen=True, slots=True)
class Retrieved:
    """This class represents a text as a framework's retrieval tells of it.

    ``id``: None where it has none. ``part_of``: the id of the whole document it was cut from, if any.
    """

    text: str
    id: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])
    part_of: str | None = None


def sources_of(batches: Sequence[Sequence[Retrieved]]) -> list[list[Source]]:
    """Returns the source of each text of each retrieval; equal texts give equal sources.

    A text is known by its content and its id, without an id by its content and what in its metadata does
    not change from call to call. Where another retrieval returned the same content under another id, as
    stores with random ids do, both are one source; within one retrieval they are two. A source is named
    after its id or that of the whole it is part of, or, where these are UUIDs or there are none, after
    the metadata that names it (source, title, …), with as much of a hash as tells apart texts of one
    name. A UUID is part of no name: it may be another one at the next call.
    """
    known = _identities(batches)
    first: dict[str, Retrieved] = {}
    for identities, texts in zip(known, batches, strict=True):
        for identity, text in zip(identities, texts, strict=True):
            first.setdefault(identity, text)
    names = _distinct({identity: _name(text) for identity, text in first.items()}, _marks(first))
    return [
        [Source(names[each], first[each].text, first[each].metadata) for each in identities]
        for identities in known
    ]


def _identities(batches: Sequence[Sequence[Retrieved]]) -> list[list[str]]:
    alike: dict[str, list[str]] = {}
    """By content and lasting metadata: the identities of that content so far."""
    known: list[list[str]] = []
    for texts in batches:
        own = [_identity(text) for text in texts]
        taken = set(own)
        identities: list[str] = []
        for text, identity in zip(texts, own, strict=True):
            # That nothing is said by two makes them no more alike: think of images.
            blank = text.id is not None and not text.text.strip()
            same = alike.setdefault(identity if blank else _content(text), [])
            others = (each for each in same if each not in taken)
            chosen = identity if identity in same or text.id is None else next(others, identity)
            taken.add(chosen)
            if chosen not in same:
                same.append(chosen)
            identities.append(chosen)
        known.append(identities)
    return known


def _identity(text: Retrieved) -> str:
    return _hashed(_content(text) if text.id is None else json.dumps([text.id, text.text]))


def _content(text: Retrieved) -> str:
    lasting = {key: value for key, value in text.metadata.items() if not _is_volatile(key, value)}
    return json.dumps([text.text, described(lasting)])


def _is_volatile(key: str, value: object) -> bool:
    """Returns True for what a search says of its own doing: scores, distances, times."""
    return isinstance(value, float) or _VOLATILE.search(str(key).casefold()) is not None


def _hashed(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _marks(texts: Mapping[str, Retrieved]) -> dict[str, str]:
    """Returns what tells texts of one name apart, of each identity: the same at every call."""
    alike: Counter[str] = Counter()
    marks: dict[str, str] = {}
    for identity, text in texts.items():
        if not is_made_up(text.id):
            marks[identity] = identity
            continue
        content = _content(text)
        marks[identity] = _hashed(json.dumps([content, alike[content]]))
        alike[content] += 1
    return marks


def _name(text: Retrieved) -> str:
    named = [text.metadata.get(key) for key in NAMING_METADATA]
    # An id that a framework made up tells a reader nothing.
    told = [each for each in (text.id, text.part_of) if each and not is_made_up(each)]
    return next((name for name in (*told, *named) if isinstance(name, str) and _names(name)), "")


def _names(text: str) -> bool:
    """Returns False for blank text and for lone surrogates, which nothing can print."""
    return bool(text.strip()) and text == text.encode("utf-8", "ignore").decode("utf-8")


def _distinct(names: Mapping[str, str], marks: Mapping[str, str]) -> dict[str, str]:
    """Returns a name of its own for each identity. Names and texts are untrusted, and may be made to
    clash."""
    used = Counter(names.values())
    for digits in _DIGITS:
        chosen = {
            identity: _told_apart(name, used, marks[identity], digits) for identity, name in names.items()
        }
        if len(set(chosen.values())) == len(chosen):
            return chosen
    return dict(marks)


def _told_apart(name: str, used: Counter[str], mark: str, digits: int) -> str:
    if not name:
        return f"doc-{mark[: max(digits, 8)]}"
    return name if used[name] == 1 else f"{name}#{mark[:digits]}"
