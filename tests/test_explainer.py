import asyncio
import contextvars
import itertools
import json
import pickle
import random
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from rag_rule_explainer import (
    Answer,
    AnswerNotRepeatable,
    BaselineFailed,
    Case,
    Explainer,
    Explanation,
    InvalidInput,
    Judgement,
    Limits,
    Retries,
    RuleKind,
    Sampled,
    Settings,
    Source,
    TooManySources,
    Verdict,
    contains,
    equals,
)
from rag_rule_explainer.explanation.explanation import SCHEMA_VERSION
from rag_rule_explainer.testing import ScriptedReplay

Ids = frozenset[str]


class NumpyLike:
    """As a comparison of NumPy scores returns it: no bool, with an item() that is one."""

    def __init__(self, truth: bool) -> None:
        self._truth = truth

    def item(self) -> bool:
        return self._truth


def sources(count: int) -> list[Source]:
    return [Source(f"D{place}", f"text {place}") for place in range(1, count + 1)]


def answering(*pairs: tuple[set[str], str], otherwise: str = "no idea") -> ScriptedReplay:
    """Answers with the text of the first pair whose ids are all shown."""
    return ScriptedReplay(lambda ids: next((text for all_of, text in pairs if all_of <= ids), otherwise))


PAIR = ({"D2", "D4"}, "take calcium")


def test_a_pair_of_documents() -> None:
    replay = answering(PAIR)
    explanation = Explainer(replay, predicate=contains("calcium")).explain("what to take?", sources(5))
    assert [finding.sources for finding in explanation.retention_rules] == [("D2", "D4")]
    assert [finding.sources for finding in explanation.omission_rules] == [("D2",), ("D4",)]
    (pair,) = explanation.retention_rules
    assert pair.kind is RuleKind.RETENTION
    assert (pair.observed, pair.broken, pair.applicable) == (8, 0, 8)
    assert pair.proved
    assert pair.claim == "proved"
    assert str(pair) == (
        "whenever D2 and D4 are retained, the answer contains 'calcium' [proved on all 8 subsets]"
    )
    assert str(explanation.omission_rules[0]) == (
        "whenever D2 is omitted, the answer does not contain 'calcium' [proved on all 16 subsets]"
    )
    assert explanation.complete
    assert explanation.question == "what to take?"
    assert explanation.baseline.text == "take calcium"


@pytest.mark.parametrize(("rules", "probes"), [("retention", 258), ("omission", 769), ("both", 1024)])
def test_the_cost_of_two_necessary_sources_of_ten(rules: str, probes: int) -> None:
    replay = answering(({"D3", "D7"}, "yes"))
    settings = Settings(miner="exact", rules=rules)  # pyright: ignore[reportArgumentType] -- a parameter
    explanation = Explainer(replay, predicate=equals("yes"), settings=settings).explain("?", sources(10))
    counts = explanation.counts
    assert counts.probes == probes
    assert len(explanation.probes) == probes
    assert (counts.baseline, counts.repeat_check, counts.retries) == (1, 1, 0)
    assert counts.replays == len(replay.calls) == 2 + counts.samples
    full_set_is_reused = rules != "omission"
    assert counts.samples == probes - full_set_is_reused


def test_without_reuse_both_kinds_replay_what_they_share() -> None:
    replay = answering(({"D3", "D7"}, "yes"))
    explainer = Explainer(replay, predicate=equals("yes"), miner="exact", reuse_answers=False)
    explanation = explainer.explain("?", sources(10))
    assert explanation.counts.samples == 258 + 769
    assert explanation.counts.probes == 1024
    assert explanation.counts.reused == 0
    assert all(probe.answers == () for probe in explanation.probes)
    assert [finding.sources for finding in explanation.retention_rules] == [("D3", "D7")]


def test_the_same_arrangement_is_replayed_once_though_both_kinds_ask() -> None:
    replay = answering(PAIR)
    explanation = Explainer(replay, predicate=contains("calcium")).explain("?", sources(5))
    asked = replay.calls[2:]
    assert len(asked) == len(set(asked)) == 31
    assert explanation.counts.reused > 0


def test_an_application_that_never_repeats_itself_costs_two_replays_and_prints_no_rule() -> None:
    number = itertools.count()
    replay = ScriptedReplay(lambda _: f"answer {next(number)}")
    with pytest.raises(AnswerNotRepeatable) as caught:
        Explainer(replay).explain("?", sources(4))
    assert len(replay.calls) == 2
    assert caught.value.answers == ("answer 0", "answer 1")
    for way_out in ("contains", "consistent_with", "check_repeatable=False"):
        assert way_out in str(caught.value)


