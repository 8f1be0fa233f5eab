"""What runs leave to others, outside of their objects or on them: true rules, or none proved."""

import asyncio
import io
import os
import sqlite3
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.example_selectors import LengthBasedExampleSelector
from langchain_core.globals import get_verbose, set_verbose
from langchain_core.messages import BaseMessage
from langchain_core.prompts import PromptTemplate
from langchain_core.runnables import RunnableLambda
from langchain_rag_rule_explainer import RuleExplainer
from langgraph.graph import START, StateGraph
from pydantic import Field
from typing_extensions import TypedDict, override

from rag_rule_explainer import StateShared
from tests.integrations.known import BAD, TEXTS, omission, retention, sets
from tests.integrations.langchain.chains import Counting
from tests.integrations.langchain.models import Telling, facts
from tests.integrations.langchain.zoo.shapes import joined
from tests.integrations.leaving import afterwards, hidden, outside, set_once
from tests.integrations.leaving.parts import (
    HELD_OPEN,
    KEY,
    Answer,
    Ask,
    Leaving,
    Meeting,
    Search,
    cleared,
    mode_of,
    said,
    written,
)
from tests.integrations.leaving.shapes import SHAPES, Shape, checked, rules_of
from tests.representing import some


@pytest.fixture(autouse=True)
def nothing_is_left() -> Generator[None, None, None]:
    with cleared():
        yield


def explainer_of(build: Leaving, **parameters: Any) -> Any:
    retriever = Counting(documents=facts("abd"))
    model = Telling(says=lambda messages: said(messages[0].text))
    answer = build(
        lambda question: [found.page_content for found in retriever.invoke(question)],
        lambda prompt: model.invoke(prompt).text,
    )
    return RuleExplainer(RunnableLambda(answer), predicate=BAD, miner="exact", **parameters)


# The fast tests of the other integration ask others.
@pytest.mark.spread(fast=3, slow=3)
@pytest.mark.parametrize("shape", some(SHAPES, every=4, first=1), ids=lambda shape: shape.name)
def test_no_rule_that_rests_on_what_another_run_left_is_proved(shape: Shape) -> None:
    checked(shape, explainer_of(shape.build).explain)


@pytest.mark.spread(fast=2)
@pytest.mark.parametrize(
    "build",
    [
        set_once.an_enumeration,
        afterwards.a_breaker_that_counts,
        hidden.in_the_default_of_a_context_variable,
        outside.once_in_json,
        hidden.in_a_generator,
    ],
    ids=["an_enumeration", "a_breaker", "a_context_variable", "a_file", "a_generator"],
)
def test_what_stays_is_no_more_proved_the_second_time(build: Leaving) -> None:
    """The first explanation has set it, and all runs of the second one agree."""
    explainer = explainer_of(build)
    for _ in range(2):
        assert {rule.claim for rule in explainer.explain("why?").rules} == {"unverified"}


@pytest.mark.spread(slow=3)
@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
def test_no_shape_is_believed_the_second_time_either(shape: Shape) -> None:
    explainer = explainer_of(shape.build)
    with suppress(StateShared):
        explainer.explain("why then?")
    try:
        explanation = explainer.explain("why?")
    except StateShared:
        return
    claims = {rule.claim for rule in explanation.rules}
    # What the first explanation left may leave no rule to find; then nothing is claimed to be complete.
    if claims - {"unverified"} or explanation.complete:
        assert not shape.told
        assert (retention(explanation), omission(explanation)) == rules_of(shape.build)


def by_a_setting_of_the_framework(search: Search, ask: Ask) -> Answer:
    HELD_OPEN.callback(set_verbose, get_verbose())

    def answer(question: str) -> str:
        found = search(question)
        if len(found) > 1:
            set_verbose(True)
        return written(ask, "Warn" if get_verbose() else "Calm", found)

    return answer


def by_a_method_of_the_framework(search: Search, ask: Ask) -> Answer:
    prompt = PromptTemplate.from_template("{text}")
    selector = LengthBasedExampleSelector(examples=[], example_prompt=prompt)

    def answer(question: str) -> str:
        found = search(question)
        if len(found) > 1:
            selector.add_example({"text": "full"})
        return written(ask, "Warn" if selector.select_examples({}) else "Calm", found)

    return answer


class Session:
    """It cannot be copied, so all runs share it."""

    def __init__(self) -> None:
        self.lock, self.mode = threading.Lock(), ""

    def first(self, mode: str) -> str:
        with self.lock:
            self.mode = self.mode or mode
        return self.mode


