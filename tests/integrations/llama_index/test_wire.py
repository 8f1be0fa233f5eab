"""The real OpenAI LLM of LlamaIndex over HTTP, where event loops and thread pools go wrong."""

import asyncio
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any

import httpx
import pytest
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.chat_engine import ContextChatEngine
from llama_index.core.prompts import PromptTemplate
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import TextNode
from llama_index.core.tools import QueryEngineTool
from llama_index.llms.openai import OpenAI
from llama_index_rag_rule_explainer import RuleExplainer, explained

from rag_rule_explainer import BaselineFailed, Explanation, contains
from rag_rule_explainer.cli.stories import LONG_COVID
from rag_rule_explainer.probing.wholeness import CUT_OFF, EMPTY_REPLY, HALF
from tests.integrations.known import BAD, retention, sets, shown_in
from tests.integrations.llama_index.crossing import crossed
from tests.integrations.llama_index.engines import Counting, engine_of, retriever_of
from tests.support.completions import Completion
from tests.support.openai_server import OpenAIServer

# The LLM's async client belongs to loops that are gone; and LlamaIndex looks at what Pydantic deprecates.
pytestmark = [pytest.mark.waits, pytest.mark.filterwarnings("ignore")]

PROMPT = PromptTemplate("Answer from the sources.\n\n{context_str}\n\nQuestion: {query_str}")
NOWHERE = "http://127.0.0.1:1/v1"
"""Nobody listens there."""


@contextmanager
def llm_at(base_url: str, *, keep_alive: bool = True) -> Generator[OpenAI]:
    """With HTTP clients of its own, which do not outlive the test."""
    limits = httpx.Limits(max_keepalive_connections=None if keep_alive else 0)
    with httpx.Client(limits=limits) as client:
        yield OpenAI(
            model="gpt-4o-mini",
            api_base=base_url,
            api_key="any will do",
            http_client=client,
            async_http_client=httpx.AsyncClient(limits=limits),
            max_retries=0,
        )


STORY = [
    TextNode(
        id_=each.id,
        text=f"{each.title}\n{each.text}",
        text_template="<source>\n{content}\n</source>",
        metadata={"kept": "from the model"},
        excluded_llm_metadata_keys=["kept"],
    )
    for each in LONG_COVID.documents
]


def engine_over(llm: OpenAI, **parameters: Any) -> RetrieverQueryEngine:
    return engine_of(Counting(STORY), llm, text_qa_template=PROMPT, **parameters)


def explainer_of(llm: OpenAI, **parameters: Any) -> RuleExplainer:
    return RuleExplainer(engine_over(llm), predicate=contains(LONG_COVID.symptom), **parameters)


@pytest.fixture
def prompts_that_fit() -> None:
    """Here, LlamaIndex counts what fits."""


@pytest.fixture
def steps_that_are_known() -> None:
    """Here, a workflow looks for its steps whenever it likes."""


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer() as server:
        yield server


def is_the_storys(explanation: Explanation) -> bool:
    blamed = [("preprint-17",)]
    found = (explanation.retention_rules, explanation.omission_rules)
    return explanation.complete and all([rule.sources for rule in rules] == blamed for rules in found)


@pytest.mark.slow
def test_every_way_of_asking_gives_the_same_rules(server: OpenAIServer) -> None:
    with llm_at(server.base_url, keep_alive=False) as llm:
        explainer = explainer_of(llm)

        async def inside_a_loop() -> list[Explanation]:
            blocking = explainer.explain(LONG_COVID.question)
            return [blocking, await explainer.aexplain(LONG_COVID.question)]

        found = [explainer.explain(LONG_COVID.question)]
        found += asyncio.run(inside_a_loop())
        found += asyncio.run(inside_a_loop())
        found += [explainer.explain(LONG_COVID.question)]
    assert all(map(is_the_storys, found))
    # Eight subsets and the repeat check; without nodes, no model is asked.
    assert {explanation.counts.replays for explanation in found} == {10}
    assert len(server.requests) == 9 * len(found)


def test_a_stream_over_the_wire_carries_the_rules(server: OpenAIServer) -> None:
    with llm_at(server.base_url, keep_alive=False) as llm:
        engine: Any = explained(engine_over(llm, streaming=True), predicate=contains(LONG_COVID.symptom))
        response = engine.query(LONG_COVID.question)
        assert LONG_COVID.symptom in "".join(response.response_gen)
        assert is_the_storys(Explanation.model_validate(response.metadata["rag_rules"]))

        async def streamed() -> Explanation:
            response = await engine.aquery(LONG_COVID.question)
            pieces = [piece async for piece in response.async_response_gen()]
            assert LONG_COVID.symptom in "".join(pieces)
            return Explanation.model_validate(response.metadata["rag_rules"])

        assert is_the_storys(asyncio.run(streamed()))


def test_the_tokens_of_all_replays_are_summed(server: OpenAIServer) -> None:
    with llm_at(server.base_url) as llm:
        explanation = explainer_of(llm).explain(LONG_COVID.question)
    asked = sum(
        len(message["content"].split()) for body in server.requests for message in body["messages"]
    )
    assert explanation.spent.replays["input_tokens"] == asked
    assert set(explanation.spent.replays) == {"input_tokens", "output_tokens", "total_tokens"}
    answers = [a for probe in explanation.probes if probe.kept for a in probe.answers]
    assert all(answer.usage and answer.usage["input_tokens"] > 0 for answer in answers)


def blocking(explainer: RuleExplainer) -> Explanation:
    return explainer.explain("?")


