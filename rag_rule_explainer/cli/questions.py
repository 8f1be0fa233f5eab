"""This module reads the questions that ``rag-rules check`` asks. The file is untrusted."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from ..allowed import did_you_mean
from ..errors import InvalidInput
from ..printable import shortened
from .sources import Identity, SourceLine, complaint, read_text

_EXPECTED = (
    "give a text file with a question on each line, or a .jsonl file with lines like "
    '{"question": "..."}, which may have an "id" and "sources"'
)


_IS_JSON = re.compile(r"""\{|\[\s*(?:["{\[\]]|$)""")
"""Matches the beginning of a line of JSON, but not the beginning of a text such as "[draft] When?". A
line that matches is never asked as a text, even if it is malformed."""


_SOURCES = frozenset({"documents", "docs", "contexts", "context", "texts", "passages", "chunks"})
"""The keys under which files for other programs have the sources of a question. If a user writes such a
key here, the error message names the right one."""


class QuestionLine(BaseModel):
    """This model reads a question from one line of JSONL. Raises ValidationError for unknown fields."""

    model_config = ConfigDict(strict=True, extra="forbid")

    question: str
    id: Identity | None = None
    sources: list[SourceLine] | None = None


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """An ``AskedQuestion`` is a question with the number of its line in the file. ``sources``: the
    sources from which it is to be answered; None if its line gives no sources."""

    id: str
    question: str
    line: int
    sources: tuple[SourceLine, ...] | None = None


def load_questions(path: Path) -> list[AskedQuestion]:
    """Returns the questions in a file. Each line is one question, as text or as JSON. A line that begins
    as JSON is never asked as a text.

    A question without an id gets one from the number of its line, such as "line 3". Raises InvalidInput
    if the file cannot be read or has no question, for a malformed line, for an unknown key of a question,
    and for an id that occurs twice.
    """
    # ``splitlines`` is not used, because it also splits at U+2028 and similar characters, which JSON
    # texts may contain.
    content = read_text(path, _EXPECTED).replace("\r\n", "\n").replace("\r", "\n")
    lines = enumerate(content.split("\n"), start=1)
    written = [(number, line.strip()) for number, line in lines if line.strip()]
    if not written:
        raise InvalidInput(f"{path} holds no questions; {_EXPECTED}")
    is_json = path.suffix.lower() in {".jsonl", ".ndjson", ".json"}
    questions = [
        _of_json(line, number, path)
        if is_json or _IS_JSON.match(line)
        else AskedQuestion(f"line {number}", line, number)
        for number, line in written
    ]
    check_ids(questions, path)
    return questions


def check_ids(questions: Iterable[AskedQuestion], path: Path) -> None:
    """Raises InvalidInput if two questions of the file ``path`` have the same id."""
    seen = dict[str, int]()
    for each in questions:
        if each.id in seen:
            raise InvalidInput(
                f"{path}, line {each.line}: the id {shortened(each.id, 100)!r} is that of line "
                f"{seen[each.id]} as well; give each its own, or leave it out"
            )
        seen[each.id] = each.line


def _of_json(line: str, number: int, path: Path) -> AskedQuestion:
    where = f"{path}, line {number}"
    try:
        read = QuestionLine.model_validate_json(line)
    except ValidationError as error:
        unknown = [each["loc"][0] for each in error.errors() if each["type"] == "extra_forbidden"]
        if unknown:
            raise InvalidInput(f"{where}: {_why_unknown(str(unknown[0]))}") from error
        raise InvalidInput(f"{where}: {complaint(error)}; {_EXPECTED}") from error
    if not read.question.strip():
        raise InvalidInput(f"{where}: the question is empty; {_EXPECTED}")
    if read.sources is not None and not read.sources:
        raise InvalidInput(f"{where}: sources is an empty list; give some, or leave it out")
    sources = None if read.sources is None else tuple(read.sources)
    return AskedQuestion(f"line {number}" if read.id is None else read.id, read.question, number, sources)


def _why_unknown(key: str) -> str:
    known = list(QuestionLine.model_fields)
    # ``_SOURCES`` has keys that do not resemble "sources", so ``did_you_mean`` would not find them.
    meant = "did you mean 'sources'? " if key in _SOURCES else did_you_mean(key, known)
    return f"a question has no {shortened(repr(key), 100)}; {meant}its keys are {', '.join(known)}"
