"""Answers that say themselves why they ended, from functions of one's own, logs and stores."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from rag_rule_explainer import (
    Answer,
    BaselineFailed,
    Explainer,
    Explanation,
    Retries,
    Source,
    Store,
    equals,
)
from rag_rule_explainer.probing.replaying import Baseline

NONE = Retries(0)
TWICE = Retries(2, first_wait=0)


def replaying(cut: Callable[[set[str]], Answer | None]) -> Callable[[str, Sequence[Source]], Answer]:
    """Says "bad news" iff b is shown, unless ``cut`` says something else of it."""

    def replay(_: str, sources: Sequence[Source]) -> Answer:
        shown = {source.id for source in sources}
        return cut(shown) or Answer(
            "bad news" if "b" in shown else "bad news, or not", finish_reason="stop"
        )

    return replay


SOURCES = [Source(name, name) for name in "abc"]


def cut_at_ac(reason: str) -> Callable[[set[str]], Answer | None]:
    return lambda shown: Answer("bad news", finish_reason=reason) if shown == {"a", "c"} else None


def unknown(explanation: Explanation) -> dict[tuple[str, ...], str]:
    return {probe.kept: probe.error for probe in explanation.probes if probe.error}


@pytest.mark.parametrize(
    ("reason", "told"),
    [
        ("content_filter", "content filter"),
        ("SAFETY", "content filter"),
        ("refusal", "refused"),
        ("pause_turn", "not whole"),
        ("tool_calls", "calls a tool"),
        ("length", r"accept_finish_reasons=('length',)"),
        ("wobbly", r"accept_finish_reasons=('wobbly',)"),
    ],
)
def test_an_answer_that_is_not_whole_is_no_verdict(reason: str, told: str) -> None:
    explainer = Explainer(
        replaying(cut_at_ac(reason)), predicate=equals("bad news"), miner="exhaustive", retries=TWICE
    )
    for explanation in (explainer.explain("?", SOURCES), asyncio.run(explainer.aexplain("?", SOURCES))):
        ((kept, error),) = unknown(explanation).items()
        assert kept == ("a", "c")
        assert told in error
        assert explanation.counts.retries == 2
        assert not explanation.complete


def test_an_answer_that_is_whole_when_it_is_asked_again_counts() -> None:
    asked = set[str]()

    def cut(shown: set[str]) -> Answer | None:
        key = "".join(sorted(shown))
        first = key not in asked
        asked.add(key)
        return Answer("bad news", finish_reason="content_filter") if first else None

    explanation = Explainer(replaying(cut), predicate=equals("bad news"), retries=TWICE).explain(
        "?", SOURCES
    )
    assert explanation.complete
    assert [rule.sources for rule in explanation.retention_rules] == [("b",)]
    assert explanation.counts.retries == len(asked)


@pytest.mark.parametrize("reason", ["length", "max_tokens", "wobbly"])
def test_reasons_may_be_accepted(reason: str) -> None:
    accepted = "wobbly" if reason == "wobbly" else "length"
    explainer = Explainer(
        replaying(cut_at_ac(reason)),
        predicate=equals("bad news"),
        miner="exhaustive",
        retries=NONE,
        accept_finish_reasons=(accepted,),
    )
    explanation = explainer.explain("?", SOURCES)
    assert not unknown(explanation)
    assert explanation.settings["accept_finish_reasons"] == [accepted]


def test_structured_output_may_be_the_call_of_a_tool() -> None:
    def cut(shown: set[str]) -> Answer:
        return Answer("{}", {"bad": "b" in shown}, finish_reason="tool_calls")

    explanation = Explainer(
        replaying(cut), predicate=lambda case: case.answer.value["bad"], retries=NONE
    ).explain("?", SOURCES)
    assert [rule.sources for rule in explanation.retention_rules] == [("b",)]


@pytest.mark.parametrize(
    ("everything", "told"),
    [
        (Answer("bad", finish_reason="content_filter"), "content filter"),
        (Answer("  "), "the answer is empty"),
        (Answer("", finish_reason="stop"), "the answer is empty"),
    ],
)
def test_a_baseline_that_is_none_is_tried_again_and_never_explained(
    everything: Answer, told: str
) -> None:
    asked = list[int]()

    def cut(shown: set[str]) -> Answer | None:
        asked.append(len(shown))
        return everything if len(shown) == len(SOURCES) else None

    with pytest.raises(BaselineFailed, match=told):
        Explainer(replaying(cut), retries=TWICE).explain("?", SOURCES)
    assert asked == [3, 3, 3]
    with pytest.raises(BaselineFailed, match=told):
        Explainer(replaying(cut), retries=NONE).explain("?", SOURCES, Baseline(everything, everything))


def test_what_a_store_holds_counts_only_where_its_reason_is_accepted(tmp_path: Path) -> None:
    def explain(*accepted: str) -> Explanation:
        return Explainer(
            replaying(cut_at_ac("length")),
            predicate=equals("bad news"),
            miner="exhaustive",
            retries=NONE,
            accept_finish_reasons=accepted,
            store=Store(str(tmp_path / "answers.db"), "app"),
        ).explain("?", SOURCES)

    assert not unknown(explain("length"))
    strict = explain()
    assert list(unknown(strict)) == [("a", "c")]
    assert strict.counts.stored
    assert not unknown(explain("length"))


def test_whoever_is_shown_nothing_may_say_nothing() -> None:
    explanation = Explainer(
        replaying(lambda shown: None if shown else Answer("", finish_reason="stop")),
        predicate=equals("bad news"),
        retries=NONE,
    ).explain("?", SOURCES)
    assert explanation.complete