@pytest.mark.parametrize("place", ["input", "configurable"])
def test_an_object_that_a_caller_hands_in_belongs_to_the_state(place: str) -> None:
    retriever, model = (
        Counting(documents=facts("abd")),
        Telling(says=lambda messages: said(messages[0].text)),
    )

    def answer(given: Any, config: Any) -> str:
        found = retriever.invoke(given["question"])
        own = given.get("session") or config["configurable"]["session"]
        mode = own.first(mode_of([each.page_content for each in found]))
        return model.invoke(f"{mode} the reader.\n{joined(found)}").text

    given: dict[str, Any] = {"question": "why?"}
    config: Any = {"configurable": {"session": Session()}} if place == "configurable" else None
    if place == "input":
        given["session"] = Session()
    explainer = RuleExplainer(RunnableLambda(answer), predicate=BAD, miner="exact")
    explanation = explainer.explain(given, config)
    assert {rule.claim for rule in explanation.rules} == {"unverified"}


class Asked(TypedDict):
    found: list[str]
    said: str


def in_a_graph_that_is_compiled_once(search: Search, ask: Ask, *, by_each: bool = False) -> Answer:
    made = SimpleNamespace(graph=None)

    def writer_of(mode: str) -> Any:
        def write(state: Asked) -> dict[str, str]:
            own = mode_of(state["found"]) if by_each else mode
            return {"said": written(ask, own, state["found"])}

        return write

    def answer(question: str) -> str:
        found = search(question)
        if made.graph is None:
            building = StateGraph(Asked)
            building.add_node("write", writer_of(mode_of(found)))
            building.add_edge(START, "write")
            made.graph = building.compile()
        return made.graph.invoke({"found": found, "said": ""})["said"]

    return answer


@pytest.mark.parametrize(
    "build",
    [by_a_setting_of_the_framework, by_a_method_of_the_framework, in_a_graph_that_is_compiled_once],
)
def test_what_the_first_run_sets_in_the_framework_leaves_claims_unverified(build: Leaving) -> None:
    explanation = explainer_of(build).explain("why?")
    assert {rule.claim for rule in explanation.rules} == {"unverified"}
    assert "as before the baseline" in explanation.warnings[0]


def test_a_graph_that_is_compiled_once_and_goes_by_its_input_is_harmless() -> None:
    build = partial(in_a_graph_that_is_compiled_once, by_each=True)
    explanation = explainer_of(build).explain("why?")
    assert {rule.claim for rule in explanation.rules} == {"proved"}


def test_neither_a_folder_nor_a_stream_is_needed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone, stream = tmp_path / "gone", io.TextIOWrapper(io.BytesIO())
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    stream.detach()
    monkeypatch.setattr(sys, "stdout", stream)

    def build(search: Search, ask: Ask) -> Answer:
        def answer(question: str) -> str:
            found = search(question)
            return written(ask, mode_of(found) if stream else "", found)

        return answer

    explanation = explainer_of(build).explain("why?")
    assert {rule.claim for rule in explanation.rules} == {"proved"}


def test_what_replays_leave_on_the_users_objects_is_said() -> None:
    seen, calls = list[str](), {"all": 0}
    retriever, model = Counting(documents=facts("abd")), Telling()

    def answer(question: str) -> str:
        found = retriever.invoke(question)
        seen.append(question)
        calls["all"] += 1
        return model.invoke(joined(found) or "nothing").text

    explanation = RuleExplainer(RunnableLambda(answer), predicate=BAD, miner="exact").explain("why?")
    assert {rule.claim for rule in explanation.rules} == {"proved"}
    left = next(each for each in explanation.notes if each.startswith("replays have changed"))
    assert "'seen', which answer() uses" in left
    assert "'calls', which answer() uses" in left


def test_the_environment_is_left_as_it_was_and_by_the_users_own_run_as_that_left_it() -> None:
    explainer = explainer_of(outside.once_in_the_environment)
    for _ in range(2):
        assert retention(explainer.explain("why?")) == sets("ab", "ad", "bd")
        assert KEY not in os.environ
    explainer.invoke("why?")
    assert os.environ[KEY] == "Warn"


def test_a_file_on_which_no_answer_depends_is_ignored_where_that_is_said() -> None:
    explanation = explainer_of(outside.once_in_json, ignore=[r"settings\.json"]).explain("why?")
    assert {rule.claim for rule in explanation.rules} == {"proved"}


class Tired(Telling):
    """Answers otherwise from its sixth request on."""

    asked_so_far: int = 0

    @override
    def _answer(self, messages: list[BaseMessage]) -> str:
        self.asked_so_far += 1
        return "bad news" if self.asked_so_far > 5 else super()._answer(messages)


