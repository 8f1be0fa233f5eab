"""Which citations are read, which are valid, and before which sources."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_rule_explainer import Explainer, InvalidInput, RuleKind, Source, cites, mentions_source
from rag_rule_explainer.predicates import Predicate, negated
from rag_rule_explainer.predicates.citation_marks import citations
from rag_rule_explainer.testing import ScriptedReplay
from rag_rule_explainer.verdicts import Verdict
from tests.clock import cheap
from tests.predicates.cases import case, holds, judged

VALID = [
    "Calcium [1].",
    "Calcium[1][2]",
    "Calcium [1, 2]; zinc [2]",
    "Calcium [1-2]",
    "Calcium [1–2]",
    "Calcium [^1]",
    "Calcium 【1】 and 【2†source】",
    "Calcium [D2]",
    "Calcium [D1, D2]",
    "Calcium [D1; D2] [D1 and D2]",
    "Calcium (D2)",
    "Calcium (see D2, p. 4)",
    "Calcium ([D2])",
    "Calcium [source D2] [Source: D1] [doc_id=D2]",
    "According to Source 2, calcium.",
    "According to sources 1 and 2, calcium.",
    "Sources: 1, 2",
    "Document 1 says calcium, doc. 2 zinc",
    "Calcium [2](https://example.org/7), 95 % (CI 3-9), in 1889 (1900) [sic], [2024]",
    "source 1 (vitamin B12)",
]
INVALID = [
    ("Calcium [3].", "[3] is none of the 2 sources shown"),
    ("Calcium [1, 3]", "[3] is none of the 2 sources shown"),
    ("Calcium [1-4]", "[3] is none of the 2 sources shown"),
    ("Calcium [0]", "[0] is none of the 2 sources shown"),
    ("Calcium [1] and Source 7", "source 7 is none of the 2 sources shown"),
    ("Calcium [1] [D3]", "[D3] was not shown"),
    ("Calcium [1] (D3)", "(D3) was not shown"),
    ("Calcium [1] [D99]", "[D99] is none of the 2 sources shown"),
]
UNCITED = [
    "Calcium",
    "",
    "(1)",
    "open source 2.0",
    "Source 20%",
    "resource 1",
    "[sic]",
    "[2024]",
    "d2",
    "[]",
]


@pytest.mark.parametrize("text", VALID)
def test_valid_citations(text: str) -> None:
    assert judged(cites(), case(text)).reason == ""
    assert holds(cites(), case(text))


@pytest.mark.parametrize(("text", "reason"), INVALID)
def test_one_invalid_citation_breaks_all_and_is_the_reason(text: str, reason: str) -> None:
    assert not holds(cites(), case(text))
    assert judged(cites(), case(text)).reason == reason


@pytest.mark.parametrize("text", UNCITED)
def test_an_answer_that_cites_nothing_breaks(text: str) -> None:
    assert judged(cites(), case(text)).reason == "nothing is cited"


def test_numbers_count_the_sources_shown() -> None:
    for text in ("[2]", "Source 2"):
        assert holds(cites("D3"), case(text, kept=("D1", "D3")))
        assert not holds(cites("D2"), case(text, kept=("D1", "D3")))


def test_numbers_are_ids_where_ids_are_numbers() -> None:
    assert holds(cites("12"), case("[12]", kept=("7", "12"), of=("7", "12", "31")))
    assert (
        judged(cites(), case("[31]", kept=("7", "12"), of=("7", "12", "31"))).reason
        == "[31] was not shown"
    )
    assert not holds(cites(), case("[1]", kept=("7", "12"), of=("7", "12", "31")))
    assert not holds(cites("1889"), case("in (1889)", kept=("1889",), of=("1889",)))


def test_a_source_is_cited_validly_only_if_it_was_shown() -> None:
    assert holds(cites("D2"), case("[D2] [D9]"))
    assert judged(cites("D3"), case("[D3]")).reason == "'D3' is cited but was not shown"
    assert judged(cites("D2"), case("D2 says so [1]")).reason == "it is not cited"
    unknown = judged(cites("D9"), case("[1]")).reason
    assert unknown == "no source is named 'D9'; the sources are 'D1', 'D2', 'D3'"
    many = tuple(f"guide-{number}" for number in range(40))
    unknown = judged(cites("giude-1"), case("[1]", kept=many, of=many)).reason
    assert "did you mean 'guide-1'? the sources are 'guide-0'" in unknown
    assert unknown.endswith("'guide-7', and 32 more")
    assert not holds(cites("D9"), case("[D9]"))


@pytest.mark.parametrize(
    "identity", ["guideline.pdf", "Smith, J. (2020)", "Source 2", "a b", "ü-1", "x+y"]
)
def test_ids_are_taken_as_they_are(identity: str) -> None:
    kept = ("other", identity)
    assert holds(cites(identity), case(f"so [{identity}]", kept=kept, of=kept))
    assert holds(cites(), case(f"so [{identity}]", kept=kept, of=kept))
    assert not holds(cites(), case(f"so [{identity}]", kept=("other",), of=kept))


def test_without_a_word_on_all_sources_those_shown_are_known() -> None:
    assert holds(cites("D2"), case("[D2]", of=()))
    assert not holds(cites("D3"), case("[D3]", of=()))


def test_mentions() -> None:
    titles = {"D2": "The  Iron Tower", "D3": 7}
    assert holds(mentions_source("D2"), case("as D2 says"))
    assert holds(mentions_source("D2"), case("the iron\ntower", titles=titles))
    assert holds(mentions_source("D2"), case("the iron tower", titles=titles, kept=("D1",)))
    assert not holds(mentions_source("D2"), case("the iron towers", titles=titles))
    assert not holds(mentions_source("D3"), case("7", titles=titles))
    for text in ("D20", "aD2", "d2", "D2-b", "a-D2"):
        assert not holds(mentions_source("D2"), case(text))


@pytest.mark.parametrize("bad", ["", " ", 7])
def test_bad_ids(bad: str) -> None:
    for make in (cites, mentions_source):
        with pytest.raises(InvalidInput, match=r"give (the id of a source|a str)"):
            make(bad)


TEXTS = st.lists(
    st.sampled_from(
        ["[", "]", "(", ")", "1", "2", "3", "D1", "D3", "Source ", ", ", "-", " and ", "[D2]", "【", "】"]
    )
).map("".join)
IDS = st.lists(st.sampled_from(["D1", "D2", "D3", "7", "Source 2"]), unique=True)


@given(TEXTS | st.text(), IDS, IDS)
def test_equal_keys_mean_equal_verdicts_whatever_the_text(
    text: str, kept: list[str], other: list[str]
) -> None:
    for predicate in (cites(), cites("D2"), mentions_source("D2")):
        first, second = (case(text, kept=each, of=kept) for each in (kept, other))
        if predicate.memo_key(first) == predicate.memo_key(second):
            assert judged(predicate, first) == judged(predicate, second)
        said, opposite = (judged(each, first).verdict for each in (predicate, negated(predicate)))
        assert (said is opposite) == (said is Verdict.UNKNOWN)


@given(st.text(), IDS)
def test_a_citation_is_of_a_source_shown_or_it_is_not(text: str, kept: list[str]) -> None:
    for written, identity, *_ in citations(text + "[1]", kept, ("D9",)):
        assert written
        assert identity is None or isinstance(identity, str)


@pytest.mark.parametrize("part", ["[", "(", "[1,", "sources 1, ", "source" + " " * 50, "[1-999]"])
def test_hostile_text_takes_no_time(part: str) -> None:
    with cheap(10):
        holds(cites(), case(part * 20_000))


def test_the_order_of_the_sources_shown_is_in_the_key() -> None:
    keys = {
        cites().memo_key(case("[1]", kept=kept)) for kept in (("D1", "D2"), ("D2", "D1"), ("D1",), ())
    }
    assert len(keys) == 4


def test_one_answer_over_many_arrangements_has_a_verdict_for_each() -> None:
    # The answer never changes: a verdict remembered by it alone would hold for every subset.
    replay = ScriptedReplay(lambda _: "Calcium [2]")
    sources = [Source(f"D{place}", f"text {place}") for place in (1, 2, 3)]
    by_number = Explainer(replay, predicate=cites("D3")).explain("?", sources)
    assert [finding.sources for finding in by_number.retention_rules] == []  # it is the third of all
    any_valid = Explainer(replay, predicate=cites()).explain("?", sources)
    assert sorted(finding.sources for finding in any_valid.retention_rules) == [
        ("D1", "D2"),
        ("D1", "D3"),
        ("D2", "D3"),
    ]
    assert str(any_valid.retention_rules[0]).startswith(
        "whenever D1 and D2 are retained, the answer's citations are valid ["
    )


def test_a_citation_of_what_was_left_out_is_found_out() -> None:
    # It copies its citation of D1 out of D2, whether D1 was shown or not.
    replay = ScriptedReplay(lambda ids: "Calcium [D1]" if "D2" in ids else "Zinc [D3]")
    sources = [Source(f"D{place}", f"text {place}") for place in (1, 2, 3)]
    found = Explainer(replay, predicate=cites(), miner="exhaustive").explain("?", sources)
    assert [finding.sources for finding in found.retention_rules] == [("D1", "D2"), ("D1", "D3")]
    (copied,) = [probe for probe in found.probes if probe.kept == ("D2", "D3")]
    assert copied.verdicts[RuleKind.RETENTION].reason == "[D1] was not shown"


@pytest.mark.parametrize(
    ("predicate", "clause", "opposite"),
    [
        (cites(), "the answer's citations are valid", "the answer's citations are missing or invalid"),
        (cites("D2"), "the answer validly cites 'D2'", "the answer does not validly cite 'D2'"),
        (mentions_source("D2"), "the answer mentions 'D2'", "the answer does not mention 'D2'"),
    ],
)
def test_they_read_well(predicate: Predicate, clause: str, opposite: str) -> None:
    assert str(predicate) == clause
    assert str(negated(predicate)) == opposite
