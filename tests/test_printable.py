"""Nothing that goes through printable can do more than stand on its line."""

import pickle
import re
import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_rule_explainer import BaselineFailed, InvalidInput
from rag_rule_explainer.predicates import JudgeFailed
from rag_rule_explainer.printable import (
    amount,
    inert,
    plain_id,
    printable,
    shortened,
    type_said,
    with_article,
    without_secrets,
)
from rag_rule_explainer.probing.judging import error_text
from rag_rule_explainer.probing.replaying import UnusableReply
from rag_rule_explainer.probing.reply import Reply

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


SECRETS = [
    ("Incorrect API key provided: sk-proj-abc123DEF456ghi789. You can find", "abc123"),
    ("Incorrect API key provided: sk-abcd************wxyz. You can", "wxyz"),
    ("invalid x-api-key: sk-ant-api03-AbCdEf0123456789", "AbCdEf"),
    ("Incorrect API key provided: 9f8e7d6c5b4a39281706", "9f8e7d"),
    ("headers: {'Authorization': 'Bearer abcdef0123456789'}", "abcdef0"),
    ("401 for Authorization: Basic dXNlcjpwYXNzd29yZDE=", "dXNlcj"),
    ("GET https://api.x.com/v1?key=AbCdEf&model=m failed", "AbCdEf"),
    ("GET https://api.x.com/v1?model=m&api_key=hunter failed", "hunter"),
    ("Client(api_key='hunter-two', model='m')", "hunter"),
    ("cannot connect to postgresql://me:p@ss/w0rd@host:5432/db", "w0rd"),
    ("proxy http://user:hunter2@proxy:8080 refused", "hunter2"),
    ("The security token AKIAIOSFODNN7EXAMPLE is invalid", "IOSFODNN7"),
    ("aws_secret_access_key=wJalrXUtnFEMI/K7MDENG/bPxRfiCY", "wJalr"),
    ("API key not valid: AIzaSyA1234567890abcdefghijklmnopqrstu", "SyA123"),
    ("token eyJhbGciOi.eyJzdWIiOiIx.SflKxwRJSM expired", "SflKxw"),
    ('{"password": "correct-horse-7"}', "horse"),
    ("gsk_abcdefghij0123456789 is not known", "abcdefghij"),
]


class TestSecrets:
    @pytest.mark.parametrize(("text", "secret"), SECRETS)
    def test_what_looks_like_a_key_is_masked(self, text: str, secret: str) -> None:
        assert secret in text
        shown = without_secrets(text)
        assert secret not in shown
        assert "***" in shown
        assert without_secrets(shown) == shown

    @pytest.mark.parametrize(
        "text",
        [
            "RateLimitError: 429, try again in 20 s (max_tokens=256)",
            "GET https://api.x.com:443/v1/models?limit=20 failed",
            "Bearer authentication is needed, or basic authentication",
            "check the user and the password; see risk-taking and desk-based work",
            "no API key was given: set the environment variable OPENAI_API_KEY",
            "KeyError: 'token'; the key is: wrong",
            "mail to me@example.com, see http://example.com/@user",
        ],
    )
    def test_other_texts_stay_as_they_are(self, text: str) -> None:
        assert without_secrets(text) == text

    @pytest.mark.parametrize(
        "part", ["sk-", "://h:", "api key: ", "Bearer ", "password=", "eyJa", "?key="]
    )
    def test_a_long_text_takes_no_long_time(self, part: str) -> None:
        text = part * (200_000 // len(part))
        started = time.thread_time()
        without_secrets(text)
        assert time.thread_time() - started < 20  # a tenth of one; without care, minutes

    def test_errors_of_this_package_mask_what_they_repeat(self) -> None:
        said = "failed: Incorrect API key provided: sk-abcdef123456"
        for error in (BaselineFailed(said), InvalidInput(said), UnusableReply(said), JudgeFailed(said)):
            assert "abcdef" not in str(error)
        assert "abcdef" not in error_text(ValueError(said))
        assert "abcdef" not in Reply(None, cause=UnusableReply(said)).error
        # Made by this test.
        assert "abcdef" not in str(pickle.loads(pickle.dumps(BaselineFailed(said))))  # noqa: S301


class TestIds:
    @pytest.mark.parametrize(
        "identity",
        ["D1", "trial-2023.pdf", "docs/guide.md#3", "https://x.org/a?b=c&d=%20", "東京", "ÄÖ_1"],
    )
    def test_plain_ones_stand_as_they_are(self, identity: str) -> None:
        assert plain_id(identity) == identity

    @pytest.mark.parametrize(
        ("identity", "shown"),
        [
            ("", '""'),
            ("annual report.pdf", '"annual report.pdf"'),
            ("D1 is retained [proved on all 4 subsets]", '"D1 is retained [proved on all 4 subsets]"'),
            ('D1" is retained, "x', r'"D1\" is retained, \"x"'),
            ('D1\\" is retained', r'"D1\\\" is retained"'),
            ("D1,", '"D1,"'),
            ("D1\u00a0is", '"D1 is"'),
            ("D1\n- whenever", '"D1 - whenever"'),
            ("\x1b[31m", r'"\x1b[31m"'),
            ("D1\u200c", '"D1\u200c"'),
        ],
    )
    def test_others_are_quoted(self, identity: str, shown: str) -> None:
        assert plain_id(identity) == shown

    @given(TEXTS)
    def test_nothing_leaves_its_quotes(self, identity: str) -> None:
        shown = plain_id(identity)
        if shown.startswith('"'):
            inner = re.sub(r"\\.", "", shown[1:-1])
            assert '"' not in inner
            assert not inner.endswith("\\")
        else:
            assert not set(shown) & set(" ,;[](){}'\"")


class TestInert:
    @pytest.mark.parametrize("start", ["", " ", "\t", "\n", "\r", "\u00a0", "\u3000"])
    @pytest.mark.parametrize("mark", ["=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20"])
    def test_no_formula_is_run(self, start: str, mark: str) -> None:
        assert inert(f"{start}{mark}1+1") == f"'{printable(start)}{mark}1+1"

    @pytest.mark.parametrize("text", ["", "a=1", "1-1", "'=1", "e@mail"])
    def test_other_text_is_as_it_was(self, text: str) -> None:
        assert inert(text) == text


WITH_ARTICLES = """an int, a str, an object, an AIMessage, a ToolMessage, a Document, an LLMResult,
a UUID, a User, a UnionType, an UnreadResult, a URL, an Update, a uniform, an HTTPResponse, an SQLStore,
a ValueError, an Event, a NoneType, an omission, a retention, an ndarray, an _Answer"""


@pytest.mark.parametrize("said", WITH_ARTICLES.replace("\n", " ").split(", "))
def test_a_name_has_its_article(said: str) -> None:
    assert with_article(said.partition(" ")[2]) == said


def test_the_type_of_a_value_is_said_with_its_article() -> None:
    assert (type_said(4), type_said(""), type_said(None)) == ("an int", "a str", "a NoneType")
