"""The report of an audit as files: its pages lead nowhere but to each other, and its tables agree."""

import csv
import json
import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from rag_rule_explainer import Explainer, Source, contains
from rag_rule_explainer.audit import Audit, audit
from rag_rule_explainer.audit.report.tabular import AUDIT_TABLES
from rag_rule_explainer.audit.report.writing import write_report
from tests.audit.synthetic import synthetic_audit

HOSTILE = "</script><script>alert(1)</script>"


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> tuple[Audit, Path]:
    folder = tmp_path_factory.mktemp("report")
    found = synthetic_audit(300)
    write_report(found, folder)
    return found, folder


def rows(file: Path) -> list[dict[str, str]]:
    with file.open(newline="", encoding="utf-8") as opened:
        return list(csv.DictReader(opened))


def test_each_document_and_question_has_a_page_and_all_links_lead_to_a_file(
    report: tuple[Audit, Path],
) -> None:
    found, folder = report
    assert len(list((folder / "documents").iterdir())) == len(found.documents)
    assert len(list((folder / "questions").iterdir())) == 300
    assert found.counts["failed"] > 0
    for file in folder.rglob("*.html"):
        text = file.read_text(encoding="utf-8")
        for link in re.findall(r' (?:href|src)="([^"]*)"', text):
            assert (file.parent / unescape(link)).is_file(), (file, link)


def test_csv_and_parquet_say_the_same(report: tuple[Audit, Path]) -> None:
    parquet: Any = pytest.importorskip("pyarrow.parquet")
    found, folder = report
    for name, table in AUDIT_TABLES.items():
        wanted = list(table(found))
        read = parquet.read_table(folder / f"{name}.parquet").to_pylist()
        assert read == wanted, name
        written = rows(folder / f"{name}.csv")
        assert len(written) == len(wanted)
        for row, one in zip(written, wanted, strict=True):
            assert row == {column: said(value) for column, value in one.items()}


def said(value: Any) -> str:
    if isinstance(value, list):
        return json.dumps(value)
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def test_a_question_that_failed_is_in_the_table_of_questions_and_in_no_figure(
    report: tuple[Audit, Path],
) -> None:
    found, folder = report
    failed = {each.id for each in found.questions if each.outcome == "failed"}
    assert {row["id"] for row in rows(folder / "questions.csv") if row["outcome"] == "failed"} == failed
    assert not {row["question"] for row in rows(folder / "rules.csv")} & failed
    assert not any(failed.intersection(row.shown) for row in found.documents)
    first = (folder / "index.html").read_text(encoding="utf-8")
    assert f"{len(failed):,}, which are in no figure" in first


def test_hostile_texts_are_no_markup_and_no_formulas(tmp_path: Path) -> None:
    documents = [Source(f"=cmd|{HOSTILE}", HOSTILE), Source("b", "text\ud800")]
    explainer = Explainer(lambda _, kept: HOSTILE if kept else "none", check_repeatable=False)
    asked = [{"id": HOSTILE, "question": f"=1+1 {HOSTILE}\ud800", "documents": documents}]
    audit(explainer, asked, contains("alert"), out=tmp_path, explanations=None)
    for file in tmp_path.rglob("*.html"):
        assert "<script>alert" not in file.read_text(encoding="utf-8")
    assert rows(tmp_path / "questions.csv")[0]["question"].startswith("'=1+1")
    assert rows(tmp_path / "documents.csv")[0]["document"].startswith("'=cmd")


def test_pages_of_an_earlier_report_go(tmp_path: Path) -> None:
    write_report(synthetic_audit(40), tmp_path)
    (tmp_path / "documents" / "notes.html").write_text("mine")
    write_report(synthetic_audit(20, seed=2), tmp_path)
    assert len(list((tmp_path / "questions").iterdir())) == 20
    assert (tmp_path / "documents" / "notes.html").read_text() == "mine"


def test_what_was_cut_off_is_seen(tmp_path: Path) -> None:
    """Long texts and long names are not shown as if they were whole."""
    documents = [Source("n" * 5000, "word " * 2000), Source("other", "short")]
    asked = {"question": "why?", "documents": documents}
    explainer = Explainer(lambda _, sources: "bad" if len(sources) == 2 else "fine")
    found = audit(explainer, [asked], contains("bad"), out=tmp_path, fdr=0.05, deterministic=True)
    (page,) = [
        text for each in (tmp_path / "documents").iterdir() if "word word" in (text := each.read_text())
    ]
    assert "word…</div>" in page
    assert max(map(len, str(found).splitlines())) < 400
