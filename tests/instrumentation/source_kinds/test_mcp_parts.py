"""Results of MCP tools: items of lists, and the structured content goes along."""

from typing import Any

import pytest

from rag_rule_explainer.instrumentation.source_kinds.result_parts import parts_of_result

types = pytest.importorskip("mcp.types")
MAILS: Any = [{"from": "a"}, {"from": "b"}]


def result(*texts: str, structured: Any = None, failed: bool = False) -> Any:
    content = [types.TextContent(type="text", text=each) for each in texts]
    return types.CallToolResult(content=content, structuredContent=structured, isError=failed)


ONE, OTHER = '{"from": "a"}', '{"from": "b"}'
LISTS = {
    "a block of each": result(ONE, OTHER),
    "a block of each, typed": result(ONE, OTHER, structured={"result": MAILS}),
    "one block": result(f"[{ONE}, {OTHER}]"),
    "one block, typed": result(f"[{ONE}, {OTHER}]", structured={"result": MAILS}),
    "one block with a text": result(f"[{ONE}, {OTHER}]", structured={"result": f"[{ONE}, {OTHER}]"}),
}


@pytest.mark.parametrize("given", LISTS.values(), ids=LISTS)
def test_a_list(given: Any) -> None:
    parts = parts_of_result(given)
    assert parts is not None
    assert (parts.is_list, list(parts.texts)) == (True, [ONE, OTHER])
    assert parts.without([], "remove") is given
    for omit in ("remove", "blank"):
        less = parts.without([0], omit)
        assert type(less) is type(given)
        assert '"a"' not in less.model_dump_json().replace("\\", "")
        assert '"b"' in less.model_dump_json().replace("\\", "")
        assert (less.structuredContent is None) == (given.structuredContent is None)
    nothing = parts.without([0, 1], "remove").model_dump_json().replace("\\", "")
    assert "from" not in nothing


@pytest.mark.parametrize("structured", [None, {"result": "said"}])
def test_a_text(structured: Any) -> None:
    parts = parts_of_result(result("said", structured=structured))
    assert parts is not None
    assert (parts.is_list, list(parts.texts)) == (False, ["said"])
    assert "said" not in parts.without([0], "remove").model_dump_json()


@pytest.mark.parametrize(
    "given",
    [
        result("no such mail", failed=True),
        result("one", "two", structured={"summary": "of both", "result": ["one", "two"]}),
        result("said", structured={"result": "something else"}),
    ],
    ids=["an error", "a summary of all", "another text"],
)
def test_what_cannot_be_split_is_one_source(given: Any) -> None:
    parts = parts_of_result(given)
    assert parts is not None
    assert len(parts.texts) == 1
    assert parts.texts[0]
