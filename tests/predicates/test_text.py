"""What each predicate on wording holds for, and how it reads in a rule."""

import re
import string
import unicodedata
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_rule_explainer import (
    Answer,
    Case,
    InvalidInput,
    Judgement,
    Source,
    Verdict,
    consistent_with,
    contains,
    equals,
    matches,
    one_of,
    refuses,
    same_answer,
)
from rag_rule_explainer.predicates import Predicate, near_exact, negated, negation_of
from rag_rule_explainer.predicates.wording import overlap


def case(answer: str, baseline: str = "baseline", question: str = "question?") -> Case:
    return Case(question, Answer(baseline), Answer(answer), (Source("D1", "text"),))


def holds(predicate: Predicate, answer: str, baseline: str = "baseline") -> bool:
    judged = predicate(case(answer, baseline))
    assert isinstance(judged, Judgement)
    assert judged.verdict is not Verdict.UNKNOWN
    return judged.verdict is Verdict.HOLDS


DIFFERENT = [
    ("HER2+", "HER2-"),
    ("A+", "A-"),
    ("p<0.05", "p>0.05"),
    ("≥ 5 mg", "≤ 5 mg"),
    ("2-3 weeks", "23 weeks"),
    ("10–15 mg", "1015 mg"),
    ("1/2", "12"),
    ("½", "12"),
    ("10⁵", "105"),
    ("1,5", "15"),
    ("1.5", "15"),
    (".5", "5"),
    ("-3", "3"),
    ("5%", "5"),
    ("C", "C++"),
    ("$5", "€5"),
    ("✓", "✗"),
]


class TestSameAnswer:
    def test_holds_for_the_baseline_and_breaks_for_another_answer(self) -> None:
        assert holds(same_answer(), "Calcium", baseline="Calcium")
        assert not holds(same_answer(), "Zinc", baseline="Calcium")

    @pytest.mark.parametrize(
        "variant", ["  café\n NOIR.", '"Cafe\u0301 noir"', "**Café noir**", "“café noir”!", "Café  noir"]
    )
    def test_case_white_space_and_marks_around_make_no_difference(self, variant: str) -> None:
        assert holds(same_answer(), variant, baseline="Café noir")

    @pytest.mark.parametrize(("first", "second"), DIFFERENT)
    def test_what_tells_values_apart_makes_a_difference(self, first: str, second: str) -> None:
        assert not holds(same_answer(), first, baseline=second)

    def test_an_overlap_of_words_can_be_enough(self) -> None:
        mostly = same_answer(overlap=0.8)
        assert holds(mostly, "Take 5 mg of calcium daily!", baseline="Daily, take 5 mg of calcium")
        assert holds(mostly, "Take 5 mg calcium daily", baseline="Take 5 mg of calcium daily")
        assert not holds(mostly, "Take zinc", baseline="Take 5 mg of calcium daily")
        assert not holds(same_answer(overlap=1), "hepatitis A", baseline="hepatitis")
        assert holds(mostly, "...", baseline="...")
        assert not holds(mostly, "", baseline="calcium")

    def test_scripts_without_spaces_are_compared_by_character(self) -> None:
        assert holds(same_answer(overlap=0.8), "东京是日本的首都", baseline="日本的首都是东京")
        assert not holds(same_answer(overlap=0.8), "北京", baseline="东京")

    def test_how_much_is_shared_is_the_reason(self) -> None:
        judged = same_answer(overlap=0.9)(case("a b", baseline="a c d"))
        assert judged == Judgement(Verdict.BREAKS, "word overlap 0.40")

    @pytest.mark.parametrize("bad", [0, -1, 1.1, float("nan"), True, "0.8"])
    def test_an_overlap_is_a_share(self, bad: float) -> None:
        with pytest.raises(InvalidInput, match="give the share of words"):
            same_answer(overlap=bad)

    def test_more_words_make_a_difference(self) -> None:
        assert not holds(same_answer(), "Calcium, I believe", baseline="Calcium")


