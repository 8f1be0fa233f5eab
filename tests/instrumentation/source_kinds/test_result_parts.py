"""Results of tools taken apart, and put together without some parts, against a naive reading."""

import json
from ast import literal_eval
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pprint import pformat
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import BaseModel

from rag_rule_explainer.instrumentation.source_kinds.cut_parts import cut_parts_in
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
        ("1. one\n2. two\n", ["one", "two"], "1. two\n", "1.\n2. two\n"),
        ("- one\nand more\n- two", ["- one\nand more\n- two"], "", ""),
        ("1. one\n2. two\nThat is all.", ["1. one\n2. two\nThat is all."], "", ""),
        ("- one\n- two\n\n2 results.", ["one", "two"], "- two\n\n1 results.", "-\n- two\n\n2 results."),
        ("1. one\n2. two\nFound 2 of 17.\n", ["one", "two"], "1. two\nFound 1 of 16.\n", None),
        ('["one", "two"]\nTotal: 2 rows', ["one", "two"], '["two"]\nTotal: 1 rows', None),
        ("Mails:\n- one\n- two\n(2 items)", ["Mails:", "one", "two"], "- one\n- two\n(2 items)", None),
        ("- one\n- two\n3 results.", ["- one\n- two\n3 results."], "", ""),
        ("- one\n- two\nPay 2 items.", ["- one\n- two\nPay 2 items."], "", ""),
        ("- one\n- two\n2", ["- one\n- two\n2"], "", ""),
        ("3. one\n7. two\n", ["one", "two"], "7. two\n", "3.\n7. two\n"),
        ("(0) one\n(1) two\n(2) three", ["one", "two", "three"], "(0) two\n(1) three", None),
        (
            "Result 1: one\n\nResult 2: two\n\nResult 3: three",
            ["one", "two", "three"],
            "Result 1: two\n\nResult 2: three",
            "Result 1:\n\nResult 2: two\n\nResult 3: three",
        ),
        ("[1] one\n[2] two\n\n2 results", ["one", "two"], "[1] two\n\n1 results", None),
        ("## Mail 1\na: b\nc\n\n## Mail 2\nd\n", ["a: b\nc", "d"], "## Mail 1\nd\n", None),
        ("Room 1: free\nRoom 2: free", ["Room 1: free\nRoom 2: free"], "", ""),
        ("1: one\n2: two", ["1: one\n2: two"], "", ""),
        ("[7] one\n[9] two", ["[7] one\n[9] two"], "", ""),
        (
            "Result 1: one\n\nResult 2: two\nSee you.",
            ["Result 1: one\n\nResult 2: two\nSee you."],
            "",
            "",
        ),
        ("Note 1: a\n\nNote 2: b\n\nBye.", ["Note 1: a\n\nNote 2: b\n\nBye."], "", ""),
        ("[see above, and below]", ["[see above, and below]"], "", ""),
        ('{"of": "Bob", "phones": ["1", "2"]}', ['{"of": "Bob", "phones": ["1", "2"]}'], "{}", None),
        ('{"results": ["a"], "results": ["b"]}', ['{"results": ["a"], "results": ["b"]}'], "{}", None),
        (
            '{"mails": ["a", "b"],  "total": 2}',
            ["a", "b"],
            '{"mails": ["b"],  "total": 1}',
            '{"mails": ["", "b"],  "total": 2}',
        ),
        ({"n": 2, "mails": ["a", "b"]}, ["a", "b"], {"n": 1, "mails": ["b"]}, None),
        ('{"n": 3, "mails": ["a", "b"]}', ['{"n": 3, "mails": ["a", "b"]}'], "{}", None),
        (
            '{"mail_count": 2, "box": {"mails": ["a", "b"], "n": 7}}',
            ['{"mail_count": 2, "box": {"mails": ["a", "b"], "n": 7}}'],
            "{}",
            None,
        ),
        (
            '{"n_mails":2, "mails": ["a", "b"]}',
            ["a", "b"],
            '{"n_mails":1, "mails": ["b"]}',
            '{"n_mails":2, "mails": ["", "b"]}',
        ),
        ({"mails": ["a", "b"]}, ["a", "b"], {"mails": ["b"]}, {"mails": ["", "b"]}),
        (
            '[{"a": "x", "a": "y"}, "z"]',
            ['{"a": "x", "a": "y"}', "z"],
            '["z"]',
            '[{"a": ""}, "z"]',
        ),
        (
            "You have 2 mails:\n\n- a\n- b\n",
            ["You have 2 mails:", "a", "b"],
            "- a\n- b\n",
            "- a\n- b\n",
        ),
        (
            "| a | b |\n|:--|--:|\n| 1 | x |\n| 2 | y |",
            ["| 1 | x |", "| 2 | y |"],
            "| a | b |\n|:--|--:|\n| 2 | y |",
            "| a | b |\n|:--|--:|\n|  |  |\n| 2 | y |",
        ),
        (
            '```json\n[{"a": "x"}, {"a": "y"}]\n```\n',
            ['{"a": "x"}', '{"a": "y"}'],
            '```json\n[{"a": "y"}]\n```\n',
            '```json\n[{"a": ""}, {"a": "y"}]\n```\n',
        ),
        (
            "[<Mail 7>, Mail(n=8), {'at': Date(1)}]",
            ["<Mail 7>", "Mail(n=8)", "{'at': Date(1)}"],
            "[Mail(n=8), {'at': Date(1)}]",
            "[(), Mail(n=8), {'at': Date(1)}]",
        ),
        (
            '[{"sum": 5.50, "of": "a"}, {"sum": 7.00}]',
            ['{"sum": 5.50, "of": "a"}', '{"sum": 7.00}'],
            '[{"sum": 7.00}]',
            '[{"sum": null, "of": ""}, {"sum": 7.00}]',
        ),
        ('{"sum": 1e3}\n{"sum":  -0}', ['{"sum": 1e3}', '{"sum":  -0}'], '{"sum":  -0}', None),
        (
            '"[{\\"sum\\": 5.50}, {\\"sum\\": 7.00}]"',
            ['{"sum": 5.50}', '{"sum": 7.00}'],
            '"[{\\"sum\\": 7.00}]"',
            '"[{\\"sum\\": null}, {\\"sum\\": 7.00}]"',
        ),
        (
            '[{"of": "it is 5.50",  "n": 1.5}, "x"]',
            ['{"of": "it is 5.50", "n": 1.5}', "x"],
            '["x"]',
            None,
        ),
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


