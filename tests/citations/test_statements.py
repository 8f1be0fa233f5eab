"""Several statements of one answer: how it is divided, and that their searches share every replay."""

from collections.abc import Iterable, Sequence
from random import Random
from statistics import median
from typing import Any

import pytest

from rag_rule_explainer import (
    Answer,
    CitationClass,
    Explainer,
    InvalidInput,
    Limits,
    Noise,
    Source,
    acite,
    cite,
    contains,
    ignoring_citations,
)
from rag_rule_explainer.citations import aexplain_each, explain_each
from rag_rule_explainer.citations.cite_options import CiteOptions
from rag_rule_explainer.citations.reading import CitableSources, read_citations
from rag_rule_explainer.citations.statements import statements_in
from rag_rule_explainer.testing.judges import OfflineJudge
from tests.drawing import drawn, examples

SOURCES = [Source(f"D{place}", f"text number {place}") for place in range(1, 11)]
SHOWN = CitableSources(tuple(SOURCES))
SAYINGS = ("six weeks", "five pills", "no beer")


class Three:
    """Makes three statements, renumbers what it is shown, and remembers what it was asked."""

    def __init__(self, needs: Sequence[frozenset[str]]) -> None:
        self.needs = needs
        self.asked = list[frozenset[str]]()

    def __call__(self, question: str, sources: Sequence[Source]) -> str:
        ids = [each.id for each in sources]
        self.asked.append(frozenset(ids))
        said = [
            f"It is {saying} [{ids.index(sorted(needed)[0]) + 1}]."
            for saying, needed in zip(SAYINGS, self.needs, strict=True)
            if needed <= {*ids}
        ]
        return " ".join(said) or "It is not known."


NEEDS = (frozenset({"D2"}), frozenset({"D3", "D4"}), frozenset({"D9", "D10"}))
CONDITIONS = [ignoring_citations(contains(saying)) for saying in SAYINGS]


def alone(needs: Sequence[frozenset[str]], **fields: Any) -> list[list[frozenset[str]]]:
    """What each search asks if it is alone, each only once, without the run that repeats the baseline."""
    asked = list[list[frozenset[str]]]()
    for condition in CONDITIONS:
        application = Three(needs)
        Explainer(application, predicate=condition, check_repeatable=False, **fields).explain(
            "?", SOURCES
        )
        asked.append(application.asked)
    return asked


@pytest.mark.spread(fast=3)
@pytest.mark.parametrize("rules", ["retention", "omission", "both"])
@pytest.mark.parametrize("miner", ["exact", "sampled"])
def test_the_replays_are_exactly_the_union_of_what_each_search_needs(rules: Any, miner: Any) -> None:
    single = alone(NEEDS, rules=rules, miner=miner)
    application = Three(NEEDS)
    explainer = Explainer(application, rules=rules, miner=miner, check_repeatable=False)
    explanations = explain_each(explainer, "?", SOURCES, lambda answer: CONDITIONS)
    union = frozenset[frozenset[str]]().union(*single)
    assert len(application.asked) == len(union)
    assert {*application.asked} == union
    assert sum(each.counts.replays for each in explanations) == len(union)
    assert len(union) < sum(map(len, single)) or rules == "retention"
    for explanation, condition in zip(explanations, CONDITIONS, strict=True):
        fields: Any = {"rules": rules, "miner": miner, "check_repeatable": False}
        own = Explainer(Three(NEEDS), predicate=condition, **fields).explain("?", SOURCES)
        assert explanation.rules == own.rules
        assert [each.draws for each in explanation.rules] == [each.draws for each in own.rules]


@drawn
def test_sampled_searches_pay_less_together(record_property: Any) -> None:
    random, ratios = Random(7), list[float]()
    for _ in range(examples(10)):
        needs = [frozenset(random.sample([each.id for each in SOURCES], 2)) for _ in SAYINGS]
        single = alone(needs, miner="sampled")
        application = Three(needs)
        explainer = Explainer(application, miner="sampled", check_repeatable=False)
        explain_each(explainer, "?", SOURCES, lambda answer: CONDITIONS)
        ratios.append(len(application.asked) / sum(map(len, single)))
    print(f"replays together, as a share of those apart: median {median(ratios):.2f}")
    record_property("median share", median(ratios))
    assert max(ratios) < 1


async def test_the_callers_loop_shares_replays_as_well() -> None:
    application = Three(NEEDS)
    explainer = Explainer(application, rules="retention", miner="exact", check_repeatable=False)
    found = await aexplain_each(explainer, "?", SOURCES, lambda answer: CONDITIONS)
    assert len(application.asked) == len({*application.asked})
    assert [each.rules[0].sources for each in found] == [("D2",), ("D3", "D4"), ("D9", "D10")]


async def test_each_statement_has_its_own_verdicts() -> None:
    explainer = Explainer(Three(NEEDS), miner="exact")
    cited = cite(explainer, "?", SOURCES)
    assert [each.statement for each in cited] == [
        "It is six weeks.",
        "It is five pills.",
        "It is no beer.",
    ]
    classes = [each.verdicts[0].citation_class for each in cited]
    assert classes == [
        CitationClass.DECISIVE,
        CitationClass.NEEDS_A_PARTNER,
        CitationClass.NEEDS_A_PARTNER,
    ]
    assert cited.replays == 1025
    assert cited.faithful is False
    assert str(await acite(Explainer(Three(NEEDS), miner="exact"), "?", SOURCES)) == str(cited)


