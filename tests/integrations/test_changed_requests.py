"""A request with another field gets no recorded reply: every field of a recorded request is changed, one
after the other, and the model decides by that alone."""

from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.messages import BaseMessage
from langchain_core.runnables import RunnableLambda
from langchain_rag_rule_explainer import RuleExplainer

from rag_rule_explainer import Explanation, contains
from tests.integrations.changed_requests import (
    PARAMETERS,
    RECORDED,
    changes_of,
    compared,
    explained,
    is_false,
)
from tests.integrations.known import TEXTS
from tests.integrations.langchain.chains import Scripted
from tests.integrations.langchain.models import Telling, facts

pytestmark = [pytest.mark.waits, pytest.mark.filterwarnings("ignore")]

CHOSEN = {
    "langchain": ["[3].content with white space", "[3].status of an error", "[4] with cache_control"],
    "llama_index": ["[2].blocks[0].tool_kwargs.of with 2026-11-30", "[4].additional_kwargs.tool_call_id"],
    "plain": ["[1].content[1].image_url.url with 0a1b", "[1].content[0] with cache_control"],
}
"""Beginnings of names of changes."""


@pytest.mark.parametrize("framework", RECORDED)
def test_every_change_of_a_message_is_seen(framework: str) -> None:
    several = [each for each in changes_of(framework) if each[2] is PARAMETERS]
    unseen = [name for name, messages, _ in several if compared(framework, messages) is None]
    assert len(several) > 100
    assert unseen == []
    assert compared(framework, RECORDED[framework]) is None


@pytest.mark.spread(fast="each")
@pytest.mark.parametrize("framework", RECORDED)
def test_a_model_that_decides_by_a_change_leaves_nothing_false(framework: str) -> None:
    several = [
        next(each for each in changes_of(framework) if each[0].startswith(chosen))
        for chosen in (*CHOSEN[framework], "parameters.temperature")
    ]
    false = [each[0] for each in several if is_false(explained(framework, *each[1:]))]
    assert false == []


@pytest.mark.slow
@pytest.mark.parametrize("framework", RECORDED)
def test_no_change_at_all_leaves_anything_false(framework: str) -> None:
    false = [each[0] for each in changes_of(framework) if is_false(explained(framework, *each[1:]))]
    assert false == []


@pytest.mark.parametrize("framework", RECORDED)
def test_the_recorded_request_gets_its_reply(framework: str) -> None:
    explanation = explained(framework, RECORDED[framework], PARAMETERS)
    assert {str(each.claim) for each in explanation.rules} == {"proved"}
    assert not any(each.error for each in explanation.probes)


def of_documents(first: Callable[[str], str]) -> Explanation:
    """Explains an application that asks of documents twice. ``first``: makes the first request of their
    list."""

    def says(messages: list[BaseMessage]) -> str:
        asked = str(messages[-1].text)
        if asked.startswith("So:"):
            return "It is bad." if "bad" in asked else "It is good."
        return "It looks bad." if "Note" in asked else "It looks good."

    model, retriever = Telling(says=says), Scripted(script=lambda _: facts("abc"))

    def application(question: str) -> str:
        found = "\n".join(
            f"[{number}] {each.page_content}" for number, each in enumerate(retriever.invoke(question), 1)
        )
        seen = model.invoke(first(found)).text
        return model.invoke(f"So: {seen}\n{found}").text

    explainer = RuleExplainer(
        RunnableLambda(application), contains("is good"), replay_of="next_action", miner="exact"
    )
    return explainer.explain("why?")


def test_documents_that_are_omitted_are_no_other_request() -> None:
    explanation = of_documents(lambda found: f"Read this:\n{found}\nWhat is it?")
    assert not any(each.error for each in explanation.probes)
    assert {str(each.claim) for each in explanation.rules} == {"proved"}


@pytest.mark.parametrize("note", ["Note that it is short. ", "Note: "])
def test_another_request_without_a_document_gets_no_recorded_reply(note: str) -> None:
    explanation = of_documents(
        lambda found: f"{'' if TEXTS['b'] in found else note}Read this:\n{found}\nWhat is it?"
    )
    without: list[Any] = [each for each in explanation.probes if "b" not in each.kept]
    assert without
    assert all("another request before the next action" in each.error for each in without)
    assert not any(each.error for each in explanation.probes if "b" in each.kept)
