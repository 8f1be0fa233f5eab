import copy
import json
import pickle
import time
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from rag_rule_explainer import Answer, Explainer, Explanation, Limits, Retries, Source, contains, equals
from rag_rule_explainer.explanation.records import Finding
from rag_rule_explainer.printable import as_json, encodable
from rag_rule_explainer.probing.replaying import Baseline
from rag_rule_explainer.rules import RuleKind
from rag_rule_explainer.testing import ScriptedReplay
from tests.drawing import examples

any_text = st.text(st.characters(exclude_categories=()), max_size=30)
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | any_text | st.binary() | st.just(object()),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(any_text, inner, max_size=3),
    max_leaves=8,
)


def roundtrip(explanation: Explanation) -> Explanation:
    return Explanation.model_validate_json(explanation.model_dump_json())


def explained(**fields: Any) -> Explanation:
    replay = ScriptedReplay(lambda ids: "calcium" if "D1" in ids else "no")
    return Explainer(replay, predicate=contains("calcium"), **fields).explain("?", ["a", "b", "c"])


def test_json_keeps_everything() -> None:
    explanation = explained()
    assert roundtrip(explanation) == explanation
    assert roundtrip(explanation).retention_rules[0].proved
    assert str(roundtrip(explanation)) == str(explanation)


def test_failures_limits_and_stops_survive_too() -> None:
    def script(ids: frozenset[str]) -> Answer | Exception:
        return (
            OSError("down")
            if len(ids) == 1
            else Answer("x", {"k": [1]}, {"input_tokens": 3}, "stop", "n")
        )

    explanation = Explainer(ScriptedReplay(script)).explain("?", ["a", "b", "c"])
    assert not explanation.complete
    assert roundtrip(explanation) == explanation


@given(any_text, any_text, any_text, anything, anything)
@settings(max_examples=examples(60))
def test_hostile_texts_and_values_round_trip(
    question: str, text: str, answer: str, metadata: object, value: object
) -> None:
    replay = ScriptedReplay(lambda ids: Answer(answer if ids else "nothing", value=value))
    source = Source("D1", text, {"anything": metadata, text: 1})
    baseline = Baseline(Answer(answer, value=value), input={"question": question, "more": metadata})
    retries = Retries(first_wait=0, longest_wait=0)
    explainer = Explainer(replay, predicate=equals(answer), check_repeatable=False, retries=retries)
    explanation = explainer.explain(question, [source], baseline)
    assert roundtrip(explanation) == explanation


@pytest.mark.parametrize("kind", ["retention", "omission"])
def test_a_proof_without_verdicts_is_refused(kind: str) -> None:
    saved = json.loads(explained().model_dump_json())
    assert saved[f"{kind}_rules"][0]["claim"] == "proved"
    for probe in saved["probes"]:
        if kind in probe["verdicts"]:
            probe["verdicts"][kind]["verdict"] = "unknown"
    with pytest.raises(ValidationError, match="marked proved, but a probe of it has no verdict"):
        Explanation.model_validate(saved)


def test_a_proof_that_was_tampered_with_is_refused() -> None:
    saved = json.loads(explained().model_dump_json())
    saved["retention_rules"][0]["observed"] -= 1
    with pytest.raises(ValidationError, match="marked proved"):
        Explanation.model_validate_json(json.dumps(saved))


def test_json_that_contradicts_itself_is_refused() -> None:
    def empty_rule(saved: Any) -> None:
        saved["retention_rules"][0] |= {"sources": [], "observed": 1, "applicable": 1}

    def unknown_source(saved: Any) -> None:
        saved["retention_rules"][0]["sources"] = ["D9"]

    def named_twice(saved: Any) -> None:
        saved["retention_rules"][0]["sources"] = ["D1", "D1"]

    def wrong_list(saved: Any) -> None:
        saved["retention_rules"].append(saved["omission_rules"][0])

    def broken_probe(saved: Any) -> None:
        saved["probes"][0]["verdicts"]["retention"]["verdict"] = "breaks"

    def left_open(saved: Any) -> None:
        saved["unresolved"] = [{"kind": "retention", "kept": ["D1"], "reason": "down"}]

    def same_source_twice(saved: Any) -> None:
        saved["sources"].append(saved["sources"][0])

    def rule_about_a_pinned_source(saved: Any) -> None:
        named = saved["retention_rules"][0]["sources"][0]
        next(each for each in saved["sources"] if each["id"] == named)["pinned"] = True

    for forge in (
        rule_about_a_pinned_source,
        empty_rule,
        unknown_source,
        named_twice,
        wrong_list,
        broken_probe,
        left_open,
        same_source_twice,
    ):
        saved = json.loads(explained().model_dump_json())
        forge(saved)
        with pytest.raises(ValidationError):
            Explanation.model_validate_json(json.dumps(saved))