class TestEquals:
    def test_only_white_space_around_the_answer_is_forgiven(self) -> None:
        assert holds(equals("Calcium "), "\n Calcium")
        assert not holds(equals("Calcium"), "calcium")
        assert not holds(equals("Calcium"), "Calcium.")

    def test_an_empty_answer_can_be_asked_for(self) -> None:
        assert holds(equals(""), " ")
        assert not holds(equals(""), "N/A")


class TestContains:
    def test_finds_the_text_anywhere_whatever_its_case(self) -> None:
        assert holds(contains("CALCIUM"), "take calcium daily")
        assert not holds(contains("calcium"), "take zinc daily")

    def test_folds_case_beyond_ascii(self) -> None:
        assert holds(contains("STRASSE"), "in der Straße")

    def test_can_mind_the_case(self) -> None:
        assert not holds(contains("Calcium", ignore_case=False), "calcium")
        assert holds(contains("Calcium", ignore_case=False), "the Calcium")

    @pytest.mark.parametrize("ignore_case", [True, False])
    def test_an_accent_may_be_encoded_in_either_way(self, ignore_case: bool) -> None:
        composed, apart = "caf\u00e9", "cafe\u0301"
        assert holds(contains(composed, ignore_case=ignore_case), f"the {apart}")
        assert holds(contains(apart, ignore_case=ignore_case), f"the {composed}")
        assert not holds(contains("cafe", ignore_case=ignore_case), f"the {composed}")

    def test_takes_no_text_for_a_pattern(self) -> None:
        assert not holds(contains("a.c"), "abc")

    def test_refuses_the_empty_text_that_every_answer_contains(self) -> None:
        with pytest.raises(InvalidInput, match="say which text"):
            contains("")


class TestMatches:
    def test_finds_the_pattern_anywhere(self) -> None:
        assert holds(matches(r"\b\d{4}\b"), "built in 1889.")
        assert not holds(matches(r"\b\d{4}\b"), "built in 18890")

    def test_minds_the_case_unless_told_otherwise(self) -> None:
        assert not holds(matches("calcium"), "CALCIUM")
        assert holds(matches("(?i)calcium"), "CALCIUM")

    @pytest.mark.parametrize("pattern", ["[", "(", "*", "a{99999999999999}", "(" * 5000])
    def test_refuses_what_is_no_regular_expression(self, pattern: str) -> None:
        with pytest.raises(InvalidInput, match=r"is not a regular expression: .*; escape"):
            matches(pattern)

    @pytest.mark.parametrize(
        "pattern", [".{1000000000}", "(?:(?:a{1000}){1000}){1000}", "(a|b{1000000})c", "(?=a{1000000})"]
    )
    def test_a_pattern_that_would_fill_the_memory_is_refused(self, pattern: str) -> None:
        with pytest.raises(InvalidInput, match="repeats so often that it would fill the memory"):
            matches(pattern)

    def test_large_patterns_that_take_little_memory_are_taken(self) -> None:
        for pattern in ("a{0,1000000}b", r"(?:\d{4}-){3}\d{2}", "x" * 20_000, "(?:a{1000}){0,1000}b"):
            assert not holds(matches(pattern), "no")


class TestOneOf:
    def test_compares_by_near_exact_match(self) -> None:
        assert holds(one_of(["yes", "no"]), "**Yes.**")
        assert holds(one_of(["yes", "no"]), "NO")
        assert not holds(one_of(["yes", "no"]), "yes and no")
        assert holds(one_of(each for each in ("+", "-")), "-")
        assert not holds(one_of(["+"]), "-")

    @pytest.mark.parametrize("bad", [[], "yes", 7, ["yes", 7]])
    def test_refuses_what_is_no_list_of_texts(self, bad: list[str]) -> None:
        with pytest.raises(InvalidInput, match="give "):
            one_of(bad)


