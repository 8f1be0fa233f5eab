"""This module decides which retrieved texts are the same source. It compares ids and content, never
positions."""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...errors import InvalidInput
from ...sources import Source
from ...sources.given import NAMING_METADATA, is_made_up
from ..copies.copying import described

_DIGITS = (4, 8, 16, 64)
_VOLATILE = re.compile(
    r"score|distance|similarity|relevance|rank$|rerank|retrieved|timestamp|latency|^_?id$"
)


@dataclass(frozen=True, slots=True)
class RetrievedText:
    """A ``RetrievedText`` holds a text with the id and the metadata that its framework gives it.

    ``id``: None if the framework gives no id. ``part_of``: the id of the document that the text was cut
    from; None if it is unknown or the text is a whole document.
    """

    text: str
    id: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])
    part_of: str | None = None


def checked_items(batches: Sequence[Sequence[object]], kind: type) -> None:
    """Raises InvalidInput if an item is not of the class ``kind``, because the function ``gate`` of a
    different integration has made it."""
    other = next((each for batch in batches for each in batch if not isinstance(each, kind)), None)
    if other is not None:
        raise InvalidInput(
            "a search is in the gate of another integration; import gate and RuleExplainer from the "
            f"same package (an item is of {type(other).__module__}, not of {kind.__module__})"
        )


def sources_of(batches: Sequence[Sequence[RetrievedText]]) -> list[list[Source]]:
    """Returns the source of each text of each retrieval in ``batches``. Texts with equal identity get
    equal sources.

    The identity of a text is its id and content. If the text has no id, its identity is its content and
    its lasting metadata (metadata that no search computes, unlike scores). Some stores give the same
    content a new random id or another score in every retrieval. Such texts are one source if they are
    from different retrievals. Within one retrieval, they are two sources, unless all their metadata is
    equal.

    A source is named after its id or its document's id. If these are missing or UUIDs, it is named after
    its metadata (source, title, …). A UUID is never a name, because the next call may give a different
    one. If several sources have the same name, a hash is added to each name, as short as possible.
    """
    known = _identities(batches)
    first: dict[str, RetrievedText] = {}
    for identities, texts in zip(known, batches, strict=True):
        for identity, text in zip(identities, texts, strict=True):
            first.setdefault(identity, text)
    names = _distinct({identity: _name(text) for identity, text in first.items()}, _marks(first))
    return [
        [Source(names[each], first[each].text, first[each].metadata) for each in identities]
        for identities in known
    ]


def _identities(batches: Sequence[Sequence[RetrievedText]]) -> list[list[str]]:
    alike: dict[str, list[str]] = {}
    """For each content (with its lasting metadata): the identities of the texts that have this
    content."""
    whole: dict[str, str] = {}
    """For each text without an id (with all its metadata): its identity."""
    known: list[list[str]] = []
    for texts in batches:
        own = [_identity(text, whole) for text in texts]
        taken = set(own)
        identities: list[str] = []
        for text, identity in zip(texts, own, strict=True):
            # Two items without text may be different images, so they are not one source although their
            # (empty) texts are equal.
            blank = text.id is not None and not text.text.strip()
            same = alike.setdefault(identity if blank else _content(text), [])
            others = (each for each in same if each not in taken)
            chosen = identity if identity in same else next(others, identity)
            if text.id is None:
                whole[_whole(text)] = chosen
            taken.add(chosen)
            if chosen not in same:
                same.append(chosen)
            identities.append(chosen)
        known.append(identities)
    return known


def _identity(text: RetrievedText, whole: Mapping[str, str]) -> str:
    if text.id is not None:
        return _hashed(json.dumps([text.id, text.text]))
    everything = _whole(text)
    return whole.get(everything, _hashed(everything))


def _whole(text: RetrievedText) -> str:
    return json.dumps([text.text, described(dict(text.metadata))])


def _content(text: RetrievedText) -> str:
    lasting = {key: value for key, value in text.metadata.items() if not _is_volatile(key, value)}
    return json.dumps([text.text, described(lasting)])


def _is_volatile(key: str, value: object) -> bool:
    """Returns True for metadata that depends on the search and not on the document, such as scores,
    distances and times."""
    return isinstance(value, float) or _VOLATILE.search(str(key).casefold()) is not None


def _hashed(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _marks(texts: Mapping[str, RetrievedText]) -> dict[str, str]:
    """Returns a hash for each identity. ``_distinct`` adds a part of the hash to a name that several
    identities have. Texts of the same name have different hashes. The hash of a text is the same at every
    call."""
    alike: Counter[str] = Counter()
    marks: dict[str, str] = {}
    for identity, text in texts.items():
        if text.id is not None and not is_made_up(text.id):
            marks[identity] = identity
            continue
        content = _content(text)
        is_first = text.id is None and not alike[content]
        marks[identity] = _hashed(content if is_first else json.dumps([content, alike[content]]))
        alike[content] += 1
    return marks


def _name(text: RetrievedText) -> str:
    named = [text.metadata.get(key) for key in NAMING_METADATA]
    # A random id means nothing to a reader, so it is not used as a name.
    ids = [each for each in (text.id, text.part_of) if each and not is_made_up(each)]
    return next((name for name in (*ids, *named) if isinstance(name, str) and _names(name)), "")


def _names(text: str) -> bool:
    """Returns True iff the text can be a name. Returns False for blank text, and for text with lone
    surrogates, which cannot be printed."""
    return bool(text.strip()) and text == text.encode("utf-8", "ignore").decode("utf-8")


def _distinct(names: Mapping[str, str], marks: Mapping[str, str]) -> dict[str, str]:
    """Returns a unique name for each identity. If several identities have the same name, a part of the
    hash in ``marks`` is added. If an attacker has chosen texts with equal short hashes, longer hashes are
    used."""
    used = Counter(names.values())
    for digits in _DIGITS:
        chosen = {
            identity: _unique(name, used, marks[identity], digits) for identity, name in names.items()
        }
        if len(set(chosen.values())) == len(chosen):
            return chosen
    return dict(marks)


def _unique(name: str, used: Counter[str], mark: str, digits: int) -> str:
    if not name:
        return f"doc-{mark[: max(digits, 8)]}"
    return name if used[name] == 1 else f"{name}#{mark[:digits]}"