HEADED = "Found 3 mails:\n1. one\n2. two\n3. three"


@pytest.mark.parametrize(
    ("omitted", "left"),
    [
        ({2}, "Found 2 mails:\n1. one\n2. three"),
        ({1, 2}, "Found 1 mails:\n1. three"),
        ({0, 1}, "1. two\n2. three"),
        ({0}, "1. one\n2. two\n3. three"),
        ({1, 2, 3}, "Found 0 mails:\n"),
        ({0, 1, 2, 3}, ""),
    ],
)
def test_a_heading_and_numbers_are_as_the_tool_writes_them_about_what_is_left(
    omitted: set[int], left: str
) -> None:
    for text, quote in ((HEADED, str), (json.dumps(HEADED), json.loads)):
        parts = parts_of_result(text)
        assert parts is not None
        assert quote(parts.without(omitted, "remove")) == left
        assert quote(parts.without({2}, "blank")) == HEADED.replace("two", "").replace("2. ", "2.")


@pytest.mark.parametrize("text", ["4. one\n5. two", "3. one\n2. two", "Top 2:\n- one\n- two"])
def test_numbers_in_doubt_stay(text: str) -> None:
    cut = cut_parts_in(parts_of_result(text))
    assert cut is not None
    assert cut.is_doubtful
    assert cut.other_headings == []
    assert cut.without({len(cut.texts) - 1}, "remove").strip() == text.rpartition("\n")[0]


def test_the_other_texts_of_a_heading() -> None:
    cut = cut_parts_in(parts_of_result(HEADED))
    assert cut is not None
    assert not cut.is_doubtful
    assert cut.other_headings == ["Found 2 mails:", "Found 1 mails:", "Found 0 mails:"]


class Mail(BaseModel):
    body: str
    of: int = 1


@dataclass
class Note:
    body: str


Write = Callable[[Sequence[str]], tuple[str, list[str]]]
"""Writes texts as a list; returns also how each of them is written."""


def as_json(indent: Any, separators: Any = None, *, key: str = "") -> Write:
    def write(texts: Sequence[str]) -> tuple[str, list[str]]:
        listed: Any = [{"b": each} for each in texts]
        whole: Any = {"id": "7", key: listed, "ok": True} if key else listed
        return json.dumps(whole, indent=indent, separators=separators), [json.dumps(t) for t in texts]

    return write


def as_lines(line: Callable[[int, str], str], head: str = "", between: str = "\n") -> Write:
    def write(texts: Sequence[str]) -> tuple[str, list[str]]:
        lines = [line(place, each) for place, each in enumerate(texts, start=1)]
        return head + between.join(lines), lines

    return write


def as_printed(make: Callable[[str], Any], printed: Callable[[Any], str] = repr) -> Write:
    def write(texts: Sequence[str]) -> tuple[str, list[str]]:
        return printed([make(each) for each in texts]), [repr(make(each)) for each in texts]

    return write


