"""The tables of an explanation, for pandas and for polars."""

import sys
from dataclasses import replace
from importlib import import_module
from math import isnan
from typing import Any

import pytest

from rag_rule_explainer import InvalidInput, MissingExtra
from tests.report.test_text import explained, forged_explanation, hostile_explanation, yes_if

LIBRARIES = ("pandas", "polars")
TABLES: Any = ("rules", "probes", "importance")
each_library: Any = pytest.mark.parametrize("library", LIBRARIES)
each_table: Any = pytest.mark.parametrize("table", TABLES)


def comes_from(frame: Any) -> str:
    return type(frame).__module__.split(".")[0]


@each_library
def test_rules(library: Any) -> None:
    explanation = explained(yes_if("D1", "D3"))
    frame = explanation.to_dataframe(library=library)
    assert comes_from(frame) == library
    assert list(frame["rule"]) == [rule.rule for rule in explanation]
    assert [list(ids) for ids in frame["sources"]] == [["D1", "D3"], ["D1"], ["D3"]]
    assert list(frame["claim"]) == ["proved"] * 3
    assert list(frame["applicable"]) == [2, 4, 4]


@each_library
def test_probes(library: Any) -> None:
    explanation = explained(yes_if("D1"), sources=2)
    frame = explanation.to_dataframe("probes", library)
    assert len(frame) == len(explanation.probes)
    by_kept: Any = dict(
        zip((tuple[str, ...](ids) for ids in frame["kept"]), frame["retention"], strict=True)
    )
    assert by_kept["D1", "D2"] == "holds"
    assert by_kept["D2",] == "breaks"
    assert {*frame["answer"]} == {"yes", "no"}
    assert {*map(tuple, frame["omitted"])} >= {(), ("D1",)}


@each_library
def test_importance(library: Any) -> None:
    frame = explained(yes_if("D1")).to_dataframe("importance", library)
    banzhaf = dict(zip(zip(frame["source"], frame["kind"], strict=True), frame["banzhaf"], strict=True))
    assert banzhaf["D1", "retention"] == 1
    assert banzhaf["D2", "retention"] == 0


@each_library
@each_table
@pytest.mark.parametrize("make", [hostile_explanation, forged_explanation])
def test_whatever_there_is(library: Any, table: Any, make: Any) -> None:
    assert len(make().to_dataframe(table, library)) >= 0


@each_library
@each_table
def test_without_rows_there_are_the_same_columns(library: Any, table: Any) -> None:
    full = explained(yes_if("D1"))
    nothing: dict[str, Any] = {
        "retention_rules": (),
        "omission_rules": (),
        "probes": (),
        "importance": (),
    }
    empty = full.model_copy(update=nothing)
    frame = empty.to_dataframe(table, library)
    assert len(frame) == 0
    assert list(frame.columns) == list(full.to_dataframe(table, library).columns)


@each_library
def test_a_count_that_no_column_holds_is_missing(library: Any) -> None:
    made = explained(yes_if("D1"))
    vast = replace(made.rules[0], claim="tested", applicable=2**9999)
    frame = made.model_copy(update={"retention_rules": (vast,)}).to_dataframe(library=library)
    first, second = frame["applicable"]
    assert second == 4
    assert first is None or isnan(first)


class TestLibraries:
    def test_the_one_that_is_used_already_is_taken(self, monkeypatch: pytest.MonkeyPatch) -> None:
        explanation = explained(yes_if("D1"))
        for library in LIBRARIES:
            import_module(library)
        assert comes_from(explanation.to_dataframe()) == "pandas"
        monkeypatch.setitem(sys.modules, "pandas", None)
        assert comes_from(explanation.to_dataframe()) == "polars"
        monkeypatch.delitem(sys.modules, "pandas")
        assert comes_from(explanation.to_dataframe()) == "polars"

    def test_none_at_all_names_the_extra(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for name in LIBRARIES:
            monkeypatch.setitem(sys.modules, name, None)
        with pytest.raises(MissingExtra, match=r"rag-rule-explainer\[dataframe\]"):
            explained(yes_if("D1")).to_dataframe()
        with pytest.raises(MissingExtra, match=r"of polars needs: .*\[dataframe\]"):
            explained(yes_if("D1")).to_dataframe(library="polars")

    def test_what_is_none_is_told(self) -> None:
        wrong: Any = "answers"
        with pytest.raises(InvalidInput, match="'answers' is not a table; give one of rules, probes"):
            explained(yes_if("D1")).to_dataframe(wrong)
        with pytest.raises(InvalidInput, match="give 'pandas' or 'polars'"):
            explained(yes_if("D1")).to_dataframe(library=wrong)
