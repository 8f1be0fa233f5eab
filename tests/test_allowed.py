"""What every setting and parameter says of a value that it does not take.

Each row of a table is one of them, with the values that it takes of ``VALUES``; it has to refuse all
others with one error that says what to do.
"""

import re
from collections.abc import Callable
from dataclasses import fields
from typing import Any

import langchain_rag_rule_explainer as of_chains
import llama_index_rag_rule_explainer as of_engines
import pytest
from langchain_core.documents import Document
from llama_index.core.schema import TextNode

from rag_rule_explainer import (
    Answer,
    Assumptions,
    Explainer,
    LabelledCase,
    Limiter,
    Limits,
    Noise,
    Partition,
    Price,
    ProgressBar,
    Retries,
    Sampled,
    Settings,
    Source,
    Store,
    calls_in_order,
    calls_tool,
    check_judge,
    cites,
    condition,
    consistent_with,
    contains,
    diff,
    equals,
    is_valid,
    json_path,
    judged,
    matches,
    mentions_source,
    next_call,
    number_of_calls,
    one_of,
    refuses,
    same_answer,
)
from rag_rule_explainer.errors import InvalidInput
from rag_rule_explainer.instrumentation.clients import ItemsOf, faiss

VALUES: dict[str, Any] = {
    "''": "",
    "' '": " ",
    "'no'": "no",
    "'4'": "4",
    "b'x'": b"x",
    "None": None,
    "True": True,
    "False": False,
    "0": 0,
    "1": 1,
    "-1": -1,
    "huge": 10**30,
    "1.5": 1.5,
    "-0.5": -0.5,
    "nan": float("nan"),
    "inf": float("inf"),
    "[]": [],
    "['x']": ["x"],
    "(1,)": (1,),
    "{}": {},
    "object": object(),
}
TEXTS = "'no' '4'"
BOOLS = "True False"
WHAT_TO_DO = re.compile(r"\b(?:give|pass|leave|say|write|call|name|such as|the sources are)\b")

Taking = Callable[[Any], object]


def replay(_question: str, _sources: object) -> str:
    return "calcium"


def judge(_request: object) -> dict[str, bool]:
    return {}


SOURCES = [Source("a", "Some text."), Source("b", "Another one.")]
EXPLAINER = Explainer(replay)
EXPLANATION = EXPLAINER.explain("Which?", SOURCES)
CASE = LabelledCase("Which?", "calcium", True)


def field_of(kind: Callable[..., Any], name: str, **rest: Any) -> Taking:
    return lambda value: kind(**{**rest, name: value})