class TestConsistentWith:
    def test_compares_by_near_exact_match(self) -> None:
        assert holds(consistent_with("Marie Curie"), "marie curie!")
        assert not holds(consistent_with("Marie Curie"), "Marie Skłodowska Curie")

    def test_looks_at_the_truth_and_not_at_the_baseline(self) -> None:
        assert not holds(consistent_with("1889"), "1900", baseline="1900")

    def test_tells_answers_of_symbols_alone_apart(self) -> None:
        assert holds(consistent_with("+"), " + ")
        assert not holds(consistent_with("+"), "-")
        assert not holds(consistent_with("!"), "")


@pytest.mark.parametrize(
    ("predicate", "clause", "opposite"),
    [
        (same_answer(), "the answer stays the same", "the answer changes"),
        (
            same_answer(overlap=0.8),
            "the answer stays the same (word overlap at least 0.8)",
            "the answer changes (word overlap below 0.8)",
        ),
        (one_of(["a", "b"]), "the answer is one of 'a', 'b'", "the answer is none of 'a', 'b'"),
        (equals("a"), "the answer is 'a'", "the answer is not 'a'"),
        (contains("a"), "the answer contains 'a'", "the answer does not contain 'a'"),
        (
            contains("a", ignore_case=False),
            "the answer contains 'a' (case counts)",
            "the answer does not contain 'a' (case counts)",
        ),
        (matches("a+"), "the answer matches /a+/", "the answer does not match /a+/"),
        (
            consistent_with("a"),
            "the answer is consistent with 'a'",
            "the answer is inconsistent with 'a'",
        ),
    ],
)
def test_a_predicate_and_its_negation_read_as_clauses(
    predicate: Predicate, clause: str, opposite: str
) -> None:
    assert str(predicate) == clause
    assert negation_of(predicate) == opposite
    assert str(negated(predicate)) == opposite
    assert negation_of(negated(predicate)) == clause


@pytest.mark.parametrize("make", [equals, contains, consistent_with])
def test_a_line_break_in_a_text_does_not_break_its_clause(make: Callable[[str], Predicate]) -> None:
    assert "\n" not in str(make("a\nb"))


@pytest.mark.parametrize(
    "predicate",
    [
        same_answer(),
        same_answer(overlap=0.5),
        equals("a"),
        contains("a"),
        matches("a"),
        one_of(["a"]),
        refuses(),
        consistent_with("a"),
    ],
)
class TestMemoKey:
    def test_equal_cases_have_equal_keys(self, predicate: Predicate) -> None:
        key = predicate.memo_key(case("x"))
        assert key is not None
        assert {key} == {predicate.memo_key(case("x"))}

    def test_question_baseline_and_answer_are_in_the_key(self, predicate: Predicate) -> None:
        keys = {
            predicate.memo_key(each)
            for each in (
                case("x"),
                case("y"),
                case("x", baseline="other"),
                case("x", question="other?"),
            )
        }
        assert len(keys) == 4

    def test_the_sources_shown_are_not(self, predicate: Predicate) -> None:
        shown = Case("question?", Answer("baseline"), Answer("x"), ())
        assert predicate.memo_key(shown) == predicate.memo_key(case("x"))


def test_predicates_with_equal_settings_are_equal_and_others_are_not() -> None:
    assert contains("a") == contains("a")
    assert hash(contains("a")) == hash(contains("a"))
    assert len({contains("a"), contains("b"), contains("a", ignore_case=False), equals("a")}) == 4


