"""This module recognises the documents of a log. The same text under the same name is one document, even
if explanations gave it different ids, or if it was shown twice for one question."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ..sources import SourceLike
from ..sources.given import NAMING_METADATA, given_parts, without_mark
from .questions import AuditedQuestion, ShownDocument

_MARK = "#"
"""The character between the name of a document and a hash, if several documents of one explanation have
the same name."""
_BY_PLACE = re.compile(r"D\d+(\.\d+)?")
"""Matches ids such as "D3" or "D3.2". A document that a caller gives without a name gets such an id,
which is made of its position."""
_BY_TEXT = re.compile(r"doc-[0-9a-f]{8,64}")
"""Matches ids such as "doc-1f2e3d4c". A document that an application retrieves without a name gets such
an id, which is made of its text."""
_SHORT = 8


@dataclass(frozen=True, slots=True, order=True)
class DocumentKey:
    """A ``DocumentKey`` identifies a document over all questions. ``name``: its name; empty if it has
    none. If an explanation added a hash to the name, because several documents have it, this hash is
    left out. ``sha256``: the hash of its text."""

    name: str
    sha256: str


@dataclass(slots=True)
class DocumentNames:
    """A ``DocumentNames`` maps each id of each question to a document, and gives each document a name
    for readers.

    ``names``: the name of each document. No two documents have the same name.
    """

    questions: tuple[AuditedQuestion, ...]
    names: Mapping[DocumentKey, str] = field(init=False)
    _of_questions: dict[str, Mapping[str, DocumentKey]] = field(init=False)

    def __post_init__(self) -> None:
        self._of_questions = {each.id: keys_of(each.shown) for each in self.questions}
        self.names = _names(self.questions, self._of_questions)

    def keys(self, question: AuditedQuestion) -> Mapping[str, DocumentKey]:
        """Returns the document behind each id of a question."""
        return self._of_questions[question.id]

    def named(self, question: AuditedQuestion, ids: Iterable[str]) -> tuple[str, ...]:
        """Returns the names of the documents with these ids in a question, each once."""
        keys = self._of_questions[question.id]
        return tuple(dict.fromkeys(self.names[keys[each]] for each in ids))


def keys_of(shown: Iterable[ShownDocument]) -> Mapping[str, DocumentKey]:
    """Returns the document behind each id. Sources of one question with the same name and the same text
    are one document of the corpus, which was shown twice."""
    return {each.id: _key(each) for each in shown}


def is_made_up_for(identity: str, *, given: bool) -> bool:
    """Returns True iff an id looks like one that an explanation made up for a document without an id,
    such as "doc-1f2e3d4c". ``given``: True if the document was given with its question, and False if it
    was retrieved. Only ids of given documents are also made up in the form "D3"."""
    return bool(_BY_TEXT.fullmatch(identity) or (given and _BY_PLACE.fullmatch(identity)))


def names_of(documents: Sequence[SourceLike]) -> frozenset[str]:
    """Returns the ids of the documents, and the names that their metadata give them. A caller may use
    either to refer to a document."""
    found = list[object]()
    for each in documents:
        parts = given_parts(each)
        if parts is not None:
            found += [parts.id, *(parts.metadata.get(key) for key in NAMING_METADATA)]
    return frozenset(str(each) for each in found if each is not None)


def _key(shown: ShownDocument) -> DocumentKey:
    return DocumentKey(without_mark(shown.id) if shown.named else shown.name, shown.sha256)


def _usual(key: DocumentKey, ids: Counter[str]) -> str:
    if not key.name:
        return f"doc-{key.sha256[:_SHORT]}"
    own = sorted(each for each in ids if without_mark(each) == key.name)
    return max(own, key=lambda each: ids[each], default=key.name)


def _names(
    questions: Iterable[AuditedQuestion], of_questions: Mapping[str, Mapping[str, DocumentKey]]
) -> dict[DocumentKey, str]:
    ids = dict[DocumentKey, Counter[str]]()
    for question in questions:
        for identity, key in of_questions[question.id].items():
            ids.setdefault(key, Counter())[identity] += 1
    # A document is named by its most frequent id. If that is the name of another document too, a hash of
    # the text is added.
    wanted = {key: _usual(key, found) for key, found in ids.items()}
    often = Counter(wanted.values())
    names, taken = dict[DocumentKey, str](), set[str]()
    for key in sorted(wanted, key=lambda each: (wanted[each], each.name, each.sha256)):
        name = wanted[key]
        if often[name] > 1:
            plain = key.name or name
            name = f"{plain}{_MARK}{key.sha256[:_SHORT]}"
            if name in taken:
                name = f"{plain}{_MARK}{key.sha256}"
        while name in taken:
            name += "'"
        names[key] = name
        taken.add(name)
    return names