SETTINGS: dict[str, str] = {
    "rules": "",
    "miner": "",
    "granularity": f"{TEXTS} ' ' [] ['x']",
    "partition": f"{TEXTS} ' ' 1 None",
    "merge_duplicates": BOOLS,
    "minimal": BOOLS,
    "noise": "1",
    "limits": "1 huge",
    "prices": "None",
    "concurrency": "1",
    "timeout": "1 1.5 huge None",
    "retries": "0 1 huge",
    "speculate": "0",
    "lockstep": BOOLS,
    "seed": "0 1 huge",
    "check_repeatable": BOOLS,
    "false_condition": "",
    "reuse_answers": BOOLS,
    "answer_without_sources": f"{TEXTS} '' ' ' None",
    "accept_finish_reasons": "'no' [] ['x']",
    "store": f"{TEXTS} None",
}
CORE: dict[str, tuple[Taking, str]] = {
    "limits.replays": (field_of(Limits, "replays"), "1 huge None"),
    "limits.tokens": (field_of(Limits, "tokens"), "1 huge None"),
    "limits.cost": (field_of(Limits, "cost"), "1 1.5 huge None"),
    "limits.seconds": (field_of(Limits, "seconds"), "1 1.5 huge None"),
    "limits.failures": (field_of(Limits, "failures"), "1 huge None"),
    "noise.samples": (field_of(Noise, "samples"), "1"),
    "noise.vote": (field_of(Noise, "vote", samples=9), "None"),
    "noise.recheck": (field_of(Noise, "recheck", samples=9), "0 1 huge"),
    "noise.min_confidence": (field_of(Noise, "min_confidence"), "1"),
    "noise.false_holds": (field_of(Noise, "false_holds"), ""),
    "noise.false_breaks": (field_of(Noise, "false_breaks"), ""),
    "noise.margin": (field_of(Noise, "margin"), ""),
    "price.input": (field_of(Price, "input", output=1), "0 1 1.5 huge"),
    "price.output": (field_of(Price, "output", input=1), "0 1 1.5 huge"),
    "price.cached_input": (field_of(Price, "cached_input", input=1, output=1), "0 1 1.5 huge None"),
    "assuming.answer_tokens": (field_of(Assumptions, "answer_tokens"), "0 1 huge"),
    "assuming.seconds_per_replay": (field_of(Assumptions, "seconds_per_replay"), "0 1 1.5 huge"),
    "assuming.model": (field_of(Assumptions, "model"), f"{TEXTS} None"),
    "assuming.count_tokens": (field_of(Assumptions, "count_tokens"), ""),
    "sampled.max_violation": (field_of(Sampled, "max_violation"), ""),
    "sampled.confidence": (field_of(Sampled, "confidence"), ""),
    "sampled.jointly": (field_of(Sampled, "jointly"), BOOLS),
    "sampled.sizes": (field_of(Sampled, "sizes"), "(1,) None"),
    "sampled.max_rules": (field_of(Sampled, "max_rules"), "1 huge"),
    "sampled.neighbours": (field_of(Sampled, "neighbours"), BOOLS),
    "partition.by": (field_of(Partition, "by"), f"{TEXTS} ' ' 1"),
    "partition.others": (field_of(Partition, "others"), "None"),
    "retries.most": (field_of(Retries, "most"), "0 1 huge"),
    "retries.first_wait": (field_of(Retries, "first_wait"), "0 1 1.5 huge"),
    "retries.longest_wait": (field_of(Retries, "longest_wait"), "0 1 1.5 huge"),
    "retries.patience": (field_of(Retries, "patience"), "0 1 1.5 huge"),
    "store.url": (field_of(Store, "url"), TEXTS),
    "store.namespace": (field_of(Store, "namespace", url="x.db"), f"{TEXTS} None"),
    "store.lease": (field_of(Store, "lease", url="x.db"), "1 1.5"),
    "limiter": (Limiter, "1"),
    "source.id": (field_of(Source, "id", text="x"), TEXTS),
    "source.text": (field_of(Source, "text", id="x"), f"{TEXTS} '' ' '"),
    "source.metadata": (field_of(Source, "metadata", id="x", text="x"), "{}"),
    "answer": (Answer.of, f"{TEXTS} '' ' '"),
    "answer.usage": (lambda value: Answer.of(Answer("x", usage=value)), "None {}"),
    "answer.models": (lambda value: Answer.of(Answer("x", models=value)), "None {}"),
    "progress bar, form": (field_of(ProgressBar, "form"), ""),
    "progress bar, file": (field_of(ProgressBar, "file"), "None"),
    "progress bar, keep": (field_of(ProgressBar, "keep"), BOOLS),
    "explainer.replay": (field_of(Explainer, "replay"), "None"),
    "explainer.predicate": (field_of(Explainer, "predicate", replay=replay), "None"),
    "explainer.omission_predicate": (field_of(Explainer, "omission_predicate", replay=replay), "None"),
    "explainer.settings": (field_of(Explainer, "settings"), "None"),
    "explainer.progress": (field_of(Explainer, "progress"), f"{BOOLS} None"),
    "explainer.limiter": (field_of(Explainer, "limiter"), "None"),
    "explainer.trace_replays": (field_of(Explainer, "trace_replays"), BOOLS),
    "question": (lambda value: EXPLAINER.explain(value, SOURCES), TEXTS),
    "question to verify": (lambda value: EXPLAINER.verify({"a"}, "omission", value, SOURCES), TEXTS),
    "question to estimate": (lambda value: EXPLAINER.estimate(value, SOURCES), TEXTS),
    "question to stream": (lambda value: EXPLAINER.stream(value, SOURCES), TEXTS),
    "sources": (lambda value: EXPLAINER.explain("Which?", value), "['x']"),
    "baseline": (lambda value: EXPLAINER.explain("Which?", SOURCES, value), f"{TEXTS} None"),
    "replay": (lambda value: EXPLAINER.explain("Which?", SOURCES, replay=value), "None"),
    "pinned": (lambda value: EXPLAINER.explain("Which?", SOURCES, pinned=value), "[] {}"),
    "antecedent": (lambda value: EXPLAINER.verify(value, "omission", "Which?", SOURCES), "[] {}"),
    "kind": (lambda value: EXPLAINER.verify({"a"}, value, "Which?", SOURCES), ""),
    "assuming": (lambda value: EXPLAINER.estimate("Which?", SOURCES, assuming=value), "None"),
    "diff, before": (lambda value: diff(value, EXPLANATION), ""),
    "diff, after": (lambda value: diff(EXPLANATION, value), ""),
    "diff, id_of": (lambda value: diff(EXPLANATION, EXPLANATION, id_of=value), "None"),
    "diff, fails": (lambda value: diff(EXPLANATION, EXPLANATION).fails(value), ""),
    "labelled.question": (field_of(LabelledCase, "question", answer="x", label=True), TEXTS),
    "labelled.answer": (field_of(LabelledCase, "answer", question="x", label=True), f"{TEXTS} '' ' '"),
    "labelled.label": (field_of(LabelledCase, "label", question="x", answer="x"), BOOLS),
    "check_judge, cases": (lambda value: check_judge(value, contains("x")), ""),
    "check_judge, predicate": (lambda value: check_judge([CASE], value), ""),
    "check_judge, predicate_of": (lambda value: check_judge([CASE], predicate_of=value), ""),
    "check_judge, settings": (lambda value: check_judge([CASE], contains("x"), settings=value), "None"),
    "check_judge, progress": (lambda value: check_judge([CASE], contains("x"), progress=value), "None"),
    "faiss": (faiss, "[] ['x'] (1,) {}"),
    "items of, take_apart": (lambda value: ItemsOf(value, lambda like, _: like), ""),
    "items of, put_together": (lambda value: ItemsOf(list, value), ""),
    **{
        f"labelled.{name}": (field_of(LabelledCase, name, question="x", answer="x", label=True), taken)
        for name, taken in {
            "truth": f"{TEXTS} '' ' ' None",
            "reference": f"{TEXTS} '' ' ' None",
            "baseline": f"{TEXTS} '' ' ' None",
            "sources": "[]",
            "kept": "[] None",
            "id": f"{TEXTS} '' ' '",
        }.items()
    },
}
PREDICATES: dict[str, tuple[Taking, str]] = {
    "equals": (equals, f"{TEXTS} '' ' '"),
    "contains": (contains, f"{TEXTS} ' '"),
    "contains, ignore_case": (lambda value: contains("x", ignore_case=value), BOOLS),
    "matches": (matches, f"{TEXTS} ' '"),
    "one_of": (one_of, "['x']"),
    "consistent_with": (consistent_with, TEXTS),
    "same_answer, overlap": (lambda value: same_answer(overlap=value), "1 None"),
    "same_answer, judge": (lambda value: same_answer(judge=value), "None"),
    "refuses, phrases": (lambda value: refuses(phrases=value), "[] ['x'] {}"),
    "cites": (cites, f"{TEXTS} None"),
    "mentions_source": (mentions_source, TEXTS),
    "is_valid": (is_valid, "None"),
    "json_path": (json_path, ""),
    "json_path, is_": (lambda value: json_path("$.a", is_=value), "None"),
    "json_path, exists": (lambda value: json_path("$.a", exists=value), BOOLS),
    "calls_tool": (calls_tool, f"{TEXTS} None"),
    "next_call": (next_call, f"{TEXTS} None"),
    "calls_in_order": (lambda value: calls_in_order("x", value), TEXTS),
    "number_of_calls": (lambda value: number_of_calls(value, at_most=1), f"{TEXTS} None"),
    "number_of_calls, at_most": (lambda value: number_of_calls("x", at_most=value), "0 1 huge"),
    "condition": (condition, ""),
    "condition, text": (lambda value: condition(bool, value), f"{TEXTS} '' ' '"),
    "condition, name": (lambda value: condition(bool, remembered_as=value), f"{TEXTS} None"),
    "judged": (lambda value: judged(value, judge), TEXTS),
    "judged, judge": (lambda value: judged("is short", value), ""),
    "judged, reference": (lambda value: judged("is short", judge, value), f"{TEXTS} None"),
    "judged, judge_name": (lambda value: judged("x", judge, judge_name=value), f"{TEXTS} None"),
    "judged, judge_samples": (lambda value: judged("x", judge, judge_samples=value), "1"),
    "judged, batch": (lambda value: judged("x", judge, batch=value), "1"),
    "&": (lambda value: contains("x") & value, ""),
    "|": (lambda value: contains("x") | value, ""),
}


