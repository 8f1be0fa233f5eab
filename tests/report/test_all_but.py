"""Many sources are named by those that are left out, where that says the same in fewer words."""

from collections.abc import Set

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_rule_explainer import Explainer, Explanation, Source, contains
from rag_rule_explainer.report.all_but import named_among, rule_in_short
from tests.report.test_text import explained, section, yes_if

IDS = [f"D{n}" for n in range(1, 9)]


@pytest.mark.parametrize(
    ("named", "told", "by"),
    [
        ("", "", "each"),
        ("1", "D1", "each"),
        ("1 2 3 4 5 6 7", "all but D8", "rest"),
        ("1 2 3 4 5 6 8", "all but D7", "rest"),
        ("1 2 3 4 5 6", "all but D7 and D8", "rest"),
        ("1 2 3 4 5", "D1, D2, D3, D4 and D5", "each"),
        ("1 2 3 4 5 6 7 8", "all 8 sources", "number"),
    ],
)
def test_where_that_is_shorter(named: str, told: str, by: str) -> None:
    assert named_among([f"D{n}" for n in named.split()], IDS) == (told, by)


def test_not_where_it_is_longer() -> None:
    everything = ["a", "b", "c", "d", "long-id-of-a-source"]
    assert named_among(everything[:4], everything) == ("a, b, c and d", "each")


@given(st.sets(st.sampled_from(IDS)))
def test_it_names_the_same_sources(among: Set[str]) -> None:
    told = named_among([each for each in IDS if each in among], IDS)
    ids = {each for each in IDS if each in told.text.replace(",", "").split()}
    assert among == (ids if told.by == "each" else {*IDS} - ids)


def of_pinned(*pinned: str) -> Explanation:
    """An answer that changes only where all of D1 to D5 are left out."""
    return Explainer(
        lambda question, sources: "yes" if {*IDS[:5]} & {each.id for each in sources} else "no",
        predicate=contains("yes"),
    ).explain("?", [Source(each, f"text {each}") for each in IDS[:6]], pinned=pinned)


def test_a_rule_says_so() -> None:
    needed = explained(yes_if(*IDS[:4]), sources=5)
    assert "  - whenever all but D5 are retained, the answer contains 'yes'" in section(
        needed, "Retention rules"
    )
    assert "whenever D1, D2, D3 and D4 are retained" in needed.rules[0].rule


def test_what_is_pinned_is_never_left_out() -> None:
    (rule,) = of_pinned("D6").omission_rules
    told = rule_in_short(of_pinned("D6"), rule)
    assert told == "whenever all but D6 are omitted, the answer does not contain 'yes'"
    assert rule_in_short(of_pinned(), of_pinned().omission_rules[0]) == told


def test_what_is_pinned_is_not_among_all_that_are_retained() -> None:
    needed = Explainer(
        lambda question, sources: "yes" if {*IDS[:4]} <= {each.id for each in sources} else "no",
        predicate=contains("yes"),
    ).explain("?", [Source(each, f"text {each}") for each in IDS[:6]], pinned=["D6"])
    told = rule_in_short(needed, needed.retention_rules[0])
    assert told == "whenever all but D5 are retained, the answer contains 'yes'"