def on_the_callers_loop(explainer: RuleExplainer) -> Explanation:
    return asyncio.run(explainer.aexplain("?"))


@pytest.mark.slow
@pytest.mark.parametrize("ask", [blocking, pytest.param(on_the_callers_loop, marks=pytest.mark.slow)])
def test_thirty_two_replays_really_are_in_flight_at_once(
    ask: Callable[[RuleExplainer], Explanation],
) -> None:
    numbers, together = count(), threading.Barrier(32)

    def script(body: dict[str, Any]) -> str:
        # Each of these waits for the other ones: nothing but 32 calls at once gets through.
        if 1 <= next(numbers) <= 32:
            together.wait(120)
        return "yes"

    nodes = [TextNode(id_=name, text=name) for name in "abcdef"]
    with OpenAIServer(script) as server, llm_at(server.base_url, keep_alive=False) as llm:
        explanation = ask(
            RuleExplainer(
                engine_of(Counting(nodes), llm),
                predicate=contains("yes"),
                rules="retention",
                miner="exhaustive",
                concurrency=32,
                check_repeatable=False,
                answer_without_sources="no",
            )
        )
    assert explanation.ended
    assert server.peak == 32


def told(reply: Callable[[str], Any]) -> Callable[[dict[str, Any]], Any]:
    """A script that says "bad news" to everything, and what ``reply`` says where it says anything."""

    def script(body: dict[str, Any]) -> Any:
        shown = shown_in("\n".join(str(each.get("content")) for each in body["messages"]))
        return reply(shown) or ("bad news" if {"b", "d"} <= set(shown) else "good news")

    return script


BROKEN = {
    CUT_OFF: Completion("bad ne", finish_reason="length"),
    EMPTY_REPLY: Completion(" "),
    HALF: Completion("bad news, but", finish_reason=None),
}


@pytest.mark.spread(fast=2)
@pytest.mark.parametrize(
    ("reason", "streaming"),
    crossed(list(BROKEN), [False, True], fast=[(CUT_OFF, False), (EMPTY_REPLY, False), (HALF, True)]),
)
def test_a_broken_reply_is_no_verdict(reason: str, streaming: bool) -> None:
    script = told(lambda shown: BROKEN[reason] if shown == "bd" else None)
    with OpenAIServer(script) as server, llm_at(server.base_url) as llm:
        engine = engine_of(retriever_of("abcd"), llm, streaming=streaming)
        explainer = RuleExplainer(engine, predicate=BAD, retries=0)
        explanation = explainer.explain("why?")
        if streaming:
            again = asyncio.run(explainer.aexplain("why?"))
            assert {each.reason for each in again.unresolved} == {reason}
    assert not explanation.complete
    assert {each.reason for each in explanation.unresolved} == {reason}
    # What was proved of others stands; nothing is claimed of what is not known.
    assert retention(explanation) == sets("abd", "bcd")


def test_a_broken_baseline_is_refused_unless_its_length_is_allowed() -> None:
    with OpenAIServer(lambda _: Completion("bad", "length")) as server, llm_at(server.base_url) as llm:
        engine = engine_of(retriever_of(), llm)
        with pytest.raises(BaselineFailed, match="length limit"):
            RuleExplainer(engine, predicate=BAD, retries=0).explain("why?")
        assert RuleExplainer(engine, predicate=BAD, allow_length=True).explain("why?").complete


def test_an_endpoint_that_refuses_connections_is_a_failed_baseline() -> None:
    with llm_at(NOWHERE) as llm:
        with pytest.raises(BaselineFailed, match="Connection error"):
            explainer_of(llm, retries=0).explain(LONG_COVID.question)
        with pytest.raises(BaselineFailed, match="Connection error"):
            asyncio.run(explainer_of(llm, retries=0).aexplain(LONG_COVID.question))


def test_a_chat_engine_over_the_wire(server: OpenAIServer) -> None:
    with llm_at(server.base_url, keep_alive=False) as llm:
        engine = ContextChatEngine.from_defaults(retriever=Counting(STORY), llm=llm)
        explainer = RuleExplainer(engine, predicate=contains(LONG_COVID.symptom))
        assert is_the_storys(explainer.explain(LONG_COVID.question))
        assert is_the_storys(asyncio.run(explainer.aexplain(LONG_COVID.question)))
        assert engine.chat_history == []


@pytest.mark.slow
@pytest.mark.parametrize("awaiting", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_a_real_function_calling_agent_over_the_wire(awaiting: bool) -> None:
    calls = {"id": "1", "type": "function", "function": {"name": "ask", "arguments": '{"input": "?"}'}}

    def script(body: dict[str, Any]) -> Any:
        results = [each["content"] for each in body["messages"] if each["role"] == "tool"]
        if results:
            return str(results[-1])
        if body.get("tools"):
            return Completion("", finish_reason="tool_calls", tool_calls=(calls,))
        shown = shown_in("\n".join(str(each.get("content")) for each in body["messages"]))
        return "bad news" if {"b", "d"} <= set(shown) else "good news"

    with OpenAIServer(script) as server, llm_at(server.base_url, keep_alive=False) as llm:
        tool = QueryEngineTool.from_defaults(
            engine_of(retriever_of(), llm), name="ask", description="Answers."
        )
        agent = FunctionAgent(tools=[tool], llm=llm)
        explainer = RuleExplainer(agent, predicate=BAD)
        explanation = asyncio.run(explainer.aexplain("why?")) if awaiting else explainer.explain("why?")
    assert [rule.sources for rule in explanation.retention_rules] == [("b", "d")]
    assert [rule.sources for rule in explanation.omission_rules] == [("b",), ("d",)]
