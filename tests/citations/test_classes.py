"""The classes of citations, held against what is true of citers of known behaviour, and against the
definitions on random conditions."""

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from rag_rule_explainer import (
    Answer,
    CitationClass,
    Explainer,
    Explanation,
    InvalidInput,
    Limits,
    Noise,
    Source,
    check_citations,
    contains,
)
from rag_rule_explainer.explanation.records import DOUBTED
from tests.citations.oracles import (
    CLAIM,
    DECISIVE,
    DECORATIVE,
    FULL,
    MEMORY,
    ORACLES,
    PARTNER,
    QUESTION,
    SEVERAL,
    TEXTS,
    UNDECIDED,
    UNRESOLVABLE,
    Oracle,
    answering,
    left_out_says,
    support_says,
)
from tests.comparison.explaining import explained
from tests.drawing import examples

NAMES = "abcd"
SUBSETS = [frozenset(kept) for size in range(5) for kept in combinations(NAMES, size)]
FAITHFUL = {True: {DECISIVE, FULL, SEVERAL}, False: {PARTNER, DECORATIVE, MEMORY, UNRESOLVABLE}}


def explanation_of(oracle: Oracle, **fields: Any) -> Explanation:
    explainer = Explainer(answering(oracle), predicate=contains(CLAIM), **fields)
    return explainer.explain(QUESTION, oracle.sources)


@pytest.mark.parametrize("oracle", ORACLES, ids=lambda oracle: oracle.name)
@pytest.mark.parametrize("miner", ["exact", "sampled"])
def test_each_behaviour_is_told_from_the_others(oracle: Oracle, miner: Any) -> None:
    check = explanation_of(oracle, miner=miner).citations()
    assert {each.source: each.citation_class for each in check.verdicts} == dict(oracle.truth)
    assert check.sufficient is oracle.sufficient
    assert check.uncited == oracle.uncited
    assert check.smallest_honest == oracle.smallest
    assert check.without_sources is (oracle.name == "from memory")
    sure = {"exact": {"proved"}, "sampled": {"proved", "tested"}}[miner]
    assert {each.claim for each in check.verdicts} <= sure


def test_leaving_one_out_and_support_are_wrong_where_rules_are_right() -> None:
    """Held against what is true: whether the claim is made because of what is cited."""
    wrong = {"leaving one out": set[str](), "support": set[str]()}
    for oracle in ORACLES:
        for name, said in (
            ("leaving one out", left_out_says(oracle)),
            ("support", support_says(oracle)),
        ):
            if any(said[each] is not found.is_faithful for each, found in oracle.truth.items()):
                wrong[name].add(oracle.name)
    assert wrong == {
        "leaving one out": {"uncited partner", "either of two", "copies of one text"},
        "support": {"uncited partner", "cites all"},
    }


def test_no_verdict_needs_the_application_again() -> None:
    asked = list[Sequence[Source]]()

    def application(question: str, sources: Sequence[Source]) -> str:
        asked.append(sources)
        return answering(ORACLES[0])(question, sources)

    explanation = Explainer(application, predicate=contains(CLAIM)).explain(QUESTION, ORACLES[0].sources)
    before = len(asked)
    stored = Explanation.model_validate_json(explanation.model_dump_json())
    assert stored.citations() == explanation.citations() == check_citations(explanation)
    assert len(asked) == before


def by_definition(truth: Sequence[bool], source: str, cited: frozenset[str]) -> CitationClass:
    """The classes as the documentation words them."""
    made = {kept for kept in SUBSETS if truth[SUBSETS.index(kept)]}
    rules = [each for each in SUBSETS if all(kept in made for kept in SUBSETS if each <= kept)]
    minimal = [each for each in rules if not any(other < each for other in rules)]
    if frozenset() in minimal:
        return MEMORY
    if not any(source in rule for rule in minimal):
        return DECORATIVE
    if not any(source in rule and rule <= cited for rule in minimal):
        return PARTNER
    if not all(source in rule for rule in minimal):
        return SEVERAL
    return FULL if any(source not in kept for kept in made) else DECISIVE


truths = st.lists(st.booleans(), min_size=16, max_size=16) | st.lists(
    st.sampled_from(SUBSETS), max_size=3
).map(lambda needed: [any(each <= kept for each in needed) for kept in SUBSETS])
cited_sets = st.sets(st.sampled_from(NAMES), min_size=1).map(lambda chosen: frozenset(chosen))