def test_wording_that_changes_does_not_matter_to_a_condition_that_ignores_it() -> None:
    number = itertools.count()
    replay = ScriptedReplay(lambda ids: f"calcium {next(number)}" if "D1" in ids else "no")
    explanation = Explainer(replay, predicate=contains("calcium")).explain("?", sources(2))
    assert [finding.sources for finding in explanation.retention_rules] == [("D1",)]


def test_the_default_predicate_is_the_same_answer() -> None:
    explanation = Explainer(answering(PAIR)).explain("?", sources(4))
    assert str(explanation.retention_rules[0]).startswith(
        "whenever D2 and D4 are retained, the answer stays the same"
    )
    assert str(explanation.omission_rules[0]).startswith("whenever D2 is omitted, the answer changes")


def test_a_given_baseline_is_not_asked_for() -> None:
    replay = answering(PAIR)
    explainer = Explainer(replay, check_repeatable=False)
    explanation = explainer.explain("?", sources(4), baseline="take calcium")
    assert explanation.counts.baseline == 0
    assert explanation.baseline.text == "take calcium"
    # A logged answer proves nothing of today's application: the full set is probed like any other.
    assert replay.calls.count(frozenset({"D1", "D2", "D3", "D4"})) == 1
    assert [finding.sources for finding in explanation.retention_rules] == [("D2", "D4")]


@pytest.mark.parametrize("check_repeatable", [True, False])
def test_that_a_logged_answer_no_longer_comes_is_said_first(check_repeatable: bool) -> None:
    replay = answering(PAIR)
    explainer = Explainer(replay, check_repeatable=check_repeatable)
    explanation = explainer.explain("?", sources(4), baseline=Answer("take iron"))
    assert explanation.counts.repeat_check == 1
    assert replay.calls.count(frozenset({"D1", "D2", "D3", "D4"})) == 1
    first = str(explanation).splitlines()[0]
    assert first.startswith("WARNING: the logged answer is not what the application answers")
    assert "'take iron'" in first
    assert "'take calcium'" in first
    assert explanation.retention_rules == ()


@pytest.mark.parametrize("rules", ["retention", "omission"])
def test_of_a_logged_answer_is_said_what_the_rules_are_about(rules: Any) -> None:
    explainer = Explainer(answering(PAIR), predicate=contains("iron"), rules=rules)
    (warning,) = explainer.explain("?", sources(4), baseline="take iron").warnings
    told = {
        "retention": "the answer contains 'iron'\" holds for 'take iron' and does not hold for",
        "omission": "the answer does not contain 'iron'\" does not hold for 'take iron' and holds for",
    }
    assert told[rules] in warning


def test_a_logged_answer_that_is_only_worded_otherwise_is_a_note() -> None:
    explainer = Explainer(answering(PAIR), predicate=contains("calcium"))
    explanation = explainer.explain("?", sources(4), baseline="One may try calcium")
    assert not explanation.warnings
    (note,) = [each for each in explanation.notes if "than the logged one" in each]
    assert "'One may try calcium'; now: 'take calcium'" in note
    same = explainer.explain("?", sources(4), baseline="take  calcium")
    assert not [each for each in same.notes if "than the logged one" in each]


def test_pinned_sources_are_always_there_and_in_no_rule() -> None:
    replay = answering(PAIR)
    explanation = Explainer(replay).explain("?", sources(4), pinned=["D2", "D3"])
    assert all({"D2", "D3"} <= kept for kept in replay.calls)
    assert {finding.sources for finding in explanation.rules} == {("D4",)}
    assert [source.id for source in explanation.sources if source.pinned] == ["D2", "D3"]
    assert (explanation.counts.probes, explanation.rules[0].applicable) == (4, 2)
    assert all({"D2", "D3"} <= set(probe.kept) for probe in explanation.probes)
    assert all({"D2", "D3"} <= set(witness.kept) for witness in explanation.witnesses)
    assert {index.source for index in explanation.importance} == {"D1", "D4"}
    assert Explanation.model_validate_json(explanation.model_dump_json()) == explanation


@pytest.mark.parametrize(
    ("pinned", "complaint"),
    [(["D9"], "'D9'"), ("D1", "list of ids"), (["D1", "D2"], "nothing to explain by")],
)
def test_pinned_ids_that_cannot_be_pinned(pinned: Any, complaint: str) -> None:
    with pytest.raises(InvalidInput, match=complaint):
        Explainer(answering(PAIR)).explain("?", sources(2), pinned=pinned)


