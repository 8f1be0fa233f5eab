"""A replay of a LlamaIndex application is the baseline but for its sources, or it is refused."""

import asyncio
import itertools
from typing import Any

import pytest
from llama_index.core.workflow import Event, StartEvent, StopEvent, Workflow, step
from llama_index_rag_rule_explainer import RuleExplainer, explained

from rag_rule_explainer import StateShared
from tests.integrations.known import BAD, blames_b_and_d, check_unexplained
from tests.integrations.llama_index.engines import retriever_of
from tests.integrations.llama_index.models import Telling
from tests.integrations.llama_index.zoo.agents import texts_of


class Drafted(Event):
    """There is a draft."""


class Chat(Workflow):
    """Keeps what was said in a list of its own."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.history: list[str] = []
        self.llm = Telling()

    @step
    async def answer(self, event: StartEvent) -> StopEvent:
        found = await retriever_of().aretrieve(event.question)
        prompt = "\n".join([*self.history[-4:], texts_of(found), event.question])
        said = str(await self.llm.acomplete(prompt))
        self.history += [event.question, said]
        return StopEvent(result=said)


def test_a_workflow_that_keeps_a_list_is_refused_and_the_way_out_works() -> None:
    workflow = Chat()
    with pytest.raises(StateShared, match=r"make_workflow.* a new Chat") as caught:
        RuleExplainer(workflow, predicate=BAD).explain({"question": "why?"})
    assert len(workflow.history) == 4
    assert "the baseline made" in str(caught.value)
    assert blames_b_and_d(RuleExplainer(Chat, predicate=BAD).explain({"question": "why?"}))


def test_the_same_asynchronously() -> None:
    workflow = Chat()
    with pytest.raises(StateShared):
        asyncio.run(RuleExplainer(workflow, predicate=BAD).aexplain({"question": "why?"}))
    assert len(workflow.history) == 4


def test_a_counter_is_state_unless_it_is_to_be_ignored() -> None:
    turns, llm = itertools.count(1), Telling()

    def answer(question: str) -> str:
        found = texts_of(retriever_of().retrieve(question))
        return str(llm.complete(f"turn {next(turns)}: {found} {question}"))

    with pytest.raises(StateShared, match="turn 1"):
        RuleExplainer(answer, predicate=BAD).explain("why?")
    assert blames_b_and_d(RuleExplainer(answer, predicate=BAD, ignore=[r"turn \d+"]).explain("why?"))


def test_an_ordinary_run_that_is_explained_is_compared_as_well() -> None:
    history: list[str] = []
    llm = Telling()

    def answer(question: str) -> str:
        found = texts_of(retriever_of().retrieve(question))
        said = str(llm.complete("\n".join([*history, found, question])))
        history.append(f"what was said then: {said}")
        return said

    response: Any = explained(answer, predicate=BAD).query("why?")
    check_unexplained(response.metadata["rag_rules"], StateShared, "what was said then")
    assert str(response).startswith("bad news")


def test_a_loop_without_end_is_bounded_by_the_baseline() -> None:
    llm = Telling()

    def answer(question: str) -> str:
        while True:
            found = texts_of(retriever_of().retrieve(question))
            said = str(llm.complete(found or "nothing was found"))
            if found:
                return said

    explanation = RuleExplainer(answer, predicate=BAD).explain("why?")
    without = next(probe for probe in explanation.probes if not probe.kept)
    assert "answer_without_sources" in without.error
    bounded = RuleExplainer(answer, predicate=BAD, answer_without_sources="N/A")
    assert blames_b_and_d(bounded.explain("why?"))


class Drafting(Workflow):
    """Puts an intermediate result on itself, as many workflows do."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.llm = Telling()
        self.draft = ""

    @step
    async def write(self, event: StartEvent) -> Drafted:
        found = texts_of(await retriever_of().aretrieve(event.question))
        self.draft = str(await self.llm.acomplete(found or event.question))
        await asyncio.sleep(0)
        return Drafted()

    @step
    async def sign(self, event: Drafted) -> StopEvent:
        await asyncio.sleep(0)
        return StopEvent(result=f"Report: {self.draft}")


@pytest.mark.slow
def test_an_intermediate_result_on_the_workflow_is_each_replays_own() -> None:
    explainer = RuleExplainer(Drafting(), predicate=BAD)
    assert blames_b_and_d(explainer.explain({"question": "why?"}))
    assert blames_b_and_d(asyncio.run(explainer.aexplain({"question": "why?"})))


def test_the_best_answer_so_far_is_state() -> None:
    worst: list[str] = []
    llm = Telling()

    def answer(question: str) -> str:
        said = str(llm.complete(texts_of(retriever_of().retrieve(question)) or question))
        if not worst or "bad" in said:
            worst[:] = [said]
        return worst[0]

    with pytest.raises(StateShared, match="answered with what a model told"):
        RuleExplainer(answer, predicate=BAD).explain("why?")
