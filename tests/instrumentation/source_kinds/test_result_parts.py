"""Results of tools taken apart, and put together without some parts, against a naive reading."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_rule_explainer.instrumentation.source_kinds.result_parts import parts_of_result

WORDS = st.text(
    st.characters(blacklist_categories=["Cs", "Cc", "Zl", "Zp", "Zs"], blacklist_characters='\x85"\\'),
    min_size=1,
)
ITEMS = st.lists(
    WORDS | st.dictionaries(WORDS, WORDS | st.integers(), min_size=1), min_size=1, max_size=5
)
INDENT = st.sampled_from([None, 2])


def written(items: list[Any], indent: int | None, ascii_only: bool) -> str:
    return json.dumps(items, indent=indent, ensure_ascii=ascii_only)


def without_values(item: Any) -> Any:
    return "" if isinstance(item, str) else dict.fromkeys(item)


@given(ITEMS, INDENT, st.booleans(), st.data())
def test_a_json_list_without_some_items(
    items: list[Any], indent: int | None, ascii_only: bool, data: Any
) -> None:
    text, places = written(items, indent, ascii_only), range(len(items))
    omitted = data.draw(st.sets(st.sampled_from(places)))
    parts = parts_of_result(text)
    assert parts is not None
    assert len(parts.texts) == len(items)
    left = [each for place, each in enumerate(items) if place not in omitted]
    assert parts.without(omitted, "remove") == written(left, indent, ascii_only)
    blanked = json.loads(parts.without(omitted, "blank"))
    for place, (item, got) in enumerate(zip(items, blanked, strict=True)):
        assert without_values(got) == without_values(item) if place in omitted else got == item
        assert place not in omitted or not any(got if isinstance(got, str) else got.values())
    listed = parts_of_result(items)
    assert listed is not None
    assert listed.without(omitted, "remove") == left


def row(body: str) -> str:
    return f"- from: me\n  body: {body}\n"


@pytest.mark.parametrize(
    ("result", "texts", "left", "blank"),
    [
        ("plain", ["plain"], "", ""),
        ('{"a": "b"}', ['{"a": "b"}'], "{}", '{"a": ""}'),
        ({"a": "b", "n": 1}, ['{"a": "b", "n": 1}'], {}, {"a": "", "n": None}),
        ([1.5, 2], ["[1.5, 2]"], [], []),
        (("x", "y"), ["x", "y"], ("y",), ("", "y")),
        (7, ["7"], "", None),
        ({"total": 2, "results": ["one", "two"]}, ["one", "two"], {"total": 1, "results": ["two"]}, None),
        ("['one of it', 'two of it']", ["one of it", "two of it"], "['two of it']", "['', 'two of it']"),
        (row("b") + row("c"), ["from: me\n  body: b", "from: me\n  body: c"], row("c"), "-\n" + row("c")),
        ("1. one\n2. two\n", ["one", "two"], "2. two\n", "1.\n2. two\n"),
        ("- one\nand more\n- two", ["- one\nand more\n- two"], "", ""),
        ([{"type": "text", "text": '["a", "b"]'}], ["a", "b"], [{"type": "text", "text": '["b"]'}], None),
        (
            [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}],
            ["a", "b"],
            [{"type": "text", "text": "b"}],
            [{"type": "text", "text": ""}, {"type": "text", "text": "b"}],
        ),
    ],
)
def test_without_the_first_part(result: Any, texts: list[str], left: Any, blank: Any) -> None:
    parts = parts_of_result(result)
    assert parts is not None
    assert list(parts.texts) == texts
    assert parts.without([], "remove") == result
    assert parts.without([0], "remove") == left
    if blank is not None:
        assert parts.without([0], "blank") == blank


@pytest.mark.parametrize("empty", ["", " \n", None, [], (), {}, set[str]()])
def test_nothing_has_no_parts(empty: Any) -> None:
    assert parts_of_result(empty) is None