def test_the_empty_rule_holds_always() -> None:
    explanation = Explainer(answering(otherwise="same")).explain("?", sources(3))
    assert str(explanation.retention_rules[0]) == (
        "always, whichever of these sources are retained, the answer stays the same "
        "[proved on all 8 subsets]"
    )
    assert explanation.omission_rules == ()
    assert explanation.counterfactuals == ()
    assert "no source decides about it: ask about something else" in explanation.notes[-1]


def test_of_one_source_is_said_how_little_rules_can_say() -> None:
    explanation = Explainer(answering(({"D1"}, "yes"))).explain("?", sources(1))
    assert [rule.sources for rule in explanation.rules] == [("D1",), ("D1",)]
    assert "let the retriever return more" in explanation.notes[-1]


def test_one_condition_for_both_kinds_marks_absolute_and_relative() -> None:
    # Holds when D1 is shown or D2 is not.
    replay = ScriptedReplay(lambda ids: "yes" if "D1" in ids or "D2" not in ids else "no")
    condition = equals("yes")
    explanation = Explainer(replay, predicate=condition, omission_predicate=condition).explain(
        "?", sources(2)
    )
    assert [(f.sources, f.relation) for f in explanation.retention_rules] == [(("D1",), "relative")]
    assert [(f.sources, f.relation) for f in explanation.omission_rules] == [(("D2",), "relative")]
    both_ways = Explainer(
        ScriptedReplay(lambda ids: "yes" if len(ids) != 1 else "no"),
        predicate=condition,
        omission_predicate=condition,
    ).explain("?", sources(2))
    assert [(f.sources, f.relation) for f in both_ways.rules] == [(("D1", "D2"), "absolute")] * 2


def test_relations_are_not_marked_between_different_conditions() -> None:
    explanation = Explainer(answering(PAIR)).explain("?", sources(4))
    assert {finding.relation for finding in explanation.rules} == {None}


def test_no_sources_can_be_answered_without_the_application() -> None:
    replay = answering(PAIR)
    explainer = Explainer(replay, predicate=contains("calcium"), answer_without_sources="N/A")
    explanation = explainer.explain("?", sources(4))
    assert frozenset() not in replay.calls
    empty = next(probe for probe in explanation.probes if probe.kept == ())
    assert empty.answers[0].text == "N/A"
    assert "without the application" in empty.answers[0].note
    assert explanation.counts.samples == explanation.counts.probes - 2


def test_an_empty_source_set_is_a_legal_replay() -> None:
    replay = answering(PAIR)
    Explainer(replay, predicate=contains("calcium")).explain("?", sources(4))
    assert frozenset() in replay.calls


def test_a_failing_replay_is_unknown_and_no_rule_rests_on_it() -> None:
    def script(ids: Ids) -> str | Exception:
        if ids == frozenset({"D1", "D2"}):
            return TimeoutError("the model hung")
        return "calcium" if "D1" in ids else "no"

    retries = Retries(first_wait=0.01)
    explainer = Explainer(ScriptedReplay(script), predicate=contains("calcium"), retries=retries)
    explanation = explainer.explain("?", sources(3))
    assert not explanation.complete
    assert [f.sources for f in explanation.retention_rules] == [("D1", "D3")]
    assert explanation.retention_rules[0].minimal is None
    assert "perhaps not minimal" in str(explanation.retention_rules[0])
    (left_open,) = explanation.unresolved
    assert left_open.kept == ("D1", "D2")
    assert left_open.reason == "TimeoutError: the model hung"
    failed = next(probe for probe in explanation.probes if probe.kept == ("D1", "D2"))
    assert failed.error == "TimeoutError: the model hung"
    assert failed.answers == ()
    assert failed.verdicts[RuleKind.RETENTION].verdict is Verdict.UNKNOWN


@pytest.mark.parametrize("seed", range(20))
def test_whatever_fails_every_reported_rule_is_true(seed: int) -> None:
    draw = random.Random(seed)
    truth = {mask: draw.random() < 0.85 for mask in range(32)}
    failing = {mask for mask in range(31) if draw.random() < 0.15}
    bit = {f"D{place}": 1 << (place - 1) for place in range(1, 6)}

    def script(ids: Ids) -> str | Exception:
        mask = sum(bit[one] for one in ids)
        return RuntimeError("down") if mask in failing else "yes" if truth[mask] else "no"

    explainer = Explainer(
        ScriptedReplay(script), predicate=equals("yes"), omission_predicate=equals("yes")
    )
    for finding in explainer.explain("?", sources(5)).rules:
        named = sum(bit[one] for one in finding.sources)
        for mask in range(32):
            applies = mask & named == (named if finding.kind is RuleKind.RETENTION else 0)
            assert truth[mask] or not applies


