"""This module keeps an audit in a folder, so that it can be continued after a stop. No question is
explained twice."""

import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from secrets import token_hex
from typing import Annotated, Any, Final, Literal, TypeAlias, cast

from pydantic import Field, FiniteFloat, TypeAdapter

from ..allowed import brief
from ..errors import InvalidInput
from ..explanation.explanation import Explanation
from ..printable import encodable, shortened
from ..report import FORMS
from ..report.saving import write_whole
from .metering import SpentTogether
from .one_run import OneRun
from .questions import AuditedAnswer, AuditedQuestion, LoggedQuestion

SavedForm: TypeAlias = Literal["html", "json"]
"""The form in which explanations are saved."""
_ABOUT, _QUESTIONS, _TEXTS, _SETTINGS, _SPENT, _EXPLANATIONS = (
    "audit.json",
    "questions.jsonl",
    "documents.jsonl",
    "settings.jsonl",
    "spent.json",
    "explanations",
)
ANSWERS: Final = "answers.db"
"""The name of the file with the answers that were paid for. It is used if the user names no store."""
_SPENT_BEFORE: TypeAdapter[Any] = TypeAdapter(
    tuple[Annotated[int, Field(ge=0)], Annotated[int, Field(ge=0)], Annotated[FiniteFloat, Field(ge=0)]]
)
_SCHEMA_VERSION = 2
_LONGEST_TEXT = 5_000


@dataclass(slots=True)
class AuditFolder:
    """An ``AuditFolder`` is a folder that holds the results of an audit so far.

    ``identity``: a name that the audit got when its folder was made, and that stays the same if the
    folder is moved; empty if its file holds none. ``known``: the result of each question so far, by its
    id. ``form``: the form of saved explanations; None to save none. ``settings``: the settings of this
    run and of earlier runs, each under a short hash. ``run``: the lock that keeps other runs from using
    the folder until ``close``; None if there is no lock.
    """

    path: Path
    form: SavedForm | None = "html"
    identity: str = ""
    settings: dict[str, Mapping[str, str]] = field(default_factory=dict[str, Mapping[str, str]])
    known: dict[str, AuditedQuestion] = field(default_factory=dict[str, AuditedQuestion])
    run: OneRun | None = None
    _texts: set[str] = field(default_factory=set[str])

    @classmethod
    def of(cls, path: Path, about: Mapping[str, str], form: SavedForm | None = "html") -> "AuditFolder":
        """Returns the folder, which is made if it does not exist.

        ``about``: entries that must be equal in all runs of one audit, such as the condition. Raises
        InvalidInput if the folder cannot be written, if another run uses it, if it holds something else
        than an audit, and if it holds an audit with other entries.
        """
        try:
            path.mkdir(parents=True, exist_ok=True)
            run = OneRun(path)
        except OSError as error:
            raise _unwritable(path, error) from error
        try:
            folder = cls(path, form, _identity_of_same(path, about), run=run)
            if form is not None:
                (path / _EXPLANATIONS).mkdir(exist_ok=True)
            folder.known = {each.id: each for each in kept_questions(path)}
            folder._texts = set(kept_texts(path))
            folder.settings = dict(_lines_of(path / _SETTINGS, _settings_of))
        except BaseException as error:
            run.close()
            if isinstance(error, OSError):
                raise _unwritable(path, error) from error
            raise
        return folder

    def close(self) -> None:
        """Unlocks the folder, so that another run of the audit may use it."""
        if self.run is not None:
            self.run.close()

    @property
    def spent(self) -> SpentTogether:
        """Returns the spending of all runs of the audit, as far as it was written down: a run that was
        killed may have spent more. Raises InvalidInput if the file cannot be read."""
        # A question whose id has changed is in the folder under both ids. It must count only once.
        known = {_asked_as(each): each for each in self.known.values()}.values()
        file, noted = self.path / _SPENT, list[Any]()
        if file.is_file():
            try:
                noted = _SPENT_BEFORE.validate_json(file.read_bytes())
            except ValueError as error:
                raise InvalidInput(
                    f"{file} cannot be read: it holds no three numbers, which are what was spent; give "
                    "another folder, or remove the file"
                ) from error
        replays, tokens, cost = noted or (0, 0, 0.0)
        return SpentTogether(
            max(replays, sum(each.replays for each in known)),
            max(tokens, sum(each.tokens for each in known)),
            max(cost, sum(each.cost for each in known)),
        )

    def note_spent(self, spent: SpentTogether) -> None:
        """Writes what all runs of the audit have spent. Raises InvalidInput if it cannot be written."""
        write_whole(self.path / _SPENT, f"{json.dumps(list(spent))}\n")

    def note_settings(self, settings: Mapping[str, str]) -> str:
        """Writes the settings of this run if they are new. Returns a short hash that stands for them."""
        mark = sha256(json.dumps(settings, sort_keys=True).encode("ascii")).hexdigest()[:8]
        if mark not in self.settings:
            self.settings[mark] = dict(settings)
            self._append(_SETTINGS, json.dumps({"mark": mark, "settings": settings}))
        return mark

    def mixed_settings(self, now: str, asked: Iterable[AuditedQuestion]) -> Iterator[str]:
        """Yields a sentence for each set of earlier settings that differs from the present settings and
        with which some of the questions were explained. ``now``: the short hash of the present settings.
        """
        often = Counter(each.settings for each in asked if each.is_explained and each.settings != now)
        current = self.settings.get(now, {})
        for mark, count in sorted(often.items()):
            then = self.settings.get(mark, {})
            differ = [name for name in {**current, **then} if current.get(name) != then.get(name)]
            said = ", ".join(f"{name} {then.get(name, 'not set')}" for name in differ)
            instead = ", ".join(f"{name} {current.get(name, 'not set')}" for name in differ)
            many = "1 question was" if count == 1 else f"{count:,} questions were"
            yield f"{many} explained otherwise: {said or 'with unknown settings'}; now {instead}"

    def holds(self, asked: LoggedQuestion) -> bool:
        """Returns True iff the folder holds an explanation of the answer to this question."""
        known = self.known.get(asked.id)
        return known is not None and known.is_explained and _asked_as(known) == _marked(asked)

    def rename(self, asked: Sequence[LoggedQuestion]) -> None:
        """Gives questions in the folder the ids that they have now, so that no question is asked again
        only because its id has changed. For example, ids may be numbers of lines that have moved."""
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
        """Writes the result of a question, and its explanation. Returns the question with the path of
        the explanation. Raises InvalidInput if a file cannot be written."""
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
        # The id may have belonged to another question, whose explanation must not be overwritten.
        named = json.dumps([question.id, question.question, question.given]).encode("ascii")
        name = f"{_EXPLANATIONS}/{sha256(named).hexdigest()[:20]}.{self.form}"
        write_whole(self.path / name, FORMS[self.form].written(explanation))
        return name

    def _keep_texts(self, explanation: Explanation) -> None:
        for source in explanation.sources:
            if source.sha256 not in self._texts:
                text = encodable(shortened(source.text, _LONGEST_TEXT))
                self._append(_TEXTS, json.dumps({"sha256": source.sha256, "text": text}))
                self._texts.add(source.sha256)

    def _append(self, name: str, line: str) -> None:
        try:
            with (self.path / name).open("ab") as file:
                file.write(f"{line}\n".encode("ascii"))
        except OSError as error:
            raise InvalidInput(f"{self.path / name} cannot be written: {error.strerror}") from error