def assert_refused(taking: Taking, taken: str) -> None:
    """Refuses everything but what it takes, in one line that says what to do."""
    fine = set(re.findall(r"'[^']*'|\S+", taken.replace("['x']", "x-in-a-list")))
    fine = {"['x']" if name == "x-in-a-list" else name for name in fine}
    assert fine <= set(VALUES)
    wrong: list[str] = []
    for name, value in VALUES.items():
        try:
            taking(value)
        except InvalidInput as error:
            if name in fine:
                wrong.append(f"{name} is refused: {error}")
            elif WHAT_TO_DO.search(str(error)) is None:
                wrong.append(f"{name} is refused without a word of what to do: {error}")
        else:
            if name not in fine:
                wrong.append(f"{name} is taken")
    assert not wrong


def test_every_setting_is_in_the_table() -> None:
    assert set(SETTINGS) == {each.name for each in fields(Settings)}


@pytest.mark.parametrize(("name", "taken"), SETTINGS.items(), ids=SETTINGS)
def test_a_setting(name: str, taken: str) -> None:
    assert_refused(field_of(Settings, name), taken)


@pytest.mark.parametrize(("taking", "taken"), CORE.values(), ids=CORE)
def test_a_parameter(taking: Taking, taken: str) -> None:
    assert_refused(taking, taken)


