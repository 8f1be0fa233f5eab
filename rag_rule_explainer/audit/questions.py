"""This module defines the questions of an audit: as they are asked, and with their results. A result is
written as one line of JSON and read back; such a line is untrusted."""

import json
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from hashlib import sha256
from typing import Annotated, Any, Literal, TypeAlias, cast

from pydantic import Field, TypeAdapter, ValidationError

from ..errors import InvalidInput
from ..explanation.explanation import Explanation
from ..fixing.fixes import SURE
from ..printable import as_json, encodable
from ..rules import ClaimStatus, RuleKind
from ..sources import SourceLike, SourceSet
from ..sources.given import fingerprint_of

AnswerOutcome: TypeAlias = Literal["bad", "not bad", "undecided", "failed", "stopped"]
"""An ``AnswerOutcome`` is the result of a question with all of its documents shown. "failed": there is
no explanation, because of an error. "stopped": a limit of the audit was reached first; the question is
asked again if the audit is continued."""
RuleOutcome: TypeAlias = Literal["bad", "not bad", "good", "not good"]
"""A ``RuleOutcome`` says what a rule claims of the answers: "bad" or "not bad" if the audit's condition
of bad answers was explained, "good" or "not good" if its condition of good answers was explained. An
answer may be neither bad nor good."""
_SAVED = re.compile(r"explanations/[0-9a-f]{20}\.(?:html|json)")
"""Matches the path of a saved explanation. A line with any other path is refused, because the path may
lead out of the folder of the audit."""
_Count: TypeAlias = Annotated[int, Field(ge=0)]


@dataclass(frozen=True, slots=True)
class LoggedQuestion:
    """A ``LoggedQuestion`` is a question to be audited.

    ``id``: names it in the audit. ``input``: the application's input; None if the question itself is the
    input. ``documents``: logged documents that are shown in place of retrieved ones; None to retrieve
    documents.
    """

    id: str
    question: str
    input: Any = None
    documents: tuple[SourceLike, ...] | None = None

    @property
    def given(self) -> Any:
        """Returns the input of the application: ``input``, or the question if there is no ``input``."""
        return self.question if self.input is None else self.input

    @property
    def mark(self) -> str:
        """Returns a hash of the input and of the documents that are given, with their metadata but not
        their scores; empty if the question has neither. Of an object in the input that is no JSON data,
        only the type is part of the hash."""
        if self.input is None and self.documents is None:
            return ""
        documents = None if self.documents is None else [_marked(each) for each in self.documents]
        given = json.dumps([as_json(self.input), documents])
        return sha256(given.encode("ascii")).hexdigest()


@dataclass(frozen=True, slots=True)
class ShownDocument:
    """A ``ShownDocument`` is a document that was shown with a question.

    ``id``: its id in the explanation. ``sha256``: the hash of its text. ``rank``: its position among the
    documents, from 1. ``pinned``: True iff it was never omitted, so that no rule names it. ``named``:
    False if the id was made up for a document that has none. ``name``: the name in its metadata, if the
    id was made up because several documents of the question have this name; empty otherwise.
    """

    id: str
    sha256: str
    rank: int
    pinned: bool = False
    named: bool = True
    name: str = ""


@dataclass(frozen=True, slots=True)
class AuditedRule:
    """An ``AuditedRule`` is one rule: whenever ``documents`` are retained (or omitted, as ``kind`` says),
    the answer is what ``outcome`` says, as far as ``claim`` goes.

    ``evidence``: the evidence of the claim in words. ``minimal``: True iff no smaller set of these
    documents is enough; None if this is not known. ``confidence``: the share of the subsets on which the
    rule held; 1 if no subset was seen to break it. ``limits``: the subsets that the claim does not cover,
    in words; empty if it covers all.
    """

    kind: RuleKind
    outcome: RuleOutcome
    documents: tuple[str, ...]
    claim: ClaimStatus
    evidence: str = ""
    minimal: bool | None = True
    confidence: Annotated[float, Field(ge=0, le=1)] = 1.0
    limits: tuple[str, ...] = ()

    @property
    def is_sure(self) -> bool:
        """Returns True iff the rule is proved, or passed the votes or the test that was asked for."""
        return self.claim in SURE

    @property
    def needs_each(self) -> bool:
        """Returns True iff the rule is sure, and known to be minimal. Any other rule may name a document
        that is not needed, for example because a limit ended the search for smaller rules."""
        return self.is_sure and self.minimal is True

    @property
    def is_always_so(self) -> bool:
        """Returns True iff no subset was seen to break the rule. A rule that only has to hold on a share
        of the subsets may break on some."""
        return self.claim != "confident"


