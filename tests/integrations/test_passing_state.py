"""What runs count and may forget again: rules that rest on it are never proved, in any integration."""

import asyncio
from collections.abc import Callable, Generator
from contextlib import contextmanager, nullcontext
from typing import Any

import langchain_rag_rule_explainer as langchain
import llama_index_rag_rule_explainer as llama_index
import plain_rag_rule_explainer as plain
import pytest
from langchain_core.runnables import RunnableLambda

from tests.integrations.langchain.chains import Counting
from tests.integrations.langchain.models import Telling, facts
from tests.integrations.leaving.parts import Leaving, said
from tests.integrations.llama_index.engines import retriever_of
from tests.integrations.llama_index.models import Telling as TellingLLM
from tests.integrations.passing_state import GOOD, REMEMBERING, a_breaker_that_only_counts, check
from tests.integrations.plain.models import client_of
from tests.integrations.plain.zoo.shapes import Index, user
from tests.support.openai_server import OpenAIServer

pytestmark = pytest.mark.waits

_OPTIONS: dict[str, Any] = {"predicate": GOOD, "miner": "exact"}
_BUILDS = [*REMEMBERING, a_breaker_that_only_counts]


def of_langchain(build: Leaving, **options: Any) -> Any:
    retriever = Counting(documents=facts("abcd"))
    model = Telling(says=lambda messages: said(messages[0].text))
    answer = build(
        lambda question: [found.page_content for found in retriever.invoke(question)],
        lambda prompt: model.invoke(prompt).text,
    )
    explainer = langchain.RuleExplainer(RunnableLambda(answer), **{**_OPTIONS, **options})
    return nullcontext(explainer)


def of_llama_index(build: Leaving, **options: Any) -> Any:
    retriever, model = retriever_of("abcd"), TellingLLM(says=said)
    answer = build(
        lambda question: [found.text for found in retriever.retrieve(question)],
        lambda prompt: model.complete(prompt).text,
    )
    return nullcontext(llama_index.RuleExplainer(answer, **{**_OPTIONS, **options}))


@contextmanager
def of_plain(build: Leaving) -> Generator[Any, None, None]:
    index = Index()
    with (
        OpenAIServer(lambda body: said(body["messages"][0]["content"])) as server,
        client_of(server.base_url) as client,
    ):

        def ask(prompt: str) -> str:
            reply = client.chat.completions.create(model="m", messages=user(prompt))
            return reply.choices[0].message.content or ""

        answer = build(lambda question: [each["text"] for each in index.search(question)], ask)
        yield plain.RuleExplainer(answer, predicate=GOOD, miner="exact")


@pytest.mark.spread(fast=2)
@pytest.mark.parametrize("explainer_of", [of_langchain, of_llama_index, of_plain])
@pytest.mark.parametrize("build", _BUILDS)
def test_no_rule_that_rests_on_what_was_counted_is_proved(
    build: Leaving, explainer_of: Callable[[Leaving], Any]
) -> None:
    with explainer_of(build) as explainer:
        check(build, lambda: explainer.explain("why?"))


@pytest.mark.slow
@pytest.mark.parametrize("explainer_of", [of_langchain, of_llama_index])
@pytest.mark.parametrize("build", _BUILDS)
def test_nor_is_it_in_an_event_loop(build: Leaving, explainer_of: Callable[[Leaving], Any]) -> None:
    with explainer_of(build) as explainer:
        check(build, lambda: asyncio.run(explainer.aexplain("why?")))
