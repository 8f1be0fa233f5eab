"""This module reads examples (questions with labelled sources) from HotpotQA's JSON, or from JSONL. The
files are untrusted.

HotpotQA publishes one list of ``{_id, question, answer, supporting_facts: [[title, sentence]], context:
[[title, [sentences]]], type, level}``, and so does 2WikiMultiHopQA. For any other data set, write JSONL
with lines of ``{id, question, answer, sources: [{title, text, necessary}], type, level}``.
"""

import json
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from pydantic import BaseModel, Field, StrictBool, StrictInt, StrictStr, ValidationError

from ..errors import InvalidInput
from ..printable import shortened
from ..sources import Source
from .examples import Example

EXPECTED_FIGURES = (
    "give HotpotQA's own JSON, such as hotpot_train_v1.1.json, or a .jsonl with lines like "
    '{"id": "...", "question": "...", "answer": "...", '
    '"sources": [{"title": "...", "text": "...", "necessary": true}]}'
)
_CHUNK = 1 << 20
_SHOWN = 300


class _Named(BaseModel):
    question: StrictStr
    answer: StrictStr
    type: StrictStr | None = None
    level: StrictStr | None = None


class _Published(_Named):
    id: StrictStr = Field(alias="_id")
    supporting_facts: list[tuple[StrictStr, StrictInt]]
    context: list[tuple[StrictStr, list[StrictStr]]]

    def example(self) -> Example:
        titles = {title for title, _ in self.supporting_facts}
        texts = [(title, _joined(sentences), title in titles) for title, sentences in self.context]
        return _example(self.id, self, texts, len(titles))


class _Labelled(BaseModel):
    title: StrictStr = ""
    text: StrictStr
    necessary: StrictBool


class _Line(_Named):
    id: StrictStr
    sources: list[_Labelled]

    def example(self) -> Example:
        texts = [(each.title, each.text, each.necessary) for each in self.sources]
        return _example(self.id, self, texts, sum(each.necessary for each in self.sources))


def examples_in(path: Path) -> Iterator[Example]:
    """Yields the examples in a file one by one, so that a large file is never completely in memory.
    Raises InvalidInput if there is no such file, for a malformed record, for an id that an earlier record
    has, and for a file without records."""
    places = dict[str, int]()
    for place, record in enumerate(_records(path), start=1):
        where = f"{path}, record {place}"
        example = _read(record, where)
        earlier = places.setdefault(example.id, place)
        if earlier != place:
            raise InvalidInput(
                f"{where}: the id {shortened(example.id, 100)!r} is that of record {earlier} as well; "
                "give each its own"
            )
        yield example
    if not places:
        raise InvalidInput(f"{path} holds no examples; {EXPECTED_FIGURES}")


@contextmanager
def readable(path: Path, expected: str) -> Generator[TextIO, None, None]:
    """Yields the file, open for reading. Raises InvalidInput if it cannot be read. ``expected``: a
    sentence for the error message, which says which file to give."""
    try:
        with path.open(encoding="utf-8-sig") as file:
            yield file
    except FileNotFoundError as error:
        raise InvalidInput(f"there is no {path}; {expected}") from error
    except UnicodeDecodeError as error:
        raise InvalidInput(
            f"{path} is not UTF-8 text: {error.reason} at byte {error.start}; save it as UTF-8"
        ) from error
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror}; {expected}") from error


def first_complaint(error: ValidationError) -> str:
    """Returns the message of the first error in a record, with the name of the field."""
    first = error.errors(include_url=False)[0]
    place = ".".join(map(str, first["loc"]))
    return shortened(f"{place + ': ' if place else ''}{first['msg']}", _SHOWN)


def _records(path: Path) -> Iterator[object]:
    with readable(path, EXPECTED_FIGURES) as file:
        start = file.read(1)
        while start.isspace():
            start = file.read(1)
        yield from _listed(file, path) if start == "[" else _lines(file, start, path)


def _lines(file: TextIO, start: str, path: Path) -> Iterator[object]:
    place = 0
    for line in file:
        text, start = start + line, ""
        if text.strip():
            place += 1
            try:
                yield json.loads(text)
            except (ValueError, RecursionError) as error:
                raise _no_json(path, place, error) from error


def _listed(file: TextIO, path: Path) -> Iterator[object]:
    """Yields the entries of a JSON list one by one. The opening bracket has already been read."""
    decoder, buffer, at, more, place = json.JSONDecoder(), "", 0, _CHUNK, 0
    while True:
        at = _past(buffer, at, comma=place > 0)
        if buffer.startswith("]", at):
            _check_end(buffer[at + 1 :], file, path)
            return
        try:
            record, at = decoder.raw_decode(buffer, at)
        except (ValueError, RecursionError) as error:
            read = file.read(more)
            if not read:
                raise _no_json(path, place + 1, error) from error
            # As long as the entry is incomplete, each further read is twice as long as the one before. So
            # the total time is linear in the length of the entry.
            buffer, at, more = buffer[at:] + read, 0, 2 * more
            continue
        place, more = place + 1, _CHUNK
        yield record


def _check_end(rest: str, file: TextIO, path: Path) -> None:
    while not rest.strip():
        rest = file.read(_CHUNK)
        if not rest:
            return
    # Without this error, content after the list, such as a second list, would be ignored silently.
    raise InvalidInput(f"{path} goes on after its list; give one list, or JSONL")


def _past(text: str, at: int, *, comma: bool) -> int:
    """Returns the position of the first character at or after ``at`` that is not white space. ``comma``:
    True to skip one comma too."""
    while text[at : at + 1].isspace() or (comma and text.startswith(",", at)):
        comma = comma and text[at] != ","
        at += 1
    return at


def _no_json(path: Path, place: int, error: Exception) -> InvalidInput:
    why = "nested too deeply" if isinstance(error, RecursionError) else getattr(error, "msg", str(error))
    reason = shortened(why, _SHOWN)
    return InvalidInput(f"{path}, record {place} is no JSON: {reason}; {EXPECTED_FIGURES}")


def _read(record: object, where: str) -> Example:
    if not isinstance(record, dict):
        raise InvalidInput(f"{where} is no JSON object; {EXPECTED_FIGURES}")
    shape = _Published if "context" in record else _Line
    try:
        example = shape.model_validate(record).example()
    except ValidationError as error:
        raise InvalidInput(f"{where}: {first_complaint(error)}; {EXPECTED_FIGURES}") from error
    for name in ("id", "question", "answer"):
        if not getattr(example, name).strip():
            raise InvalidInput(f"{where}: the {name} is empty; {EXPECTED_FIGURES}")
    return example


def _example(identity: str, named: _Named, texts: list[tuple[str, str, bool]], hops: int) -> Example:
    sources = tuple(
        [
            Source(f"D{place}", text, {"title": title} if title else {})
            for place, (title, text, _) in enumerate(texts, start=1)
        ]
    )
    necessary = [source.id for source, (_, _, is_so) in zip(sources, texts, strict=True) if is_so]
    return Example(
        identity,
        named.question,
        named.answer,
        sources,
        tuple(necessary),
        hops,
        named.type or "",
        named.level or "",
    )


def _joined(sentences: list[str]) -> str:
    """Returns the sentences as one text. A space is put between two sentences unless there is white space
    already."""
    text = ""
    for sentence in sentences:
        parted = not text or text[-1:].isspace() or sentence[:1].isspace() or not sentence
        text += sentence if parted else f" {sentence}"
    return text.strip()