@pytest.mark.parametrize(("taking", "taken"), PREDICATES.values(), ids=PREDICATES)
def test_a_parameter_of_a_predicate(taking: Taking, taken: str) -> None:
    assert_refused(taking, taken)


APPLICATIONS: dict[Any, Any] = {
    of_chains: of_chains.lexical_chain([Document(id="a", page_content="Calcium is for bones.")], k=1),
    of_engines: of_engines.lexical_engine([TextNode(id_="a", text="Calcium is for bones.")], k=1),
}
OF_INTEGRATIONS: dict[str, str] = {
    "application": "",
    "predicate": "None",
    "omission_predicate": "None",
    "question_of": "",
    "answer_of": "",
    "retrievers": "[]",
    "scope": "",
    "on_new_query": "None",
    "on_no_retrieval": "",
    "stub_tools": "None {}",
    "on_new_tool_call": "None",
    "safe_tools": "[] ['x']",
    "unexecuted_tools": "[] ['x']",
    "source_kinds": "",
    "omit": "",
    "replay_of": "",
    "allow_length": BOOLS,
    "trace_replays": BOOLS,
    "ignore": "[] ['x']",
    "replay_bound": "1 1.5 huge None",
    "print_replays": BOOLS,
    "settings": "None",
    "progress": f"{BOOLS} None",
    "limiter": "None",
}
ASKED: dict[str, str] = {
    "documents": "['x'] None",
    "add_documents": "[] ['x']",
    "pinned": "[]",
    "baseline": f"{TEXTS} ['x'] None",
}
BOTH = pytest.mark.parametrize("package", APPLICATIONS, ids=["langchain", "llama_index"])


@BOTH
@pytest.mark.parametrize(("name", "taken"), OF_INTEGRATIONS.items(), ids=OF_INTEGRATIONS)
def test_a_parameter_of_a_rule_explainer(package: Any, name: str, taken: str) -> None:
    usual = {"application": APPLICATIONS[package]}
    assert_refused(field_of(package.RuleExplainer, name, **usual), taken)


@pytest.mark.slow
@BOTH
@pytest.mark.parametrize(("name", "taken"), ASKED.items(), ids=ASKED)
def test_what_a_rule_explainer_is_asked_with(package: Any, name: str, taken: str) -> None:
    explainer = package.RuleExplainer(APPLICATIONS[package])
    assert_refused(lambda value: explainer.explain("What is calcium for?", **{name: value}), taken)


@BOTH
def test_a_parameter_of_a_gate_or_a_handler(package: Any) -> None:
    explainer = package.RuleExplainer(APPLICATIONS[package])
    for name in ("items_of", "text_of", "item_of"):
        assert_refused(field_of(package.gate, name, search=replay), "None")
    assert_refused(package.RuleExplanationHandler, "")
    assert_refused(field_of(package.RuleExplanationHandler, "auto", explainer=explainer), BOOLS)
    assert_refused(field_of(package.RuleExplanationHandler, "keep", explainer=explainer), "1 huge")
    assert_refused(lambda value: package.explained(APPLICATIONS[package], trace_replays=value), BOOLS)
