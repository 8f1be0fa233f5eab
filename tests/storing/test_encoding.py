"""What is stored comes back as it was, or as JSON says it; two different keys are never one."""

import contextlib
import enum
import json
from collections.abc import Hashable
from dataclasses import asdict
from types import MappingProxyType
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_rule_explainer import Answer, Judgement, ToolCall, Verdict
from rag_rule_explainer.printable import as_json
from rag_rule_explainer.storing.digests import KeyDigests, NotStorable, digest, encoded
from rag_rule_explainer.storing.encoding import (
    Corrupted,
    packed,
    packed_answer,
    packed_ids,
    packed_judgement,
    storable,
    unpacked,
    unpacked_answer,
    unpacked_ids,
    unpacked_judgement,
)

TEXTS = st.text(st.characters() | st.characters(categories=["Cs"]) | st.sampled_from('\0\n"\\'))
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)
IDS = st.lists(TEXTS, max_size=4).map(tuple)
ANSWERS = st.builds(
    Answer,
    text=TEXTS,
    value=VALUES,
    usage=st.none() | st.dictionaries(TEXTS, st.integers(), max_size=3),
    finish_reason=st.none() | TEXTS,
    note=TEXTS,
    delivered=st.none() | IDS,
    seen=st.none() | IDS,
    calls=st.none()
    | st.lists(
        st.builds(ToolCall, TEXTS, TEXTS | st.dictionaries(TEXTS, VALUES, max_size=3), st.integers(0, 9)),
        max_size=3,
    ).map(tuple),
)
KEYS: st.SearchStrategy[Hashable] = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | TEXTS | st.binary(max_size=4),
    lambda inner: st.lists(inner, max_size=3).map(tuple) | st.frozensets(inner, max_size=3),
    max_leaves=8,
)


@given(ANSWERS)
def test_an_answer_comes_back_equal(answer: Answer) -> None:
    assert asdict(storable(answer)) == asdict(answer)
    back = unpacked_answer(packed_answer(answer))
    assert asdict(back) == asdict(answer)
    assert repr(back.value) == repr(answer.value)  # 1 is neither 1.0 nor True


def test_an_answer_from_before_calls_were_kept_has_none_that_are_known() -> None:
    before = b'{"text":"done"}'
    assert unpacked_answer(before).calls is None
    assert unpacked_answer(packed_answer(Answer("done", calls=()))).calls == ()


NO_CALLS: list[Any] = [
    {},
    [1],
    [["a"]],
    [["a", {}]],
    [["a", {}, -1]],
    [["a", {}, True]],
    [["a", 1, 0]],
    [[1, {}, 0]],
]


@pytest.mark.parametrize("calls", NO_CALLS)
def test_calls_that_are_none_are_damage(calls: Any) -> None:
    with pytest.raises(Corrupted):
        unpacked_answer(packed(json.dumps({"text": "done", "calls": calls})))


@given(TEXTS, IDS, st.sampled_from(Verdict))
def test_texts_ids_and_judgements_come_back_equal(
    text: str, ids: tuple[str, ...], verdict: Verdict
) -> None:
    assert unpacked(packed(text)) == text
    assert unpacked_ids(packed_ids(ids)) == ids
    judgement = Judgement(verdict, text)
    assert unpacked_judgement(packed_judgement(judgement)) == judgement


def test_two_surrogates_are_not_one_character() -> None:
    answer = Answer("\ud83d\ude00", "\ud83d\ude00", finish_reason="\U0001f600")
    assert asdict(unpacked_answer(packed_answer(answer))) == asdict(answer)


class Colour(enum.IntEnum):
    RED = 1


class Sly(str):
    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        raise AssertionError("nobody asked for this")

    __hash__ = str.__hash__