class TestNearExact:
    @pytest.mark.parametrize(
        ("first", "second"),
        [
            ("Calcium", "CALCIUM"),
            ("Straße", "STRASSE"),
            ("St. John's", "st johns"),
            ("long-term", "longterm"),
            ("«oui»", "oui"),
            ("café", "cafe\u0301"),
            ("Ångström", "angstrom"),
            ("café-3", "cafe-3"),
            ("ﬁve", "five"),
            ("１２", "12"),
            ("a\u00a0b", "a b"),
            (" a \t b\n", "a b"),
            ("1,500", "1500"),
            ("It is 1.5.", "it is 1.5"),
            ("\u22123", "-3"),
            ("cafe\x00", "café"),
        ],
    )
    def test_the_same_but_for_how_it_is_written(self, first: str, second: str) -> None:
        assert near_exact(first) == near_exact(second)

    @pytest.mark.parametrize(
        ("first", "second"),
        [
            ("1.5", "15"),
            (".5", "5"),
            ("-3", "3"),
            ("-.5", ".5"),
            ("\u22123", "3"),
            ("version 1.2.3", "version 123"),
            ("-1.5", "1.5"),
            ("a b", "ab"),
            ("东京", "北京"),
            ("Москва", "Минск"),
            ("हिंदी", "हदी"),
            *DIFFERENT,
            ("가", "나"),
            ("α", "a"),
        ],
    )
    def test_different_answers_stay_apart(self, first: str, second: str) -> None:
        assert near_exact(first) != near_exact(second)

    def test_a_hyphen_between_letter_and_digit_is_no_sign(self) -> None:
        assert near_exact("covid-19") == "covid19"
        assert near_exact("2-3") == "2 3"

    @given(st.text())
    def test_no_loose_white_space_and_no_bracket_or_quotation_mark_is_left(self, text: str) -> None:
        form = near_exact(text)
        assert form == " ".join(form.split())
        assert {*form} & {*string.punctuation} <= {*".-+<=>$%^|"}

    @given(st.text(alphabet=string.ascii_letters + " .,;:!?'()[]\n"))
    def test_words_are_compared_in_the_papers_form(self, text: str) -> None:
        papers = "".join(c for c in text if c not in string.punctuation).casefold()
        assert near_exact(text).split() == papers.split()

    def test_a_long_answer_of_marks_takes_no_longer_per_mark(self) -> None:
        assert near_exact("." * 200_000) == ""

    @given(st.text())
    def test_upper_case_and_decomposition_make_no_difference(self, text: str) -> None:
        assert near_exact(unicodedata.normalize("NFD", text)) == near_exact(text)
        assert near_exact(unicodedata.normalize("NFC", text)) == near_exact(text)

    @given(st.text(alphabet=string.ascii_letters + string.digits + " .-,"))
    def test_one_accent_more_makes_no_difference(self, text: str) -> None:
        accented = "".join(c + "\u0301" if c.isalpha() else c for c in text)
        assert near_exact(accented) == near_exact(text)


@given(st.text(), st.text())
def test_an_overlap_is_a_share_and_takes_no_sides(first: str, second: str) -> None:
    assert 0 <= overlap(first, second) == overlap(second, first) <= 1
    assert overlap(first, first) == 1


@given(st.text(), st.text())
def test_of_a_predicate_and_its_negation_one_holds(answer: str, baseline: str) -> None:
    for predicate in (same_answer(overlap=0.5), one_of([baseline, "yes"]), refuses(phrases=["no"])):
        assert holds(predicate, answer, baseline) is not holds(negated(predicate), answer, baseline)


PATTERNS = [
    r"\b25\b",
    r"^yes",
    r"(?i)DAYS$",
    r"(?m)^no$",
    r"(?s)a.b",
    r"[^\W\d_]+ß",
    r"(\d+)[.,]\1",
    r"(?P<n>a)(?P=n)",
    r"a(?!b)",
    r"(?<=€)\d",
    r"x{2,3}?",
    r"[[a]",
    r"\N{EM DASH}",
    "İ|ı",
]
pattern_texts = st.text(alphabet="aAbxß25.,€—\nyes DAYnoıİ[_", max_size=12)


@pytest.mark.filterwarnings("ignore:Possible nested set")
@given(text=pattern_texts)
def test_a_pattern_means_what_it_means_in_the_standard_library(text: str) -> None:
    for pattern in PATTERNS:
        assert holds(matches(pattern), text) == (re.search(pattern, text) is not None)


def test_a_search_that_would_not_end_has_no_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rag_rule_explainer.predicates.text._LONGEST_SEARCH", 0.05)
    judged = matches("(a|aa)+$")(case("a" * 200 + "!"))
    assert isinstance(judged, Judgement)
    assert judged.verdict is Verdict.UNKNOWN
    assert "took longer than 0.05 seconds" in judged.reason
