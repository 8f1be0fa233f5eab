"""This module reads the file of questions that ``rag-rules audit`` asks. The file is untrusted."""

import csv
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

from ..errors import InvalidInput
from .questions import AskedQuestion, check_ids, load_questions
from .sources import read_text

_DELIMITERS = {".csv": ",", ".tsv": "\t"}
_EXPECTED = "give a .csv file whose first line names a column 'question', and may name a column 'id'"


def load_audited(path: Path) -> list[AskedQuestion]:
    """Returns the questions in a file. Each line is a question, as text or as JSON; or the file is a
    table in CSV. Raises InvalidInput if the file cannot be read or has no question, for a malformed line,
    and for an id that occurs twice."""
    delimiter = _DELIMITERS.get(path.suffix.lower())
    if delimiter is None:
        return load_questions(path)
    questions = list(_rows(path, delimiter))
    if not questions:
        raise InvalidInput(f"{path} holds no questions; {_EXPECTED}")
    check_ids(questions, path)
    return questions


def _rows(path: Path, delimiter: str) -> Iterator[AskedQuestion]:
    reader = csv.reader(
        StringIO(read_text(path, _EXPECTED), newline=""), delimiter=delimiter, strict=True
    )
    try:
        heads = [each.strip().lower() for each in next(reader, list[str]())]
        if "question" not in heads:
            raise InvalidInput(f"{path} has no column 'question' in its first line; {_EXPECTED}")
        twice = [name for name in ("question", "id") if heads.count(name) > 1]
        if twice:
            raise InvalidInput(f"{path} has two columns {twice[0]!r}; leave one of them")
        place, named = heads.index("question"), heads.index("id") if "id" in heads else None
        for row in reader:
            if not any(cell.strip() for cell in row):
                continue
            question = row[place].strip() if place < len(row) else ""
            if not question:
                raise InvalidInput(f"{path}, line {reader.line_num}: the question is empty; {_EXPECTED}")
            given = row[named].strip() if named is not None and named < len(row) else ""
            yield AskedQuestion(given or f"line {reader.line_num}", question, reader.line_num)
    except csv.Error as error:
        raise InvalidInput(f"{path}, line {reader.line_num}: {error}; {_EXPECTED}") from error