def test_the_baseline_must_succeed() -> None:
    replay = ScriptedReplay(lambda _: ConnectionError("refused"))
    with pytest.raises(BaselineFailed, match="ConnectionError: refused") as caught:
        Explainer(replay, retries=0).explain("?", sources(2))
    assert isinstance(caught.value.__cause__, ConnectionError)
    assert len(replay.calls) == 1


def test_a_predicate_that_fails_says_so_and_claims_nothing() -> None:
    def broken(_case: Case) -> bool:
        raise KeyError("score")

    replay = answering(PAIR)
    with pytest.raises(BaselineFailed, match=r"the predicate failed .* KeyError: 'score'"):
        Explainer(replay, predicate=broken).explain("?", sources(3))
    assert len(replay.calls) == 1


def test_a_predicate_that_fails_now_and_then_leaves_those_subsets_open() -> None:
    def brittle(case: Case) -> bool:
        if len(case.kept) == 1:
            raise ConnectionError("the judge is down")
        return "calcium" in case.answer.text

    explanation = Explainer(answering(PAIR), predicate=brittle).explain("?", sources(4))
    assert [finding.sources for finding in explanation.retention_rules] == [("D2", "D4")]
    assert not explanation.complete
    assert {each.reason for each in explanation.unresolved} == {
        "the predicate failed: ConnectionError: the judge is down"
    }
    assert "not complete" in str(explanation)


def test_a_judge_that_failed_once_is_asked_again() -> None:
    asked: list[str] = []

    @dataclass(frozen=True)
    class Flaky:
        async def __call__(self, case: Case) -> Judgement:
            asked.append(case.answer.text)
            if len(asked) == 2:
                raise ConnectionError("once")
            return Judgement(Verdict.of("calcium" in case.answer.text))

        def memo_key(self, case: Case) -> str:
            return case.answer.text

    explanation = Explainer(answering(PAIR), predicate=Flaky(), concurrency=1).explain("?", sources(4))
    assert len(explanation.unresolved) == 1
    assert asked == ["take calcium", "no idea", "no idea"]


@pytest.mark.parametrize("outcome", [NumpyLike(True), Verdict.HOLDS, Judgement(Verdict.HOLDS), True])
def test_whatever_says_yes_is_understood(outcome: object) -> None:
    async def later(_case: Case) -> object:
        return outcome

    class Own:
        def __call__(self, _case: Case) -> object:
            return outcome

        def memo_key(self, _case: Case) -> None:
            return None

    for predicate in (lambda _case: outcome, later, Own()):  # type: ignore[misc] -- values of all kinds
        # Values of all kinds.
        explainer = Explainer(answering(PAIR), predicate=predicate, rules="retention")  # type: ignore[arg-type]
        assert explainer.explain("?", sources(2)).retention_rules[0].sources == ()


def test_a_replay_whose_output_is_no_answer_is_unknown() -> None:
    # Values of all kinds.
    replay = ScriptedReplay(lambda ids: "x" if ids else None)  # type: ignore[arg-type,return-value]
    explanation = Explainer(replay, rules="retention").explain("?", sources(2))
    assert [finding.sources for finding in explanation.retention_rules] == [("D1",), ("D2",)]
    assert explanation.unresolved[0].reason == (
        "InvalidInput: an answer is None; give a str or an Answer: there is a branch without a return"
    )


def test_an_application_that_exits_is_unknown_and_the_next_explanation_works() -> None:
    def script(ids: Ids) -> str:
        if not ids:
            sys.exit(3)
        return "x"

    async def areplay(_question: str, kept: Sequence[Source]) -> str:
        return script(frozenset(source.id for source in kept))

    for replay in (ScriptedReplay(script), areplay):
        explanation = Explainer(replay, rules="retention").explain("?", sources(2))
        assert explanation.unresolved[0].reason == "SystemExit: 3"
        assert len(explanation.retention_rules) == 2


