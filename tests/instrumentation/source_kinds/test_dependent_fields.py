"""These tests check which fields of tools' results are taken to depend on several items."""

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_rule_explainer.instrumentation.executed_calls import NotedResult
from rag_rule_explainer.instrumentation.requests.volatile import Steady
from rag_rule_explainer.instrumentation.result_field import ResultField
from rag_rule_explainer.instrumentation.source_kinds.cut_parts import cut_parts_in
from rag_rule_explainer.instrumentation.source_kinds.dependent_fields import dependent_fields
from rag_rule_explainer.instrumentation.source_kinds.kinds import Omit
from rag_rule_explainer.instrumentation.source_kinds.result_content import as_content
from rag_rule_explainer.instrumentation.source_kinds.result_parts import parts_of_result
from rag_rule_explainer.instrumentation.source_kinds.tool_sources import ToolSources
from rag_rule_explainer.tool_calls import ToolCall

KNOWN = ["computed_results.jsonl", "more_computed_results.jsonl", "unseen_computed_results.jsonl"]
DOUBTED_AT_MOST = 0.1
"""The largest share of ordinary results that may be doubted without a cause."""
ACME: list[Any] = [{"of": "ACME", "eur": 200}, {"of": "Beta", "eur": 100}, {"of": "Core", "eur": 50}]


class McpResult:
    """Has the fields of the result of an MCP tool, with a block for each text."""

    def __init__(self, *texts: str, **beside: Any) -> None:
        self.content = [McpBlock(each) for each in texts]
        self.structuredContent = {"result": [*texts], **beside}
        self.isError = False


class McpBlock:
    """Has the fields of a text block of MCP."""

    def __init__(self, text: str) -> None:
        self.type, self.text = "text", text


def outcome(row: Mapping[str, Any]) -> str:
    """Says what becomes of a result: it is "whole", as one source; "doubted"; or "split" into items."""
    parts = parts_of_result(row["result"])
    if parts is None or not parts.is_list:
        return "whole"
    cut = cut_parts_in(parts)
    is_doubtful = cut is not None and cut.is_doubtful
    call = ToolCall(row["tool"], row["arguments"])
    return "doubted" if is_doubtful or dependent_fields(parts, call) else "split"


@pytest.mark.parametrize("file", KNOWN)
def test_what_is_made_of_items_is_doubted_and_little_else(file: str) -> None:
    rows = [json.loads(each) for each in (Path(__file__).parent / file).read_text("utf-8").splitlines()]
    guilty = [each for each in rows if each["kind"] == "guilty"]
    assert [each for each in guilty if outcome(each) == "split"] == []
    innocent = Counter(outcome(each) for each in rows if each["kind"] == "innocent")
    assert innocent["doubted"] <= DOUBTED_AT_MOST * innocent.total(), innocent


def names(result: Any, tool: str = "report", **arguments: Any) -> list[str]:
    parts = parts_of_result(result)
    assert parts is not None
    return [each.field.name for each in dependent_fields(parts, ToolCall(tool, arguments))]


@pytest.mark.parametrize(
    ("result", "named"),
    [
        ({"total": 350, "rows": ACME}, ["total"]),
        (json.dumps({"urgent": True, "rows": ACME}), ["urgent"]),
        ({"box": {"status": "red", "rows": ACME}}, ["box.status"]),
        ([{"rank": n, **each} for n, each in enumerate(ACME, start=1)], ["rank"]),
        ([*ACME, {"of": "Total", "eur": 350}], ["items"]),
        ("Status: RED\n- a\n- b", ["heading"]),
        ("| # | of |\n|---|---|\n| 1 | a |\n| 2 | b |", ["#"]),
        (ACME, []),
        ([json.dumps({"rank": n, "of": "x"}) for n in (1, 2)], ["rank"]),
        ([{"type": "text", "text": json.dumps({"rank": n})} for n in (1, 2)], ["rank"]),
        ("- Mail 1: call 4711\n- Mail 2: no number", ["number 1"]),
        ("- rank: 1\n  of: a\n- rank: 2\n  to: b\n", ["rank"]),
        (McpResult("a b", "c d", urgent=True), ["urgent"]),
        ("- 1st ann\n- 2nd bob\n- 3rd cy", ["number 1"]),
        ("- First: ann\n- Second: bob", ["ordinal"]),
        ("- a) ann\n- b) bob\n- c) cy", ["ordinal"]),
        ([{"place": "1st", "of": "x"}, {"place": "2nd", "of": "y"}], ["place"]),
        ("Mail 1 of 3: ann\nMail 2 of 3: bob\nMail 3 of 3: cy", ["of"]),
        ("Result 1 (of 17): ann\nResult 2 (of 17): bob", ["of"]),
        ([{"part": "1/2", "of": "x"}, {"part": "2/2", "of": "y"}], ["part"]),
        ("#1 ann\n#2 bob\n#3 cy", ["number 1"]),
        ("- First class: ann\n- Economy: bob", []),
        ("- a) ann\n- c) bob", []),
        ([{"score": "4/5", "of": "x"}, {"score": "4/5", "of": "y"}], []),
        ("Mail 1: of 3 friends\nMail 2: of ann", []),
        ("#4711 ann\n#8 bob", []),
    ],
)
def test_a_field_has_a_name(result: Any, named: list[str]) -> None:
    assert names(result) == named


