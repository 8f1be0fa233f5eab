"""Kept sources are served in the order asked for, the order seen is checked, and a miner of orders finds
by it what brute force over permutations does; see ``order_mining``."""

from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import permutations
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.messages import BaseMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnablePassthrough
from langchain_rag_rule_explainer import RuleExplainer as ChainExplainer
from llama_index.core.response_synthesizers import CompactAndRefine
from llama_index.core.schema import NodeWithScore
from llama_index_rag_rule_explainer import RuleExplainer as EngineExplainer
from plain_rag_rule_explainer import RuleExplainer as PlainExplainer
from plain_rag_rule_explainer import gate

from rag_rule_explainer.errors import SourcesReordered
from rag_rule_explainer.instrumentation.recording.serving import Serving
from tests.integrations.known import TEXTS
from tests.integrations.langchain.chains import Counting, step
from tests.integrations.langchain.models import Telling as ChatModel
from tests.integrations.langchain.models import facts
from tests.integrations.llama_index.engines import engine_of, retriever_of
from tests.integrations.llama_index.models import Telling as Model
from tests.integrations.order_mining import (
    Mined,
    a_last_or_d_right_before_b,
    by_definition,
    c_before_a,
    mined_by,
    places_in,
)
from tests.integrations.plain.models import client_of
from tests.support.openai_server import OpenAIServer

NAMES = "abcd"
Truth = Callable[[str], bool]
Arrange = Callable[[Sequence[Any]], Sequence[Any]]
Built = Callable[[Truth, Arrange, ExitStack], Any]


def told(prompt: str, truth: Truth) -> str:
    return "bad news" if truth(places_in(prompt, TEXTS)) else "good news"


def chain(truth: Truth, arrange: Arrange, _open: ExitStack) -> Any:
    def says(messages: list[BaseMessage]) -> str:
        return told(" ".join(message.text for message in messages), truth)

    def shown(found: list[Document]) -> str:
        return "\n\n".join(each.page_content for each in arrange(found))

    found = {"context": Counting(documents=facts(NAMES)) | step(shown), "asked": RunnablePassthrough()}
    prompt = ChatPromptTemplate.from_template("{context}\n\nQuestion: {asked}")
    return ChainExplainer(found | prompt | ChatModel(says=says) | StrOutputParser())


def engine(truth: Truth, arrange: Arrange, _open: ExitStack) -> Any:
    class Arranging(CompactAndRefine):
        def synthesize(self, query: Any, nodes: list[NodeWithScore], *given: Any, **named: Any) -> Any:
            return super().synthesize(query, list(arrange(nodes)), *given, **named)

    model = Model(says=lambda prompt: told(prompt, truth))
    return EngineExplainer(engine_of(retriever_of(NAMES), model, response_synthesizer=Arranging(model)))


def plain(truth: Truth, arrange: Arrange, open_: ExitStack) -> Any:
    server = open_.enter_context(OpenAIServer(lambda body: told(str(body["messages"]), truth)))
    client = open_.enter_context(client_of(server.base_url))

    @gate
    def search(_query: str) -> list[dict[str, str]]:
        return [{"id": name, "text": TEXTS[name]} for name in NAMES]

    def application(question: str) -> str:
        texts = [each["text"] for each in arrange(search(question))]
        content = "\n\n".join([*texts, question])
        said = client.chat.completions.create(model="m", messages=[{"role": "user", "content": content}])
        return said.choices[0].message.content or ""

    return PlainExplainer(application)


INTEGRATIONS = [chain, engine, plain]


@contextmanager
def built(build: Built, truth: Truth, arrange: Arrange = list) -> Generator[Any]:
    with ExitStack() as stack:
        yield build(truth, arrange, stack)


def mined(build: Built, truth: Truth, arrange: Arrange = list) -> Mined:
    with built(build, truth, arrange) as explainer:
        return mined_by(explainer)


def in_words(each: Any) -> str:
    """What a document, a node or a dict says."""
    if isinstance(each, NodeWithScore):
        return each.node.get_content()
    return each["text"] if isinstance(each, dict) else each.page_content


def sorted_by_text(found: Sequence[Any]) -> Sequence[Any]:
    return sorted(found, key=in_words)


def backwards(found: Sequence[Any]) -> Sequence[Any]:
    return found[::-1]


@pytest.mark.spread(fast=2)
@pytest.mark.parametrize("build", INTEGRATIONS)
@pytest.mark.parametrize("truth", [c_before_a, a_last_or_d_right_before_b])
def test_rules_about_orders_are_those_of_brute_force(build: Built, truth: Truth) -> None:
    found = mined(build, truth)
    assert found.rules == by_definition(NAMES, truth) != set()
    assert found.answers.keys() == set(permutations(NAMES))
    for order, answer in found.answers.items():
        assert answer.delivered == answer.seen == order
        assert answer == ("bad news" if truth("".join(order)) else "good news")


def test_whenever_c_comes_before_a() -> None:
    assert by_definition(NAMES, c_before_a) == {frozenset({("c", "a")})}


@pytest.mark.spread(fast=2)
@pytest.mark.parametrize("build", INTEGRATIONS)
@pytest.mark.parametrize("arrange", [sorted_by_text, backwards])
def test_an_application_that_orders_sources_itself_is_refused(build: Built, arrange: Arrange) -> None:
    with pytest.raises(SourcesReordered, match="orders sources itself"):
        mined(build, c_before_a, arrange)


@pytest.mark.spread(fast=2)
@pytest.mark.parametrize("build", INTEGRATIONS)
def test_rules_about_subsets_do_not_mind(build: Built) -> None:
    def b_and_d(order: str) -> bool:
        return {"b", "d"} <= set(order)

    with built(build, b_and_d, backwards) as explainer:
        explanation = explainer.explain("why?")
    assert explanation.ended


@pytest.mark.parametrize("build", INTEGRATIONS)
def test_an_integration_that_serves_the_recorded_order_is_caught(
    build: Built, monkeypatch: pytest.MonkeyPatch
) -> None:
    deliver = Serving[Any]._deliver  # pyright: ignore[reportPrivateUsage] -- a bug is planted there

    def in_recorded_order(self: Serving[Any], batch: Any) -> list[Any]:
        served = {id(item) for item in deliver(self, batch)}
        return [item for _, item in batch if id(item) in served]

    monkeypatch.setattr(Serving, "_deliver", in_recorded_order)
    with pytest.raises(SourcesReordered, match="its model was shown a, b, c, d"):
        mined(build, c_before_a)