def _unwritable(path: Path, error: OSError) -> InvalidInput:
    return InvalidInput(f"{path} cannot be written: {error.strerror}; give another folder")


def _marked(asked: LoggedQuestion) -> tuple[str, str]:
    return encodable(asked.question), asked.mark


def _asked_as(known: AuditedQuestion) -> tuple[str, str]:
    return known.question, known.given


def kept_questions(path: Path) -> Iterator[AuditedQuestion]:
    """Yields the questions in a folder, in the order in which they were written. A question that was
    asked again is yielded again. Raises InvalidInput for a line that is no question, unless it is the
    last one and was cut off by a crash."""
    yield from _lines_of(path / _QUESTIONS, AuditedQuestion.from_json_line)


def kept_texts(path: Path) -> dict[str, str]:
    """Returns the texts of the documents that the folder holds, by their hashes. A very long text was cut
    off, and ends with "…"."""
    return dict(_lines_of(path / _TEXTS, _text_of))


def _settings_of(line: bytes) -> tuple[str, dict[str, str]]:
    read: Any = json.loads(line)
    whole = cast("dict[str, Any]", read) if isinstance(read, dict) else {}
    given = whole.get("settings")
    if not isinstance(given, dict):
        raise InvalidInput("it says no settings")
    found = cast("dict[str, Any]", given)
    return str(whole.get("mark", "")), {str(name): str(value) for name, value in found.items()}


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
        # The process ended while it wrote this line. The line is cut off, so that the next one is not
        # appended to it. Writing the whole file anew would lose all of it if the process were killed.
        with suppress(OSError):
            os.truncate(file, len(content) - len(rest))
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
