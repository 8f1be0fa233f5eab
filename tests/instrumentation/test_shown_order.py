"""In which order a model was shown the sources, by what its requests show."""

import pytest

from rag_rule_explainer.instrumentation.recording.shown_order import OrdersShown, shown_order
from rag_rule_explainer.instrumentation.requests.source_recognition import Request, Sight
from rag_rule_explainer.sources import Source

UNITS = tuple("abcd")


def orders(*shown: str) -> OrdersShown:
    return OrdersShown([tuple(each) for each in shown])


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


@pytest.mark.parametrize("shown", ["acd", "dca", "cd", ""])
def test_what_is_not_recognised_may_stand_anywhere(shown: str) -> None:
    assert shown_order(UNITS, orders(shown), {*"acd"}) == UNITS * 2


LONG = {
    "a": "The clinic opens at nine in the morning on each day of the week.",
    "b": "The guideline names six weeks as the length of the treatment of all.",
    "c": "An earlier trial with many patients was stopped after only a little while.",
}
SHORT = {**LONG, "d": "six weeks"}
COPIES = {**LONG, "d": LONG["b"]}
WITHIN = {**LONG, "d": "six weeks as the length of the treatment"}
OTHERS: list[tuple[dict[str, str], str, str]] = [
    (LONG, "abc", ""),
    (LONG, "cba", "cba"),
    (LONG, "", "abcabc"),
    (SHORT, "abc", "abcdabcd"),
    (COPIES, "acbd", "acbdbd"),
    (COPIES, "abcd", "abcdbd"),
    (COPIES, "cabd", "cabdbd"),
    (COPIES, "abc", "abcdabcd"),
    (WITHIN, "abcd", ""),
    (WITHIN, "dabc", "dabc"),
    (WITHIN, "abc", "abcdabcd"),
    ({**LONG, "d": "yes"}, "abcd", "abcdabcd"),
    ({"a": "yes it is", "b": "no it is not"}, "ba", "ba"),
    ({"a": "yes it is", "b": "no it is not"}, "", "abab"),
]
"""Texts of sources, the order in which a request shows them, and the order that is found."""


@pytest.mark.parametrize(("texts", "shown", "expected"), OTHERS)
def test_the_order_in_which_a_request_shows_texts(
    texts: dict[str, str], shown: str, expected: str
) -> None:
    """An id that is there twice has no place that is known."""
    units = [Source(name, text) for name, text in texts.items()]
    request = Request(
        "\n\n".join(f"{place}. {texts[name]}" for place, name in enumerate(shown, 1)) + "\n?"
    )
    sight = Sight(units)
    found = OrdersShown.of([request], units, sight, sight.recognisable)
    assert shown_order([*texts], found, sight.recognisable) == tuple(expected)


def test_what_a_model_wrote_before_shows_no_order() -> None:
    units = [Source(name, text) for name, text in SHORT.items()]
    sight = Sight(units)
    request = Request(f"{SHORT['d']}. " + " ".join(LONG.values()), (SHORT["d"],))
    found = OrdersShown.of([request], units, sight, sight.recognisable)
    assert shown_order([*SHORT], found, sight.recognisable) == tuple("abcdabcd")