@pytest.mark.skipif(sys.version_info < (3, 11), reason="a task cannot tell who cancelled it")
def test_a_cancellation_that_escapes_from_the_application_is_unknown() -> None:
    async def replay(_question: str, kept: Sequence[Source]) -> str:
        if not kept:
            raise asyncio.CancelledError
        return "x"

    explanation = Explainer(replay, rules="retention").explain("?", sources(2))
    assert "CancelledError" in explanation.unresolved[0].reason
    assert len(explanation.retention_rules) == 2


def test_an_application_that_never_waits_leaves_others_their_turn() -> None:
    async def replay(_question: str, _kept: Sequence[Source]) -> str:
        return "x"

    async def main() -> int:
        turns = 0
        task = asyncio.create_task(Explainer(replay, miner="exact").aexplain("?", sources(13)))
        while not task.done():
            turns += 1
            await asyncio.sleep(0)
        return turns

    assert asyncio.run(main()) > 5


def test_odd_usage_is_reduced_to_its_counts() -> None:
    usage: dict[str, object] = {"input_tokens": 3, "details": {"cached": 1}, "audio": None}
    # Values of all kinds.
    replay = ScriptedReplay(lambda _: Answer("x", usage=usage))  # type: ignore[arg-type]
    explanation = Explainer(replay).explain("?", sources(2))
    assert explanation.spent.replays == {"input_tokens": 3 * explanation.counts.replays}


def test_remarks_on_answers_are_told_once_with_their_number() -> None:
    replay = ScriptedReplay(lambda ids: Answer("x", note="a retrieval was new" if len(ids) == 1 else ""))
    assert Explainer(replay).explain("?", sources(3)).notes[-1] == "a retrieval was new (3 of 8 probes)"


def test_a_predicate_may_be_any_function_of_a_case() -> None:
    def keeps_d2(case: Case) -> bool:
        assert case.question == "?"
        assert case.baseline.text == "take calcium"
        return "D2" in {source.id for source in case.kept}

    async def keeps_d3(case: Case) -> Judgement:
        await asyncio.sleep(0)
        return Judgement(Verdict.of("D3" in {source.id for source in case.kept}), "looked")

    replay = answering(PAIR)
    explanation = Explainer(replay, predicate=keeps_d2, omission_predicate=keeps_d3).explain(
        "?", sources(4)
    )
    assert str(explanation.retention_rules[0]).startswith(
        "whenever D2 is retained, keeps_d2(case) is true"
    )
    assert explanation.omission_rules == ()
    assert explanation.probes[-1].verdicts[RuleKind.OMISSION].reason == "looked"


def test_identical_answers_are_judged_once() -> None:
    judged: list[str] = []

    class Counting:
        def __call__(self, case: Case) -> Judgement:
            judged.append(case.answer.text)
            return Judgement(Verdict.of("calcium" in case.answer.text))

        def memo_key(self, case: Case) -> str:
            return case.answer.text

    explanation = Explainer(answering(PAIR), predicate=Counting(), miner="exact").explain("?", sources(8))
    assert explanation.counts.probes == 256
    assert sorted(judged) == ["no idea", "take calcium"]


def test_a_cap_on_replays_is_never_exceeded_and_what_is_reported_is_true() -> None:
    for limit in (1, 2, 3, 10, 57):
        replay = answering(({"D1"}, "yes"))
        explainer = Explainer(
            replay, predicate=equals("yes"), miner="exact", limits=Limits(replays=limit), concurrency=3
        )
        explanation = explainer.explain("?", sources(6))
        assert len(replay.calls) == explanation.counts.replays == limit
        assert not explanation.complete
        assert str(limit) in explanation.stop_reason
        assert all("D1" in finding.sources for finding in explanation.retention_rules)
        assert all(finding.observed == finding.applicable for finding in explanation.rules)


def test_auto_is_exact_without_a_cap_up_to_seven_sources() -> None:
    explanation = Explainer(answering(otherwise="same")).explain("?", sources(7))
    assert explanation.miner.name == "exact"
    assert explanation.counts.probes == 128
    assert explanation.complete


def test_auto_samples_above_with_a_cap_and_says_how_to_have_it_proved() -> None:
    explanation = Explainer(answering(PAIR), predicate=contains("calcium")).explain("?", sources(10))
    assert explanation.miner.name == "sampled"
    assert {rule.claim for rule in explanation.rules} == {"tested"}
    for said in ("at most 1024 probes", "500 replays", "8 at a time", "miner='exact' proves"):
        assert said in explanation.miner.reason, explanation.miner.reason