def test_limits_are_those_of_all_searches_together() -> None:
    application = Three(NEEDS)
    explainer = Explainer(application, rules="retention", miner="exact", limits=Limits(600))
    found = explain_each(explainer, "?", SOURCES, lambda answer: CONDITIONS)
    assert len(application.asked) == 600 == sum(each.counts.replays for each in found)
    assert [each.complete for each in found] == [True, False, False]
    assert "600 replays" in found[2].stop_reason


def test_votes_share_their_samples() -> None:
    application = Three((frozenset({"D2"}), frozenset({"D3"}), frozenset({"D4"})))
    explainer = Explainer(application, miner="exact", noise=Noise(samples=3), rules="retention")
    found = explain_each(explainer, "?", SOURCES[:4], lambda answer: CONDITIONS)
    assert [each.rules[0].sources for each in found] == [("D2",), ("D3",), ("D4",)]
    assert {each.rules[0].claim for each in found} == {"voted"}
    samples = [application.asked.count(each) for each in {*application.asked}]
    assert max(samples) <= 3


def test_a_baseline_from_a_log_is_divided() -> None:
    explainer = Explainer(Three(NEEDS), miner="exact", rules="retention")
    cited = cite(explainer, "?", SOURCES, "It is six weeks [3]. It is no beer [9].")
    assert [(each.statement, each.cited) for each in cited] == [
        ("It is six weeks.", ("D3",)),
        ("It is no beer.", ("D9",)),
    ]
    assert cited.checks[0].verdicts[0].citation_class is CitationClass.DECORATIVE


def test_a_judge_or_ones_own_condition_decides_what_a_statement_is() -> None:
    def application(question: str, sources: Sequence[Source]) -> str:
        return "It takes six weeks [1]." if sources else "Who knows."

    judged = cite(Explainer(application), "?", SOURCES[:2], judge=OfflineJudge(["six weeks"]))
    assert "the answer states this" in str(judged.checks[0].explanation.rules[0])
    own = cite(Explainer(application), "?", SOURCES[:2], condition=lambda said: contains(said[:5]))
    assert "'It ta'" in str(own.checks[0].explanation.rules[0])


NOTHING: list[tuple[str, list[str]]] = []
NOBODY: list[str] = []


def of(text: str, **options: Any) -> list[tuple[str, list[str | None]]]:
    given = CiteOptions(**options)
    found = statements_in(read_citations(text, SHOWN, given.reading), SHOWN, given.divided)
    return [(each.text, [citation.source for citation in each.citations]) for each in found]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One is so [1]. Two is so [2, 3].", [("One is so.", ["D1"]), ("Two is so.", ["D2", "D3"])]),
        ("One is so. [1] Two is so. [2]", [("One is so.", ["D1"]), ("Two is so.", ["D2"])]),
        ("Dr. A says 3.5 mg [1]. No.", [("Dr. A says 3.5 mg.", ["D1"]), ("No.", NOBODY)]),
        ("- one [1]\n- two [2]\n", [("- one", ["D1"]), ("- two", ["D2"])]),
        (
            "One [^1]. Two [^2].\n\n[^1]: D4\n[^2]: D5",
            [("One.", ["D4"]), ("Two.", ["D5"])],
        ),
        (
            "One [1]. Two [2].\n\nSources:\n[1] D7\n[2] D6",
            [("One.", ["D7"]), ("Two.", ["D6"])],
        ),
        ("According to source 2, it is so.", [("According to, it is so.", ["D2"])]),
        ("[1]", NOTHING),
        ("", NOTHING),
    ],
)
def test_an_answer_is_divided(text: str, expected: Any) -> None:
    assert of(text) == expected


def test_a_split_of_ones_own() -> None:
    def elsewhere(text: str) -> list[str]:
        return [f"b{text}"]

    def threes(text: str) -> list[int]:
        return [3 for _ in text]

    def by_semicolon(text: str) -> Iterable[str]:
        return text.split(";")

    assert of("a [1]; b [2]", split=by_semicolon) == [("a", ["D1"]), ("b", ["D2"])]
    with pytest.raises(InvalidInput, match="does not stand there"):
        of("a [1]", split=elsewhere)
    with pytest.raises(InvalidInput, match="pieces of the text"):
        of("a [1]", split=threes)
    with pytest.raises(InvalidInput, match="give one of them"):
        CiteOptions(condition=contains, judge=print)
    with pytest.raises(InvalidInput, match="function of a text"):
        CiteOptions(split="sentences")  # type: ignore[arg-type] -- a mistake, on purpose


def test_statements_without_citations_are_checked_if_asked_for() -> None:
    def application(question: str, sources: Sequence[Source]) -> str:
        return "It is so [1]. It is good." if sources else "Who knows."

    cited = cite(Explainer(application), "?", SOURCES[:2])
    assert cited.unchecked == ("It is good.",)
    assert "1 statement without citations" in str(cited)
    every = cite(Explainer(application), "?", SOURCES[:2], every_statement=True)
    assert [each.statement for each in every] == ["It is so.", "It is good."]
    assert every.checks[1].verdicts == ()
    nothing = cite(Explainer(lambda question, sources: "It is good."), "?", SOURCES[:2])
    assert nothing.checks == ()
    assert nothing.faithful is None


def test_an_answer_with_a_value_brings_its_citations() -> None:
    def application(question: str, sources: Sequence[Source]) -> Answer:
        said = "It is so." if sources else "Who knows."
        return Answer(said, value={"answer": said, "citations": [{"source_id": 2, "quote": "text"}]})

    cited = cite(Explainer(application), "?", SOURCES[:3])
    assert cited.checks[0].cited == ("D2",)