@settings(max_examples=examples(300))
@given(truths, cited_sets, st.sampled_from(["exact", "exhaustive", "sampled", "grouped"]))
def test_a_finished_search_decides_every_class_as_it_is_defined(
    truth: list[bool], cited: frozenset[str], miner: Any
) -> None:
    assume(truth[-1])
    explanation = explained(lambda kept: truth[SUBSETS.index(kept)], NAMES, miner=miner)
    check = explanation.citations(cited=sorted(cited))
    for verdict in check.verdicts:
        if verdict.claim in {"proved", "tested"}:
            assert verdict.citation_class is by_definition(truth, str(verdict.source), cited)
        else:
            # Where each source alone is enough, the model may as well have needed none of them.
            assert miner == "grouped" or truth == [False] + [True] * (len(truth) - 1)


@settings(max_examples=examples(300))
@given(
    truths,
    cited_sets,
    st.sampled_from(["exact", "exhaustive", "sampled"]),
    st.lists(st.sampled_from(SUBSETS[:-1]), max_size=3),
    st.none() | st.integers(1, 17),
)
def test_a_search_that_was_stopped_decides_nothing_wrongly(
    truth: list[bool], cited: frozenset[str], miner: Any, failing: list[Any], cap: int | None
) -> None:
    assume(truth[-1])

    def says(shown: frozenset[str]) -> bool | Exception:
        return ValueError("the model is away") if shown in failing else truth[SUBSETS.index(shown)]

    explanation = explained(says, NAMES, miner=miner, limits=Limits(cap))
    for verdict in explanation.citations(cited=sorted(cited)).verdicts:
        true = by_definition(truth, str(verdict.source), cited)
        found = verdict.citation_class
        # What replaces a source may be left open: then less is said, and nothing wrong.
        weaker = found is FULL and true is DECISIVE
        assert found in {UNDECIDED, true} or weaker
        assert (found is UNDECIDED) == (verdict.claim is None)
        assert found is not UNDECIDED or verdict.why


def test_what_cannot_be_resolved_says_why() -> None:
    sources = [*ORACLES[0].sources, Source("D6", TEXTS["D2"]), Source("D7", TEXTS["D2"])]
    explainer = Explainer(answering(ORACLES[0]), predicate=contains(CLAIM), merge_duplicates=True)
    explanation = explainer.explain(QUESTION, sources, pinned=["D1"])
    check = explanation.citations(cited=["D1", "D2", "D99", "D3"])
    said = {each.written: each.why for each in check.verdicts}
    assert [each.citation_class for each in check.verdicts] == [UNRESOLVABLE] * 3 + [DECORATIVE]
    assert "pinned" in said["D1"]
    assert "tied to D6 and D7" in said["D2"]
    assert said["D99"] == "there is no such source"
    assert check.sufficient is None
    held_out = explanation.model_copy(update={"held_out": explanation.sources[:1], "sources": ()})
    assert "not shown to the model" in held_out.citations(cited=["D1"]).verdicts[0].why


def test_a_claim_that_stands_in_what_is_pinned_is_not_called_memory() -> None:
    explainer = Explainer(answering(ORACLES[0]), predicate=contains(CLAIM))
    explanation = explainer.explain(QUESTION, ORACLES[0].sources, pinned=["D2"])
    check = explanation.citations(cited=["D3"])
    assert check.verdicts[0].citation_class is DECORATIVE
    assert "from memory or from D2" in check.verdicts[0].why
    assert check.without_sources is None
    assert "not known" in check.remarks[0]


def test_without_an_answer_to_no_sources_memory_is_not_known() -> None:
    memory = ORACLES[1]
    explanation = explanation_of(memory, answer_without_sources="N/A")
    check = explanation.citations()
    assert check.verdicts[0].citation_class is UNDECIDED
    assert "from memory" in check.verdicts[0].why
    assert check.without_sources is None
    honest = explanation_of(ORACLES[0], answer_without_sources="N/A").citations()
    assert honest.verdicts[0].citation_class is DECISIVE
    assert "was given" in honest.remarks[0]


def test_an_application_that_does_not_ask_its_model_without_sources() -> None:
    def says(kept: frozenset[str]) -> Answer:
        return Answer("yes", usage={"input_tokens": 5}) if kept else Answer("nothing was found")

    check = explained(says).citations(cited=["D1"])
    assert check.verdicts[0].citation_class is UNDECIDED
    assert "without asking its model" in check.remarks[0]


def test_with_retention_rules_alone_no_more_is_said_than_leaving_one_out_does() -> None:
    verdict = explanation_of(ORACLES[0], rules="retention").citations().verdicts[0]
    assert verdict.citation_class is FULL
    assert "not decided" in verdict.why
    nothing = explanation_of(ORACLES[0], rules="omission").citations()
    assert nothing.verdicts[0].citation_class is UNDECIDED
    assert "no retention rules" in nothing.verdicts[0].why


def test_decisive_among_all_sources_is_not_decisive_among_fewer() -> None:
    """D3 hides D2 from the model, unless D1 is there."""

    def needs(kept: frozenset[str]) -> bool:
        return "D2" in kept and ("D3" not in kept or "D1" in kept)

    check = explained(needs, ("D1", "D2", "D3")).citations(cited=["D1", "D2"])
    assert [each.citation_class for each in check.verdicts] == [FULL, DECISIVE]
    assert check.verdicts[0].needed_by == check.verdicts[1].needed_by == "all"