def test_auto_is_exact_where_the_users_own_cap_allows_for_it() -> None:
    explainer = Explainer(answering(PAIR), predicate=contains("calcium"), limits=Limits(replays=1026))
    explanation = explainer.explain("?", sources(10))
    assert explanation.miner.name == "exact"
    assert explanation.complete
    assert "limits.replays=1026" in explanation.miner.reason
    assert (
        Explainer(answering(PAIR), limits=Limits(replays=1025)).explain("?", sources(10)).miner.name
        == "sampled"
    )


def test_all_valid_rules_of_many_are_mined_exactly_as_far_as_the_cap_goes() -> None:
    replay = answering(otherwise="same")
    explanation = Explainer(replay, minimal=False).explain("?", sources(10))
    assert len(replay.calls) == 500
    assert not explanation.complete
    assert "miner='exact'" in explanation.miner.reason


def test_exhaustive_probes_everything_and_finds_the_same() -> None:
    explanations = [
        Explainer(answering(PAIR), predicate=contains("calcium"), miner=miner).explain("?", sources(5))
        for miner in ("exact", "exhaustive")
    ]
    assert explanations[0].rules == explanations[1].rules
    assert explanations[1].counts.probes == 32
    assert set(map(repr, explanations[0].counterfactuals)) == set(
        map(repr, explanations[1].counterfactuals)
    )


def test_all_valid_rules_on_request() -> None:
    explainer = Explainer(answering(PAIR), predicate=contains("calcium"), minimal=False)
    explanation = explainer.explain("?", sources(4))
    assert [finding.sources for finding in explanation.retention_rules] == [
        ("D2", "D4"),
        ("D1", "D2", "D4"),
        ("D2", "D3", "D4"),
        ("D1", "D2", "D3", "D4"),
    ]
    assert [finding.minimal for finding in explanation.retention_rules] == [True, False, False, False]


@pytest.mark.parametrize("texts", [["only one"], ["a", "b"]])
def test_plain_strings_are_named_by_their_place(texts: list[str]) -> None:
    explanation = Explainer(answering(otherwise="x")).explain("?", texts)
    assert [source.id for source in explanation.sources] == [f"D{n + 1}" for n in range(len(texts))]


def test_notes_say_why_there_is_no_rule() -> None:
    explanation = Explainer(answering(PAIR), predicate=contains("iron")).explain("?", sources(3))
    assert explanation.retention_rules == ()
    assert "with all sources retained, the answer does not contain 'iron'" in explanation.notes[0]


Bad = Callable[[], object]


@pytest.mark.parametrize(
    ("bad", "told"),
    [
        (lambda: Explainer(answering()).explain("?", []), "no sources"),
        (lambda: Explainer(answering()).explain("?", "D1"), "one string"),
        (lambda: Explainer(answering()).explain("?", [Source("", "x")]), "empty id"),
        (lambda: Explainer(answering()).explain("?", [Source("a", "x"), Source("a", "y")]), "own id"),
        # A mistake, on purpose.
        (lambda: Explainer(answering()).explain("?", [3]), "Source"),  # type: ignore[list-item]
        # A mistake, on purpose.
        (lambda: Explainer(answering(), rules="all"), "retention"),  # type: ignore[arg-type]
        # A mistake, on purpose.
        (lambda: Explainer(answering(), miner="fast"), "exhaustive"),  # type: ignore[arg-type]
        (lambda: Explainer(answering(), concurrency=0), "from 1 to 10,000"),
        # A mistake, on purpose.
        (lambda: Explainer(answering(), concurency=3), "known are"),  # type: ignore[call-arg]
        # A mistake, on purpose.
        (lambda: Explainer(answering(), predicate="calcium"), "contains"),  # type: ignore[arg-type]
        (lambda: Explainer().explain("?", ["a"]), "replay="),
        # A mistake, on purpose.
        (lambda: Explainer(lambda _q, _s: 3).explain("?", ["a"]), "give a str"),  # type: ignore[arg-type]
        (lambda: Limits(replays=0), "at least 1"),
        (lambda: Limits(replays="9"), "at least 1"),  # type: ignore[arg-type] -- a mistake, on purpose
        # A mistake, on purpose.
        (lambda: Explainer(answering(), limits="100"), r"Limits\("),  # type: ignore[arg-type]
        # A mistake, on purpose.
        (lambda: Explainer(answering(), concurrency="8"), "whole number"),  # type: ignore[arg-type]
        # A mistake, on purpose.
        (lambda: Explainer(answering(), settings={}), r"Settings\("),  # type: ignore[arg-type]
        (lambda: Source(1, "x"), "id of a source"),  # type: ignore[arg-type] -- a mistake, on purpose
        # A mistake, on purpose.
        (lambda: Source("a", None), "text of a source"),  # type: ignore[arg-type]
        (lambda: contains(3), "give a str"),  # type: ignore[arg-type] -- a mistake, on purpose
        # A mistake, on purpose.
        (lambda: Explainer(answering()).explain(None, ["a"]), "question"),  # type: ignore[arg-type]
        # A mistake, on purpose.
        (lambda: Explainer(answering()).explain("?", ["a"], baseline=3), "give a str"),  # type: ignore[arg-type]
    ],
)
def test_bad_input_says_what_to_do(bad: Bad, told: str) -> None:
    with pytest.raises(InvalidInput, match=told):
        bad()


