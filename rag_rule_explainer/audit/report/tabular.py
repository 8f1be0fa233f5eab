"""This module lays an audit out as tables, and writes them as CSV and as Parquet."""

import csv
import json
from collections.abc import Callable, Iterator, Mapping
from io import StringIO
from pathlib import Path
from typing import Any, TypeAlias, cast

from ...checking.figures import Share
from ...errors import InvalidInput
from ...printable import encodable, inert
from ...report.saving import write_whole
from ..result import Audit
from .blame_list import NO_LIST, blame_by_name

TableRow: TypeAlias = dict[str, Any]
NEEDED: Mapping[bool | None, str] = {True: "yes", False: "no", None: "undecided"}
"""The words for whether a document is never needed; None means that this is not known."""


def document_table(audit: Audit) -> Iterator[TableRow]:
    """Yields a row for each document. Its numbers count questions, such as the questions in which a rule
    names the document."""
    removed, blame = set(audit.removal.documents), blame_by_name(audit)
    for row in audit.documents:
        yield {
            "document": row.name,
            "sha256": row.key.sha256,
            "ids": list(row.ids),
            "shown": len(row.shown),
            "bad": len(row.bad),
            "not_bad": len(row.not_bad),
            **_share("bad_share", row.bad_share),
            "implicated": len(row.implicated),
            "clear": len(row.clear),
            "undecided": row.open,
            **_share("implicated_share", row.implicated_share),
            "in_retention_rules": len(row.retained),
            "in_omission_rules": len(row.omitted),
            "in_omission_rules_of_good": len(row.omitted_good),
            "decisive": len(row.decisive),
            "single_point_of_failure": len(row.single_point),
            "never_needed": NEEDED[row.never_needed],
            "redundant_with": list(row.redundant),
            "in_conflict_with": list(row.conflicts),
            "in_smallest_removal": row.name in removed,
            "blame": blame.get(row.name, NO_LIST)[0],
            "blame_p_value": blame.get(row.name, NO_LIST)[1],
        }


def question_table(audit: Audit) -> Iterator[TableRow]:
    """Yields a row for each question, also for one that failed."""
    ended = set(audit.removal.ended)
    for each in audit.questions:
        yield {
            "id": each.id,
            "question": each.question,
            "outcome": each.outcome,
            "is_good": each.is_good,
            "reason": each.reason,
            "answer": each.answer,
            "documents": len(each.shown),
            "rules": len(each.rules),
            "exhaustive": each.exhaustive,
            "why_open": each.why_open,
            "doubted": each.doubted,
            "ended_by_smallest_removal": each.id in ended,
            "probes": each.probes,
            "replays": each.replays,
            "stored": each.stored,
            "tokens": each.tokens,
            "seconds": each.seconds,
            "explanation": each.explanation,
        }


def rule_table(audit: Audit) -> Iterator[TableRow]:
    """Yields a row for each rule of each question, whether the rule is sure or not. A rule is sure if it
    is proved, or passed its votes or its test, and if the replays of its question are not doubted."""
    for question in audit.questions:
        for rule in question.rules:
            yield {
                "question": question.id,
                "kind": rule.kind.value,
                "outcome": rule.outcome,
                "documents": list(audit.names.named(question, rule.documents)),
                "claim": rule.claim,
                "sure": rule.is_sure and not question.doubted,
                "minimal": rule.minimal,
                "evidence": rule.evidence,
            }


def pair_table(audit: Audit) -> Iterator[TableRow]:
    """Yields a row for each two documents that are redundant or in conflict, each pair once."""
    for row in audit.documents:
        for relation, others in (("redundant", row.redundant), ("conflict", row.conflicts)):
            for other, questions in others.items():
                if row.name < other:
                    yield {
                        "document": row.name,
                        "other": other,
                        "relation": relation,
                        "questions": len(questions),
                        "ids": questions,
                    }


AUDIT_TABLES: Mapping[str, Callable[[Audit], Iterator[TableRow]]] = {
    "documents": document_table,
    "questions": question_table,
    "rules": rule_table,
    "pairs": pair_table,
}
"""The tables of an audit, by their names."""


def write_tables(audit: Audit, folder: Path) -> bool:
    """Writes all tables into the folder as CSV, and as Parquet if pyarrow is installed. Returns True iff
    Parquet was written. Raises InvalidInput if they cannot be written."""
    has_arrow = _has_arrow()
    for name, rows in AUDIT_TABLES.items():
        listed = list(rows(audit))
        write_whole(folder / f"{name}.csv", as_table_csv(listed, _columns(name)))
        if has_arrow:
            _write_parquet(listed, name, folder / f"{name}.parquet")
    return has_arrow