@pytest.mark.parametrize(
    ("options", "claim"),
    [
        ({"noise": Noise(samples=3)}, "voted"),
        ({"noise": Noise(min_confidence=0.7)}, "confident"),
        ({"miner": "sampled"}, "tested"),
        ({"miner": "grouped"}, "relative"),
    ],
)
def test_a_verdict_claims_no_more_than_its_rules(options: dict[str, Any], claim: str) -> None:
    names = [f"D{number}" for number in range(1, 12 if claim in {"tested", "relative"} else 5)]
    breaking = frozenset({"D1", "D2", "D3"}) if claim == "confident" else None
    explanation = explained(lambda kept: {"D1", "D3"} <= kept and kept != breaking, names, **options)
    check = explanation.citations(cited=["D1", "D2", "D3"])
    classes = [each.citation_class for each in check.verdicts]
    assert classes[1] is DECORATIVE
    assert classes[0] is classes[2]
    assert classes[0] in {DECISIVE, FULL}
    assert {each.claim for each in check.verdicts} == {claim}
    assert check.claim == claim


def test_doubted_replays_decide_nothing() -> None:
    explanation = explanation_of(ORACLES[0]).model_copy(update={"doubted": True, "warnings": ("why",)})
    check = explanation.citations()
    assert [each.citation_class for each in check.verdicts] == [UNDECIDED]
    assert check.faithful is check.sufficient is check.smallest_honest is None
    assert DOUBTED in check.verdicts[0].why


def test_an_answer_without_the_claim_or_without_citations() -> None:
    explainer = Explainer(answering(ORACLES[0]), predicate=contains("a year"), false_condition="warn")
    check = explainer.explain(QUESTION, ORACLES[0].sources).citations()
    assert check.verdicts[0].citation_class is UNDECIDED
    assert "not made" in check.verdicts[0].why
    none = explanation_of(ORACLES[0]).citations(cited=[])
    assert none.verdicts == ()
    assert none.faithful is None
    assert none.sufficient is False
    assert none.smallest_honest == ("D2",)
    assert "nothing is cited" in str(none)


def test_hostile_texts_stay_within_their_line() -> None:
    evil = "D2\n\x1b[2J forged: decisive [proved]"
    sources = [Source(evil, "x"), Source("D3", "y")]
    explainer = Explainer(lambda question, kept: "yes" if kept else "no", predicate=contains("yes"))
    check = explainer.explain(QUESTION, sources).citations(cited=[evil, "D9\n\x1b[31m"])
    lines = str(check).splitlines()
    assert len(lines) == 4
    assert "\x1b" not in str(check)


def test_bad_input_is_refused() -> None:
    explanation = explanation_of(ORACLES[0])
    for call, said in (
        # A mistake, on purpose.
        (lambda: check_citations("text"), "an Explanation is needed"),  # type: ignore[arg-type]
        (lambda: explanation.citations(cited="D2"), "cited"),
        (lambda: explanation.citations(numbers_from=2), "0 or 1"),
        (lambda: explanation.citations(reading="("), " no regular expression"),
        # A mistake, on purpose.
        (lambda: explanation.citations(reading=3), "give a function"),  # type: ignore[arg-type]
        # A mistake, on purpose.
        (lambda: explanation.citations(reading=lambda text: []), "called with two"),  # type: ignore[arg-type,misc]
        # A mistake, on purpose.
        (lambda: explanation.citations(reading=lambda text, ids: [3]), "return ids"),  # type: ignore[list-item]
    ):
        with pytest.raises(InvalidInput, match=said):
            call()


def test_the_words_of_each_class_differ() -> None:
    assert len({each.mark for each in CitationClass}) == len(CitationClass)
    assert len({each.meaning for each in CitationClass}) == len(CitationClass)
    known = {each: faithful for faithful, classes in FAITHFUL.items() for each in classes}
    assert {each: each.is_faithful for each in CitationClass} == {**known, UNDECIDED: None}


def test_a_grouped_search_that_may_have_missed_rules_decides_nothing_for_all_of_them() -> None:
    """The claim is made without D2 as well; it was decisive in full context, and proved."""
    made = {frozenset(kept) for kept in ("", "2", "12", "13", "23", "123")}

    def holds(kept: frozenset[str]) -> bool:
        return frozenset(name[1:] for name in kept) in made

    explanation = explained(holds, ("D1", "D2", "D3"), miner="grouped")
    assert not explanation.complete
    (verdict,) = explanation.citations(cited=["D2"]).verdicts
    assert verdict.citation_class is UNDECIDED
