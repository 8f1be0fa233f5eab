"""Verbose applications: what they print and warn of is heard once, of the first run."""

import sys
import warnings
from collections.abc import Callable
from typing import Any

import pytest
from llama_index.core.chat_engine import CondenseQuestionChatEngine
from llama_index.core.workflow import StartEvent, StopEvent, Workflow, step
from llama_index_rag_rule_explainer import RuleExplainer

from rag_rule_explainer import Case, condition
from tests.integrations.known import BAD
from tests.integrations.llama_index.engines import engine_of, retriever_of
from tests.integrations.llama_index.models import Telling, bad_with_b
from tests.integrations.llama_index.zoo.agents import agent, sync_tool, texts_of
from tests.integrations.llama_index.zoo.chats import PAST, condensing
from tests.integrations.llama_index.zoo.combined import routed, sub_questions


def talkative(engine: Any) -> Any:
    engine._verbose = True
    return engine


def condensed() -> Any:
    return CondenseQuestionChatEngine.from_defaults(
        query_engine=engine_of(retriever_of("bd")),
        llm=condensing(),
        chat_history=list(PAST),
        verbose=True,
    )


class Stepping(Workflow):
    @step
    async def read(self, ev: StartEvent) -> StopEvent:
        nodes = await retriever_of("bd").aretrieve(ev.query)
        said = await Telling(says=bad_with_b).acomplete(texts_of(nodes) or "nothing")
        return StopEvent(result=said.text)


def printing(question: str) -> str:
    """Prints in the main thread of a run, and warns."""
    print("asked")
    warnings.warn("old", DeprecationWarning, stacklevel=1)
    return str(engine_of(retriever_of("bd"), verbose=True).query(question))


APPLICATIONS: dict[str, Callable[[], Any]] = {
    "router": lambda: talkative(routed()().application),
    "sub-questions": lambda: talkative(sub_questions(False)().application),
    "sub-questions, in a loop of their own": lambda: talkative(sub_questions(True)().application),
    "condensed question": condensed,
    "agent": lambda: agent(sync_tool, verbose=True)().application,
    "workflow": lambda: Stepping(verbose=True),
}


def slow_but(*fast: str) -> list[Any]:
    slow = pytest.mark.slow
    return [pytest.param(name, marks=() if name in fast else slow) for name in APPLICATIONS]


@pytest.mark.spread(fast=2)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", slow_but("router", "condensed question", "workflow"))
def test_a_verbose_application_is_heard_once(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    stdout = sys.stdout
    given: Any = {"query": "why?"} if name == "workflow" else "why?"
    explainer = RuleExplainer(APPLICATIONS[name](), predicate=BAD)
    RuleExplainer(APPLICATIONS[name](), predicate=BAD, print_replays=True, miner="exhaustive").explain(
        given
    )
    everything = capsys.readouterr().out
    if not everything and name == "workflow":
        pytest.skip("workflows of this release print nothing")
    explanation = explainer.explain(given)
    once = capsys.readouterr().out
    assert once
    assert everything.startswith(once)
    assert everything.count("\n") > 2 * once.count("\n")
    assert explanation.counts.replays > 2
    assert sys.stdout is stdout


def test_a_function_is_heard_once_and_its_condition_always(capsys: pytest.CaptureFixture[str]) -> None:
    def is_bad(case: Case) -> bool:
        print("judged")
        return "bad" in case.answer.text

    explainer = RuleExplainer(printing, predicate=condition(is_bad, "is bad"))
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("always")
        explanation = explainer.explain("why?")
    told = capsys.readouterr().out.split()
    assert told.count("asked") == 1
    assert told.count("judged") > 2
    assert [str(each.message) for each in shown if each.category is DeprecationWarning] == ["old"]
    assert explanation.counts.replays > 2