def as_table_csv(rows: list[TableRow], columns: tuple[str, ...]) -> str:
    """Returns rows as CSV with a header. A list is written as JSON. A text that a spreadsheet would run
    as a formula gets an apostrophe before it."""
    written = StringIO()
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow([_cell(row[name]) for name in columns])
    return written.getvalue()


def _cell(value: Any) -> str | int | float:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return value
    text = json.dumps(value, ensure_ascii=False) if isinstance(value, list) else str(value)
    return inert(encodable(text))


_KINDS: Mapping[str, Mapping[str, str]] = {
    "documents": {
        **dict.fromkeys(("document", "sha256", "never_needed", "blame"), "text"),
        **dict.fromkeys(("ids", "redundant_with", "in_conflict_with"), "texts"),
        **dict.fromkeys(
            (
                f"{share}{end}"
                for share in ("bad_share", "implicated_share")
                for end in ("", "_low", "_high")
            ),
            "number",
        ),
        "in_smallest_removal": "flag",
        "blame_p_value": "number",
    },
    "questions": {
        **dict.fromkeys(
            ("id", "question", "outcome", "reason", "answer", "why_open", "explanation"), "text"
        ),
        **dict.fromkeys(("is_good", "exhaustive", "doubted", "ended_by_smallest_removal"), "flag"),
        "seconds": "number",
    },
    "rules": {
        **dict.fromkeys(("question", "kind", "outcome", "claim", "evidence"), "text"),
        "documents": "texts",
        **dict.fromkeys(("sure", "minimal"), "flag"),
    },
    "pairs": {**dict.fromkeys(("document", "other", "relation"), "text"), "ids": "texts"},
}
"""The kind of each column of each table: a text, a list of texts, a number that need not be whole, or a
flag (True or False). Columns that are not listed here hold counts. A cell may be empty."""
_ORDER: Mapping[str, tuple[str, ...]] = {
    "documents": (
        "document", "sha256", "ids", "shown", "bad", "not_bad", "bad_share", "bad_share_low",
        "bad_share_high", "implicated", "clear", "undecided", "implicated_share", "implicated_share_low",
        "implicated_share_high", "in_retention_rules", "in_omission_rules", "in_omission_rules_of_good",
        "decisive", "single_point_of_failure", "never_needed", "redundant_with", "in_conflict_with",
        "in_smallest_removal", "blame", "blame_p_value",
    ),
    "questions": (
        "id", "question", "outcome", "is_good", "reason", "answer", "documents", "rules", "exhaustive",
        "why_open", "doubted", "ended_by_smallest_removal", "probes", "replays", "stored", "tokens",
        "seconds", "explanation",
    ),
    "rules": (
        "question", "kind", "outcome", "documents", "claim", "sure", "minimal", "evidence",
    ),
    "pairs": ("document", "other", "relation", "questions", "ids"),
}  # fmt: skip


def _columns(name: str) -> tuple[str, ...]:
    return _ORDER[name]


def _share(name: str, found: Share) -> TableRow:
    return {name: found.value, f"{name}_low": found.low, f"{name}_high": found.high}


def _has_arrow() -> bool:
    try:
        # The import only shows whether pyarrow is installed.
        import pyarrow.parquet  # noqa: F401  # pyright: ignore[reportMissingTypeStubs, reportUnusedImport]
    except ImportError:
        return False
    return True


def _write_parquet(rows: list[TableRow], name: str, file: Path) -> None:
    import pyarrow  # pyright: ignore[reportMissingTypeStubs] -- the package has no types
    from pyarrow import parquet  # pyright: ignore[reportMissingTypeStubs] -- the package has no types

    arrow: Any = pyarrow
    types = {
        "text": arrow.string(),
        "texts": arrow.list_(arrow.string()),
        "number": arrow.float64(),
        "flag": arrow.bool_(),
        "count": arrow.int64(),
    }
    kinds = _KINDS[name]
    columns = {
        column: arrow.array(
            [_encodable_cell(row[column]) for row in rows], type=types[kinds.get(column, "count")]
        )
        for column in _columns(name)
    }
    beside = file.with_name(f".{file.name}.part")
    try:
        writer: Any = parquet
        writer.write_table(arrow.table(columns), str(beside))
        beside.replace(file)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise InvalidInput(f"{file} cannot be written: {error.strerror or error}") from error


def _encodable_cell(value: Any) -> Any:
    if isinstance(value, str):
        return encodable(value)
    return [encodable(each) for each in cast("list[str]", value)] if isinstance(value, list) else value