def as_dict(text: str) -> Any:
    return {"body": text, "of": 1}


def json_line(_: int, text: str) -> str:
    return json.dumps({"b": text})


WRITERS = {
    "json": as_json(None),
    "compact": as_json(None, (",", ":")),
    "uneven": as_json(3, (" ,", " : ")),
    "inside": as_json(None, key="results"),
    "inside, tabs": as_json("\t", key="mails"),
    "lines of json": as_lines(json_line),
    "lines of json, apart": as_lines(json_line, between=" \n\n"),
    "python": as_printed(as_dict),
    "pretty python": as_printed(as_dict, lambda each: pformat(each, width=30)),
    "models": as_printed(lambda each: Mail(body=each)),
    "dataclasses": as_printed(Note),
    "dashes": as_lines(lambda _, each: f"- {each.split()}"),
    "numbers": as_lines(lambda n, each: f"  ({n}) {each.split()}\n     more"),
    "stars": as_lines(lambda _, each: f"* {each.split()}", between="\n\n"),
    "table": as_lines(lambda n, each: f"| {n} | {each.split()} |", "| n | b |\n| - | :-: |\n"),
}
TEXTS = st.lists(
    st.text(st.sampled_from("ab ,'\"\\[](){}|<>:\n#-1é") | st.characters(categories=["L"]), max_size=12),
    min_size=2,
    max_size=5,
    unique=True,
)


def _value(text: str) -> Any:
    try:
        return literal_eval(text)
    except (ValueError, SyntaxError):
        return text


@pytest.mark.parametrize("form", WRITERS)
@given(TEXTS, st.data())
@example(["it's", '"', "\\", "]"], None)
def test_what_is_cut_out_of_a_text_is_one_item(form: str, texts: list[str], data: Any) -> None:
    """Nothing else changes: what is left is the text before the item, and the text after it."""
    text, items = WRITERS[form](texts)
    parts = parts_of_result(text)
    assert parts is not None
    assert parts.is_list
    assert len(parts.texts) == len(texts)
    assert parts.without([], "remove") == text
    place = 0 if data is None else data.draw(st.integers(0, len(texts) - 1))
    left = parts.without([place], "remove")
    if form == "numbers":
        written_anew, _ = WRITERS[form]([each for n, each in enumerate(texts) if n != place])
        assert left.strip() == written_anew.strip()
        return
    same = next((n for n, (a, b) in enumerate(zip(text, left, strict=False)) if a != b), len(left))
    assert text.endswith(left[same:])
    if form != "pretty python":  # which may divide a text
        assert left.count(items[place]) < text.count(items[place])
        others = [each for n, each in enumerate(items) if n != place]
        at = 0
        for each in others:
            at = left.index(each, at) + len(each)
    again = parts_of_result(left)
    if len(texts) > 2:
        assert again is not None
        # Text that Python has divided may be shown as it is printed, or as JSON.
        shown = [_value(each) for each in again.texts]
        assert shown == [_value(each) for n, each in enumerate(parts.texts) if n != place]
    blank = parts.without([place], "blank")
    assert len(parts.without(range(len(texts)), "remove")) < len(blank)


@pytest.mark.parametrize("items", [[Mail(body="a"), Mail(body="b")], (Note("a"), Note("b"))])
def test_items_that_are_objects_are_blanked_as_objects(items: Any) -> None:
    parts = parts_of_result(items)
    assert parts is not None
    assert [json.loads(each)["body"] for each in parts.texts] == ["a", "b"]
    left = parts.without([0], "blank")
    assert type(left) is type(items)
    assert (left[0].body, left[1]) == ("", items[1])
    assert parts.without([0], "remove") == items[1:]


@pytest.mark.parametrize("text", ["[" * 50_000, "[" + "-" * 50_000, "'" * 50_001, "- " * 50_000])
def test_a_hostile_text_is_one_part(text: str) -> None:
    parts = parts_of_result(text)
    assert parts is not None
    assert not parts.is_list


@pytest.mark.parametrize("form", [tuple, list, json.dumps])
def test_a_list_beside_another_value_is_one_part(form: Callable[[Any], Any]) -> None:
    """As in ``return rows, total``: what stands beside the rows may depend on them."""
    parts = parts_of_result(form([[{"name": "ann"}, {"name": "bob"}], 60]))
    assert parts is not None
    assert len(parts.texts) == 1
    rows = parts_of_result(form([["ann", 10], ["bob", 50]]))
    assert rows is not None
    assert len(rows.texts) == 2


@pytest.mark.parametrize("empty", ["", " \n", None, [], (), {}, set[str]()])
def test_nothing_has_no_parts(empty: Any) -> None:
    assert parts_of_result(empty) is None
