"""What may differ from run to run without being remembered."""

import pytest

from rag_rule_explainer import InvalidInput
from rag_rule_explainer.instrumentation.requests.volatile import Steady

VOLATILE = [
    ("now: 2026-11-22T07:33:29.123456+00:00", "now: 2026-11-23T17:03:09.000001+00:00"),
    ("Today is 2026-11-22.", "Today is 2026-12-01."),
    ("Sunday, November 22, 2026 at 07:33 AM", "Monday, November 23, 2026 at 11:03 PM"),
    ("22 Nov 2026", "1 December 2026"),
    ("Sun Nov 22 07:33:29 2026", "Mon Nov 23 07:33:30 2026"),
    ("11/22/2026 7:33", "11/23/2026 17:33"),
    ("it is 07:33:29", "it is 07:33:30"),
    ("time=1795332809.123", "time=1795332999.9"),
    ("at 1795332809123 ms", "at 1795332809999 ms"),
    ("id 5f0c1f0e-8c5e-4f0b-9a3e-1234567890ab", "id 6f0c1f0e-8c5e-4f0b-9a3e-1234567890ab"),
    ("id 5f0c1f0e8c5e4f0b9a3e1234567890ab", "id 5f0c1f0e8c5e4f0b9a3e1234567890ac"),
    ("id lc_5f0c1f0e-8c5e-4f0b-9a3e-1234567890ab", "id lc_6f0c1f0e-8c5e-4f0b-9a3e-1234567890ab"),
    ("call_Ab3dEfGh9", "call_Zz3dEfGh9"),
    ("toolu_01A09q90qw90lq917835lq9", "toolu_02B09q90qw90lq917835lq9"),
    ("chatcmpl-9mX3abcdefg", "chatcmpl-9mX3abcdefh"),
    ("<Thing at 0x7f1234567890>", "<Thing at 0x7f1234567891>"),
]
STATE = [
    ("turn 3", "turn 4"),
    ("request no. 7", "request no. 8"),
    ("asked 12 times", "asked 13 times"),
    ("You have 3 messages", "You have 5 messages"),
    ("history: hello", "history: hello, hello"),
    ("score 0.91", "score 0.92"),
    ("version 3.10.2", "version 3.10.3"),
    ("in 1999", "in 2024"),
    ("call_1", "call_2"),
    ("run_diagnostics", "run_everything"),
    ("ratio 1:2", "ratio 1:3"),
    ("bad news", "good news"),
]


@pytest.mark.parametrize(("one", "other"), VOLATILE)
def test_what_is_volatile_is_taken_out(one: str, other: str) -> None:
    steady = Steady()
    assert steady(one) == steady(other)
    assert steady(f"before {one} after") == steady(f"before {other} after")


@pytest.mark.parametrize(("one", "other"), STATE)
def test_state_is_left_in(one: str, other: str) -> None:
    steady = Steady()
    assert steady(one) != steady(other)
    assert steady(f"before {one} after") != steady(f"before {other} after")


def test_the_callers_patterns_are_taken_out_first() -> None:
    steady = Steady([r"turn \d+"])
    assert steady("turn 3 of us") == steady("turn 12 of us") != steady("turn of us")
    assert steady.ignored == (r"turn \d+",)


@pytest.mark.parametrize("given", ["turn", ["("], [7], None])
def test_what_is_no_list_of_patterns_is_told(given: object) -> None:
    with pytest.raises((InvalidInput, TypeError)):
        Steady(given)  # pyright: ignore[reportArgumentType] -- what a user may pass