def test_more_than_twenty_sources_are_refused_by_an_exact_search_before_anything_is_spent() -> None:
    replay = answering()
    with pytest.raises(TooManySources, match="21 sources"):
        Explainer(replay, miner="exact").explain("?", sources(21))
    assert replay.calls == []


def test_more_sources_than_can_be_read_back_are_refused_before_anything_is_spent() -> None:
    replay = answering()
    with pytest.raises(TooManySources, match="10,001 sources"):
        Explainer(replay).explain("?", sources(10_001), pinned=["D1", "D2"])
    assert replay.calls == []


def test_settings_are_picklable_and_fields_override_them() -> None:
    settings = Settings(rules="retention", limits=Limits(replays=9))
    assert pickle.loads(pickle.dumps(settings)) == settings  # noqa: S301 -- our own bytes
    assert Explainer(answering(), settings=settings, concurrency=2).settings == Settings(
        rules="retention", limits=Limits(replays=9), concurrency=2
    )


def test_aexplain_gives_the_same_with_sync_and_async_applications() -> None:
    replay = answering(PAIR)

    async def areplay(question: str, kept: Sequence[Source]) -> Answer | str:
        await asyncio.sleep(0)
        return replay(question, kept)

    async def both() -> list[Explanation]:
        explainers = [Explainer(each, predicate=contains("calcium")) for each in (replay, areplay)]
        return [await explainer.aexplain("?", sources(5)) for explainer in explainers]

    expected = Explainer(replay, predicate=contains("calcium")).explain("?", sources(5)).rules
    assert [explanation.rules for explanation in asyncio.run(both())] == [expected, expected]
    assert Explainer(areplay, predicate=contains("calcium")).explain("?", sources(5)).rules == expected


def test_a_function_that_returns_an_awaitable_is_awaited() -> None:
    async def later(ids: Ids) -> str:
        return "calcium" if "D1" in ids else "no"

    explainer = Explainer(lambda _question, kept: later(frozenset(s.id for s in kept)))
    assert [f.sources for f in explainer.explain("?", sources(2)).retention_rules] == [("D1",)]


@pytest.mark.parametrize("concurrency", [1, 3, 32])
def test_the_probes_are_the_same_whatever_the_concurrency(concurrency: int) -> None:
    replay = answering(PAIR)
    explainer = Explainer(replay, predicate=contains("calcium"), concurrency=concurrency)
    explanation = explainer.explain("?", sources(6))
    reference = Explainer(answering(PAIR), predicate=contains("calcium")).explain("?", sources(6))
    assert explanation.rules == reference.rules
    assert [probe.kept for probe in explanation.probes] == [probe.kept for probe in reference.probes]
    assert replay.peak <= concurrency


def test_the_callers_context_reaches_every_replay() -> None:
    tenant = contextvars.ContextVar("tenant", default="nobody")
    seen: set[str] = set()

    def replay(_question: str, _kept: Sequence[Source]) -> str:
        seen.add(tenant.get())
        return "x"

    async def areplay(_question: str, _kept: Sequence[Source]) -> str:
        seen.add(tenant.get())
        return "x"

    token = tenant.set("acme")
    try:
        Explainer(replay).explain("?", sources(3))
        Explainer(areplay).explain("?", sources(3))
    finally:
        tenant.reset(token)
    assert seen == {"acme"}


def test_spent_tokens_are_summed() -> None:
    replay = ScriptedReplay(lambda _: Answer("x", usage={"input_tokens": 10, "output_tokens": 1}))
    explanation = Explainer(replay).explain("?", sources(2))
    assert explanation.spent.replays == {
        "input_tokens": 10 * explanation.counts.replays,
        "output_tokens": explanation.counts.replays,
    }


