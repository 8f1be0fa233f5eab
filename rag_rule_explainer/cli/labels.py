"""This module reads labelled answers from a JSONL file. The file is untrusted."""

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from ..checking import LabelledCase
from ..errors import InvalidInput
from ..printable import shortened
from ..sources import Source, SourceSet
from .sources import SourceLine, read_text

EXPECTED = 'give lines like {"question": "...", "answer": "...", "label": true}'


class LabelLine(BaseModel):
    """This model reads one line of a file with labels. Unknown fields are ignored."""

    model_config = ConfigDict(strict=True)

    question: str
    answer: str
    label: bool | None
    id: str | None = None
    truth: str | None = None
    reference: str | None = None
    baseline: str | None = None
    sources: list[SourceLine] | None = None
    kept: list[str] | None = None


def load_labels(path: Path, needed: Mapping[str, str]) -> list[LabelledCase]:
    """Returns the labelled answers in a file.

    An answer without an id gets one from its line, such as "line 3". ``needed``: the fields that the
    predicate needs in every line, each with the reason. Raises InvalidInput if there is no such file or
    no label in it, for a malformed line, for a label that is null, and for an id that occurs twice.
    """
    cases, unlabelled = half_labelled(path, needed)
    if unlabelled:
        raise InvalidInput(
            f"{path}, {unlabelled[0]}: label: Input should be a valid boolean, and is null; {EXPECTED}"
        )
    if not cases:
        raise InvalidInput(f"{path} holds no labels; {EXPECTED}")
    return cases


def half_labelled(path: Path, needed: Mapping[str, str]) -> tuple[list[LabelledCase], list[str]]:
    """Returns the labelled answers in a file, and the names of the lines whose label is null, such as
    "line 3".

    Each list may be empty. Raises InvalidInput if there is no such file, for a malformed line, and for an
    id that occurs twice. ``needed``: the fields that every line must have, each with the reason.
    """
    cases: list[LabelledCase] = []
    unlabelled: list[str] = []
    lines: dict[str, int] = {}
    # ``splitlines`` is not used, because it also splits at U+2028 and similar characters, which JSON
    # texts may contain.
    for number, line in enumerate(read_text(path, EXPECTED).split("\n"), start=1):
        if not line.strip():
            continue
        where = f"{path}, line {number}"
        case = _case(line, where, number, needed)
        if case is None:
            unlabelled.append(f"line {number}")
            continue
        if case.id in lines:
            raise InvalidInput(
                f"{where}: the id {shortened(case.id, 100)!r} is that of line {lines[case.id]} as well; "
                "give each line its own, or leave it out"
            )
        lines[case.id] = number
        cases.append(case)
    return cases, unlabelled


def _read(line: str) -> LabelLine:
    try:
        return LabelLine.model_validate_json(line)
    except ValidationError:
        # A model may have answered with half a surrogate pair, which is then also in the file to be
        # labelled. The parser of pydantic rejects it, but that of the standard library does not.
        with suppress(ValueError, RecursionError):
            return LabelLine.model_validate(json.loads(line))
        raise


def _case(line: str, where: str, number: int, needed: Mapping[str, str]) -> LabelledCase | None:
    try:
        read = _read(line)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"]))
        complaint = first["msg"].replace(" at line 1 column ", " at column ")
        complaint = shortened(f"{place + ': ' if place else ''}{complaint}", 300)
        raise InvalidInput(f"{where}: {complaint}; {EXPECTED}") from error
    for name in ("id", "question", "truth", "reference"):
        given = getattr(read, name)
        if given is not None and not given.strip():
            raise InvalidInput(f"{where}: {name} is empty; give one, or leave it out")
    for name, purpose in needed.items():
        if not getattr(read, name):
            raise InvalidInput(f'{where}: there is no "{name}", {purpose}')
    if read.label is None:
        return None
    try:
        sources = _sources(read.sources or ())
        kept = None if read.kept is None else _kept(read.kept, sources)
    except InvalidInput as error:
        raise InvalidInput(f"{where}: {error}") from error
    return LabelledCase(
        read.question,
        read.answer,
        read.label,
        read.truth,
        read.reference,
        read.baseline,
        sources,
        kept,
        f"line {number}" if read.id is None else read.id,
    )


def _sources(lines: Iterable[SourceLine]) -> tuple[Source, ...]:
    named = [
        Source(
            f"D{place}" if line.id is None else line.id,
            line.text,
            {} if line.title is None else {"title": line.title},
        )
        for place, line in enumerate(lines, start=1)
    ]
    return SourceSet.of(named).sources if named else ()


def _kept(ids: Iterable[str], sources: tuple[Source, ...]) -> tuple[Source, ...]:
    by_id = {source.id: source for source in sources}
    unknown = next((each for each in ids if each not in by_id), None)
    if unknown is not None:
        known = ", ".join(map(repr, list(by_id)[:20])) or "none"
        raise InvalidInput(
            f"kept names {shortened(unknown, 100)!r}, which is no source; give ids of its "
            f"sources: {known}"
        )
    return tuple(by_id[each] for each in dict.fromkeys(ids))