def test_what_repeats_an_argument_is_independent() -> None:
    result = {"id": "A17", "rows": ACME}
    assert names(result) == ["id"]
    assert not names(result, id="A17")
    heading = "Bills of Ann:\n- a\n- b"
    assert names(heading, "list_bills") == ["heading"]
    assert not names(heading, "list_bills", of="Ann")
    assert not names("Results for 'x':\n- a\n- b", q="x")
    assert names("Results for 'x':\n- a\n- b", q="y") == ["heading"]
    orders = "Orders: RED\n- a RED\n- b RED"
    assert names(orders, "list_orders") == names(orders, "list_orders", status="GREEN") == ["heading"]
    assert not names(orders, "list_orders", status="RED")
    assert not names(orders, "list_orders", statuses=["red"])


def test_one_of_several_arguments_is_made_of_the_items() -> None:
    some = {"statuses": ["RED", "GREEN"]}
    assert names("Orders: RED\n- a\n- b", "list_orders", **some) == ["heading"]
    assert not names("Orders: RED, GREEN\n- a\n- b", "list_orders", **some)


@pytest.mark.parametrize(
    ("result", "left"),
    [
        ({"count": 3, "rows": ACME}, {"count": 2, "rows": ACME[1:]}),
        ({"total": 17, "page": 1, "rows": ACME}, {"total": 16, "page": 1, "rows": ACME[1:]}),
        ({"total": 350, "page": 1, "rows": ACME}, {"total": 350, "page": 1, "rows": ACME[1:]}),
        ({"total": 3.0, "rows": ACME}, {"total": 3.0, "rows": ACME[1:]}),
        ({"found": 1, "rows": ACME}, {"found": 1, "rows": ACME[1:]}),
    ],
)
def test_only_a_number_that_counts_the_items_goes_down(result: Any, left: Any) -> None:
    for one, other in ((result, left), (json.dumps(result), json.dumps(left))):
        parts = parts_of_result(one)
        assert parts is not None
        assert parts.without([0], "remove") == other


def test_a_number_after_a_number_sign_stays_as_it_was() -> None:
    parts = parts_of_result("#1 ann\n#2 bob\n#3 cy")
    assert parts is not None
    assert parts.without([0], "remove") == "#2 bob\n#3 cy"


HEADED = "Status: RED\n- a\n- b\n- c"
RANKED = [{"rank": 1, "a": "x"}, {"rank": 2, "a": "y"}]


@pytest.mark.parametrize(
    ("result", "kept", "omit", "doubted"),
    [
        (HEADED, ["heading", "item 1"], "remove", ["heading"]),
        (HEADED, ["item 1"], "remove", []),
        (HEADED, ["item 1", "item 2", "item 3"], "remove", []),
        (HEADED, ["heading"], "remove", ["heading"]),
        (HEADED, ["heading", "item 1"], "blank", ["heading"]),
        (RANKED, ["item 2"], "remove", ["rank"]),
        (RANKED, ["item 2"], "blank", []),
        (RANKED, [], "remove", []),
        ({"urgent": True, "rows": ["a b", "c d"]}, [], "remove", ["urgent"]),
    ],
)
def test_a_doubt_is_told_where_something_is_omitted(
    result: Any, kept: list[str], omit: Omit, doubted: list[str]
) -> None:
    noted = NotedResult(ToolCall("look"), "key", 0, result, 1, ())
    for ignore in ([], [r"look\.(heading|rank|urgent)"]):
        found = ToolSources.of([noted], [], as_content, omit, steady=Steady(ignore))
        told = list[str]()

        def doubt(tool: str, field: ResultField, told: list[str] = told) -> None:
            told.append(field.doubt_about(tool))

        found.served("key", 0, [f"look #1, {each}" for each in kept], doubt)
        assert len(told) == (0 if ignore else len(doubted))
        for name, text in zip(doubted, told, strict=False):
            assert f"ignore=[r'look\\.{name}']" in text


PLAIN = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
NAMES = st.sampled_from(["total", "rank", "id", "of", "status", "next", "ok", "#", ""]) | st.text(
    max_size=4
)
VALUES = st.recursive(
    PLAIN, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=4)
)
LISTS = st.lists(VALUES, min_size=1, max_size=5) | st.lists(
    st.dictionaries(NAMES, PLAIN, min_size=1), min_size=2, max_size=5
)


@given(LISTS, st.dictionaries(NAMES, VALUES, max_size=3), st.text(max_size=20), VALUES)
def test_no_result_is_too_odd(items: list[Any], beside: Any, heading: str, given_: Any) -> None:
    lines = "\n".join(f"- {each}" for each in items)
    for result in (items, {**beside, "items": items}, json.dumps(items), f"{heading}:\n{lines}"):
        parts = parts_of_result(result)
        if parts is not None:
            dependent_fields(parts, ToolCall("look", {"q": given_}))
