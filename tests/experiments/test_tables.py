"""Rows in files."""

import os
import stat
from dataclasses import dataclass
from pathlib import Path

import pytest

from rag_rule_explainer import InvalidInput
from rag_rule_explainer.experiments.tables import write_bytes, write_csv, write_jsonl
from rag_rule_explainer.rules import RuleKind


@dataclass(frozen=True)
class Row:
    name: str
    kind: RuleKind
    share: float | None
    good: bool
    count: int = 0


def test_a_table(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder" / "t.csv"
    rows = [
        Row('a "b",\nc', RuleKind.RETENTION, 1 / 3, True),
        Row("ü\ud800", RuleKind.OMISSION, None, False, 7),
    ]
    write_csv(path, Row, rows)
    assert path.read_bytes().decode() == (
        'name,kind,share,good,count\n"a ""b"", c",retention,0.333333,true,0\nü\\ud800,omission,,false,7\n'
    )
    write_csv(path, Row, [])
    assert path.read_text() == "name,kind,share,good,count\n"
    assert [each.name for each in path.parent.iterdir()] == ["t.csv"]
    assert stat.S_IMODE(path.stat().st_mode) & 0o444 == 0o444 & ~_umask()


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("=1+1", "'=1+1"),
        ("+1", "'+1"),
        ("-1", "'-1"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\t=1", "' =1"),
        ("\x1b]0;title\x07x", "\\x1b]0;title\\x07x"),
        ("a=1", "a=1"),
    ],
)
def test_a_text_is_nothing_that_a_spreadsheet_or_a_terminal_would_act_on(
    tmp_path: Path, text: str, cell: str
) -> None:
    write_csv(tmp_path / "t.csv", Row, [Row(text, RuleKind.RETENTION, -0.5, True, -1)])
    assert (tmp_path / "t.csv").read_text().splitlines()[1] == f"{cell},retention,-0.500000,true,-1"


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_records_and_texts(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "r.jsonl", [{"a": "\x1b[31mü"}, {"a": 1}])
    assert (tmp_path / "r.jsonl").read_bytes() == b'{"a": "\\u001b[31m\\u00fc"}\n{"a": 1}\n'
    write_bytes(tmp_path / "r.txt", "ü".encode())
    assert (tmp_path / "r.txt").read_text(encoding="utf-8") == "ü"


def test_whoever_reads_the_table_meanwhile_reads_a_whole_one(tmp_path: Path) -> None:
    path = tmp_path / "t.txt"
    write_bytes(path, b"before")
    with path.open() as reading:
        write_bytes(path, b"after")
        assert reading.read() == "before"
    assert path.read_text() == "after"


def test_what_cannot_be_written_leaves_nothing_half(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("here")
    with pytest.raises(InvalidInput, match=r"cannot be written: .*; give --out another folder"):
        write_bytes(tmp_path / "file" / "t.csv", b"text")
    (tmp_path / "folder").mkdir()
    with pytest.raises(InvalidInput, match="cannot be written"):
        write_bytes(tmp_path / "folder", b"text")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["file", "folder"]
