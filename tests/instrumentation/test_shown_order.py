"""In which order a model was shown the sources, by what its requests show."""

import pytest

from rag_rule_explainer.instrumentation.recording.shown_order import shown_order

UNITS = tuple("abcd")
Orders = list[tuple[str, ...]]


def orders(*shown: str) -> Orders:
    return [tuple(each) for each in shown]


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        ([], ""),
        (["", "abcd"], ""),
        (["dcba"], "dcba"),
        (["dcb"], "dcb"),
        (["bcd"], "bcd"),
        (["dcba", "dc"], "dcba"),
        (["a", "b", "c", "d", "dcba"], "dcba"),
        (["a", "b", "c", "ca"], "ca"),
    ],
)
def test_requests_that_agree_tell_the_order(shown: list[str], expected: str) -> None:
    assert shown_order(UNITS, orders(*shown), {*UNITS}) == tuple(expected)


@pytest.mark.parametrize(
    "shown",
    [["abcd", "dcba"], ["ab", "cd"], ["a", "b"], ["a", "ba"], ["a", "b", "abcd", "c"], ["ab", "b"]],
)
def test_an_order_that_is_not_known_repeats_its_ids(shown: list[str]) -> None:
    found = shown_order(UNITS, orders(*shown), {*UNITS})
    assert {found.count(each) > 1 for each in found} == {True}


def test_what_is_not_recognised_may_stand_anywhere() -> None:
    assert shown_order(UNITS, orders("acd"), {*"acd"}) == ()
    assert shown_order(UNITS, orders("dca"), {*"acd"}) == tuple("dcadca")
    assert shown_order(UNITS, orders("cd"), {*"acd"}) == tuple("cdcd")