class Remembering(Telling):
    """Goes by all that it was ever sent."""

    sent: list[str] = Field(default_factory=list[str])

    @override
    def _answer(self, messages: list[BaseMessage]) -> str:
        self.sent.append(messages[-1].text)
        return "bad news" if "Basalt" in " ".join(self.sent) else "good news"


@pytest.mark.parametrize(
    ("model", "told"), [(Tired(), "writes self.asked_so_far"), (Remembering(), "writes self.sent.append")]
)
def test_what_a_model_of_the_users_own_goes_by_leaves_claims_unverified(
    model: Telling, told: str
) -> None:
    chain = Counting(documents=facts("abd")) | joined | model
    explanation = RuleExplainer(chain, predicate=BAD, miner="exact").explain("why?")
    assert {rule.claim for rule in explanation.rules} <= {"unverified"}
    assert told in explanation.warnings[0]


@pytest.mark.parametrize("parameter", ["conversation", "previous_response_id"])
def test_a_conversation_that_a_models_server_keeps_leaves_claims_unverified(parameter: str) -> None:
    model = Telling().bind(**{parameter: "conv_1"})
    chain = Counting(documents=facts("abd")) | joined | model
    explanation = RuleExplainer(chain, predicate=BAD, miner="exact").explain("why?")
    assert {rule.claim for rule in explanation.rules} == {"unverified"}
    assert f"the conversation 'conv_1' ({parameter})" in explanation.warnings[0]


@pytest.mark.parametrize(
    ("use", "way_out"),
    [
        (lambda connection: connection.execute("select 1"), "check_same_thread=False"),
        (lambda _: asyncio.get_event_loop(), "aexplain()"),
    ],
)
def test_an_application_of_one_thread_is_told_so(
    use: Callable[[sqlite3.Connection], object], way_out: str
) -> None:
    connection = HELD_OPEN.enter_context(closing(sqlite3.connect(":memory:")))
    retriever, model = Counting(documents=facts("abd")), Telling()

    def answer(question: str) -> str:
        if threading.current_thread() is not threading.main_thread() or "check" in way_out:
            use(connection)
        return model.invoke(joined(retriever.invoke(question)) or "nothing").text

    explanation = RuleExplainer(RunnableLambda(answer), predicate=BAD).explain("why?")
    assert "the replay on all sources failed" in explanation.warnings[0]
    assert way_out in explanation.warnings[0]


@pytest.mark.parametrize("in_a_task", [False, True])
def test_a_replay_that_ends_the_process_ends_itself_alone(in_a_task: bool) -> None:
    retriever, model = Counting(documents=facts("abd")), Telling()

    async def answer(question: str) -> str:
        documents = await retriever.ainvoke(question)
        if len(documents) == 1:
            sys.exit(3)
        return (await model.ainvoke(joined(documents) or "nothing")).text

    async def gathered(question: str) -> str:
        return (await asyncio.gather(answer(question)))[0]

    chain = RunnableLambda(gathered if in_a_task else answer)
    explanation = asyncio.run(RuleExplainer(chain, predicate=BAD, miner="exact").aexplain("why?"))
    ended = [probe for probe in explanation.probes if probe.error]
    assert [len(probe.kept) for probe in ended] == [1, 1, 1]
    assert all("SystemExit: 3" in probe.error for probe in ended)
    assert frozenset("bd") in retention(explanation)


def test_one_run_at_a_time_holds_across_questions() -> None:
    at_once, most = 0, 0
    guard, retriever, model = threading.Lock(), Counting(documents=facts("abd")), Telling()
    state, meet = {"found": 0}, Meeting()

    def answer(question: str) -> str:
        nonlocal at_once, most
        with guard:
            at_once += 1
            most = max(most, at_once)
        found = retriever.invoke(question)
        state["found"] = len(found)
        meet()
        with guard:
            at_once -= 1
        return model.invoke(joined(found) or "nothing").text

    explainer = RuleExplainer(RunnableLambda(answer), predicate=BAD, ignore=["at_once", "most"])
    explained = explainer.batch(["why?", "how?"])
    assert all(retention(each.explanation) == sets("bd") for each in explained)
    assert most == 1


def test_a_chunk_that_others_make_up_together_is_no_leak() -> None:
    words = " ".join(TEXTS[each] for each in "abd").split()
    chunks = [" ".join(words[:20]), " ".join(words[10:30]), " ".join(words[20:])]
    documents = [Document(id=name, page_content=text) for name, text in zip("xyz", chunks, strict=True)]
    model = Telling(says=lambda messages: "bad" if "Neolithic" in messages[0].text else "good")
    chain = Counting(documents=documents) | joined | model
    explanation = RuleExplainer(chain, predicate=BAD, miner="exact").explain("why?")
    assert {rule.claim for rule in explanation.rules} == {"proved"}
    assert explanation.complete