FORGED: dict[str, Callable[[Any], object]] = {
    "more subsets than there are": lambda saved: rule_of(saved).update(claim="tested", observed=10**400),
    "broken beside all that hold": lambda saved: rule_of(saved).update(claim="tested", broken=1),
    "another condition": lambda saved: rule_of(saved).update(condition="the answer contains 'zinc'"),
    "of no condition": lambda saved: saved["predicates"].pop("retention"),
    "a witness against a proof": lambda saved: saved.update(
        probes=[],
        witnesses=[{"kind": "retention", "sources": ["D1"], "kept": ["D1"], "answer": "no"}],
    ),
    "a witness against a test": lambda saved: saved.update(
        retention_rules=[{**rule_of(saved), "claim": "tested", "sampling": "held on all"}],
        witnesses=[{"kind": "retention", "sources": ["D1"], "kept": ["D1"], "answer": "no"}],
        probes=[],
    ),
    "a witness from nowhere": lambda saved: saved["witnesses"][0].update(kept=["D9"]),
    "a witness against what is relative": lambda saved: saved.update(
        retention_rules=[{**rule_of(saved), "claim": "relative", "kept": ["D1", "D2"]}],
        witnesses=[{"kind": "retention", "sources": ["D1"], "kept": ["D1"], "answer": "no"}],
        probes=[],
    ),
    "what broke and is unverified": lambda saved: rule_of(saved).update(
        claim="unverified", observed=3, broken=1
    ),
    "what broke by votes and is voted": lambda saved: (
        saved["settings"]["noise"].update(samples=9),
        rule_of(saved).update(claim="voted", observed=3, broken=1),
        saved.update(omission_rules=[]),
    ),
    "relative to one twice": lambda saved: rule_of(saved).update(claim="relative", kept=["D1", "D1"]),
    "a rule twice": lambda saved: saved["retention_rules"].append(
        {**rule_of(saved), "claim": "unverified"}
    ),
    "fewer probes than none": lambda saved: saved["counts"].update(probes=-5),
    "fewer probes than there are": lambda saved: saved["counts"].update(probes=1),
    "fewer draws than none": lambda saved: rule_of(saved).update(claim="tested", draws=-5),
    "too important": lambda saved: saved["importance"][0].update(banzhaf=7.5),
    "not important at all": lambda saved: saved["importance"][0].update(shapley=-1),
    "surer than sure": lambda saved: saved["importance"][0].update(error=-0.1),
    "fewer votes than none": lambda saved: saved["probes"][0].update(
        votes={"retention": {"holds": -1, "breaks": 2}}
    ),
    "a proof of more than was asked": lambda saved: (
        saved["counts"].update(probes=1),
        saved.update(probes=[], witnesses=[]),
    ),
    "a change of nobody": lambda saved: saved["counterfactuals"][0].update(sources=["D9"]),
    "a change with ties that there are not": lambda saved: saved["counterfactuals"][0].update(
        tied=[["D1", "D2"]]
    ),
    "an index of nobody": lambda saved: saved["importance"][0].update(source="D9"),
    "an index with nobody": lambda saved: saved["importance"][0].update(tied=["D9"]),
    "a witness against nobody": lambda saved: saved["witnesses"][0].update(sources=["D9"]),
    "nobody is left open": lambda saved: saved.update(
        complete=False, unresolved=[{"kind": "retention", "kept": ["D9"], "reason": "down"}]
    ),
    "proved by votes": lambda saved: saved["settings"]["noise"].update(samples=9),
}


@pytest.mark.slow
def test_reading_takes_time_in_proportion_to_what_is_read() -> None:
    async def replay(_question: str, shown: Sequence[Source]) -> str:
        return "yes" if {"D17", "D9000"} <= {source.id for source in shown} else "no"

    many = [Source(f"D{n}", "text") for n in range(1, 10_001)]
    fields: Any = {"miner": "sampled", "limits": Limits(replays=250), "check_repeatable": False}
    text = Explainer(replay, predicate=equals("yes"), **fields).explain("?", many).model_dump_json()

    def seconds(read: Callable[[str], object]) -> float:
        began = time.thread_time()
        read(text)
        return time.thread_time() - began

    # About 4 times what plain JSON takes; with sums of integers of 10,000 bits it was 30 times that.
    plain = min(seconds(json.loads) for _ in range(3))
    assert min(seconds(Explanation.model_validate_json) for _ in range(2)) < 12 * plain


def rule_of(saved: Any) -> dict[str, Any]:
    return saved["retention_rules"][0]


@pytest.mark.parametrize("forge", FORGED.values(), ids=FORGED)
def test_what_no_explanation_says_is_refused(forge: Callable[[Any], object]) -> None:
    saved = json.loads(explained().model_dump_json())
    assert rule_of(saved)["sources"] == ["D1"]
    forge(saved)
    with pytest.raises(ValidationError):
        Explanation.model_validate_json(json.dumps(saved))


