"""This module writes the report of an audit into its folder."""

import re
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TypeVar

from ...errors import InvalidInput
from ..result import Audit
from .document_pages import document_page
from .overview import documents_page, questions_page
from .pages import DOCUMENTS, QUESTIONS, Places, assets, document_file, question_file
from .question_pages import question_page
from .tabular import write_tables

OnPage = TypeVar("OnPage")
_OURS = re.compile(r"[0-9a-f]{20}\.html")


def write_report(audit: Audit, folder: Path) -> None:
    """Writes the pages and the tables of an audit into the folder; the first page is ``index.html``, and
    is written last. Pages of an earlier report are replaced. Raises InvalidInput if a file cannot be
    written."""
    places = Places(audit)
    try:
        has_parquet = write_tables(audit, folder)
        rows = {document_file(row.key): row for row in audit.documents}
        _write_pages(folder / DOCUMENTS, rows, partial(document_page, places))
        asked = {question_file(each.id): each for each in audit.questions}
        _write_pages(folder / QUESTIONS, asked, partial(question_page, places))
        for name, text in assets().items():
            (folder / name).write_text(text, encoding="utf-8", newline="")
        (folder / "questions.html").write_text(_utf8(questions_page(places)), encoding="utf-8")
        first = documents_page(places, has_parquet=has_parquet)
        (folder / "index.html").write_text(_utf8(first), encoding="utf-8")
    except OSError as error:
        raise InvalidInput(
            f"the report in {folder} cannot be written: {error.strerror}; what was found is kept: "
            "mend this, and audit with the same folder again"
        ) from error


def _write_pages(folder: Path, things: Mapping[str, OnPage], page_of: Callable[[OnPage], str]) -> None:
    folder.mkdir(exist_ok=True)
    for file in folder.iterdir():
        if _OURS.fullmatch(file.name) and file.name not in things:
            file.unlink()
    for name, thing in things.items():
        (folder / name).write_text(_utf8(page_of(thing)), encoding="utf-8", newline="")


def _utf8(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")
