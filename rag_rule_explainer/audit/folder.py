"""This module keeps an audit in a folder, so that it can go on after a stop. What was explained once is
never asked again."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from secrets import token_hex
from typing import Any, Literal, TypeAlias, cast

from ..allowed import brief
from ..errors import InvalidInput
from ..explanation.explanation import Explanation
from ..printable import encodable
from ..report import FORMS
from ..report.saving import write_whole
from .questions import AuditedAnswer, AuditedQuestion, LoggedQuestion

SavedForm: TypeAlias = Literal["html", "json"]
"""The form in which explanations are saved."""
_ABOUT, _QUESTIONS, _TEXTS, _EXPLANATIONS = (
    "audit.json",
    "questions.jsonl",
    "documents.jsonl",
    "explanations",
)
_SCHEMA_VERSION = 2
_LONGEST_TEXT = 5_000


@dataclass(slots=True)
class AuditFolder:
    """An ``AuditFolder`` is a folder that holds what an audit has found so far.

    ``identity``: names the audit, wherever its folder is moved; empty if it was made without. ``known``:
    what became of each question so far, by its id. ``form``: the form of saved explanations; None to save
    none.
    """

    path: Path
    form: SavedForm | None = "html"
    identity: str = ""
    known: dict[str, AuditedQuestion] = field(default_factory=dict[str, AuditedQuestion])
    _texts: set[str] = field(default_factory=set[str])

    @classmethod
    def of(cls, path: Path, about: Mapping[str, str], form: SavedForm | None = "html") -> "AuditFolder":
        """Returns the folder, which is made if it does not exist.

        ``about``: what must not change between two runs of one audit, such as the condition. Raises
        InvalidInput if the folder cannot be written, if it holds something else than an audit, and if it
        holds an audit about something else.
        """
        try:
            path.mkdir(parents=True, exist_ok=True)
            if form is not None:
                (path / _EXPLANATIONS).mkdir(exist_ok=True)
        except OSError as error:
            raise InvalidInput(
                f"{path} cannot be written: {error.strerror}; give another folder"
            ) from error
        folder = cls(path, form, _identity_of_same(path, about))
        folder.known = {each.id: each for each in kept_questions(path)}
        folder._texts = set(kept_texts(path))
        return folder

    def holds(self, asked: LoggedQuestion) -> bool:
        """Returns True iff the folder holds an explanation of the answer to this question."""
        known = self.known.get(asked.id)
        return known is not None and known.is_explained and _asked_as(known) == _marked(asked)

    def rename(self, asked: Sequence[LoggedQuestion]) -> None:
        """Gives the questions that the folder holds under other ids the ids that they have now, such as
        the numbers of their lines in a file in which lines have moved. Nothing is asked twice for an
        id."""
        held = {each.id for each in asked if self.holds(each)}
        moved = {
            _asked_as(each): each
            for each in self.known.values()
            if each.is_explained and each.id not in held
        }
        for each in asked if moved else ():
            known = None if each.id in held else moved.pop(_marked(each), None)
            if known is not None:
                self._write(replace(known, id=each.id))

    def keep(self, answer: AuditedAnswer) -> AuditedQuestion:
        """Writes what became of a question, and its explanation; returns it with the place of the
        explanation. Raises InvalidInput if it cannot be written."""
        question = answer.question
        for explanation in answer.explanations[:1]:
            question = replace(question, explanation=self._saved(question, explanation))
            self._keep_texts(explanation)
        self._write(question)
        return question

    def _write(self, question: AuditedQuestion) -> None:
        self._append(_QUESTIONS, question.as_json_line())
        self.known[question.id] = question

    def _saved(self, question: AuditedQuestion, explanation: Explanation) -> str:
        if self.form is None:
            return ""
        # An id may be that of another question by now, whose explanation must not be overwritten.
        named = json.dumps([question.id, question.question, question.given]).encode("ascii")
        name = f"{_EXPLANATIONS}/{sha256(named).hexdigest()[:20]}.{self.form}"
        write_whole(self.path / name, FORMS[self.form].written(explanation))
        return name

    def _keep_texts(self, explanation: Explanation) -> None:
        for source in explanation.sources:
            if source.sha256 not in self._texts:
                text = encodable(source.text[:_LONGEST_TEXT])
                self._append(_TEXTS, json.dumps({"sha256": source.sha256, "text": text}))
                self._texts.add(source.sha256)

    def _append(self, name: str, line: str) -> None:
        try:
            with (self.path / name).open("ab") as file:
                file.write(f"{line}\n".encode("ascii"))
        except OSError as error:
            raise InvalidInput(f"{self.path / name} cannot be written: {error.strerror}") from error


def _marked(asked: LoggedQuestion) -> tuple[str, str]:
    return encodable(asked.question), asked.mark


def _asked_as(known: AuditedQuestion) -> tuple[str, str]:
    return known.question, known.given


def kept_questions(path: Path) -> Iterator[AuditedQuestion]:
    """Yields the questions that a folder holds; of one that was asked again, the latest is the last.
    Raises InvalidInput for a line that is none, unless it is the last one and was cut off by a crash."""
    yield from _lines_of(path / _QUESTIONS, AuditedQuestion.from_json_line)


def kept_texts(path: Path) -> dict[str, str]:
    """Returns the texts of the documents, by their hashes. Long texts are cut off."""
    return dict(_lines_of(path / _TEXTS, _text_of))


def _text_of(line: bytes) -> tuple[str, str]:
    read: Any = json.loads(line)
    if not isinstance(read, dict):
        raise InvalidInput("it is no text of a document")
    found = cast("dict[str, Any]", read)
    return str(found.get("sha256", "")), str(found.get("text", ""))


def _lines_of(file: Path, read: Callable[[bytes], Any]) -> Iterator[Any]:
    if not file.is_file():
        return
    content = file.read_bytes()
    *lines, rest = content.split(b"\n")
    if rest:
        # The process ended while it wrote this line. The next line must not be appended to it.
        with suppress(OSError):
            file.write_bytes(content[: len(content) - len(rest)])
    for number, line in enumerate(lines, start=1):
        try:
            yield read(line)
        except ValueError as error:  # InvalidInput is a ValueError too
            raise InvalidInput(
                f"{file}, line {number}: {error}; give another folder, or remove the line"
            ) from error


def _identity_of_same(path: Path, about: Mapping[str, str]) -> str:
    file = path / _ABOUT
    written: dict[str, Any] = {
        "schema_version": _SCHEMA_VERSION,
        **{name: encodable(value) for name, value in about.items()},
    }
    if not file.exists():
        others = _other_files(path)
        if others:
            raise InvalidInput(
                f"{path} holds something else, such as {others[0]!r}; give an empty folder or a new one"
            )
        identity = token_hex(8)
        write_whole(file, f"{json.dumps({**written, 'id': identity}, indent=2)}\n")
        return identity
    try:
        given: object = json.loads(file.read_bytes())
    except (ValueError, OSError) as error:
        raise InvalidInput(f"{file} cannot be read: {error}; give another folder") from error
    held = cast("dict[str, Any]", given) if isinstance(given, dict) else {}
    for name, value in written.items():
        if held.get(name) != value:
            raise InvalidInput(
                f"{path} holds an audit with another {name.replace('_', ' ')}: {brief(held.get(name))} "
                f"instead of {brief(value)}; give another folder"
            )
    return str(held.get("id", ""))


def _other_files(path: Path) -> list[str]:
    return [each for each in _names_in(path.iterdir()) if each != _EXPLANATIONS]


def _names_in(files: Iterable[Path]) -> list[str]:
    return sorted(each.name for each in files)