@dataclass(frozen=True, slots=True)
class AuditedQuestion:
    """An ``AuditedQuestion`` is the result of one question of an audit.

    ``outcome``: whether the answer is bad with all documents shown. ``reason``: one sentence that says
    why the question failed, was stopped, or is undecided; empty otherwise. ``answer``: the answer,
    shortened if it is long. ``shown``: the documents in their order. ``rules``: all rules found.

    ``exhaustive``: True iff the search looked at everything, so that there are no other minimal rules.
    ``why_open``: the reason why there may be others; empty if ``exhaustive``. ``doubted``: True iff
    something other than the documents may have changed the answers, so that no rule counts as sure.
    ``is_good``: whether the good outcome holds with all documents shown; None if there is no such
    condition, or no verdict.

    ``cost``: the cost of all tokens whose price is known. ``given``: a digest of the question as it was
    asked; empty if the digest is not kept. ``settings``: a digest of the settings with which it was
    explained, as the folder of the audit names them. ``explanation``: the path of the saved explanation
    within the folder of the audit; empty if there is none.
    """

    id: str
    question: str
    outcome: AnswerOutcome
    reason: str = ""
    answer: str = ""
    shown: tuple[ShownDocument, ...] = ()
    rules: tuple[AuditedRule, ...] = ()
    exhaustive: bool = False
    why_open: str = ""
    doubted: bool = False
    is_good: bool | None = None
    warnings: tuple[str, ...] = ()
    given: str = ""
    settings: str = ""
    probes: _Count = 0
    replays: _Count = 0
    stored: _Count = 0
    tokens: _Count = 0
    cost: Annotated[float, Field(ge=0)] = 0.0
    seconds: Annotated[float, Field(ge=0)] = 0.0
    explanation: str = ""

    @property
    def is_explained(self) -> bool:
        """Returns True iff there is an explanation of the answer. Only such a question counts in the
        tables of the report; questions without an explanation are listed separately."""
        return self.outcome in {"bad", "not bad", "undecided"}

    def rules_of(self, kind: RuleKind, outcome: RuleOutcome) -> tuple[AuditedRule, ...]:
        """Returns the rules of one kind that claim one outcome."""
        return tuple(each for each in self.rules if each.kind is kind and each.outcome == outcome)

    def as_json_line(self) -> str:
        """Returns the question as one line of JSON in ASCII, without a line break."""
        return json.dumps(_encodable(asdict(self)), separators=(",", ":"))

    @classmethod
    def from_json_line(cls, line: str | bytes) -> "AuditedQuestion":
        """Returns the question that a line written by ``as_json_line`` holds. Raises InvalidInput for any
        other line."""
        try:
            read = _reader().validate_json(line)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(map(str, first["loc"])) or "it"
            raise InvalidInput(f"a line is no audited question: {where}: {first['msg']}") from error
        shown = {each.id for each in read.shown}
        if len(shown) < len(read.shown):
            raise InvalidInput("a line is no audited question: two documents have the same id")
        if any(not shown.issuperset(each.documents) for each in read.rules):
            raise InvalidInput("a line is no audited question: a rule names a document not shown")
        if read.explanation and not _SAVED.fullmatch(read.explanation):
            raise InvalidInput("a line is no audited question: explanation: no file of an audit")
        return read


@dataclass(frozen=True, slots=True)
class AuditedAnswer:
    """An ``AuditedAnswer`` holds the result of one question, and the explanations from which the result
    was made (empty if there are none). Engines yield one for each question."""

    question: AuditedQuestion
    explanations: Sequence[Explanation] = field(default_factory=tuple[Explanation, ...])


def _marked(document: SourceLike) -> Any:
    """Returns a hash of the id, the text and the metadata of a document. If the value is no document,
    returns it as JSON data."""
    try:
        source = SourceSet.of([document]).sources[0]
    except InvalidInput:
        return as_json(document)
    return fingerprint_of(source.id, source.text, source.metadata)


@lru_cache(maxsize=1)
def _reader() -> TypeAdapter[AuditedQuestion]:
    return TypeAdapter(AuditedQuestion)


def _encodable(value: Any) -> Any:
    if isinstance(value, str):
        return encodable(value)
    if isinstance(value, dict):
        return {name: _encodable(each) for name, each in cast("dict[str, Any]", value).items()}
    if isinstance(value, (list, tuple)):
        return [_encodable(each) for each in cast("Sequence[Any]", value)]
    return value