@pytest.mark.parametrize(
    "value",
    [
        (1, 2),
        {"a": (1,)},
        {1: "a"},
        {"a", "b"},
        float("nan"),
        float("inf"),
        Colour.RED,
        object(),
        b"bytes",
        {"deep": {"a": object()}},
    ],
)
def test_what_json_cannot_say_comes_back_as_json_says_it(value: object) -> None:
    kept = storable(Answer("text", value))
    assert kept.value == as_json(value)
    assert asdict(unpacked_answer(packed_answer(kept))) == asdict(kept)


def test_what_is_too_long_or_nested_too_deeply_comes_back_as_json_says_it() -> None:
    endless: list[Any] = []
    endless.append(endless)
    for value in (10**5000, endless, json.loads("[" * 500 + "]" * 500)):
        kept = storable(Answer("text", value))
        assert asdict(unpacked_answer(packed_answer(kept))) == asdict(kept)


def test_no_code_of_a_value_is_run() -> None:
    back = unpacked_answer(packed_answer(storable(Answer("text", [Sly("text")]))))
    assert type(back.value[0]) is str


def test_odd_fields_of_an_answer_are_kept_as_far_as_possible() -> None:
    odd: dict[str, Any] = {"usage": {"in": 3, "details": {"x": 1}, 7: 1.5}, "finish_reason": 7}
    assert repr(storable(Answer("text", **odd))) == repr(
        Answer("text", usage={"in": 3}, finish_reason="7")
    )
    proxied = Answer("text", usage=MappingProxyType({"in": 3}))
    assert asdict(unpacked_answer(packed_answer(proxied))) == asdict(Answer("text", usage={"in": 3}))


@given(st.binary(max_size=40) | VALUES.map(lambda value: packed(json.dumps(value))))
def test_any_bytes_are_an_answer_or_an_error(content: bytes) -> None:
    for decode in (unpacked_answer, unpacked_judgement, unpacked_ids):
        with contextlib.suppress(Corrupted):
            decode(content)


@given(KEYS, KEYS)
def test_equal_keys_alone_have_equal_digests(one: Hashable, other: Hashable) -> None:
    # 1 and True are equal to Python; to be asked once more for such a key costs money, and is no mistake.
    assert (repr_of(one) == repr_of(other)) is (encoded(one) == encoded(other))
    assert KeyDigests("begins").of(one) == KeyDigests("begins").of(one)


def repr_of(key: Any) -> str:
    if isinstance(key, frozenset):
        return f"frozenset({sorted(map(repr_of, cast('frozenset[Any]', key)))})"
    if isinstance(key, tuple):
        return f"({[repr_of(each) for each in cast('tuple[Any, ...]', key)]})"
    return repr(key)


def test_keys_that_are_close_have_digests_of_their_own() -> None:
    close: list[Hashable] = [
        *(("ab", "c"), ("a", "bc"), ("abc",), "abc", (("ab", "c"),), ("ab", "c", ""), ("", "ab", "c")),
        *((), ((),), None, "", "None", 0, False, "0", 0.0, b"0", -0.0, frozenset[int](), frozenset({""})),
        *((None,), ("1", 2), (1, "2"), ("12",), ("1,1", "a"), ("1", "1a"), ("1:", "a"), ("1", ":a")),
    ]
    assert len({digest(each) for each in close}) == len(close)
    assert KeyDigests("namespace", "question").of("key") != KeyDigests("namespace", "questionkey").of("")
    assert digest(frozenset({"a", "b", "c"})) == digest(frozenset({"c", "b", "a"}))


@pytest.mark.parametrize("key", [object(), Verdict.HOLDS, (1, [2]), Colour.RED, ("a", Answer("x"))])
def test_a_key_with_anything_else_in_it_is_refused(key: Hashable) -> None:
    with pytest.raises(NotStorable):
        digest(key)


def test_a_key_that_is_nested_too_deeply_is_refused() -> None:
    deep: Hashable = ()
    for _ in range(100_000):
        deep = (deep, 1)
    with pytest.raises(NotStorable, match="deeply"):
        digest(deep)
    while deep:  # taken apart here: Python's own way would nest as deeply
        deep = deep[0]
