"""Nothing that goes through printable can do more than stand on its line."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_rule_explainer.printable import amount, printable, shortened

JOINERS = "\u200c\u200d"
HARMFUL = st.characters(categories=("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"), exclude_characters=JOINERS)
TEXTS = st.text(st.characters() | HARMFUL)


@given(TEXTS)
def test_no_control_format_surrogate_or_unassigned_character_survives(text: str) -> None:
    left = [c for c in printable(text) if unicodedata.category(c)[0] == "C" and c not in JOINERS]
    assert left == []


@given(TEXTS)
def test_it_is_one_line(text: str) -> None:
    assert len(f"x{printable(text)}x".splitlines()) == 1


@given(TEXTS)
def test_once_is_enough(text: str) -> None:
    assert printable(printable(text)) == printable(text)


@given(st.text(st.characters(exclude_categories=("C", "Z")) | st.just(" ")))
def test_what_can_be_printed_is_left_as_it_is(text: str) -> None:
    assert printable(text) == text


@given(TEXTS, TEXTS)
def test_texts_are_made_printable_character_by_character(first: str, second: str) -> None:
    assert printable(first + second) == printable(first) + printable(second)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred\x1b[0m", r"\x1b[31mred\x1b[0m"),
        ("\x1b]0;title\x07", r"\x1b]0;title\x07"),
        ("\x9b2Jcleared", r"\x9b2Jcleared"),
        ("abc\b\b\bxyz", r"abc\x08\x08\x08xyz"),
        ("del\x7f", r"del\x7f"),
        ("\u202etxt.exe\u202c", r"\u202etxt.exe\u202c"),
        ("\u2066isolated\u2069", r"\u2066isolated\u2069"),
        ("zero\u200bwidth", r"zero\u200bwidth"),
        ("\ufeffmark", r"\ufeffmark"),
        ("\ud800", r"\ud800"),
        ("\U000e0041tag", r"\U000e0041tag"),
    ],
)
def test_what_would_move_colour_or_turn_the_line_is_shown_as_an_escape(text: str, shown: str) -> None:
    assert printable(text) == shown


@pytest.mark.parametrize(
    "space", ["\n", "\t", "\r", "\x0b", "\x0c", "\x85", "\u2028", "\u2029", "\u00a0"]
)
def test_white_space_of_any_kind_is_a_space(space: str) -> None:
    assert printable(f"a{space}b") == "a b"


@pytest.mark.parametrize(
    "text", ["naïve café", "東京", "می\u200cخواهم", "👩\u200d🔬", "[red]x[/red]", r"\x1b"]
)
def test_people_can_write_as_they_do(text: str) -> None:
    assert printable(text) == text


class TestShortened:
    @given(st.text(), st.integers(1, 50))
    def test_it_is_never_longer_than_the_limit(self, text: str, limit: int) -> None:
        assert len(shortened(text, limit)) <= limit

    @given(st.text())
    def test_what_fits_is_left_as_it_is(self, text: str) -> None:
        assert shortened(text, max(1, len(text))) == text

    def test_an_ellipsis_stands_for_what_was_cut(self) -> None:
        assert shortened("abcdef", 4) == "abc…"


@pytest.mark.parametrize(
    ("number", "decimals", "said"),
    [
        (1026, 0, "1,026"),
        (0.12345, 4, "0.1235"),
        ((1 << 50) + 2, 0, "about 2^50"),
        (10**400, 0, "about 2^1328"),
        (1e300, 4, "about 2^996"),
    ],
)
def test_amounts_that_nobody_would_read_are_powers_of_two(
    number: float, decimals: int, said: str
) -> None:
    assert amount(number, decimals) == said