def test_the_repr_of_an_explanation_is_short() -> None:
    explanation = Explainer(answering(otherwise="same"), miner="exact").explain("?" * 500, sources(8))
    assert len(repr(explanation)) < 200
    assert json.loads(explanation.model_dump_json())["schema_version"] == SCHEMA_VERSION


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"sources": None}, "sources is None"),
        ({"pinned": None}, "pinned is None"),
        ({"pinned": [["D1"]]}, "pinned names .*a list"),
        ({"replay": "chain"}, "replay is 'chain'"),
        ({"progress": 5}, "progress is 5"),
        ({"question": None}, "the question is NoneType"),
    ],
)
def test_what_cannot_be_asked_is_told_before_anything_is_asked(given: dict[str, Any], told: str) -> None:
    replay = answering(PAIR)
    asked: dict[str, Any] = {"question": "?", "sources": sources(2), **given}
    with pytest.raises(InvalidInput, match=told):
        Explainer(replay).explain(**asked)
    assert not replay.calls


@pytest.mark.parametrize(
    "given",
    [
        {"answer_without_sources": 5},
        {"minimal": "no"},
        {"check_repeatable": "false"},
        {"lockstep": 1},
        {"reuse_answers": None},
    ],
)
def test_settings_of_another_type(given: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match=next(iter(given))):
        Settings(**given)


def test_one_call_can_be_shown_as_all_can(capsys: pytest.CaptureFixture[str]) -> None:
    explanation = Explainer(answering(PAIR)).explain("?", sources(2), progress=True)
    assert not [note for note in explanation.notes if "progress" in note]
    assert "probes" in capsys.readouterr().err


def test_the_sizes_that_are_tested_count_pinned_sources() -> None:
    shown = Counter[int]()

    def replay(_: str, kept: Sequence[Source]) -> str:
        shown[len(kept)] += 1
        return "yes" if "D5" in {source.id for source in kept} else "no"

    explainer = Explainer(replay, predicate=contains("yes"), miner=Sampled(sizes=(9,)), rules="retention")
    explanation = explainer.explain("?", sources(30), pinned=["D1", "D2", "D3", "D4"])
    assert "with 9 retained" in explanation.retention_rules[0].evidence
    assert shown[9] > 10


def waits_after(runs: int) -> tuple[Any, list[tuple[str, ...]]]:
    """A replay that answers so many times, and then never; and the sources that it was given."""
    given = list[tuple[str, ...]]()

    async def replay(_question: str, sources: Sequence[Source]) -> str:
        given.append(tuple(source.id for source in sources))
        if len(given) > runs:
            await asyncio.Event().wait()
        return "yes"

    return replay, given


@pytest.mark.waits
@pytest.mark.parametrize(
    ("retries", "tried"), [(0, [4, 4, 3]), (Retries(1, first_wait=0), [4, 4, 4, 3, 3])]
)
def test_an_application_that_waits_for_ever_after_its_first_answer_is_refused_at_once(
    retries: Retries | int, tried: list[int]
) -> None:
    replay, given = waits_after(1)
    sources = [Source(name, name) for name in "abcd"]
    explainer = Explainer(replay, predicate=equals("yes"), timeout=0.05, retries=retries)
    with pytest.raises(BaselineFailed, match=r"no replay ended.*no answer within .* a lock"):
        explainer.explain("?", sources)
    assert [len(each) for each in given] == tried


@pytest.mark.waits
def test_a_repeat_that_takes_too_long_is_a_note_where_other_replays_end() -> None:
    async def replay(_question: str, sources: Sequence[Source]) -> str:
        seen.append(len(sources))
        if seen == [3, 3]:
            await asyncio.Event().wait()
        return "yes"

    seen = list[int]()
    explainer = Explainer(replay, predicate=equals("yes"), timeout=0.5, retries=0)
    explanation = explainer.explain("?", [Source(name, name) for name in "abc"])
    assert explanation.retention_rules
    assert any("the repeat check failed: no answer within" in each for each in explanation.notes)


def test_additions_start_from_the_pinned_sources() -> None:
    """Without sources was never asked: a pinned one was always there."""
    with_pair = Explainer(answering(PAIR), predicate=contains("calcium"))
    said = with_pair.explain("?", sources(4), pinned=["D2"]).report()
    assert "from the pinned sources alone, adding D4 flips the outcome" in said
    always = with_pair.explain("?", sources(4), pinned=["D2", "D4"])
    assert always.notes[0].startswith("there is no omission rule: with the pinned sources alone retained")