def test_no_more_sources_are_read_than_memory_can_hold() -> None:
    saved = json.loads(explained().model_dump_json())
    saved["sources"] += [{"id": str(n), "text": ""} for n in range(10_000)]
    with pytest.raises(ValidationError, match="at most 10000 items"):
        Explanation.model_validate_json(json.dumps(saved))


@pytest.mark.parametrize("tampered", [{"schema_version": 99}, {"surprise": 1}, {"complete": "perhaps"}])
def test_what_is_not_an_explanation_is_refused(tampered: dict[str, object]) -> None:
    saved = json.loads(explained().model_dump_json()) | tampered
    with pytest.raises(ValidationError):
        Explanation.model_validate_json(json.dumps(saved))


def test_it_records_what_later_readers_ask() -> None:
    explanation = explained(rules="retention", seed=7)
    assert explanation.predicates == {RuleKind.RETENTION: "the answer contains 'calcium'"}
    assert explanation.settings["rules"] == "retention"
    assert explanation.seed == 7
    assert explanation.scope == "given"
    assert explanation.miner.reason.startswith("3 sources")
    assert {"python", "rag-rule-explainer"} <= explanation.versions.keys()
    first = explanation.probes[0]
    assert first.kept == ("D1", "D2", "D3")
    assert first.answers[0].text == "calcium"
    assert first.latency is not None


def test_no_two_kinds_of_claim_read_alike() -> None:
    def evidence(claim: Any, observed: int) -> str:
        finding = Finding(RuleKind.RETENTION, ("D1",), "it holds", claim, observed, 0, 8)
        return finding.evidence

    claims = ["proved", "tested", "voted", "relative", "unverified"]
    texts = [evidence(claim, 8 if claim == "proved" else 5) for claim in claims]
    assert len(set(texts)) == len(claims)
    assert [text for text in texts if "proved" in text] == [texts[0]]


def test_json_never_runs_code_of_strange_values() -> None:
    class Bomb:
        def __str__(self) -> str:
            raise AssertionError("ran")

        __repr__ = __str__

    assert as_json({"bomb": Bomb(), "nan": float("nan")}) == {"bomb": "<Bomb>", "nan": "nan"}
    assert encodable("a\ud800b") == "a?b"


def test_deep_values_are_cut_off() -> None:
    deep: list[Any] = []
    for _ in range(10_000):
        deep = [deep]
    assert "<list>" in json.dumps(as_json(deep))


def test_wide_and_shared_values_cost_no_more_than_their_budget() -> None:
    value: dict[str, Any] = {}
    value["a"] = value["b"] = value
    assert "<dict>" in json.dumps(as_json(value))


def test_odd_numbers_and_keys_can_be_read_back() -> None:
    value = {10**5000: 10**5000, None: 2**64, 1.5: -(10**599), 2**64: -(10**600), True: "x"}
    said = json.dumps(as_json(value))
    assert json.loads(said) == {
        "<int>": "<int>",
        "<NoneType>": 2**64,
        "1.5": -(10**599),
        str(2**64): "<int>",
        "True": "x",
    }


def test_lone_surrogates_become_question_marks_wherever_they_stand() -> None:
    assert as_json({"a\ud800": ["b\udfff", {"c": "\ud800"}]}) == {"a?": ["b?", {"c": "?"}]}


class TestAsAnObject:
    """What somebody does with it who has not read how it is made."""

    def test_iterating_goes_over_the_rules(self) -> None:
        explanation = explained()
        assert [*explanation] == [*explanation.rules]
        assert explanation.rules[0] in explanation

    def test_it_can_be_kept_in_a_set_and_copied(self) -> None:
        explanation = explained()
        again = pickle.loads(pickle.dumps(explanation))  # noqa: S301 -- made here
        assert {explanation, again, copy.copy(explanation), copy.deepcopy(explanation)} == {explanation}

    @pytest.mark.parametrize(
        ("name", "said"),
        [
            ("to_dict", r"use explanation\.model_dump\(mode='json'\)"),
            ("to_csv", r"use explanation\.report\(form\), such as 'csv'"),
            ("as_text", r"use explanation\.report\(\)"),
            ("answer", r"use explanation\.baseline\.text"),
            ("text", r"use explanation\.report\(\)"),
            ("nothing_like_it", "nothing_like_it"),
        ],
    )
    def test_what_is_called_otherwise_is_named(self, name: str, said: str) -> None:
        with pytest.raises(AttributeError, match=said):
            getattr(explained(), name)

    def test_a_summary_reads_as_the_explanation_does(self) -> None:
        explanation = explained()
        assert str(explanation.summary()) == str(explanation)
