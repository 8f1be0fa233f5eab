"""explained(): engines whose responses carry their rules."""

import asyncio
import gc
import json
from typing import Any

import pytest
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.response.schema import AsyncStreamingResponse, PydanticResponse, Response
from llama_index.core.chat_engine import CondenseQuestionChatEngine, ContextChatEngine
from llama_index.core.chat_engine.types import BaseChatEngine
from llama_index.core.query_engine import CustomQueryEngine, RouterQueryEngine
from llama_index.core.schema import QueryBundle
from llama_index.core.selectors import LLMSingleSelector
from llama_index.core.tools import QueryEngineTool
from llama_index_rag_rule_explainer import (
    ExplainedChatEngine,
    ExplainedQueryEngine,
    RuleExplainer,
    explained,
)
from llama_index_rag_rule_explainer.interception import interception
from pydantic import BaseModel
from typing_extensions import override

from rag_rule_explainer import Explanation, InvalidInput
from tests.integrations.known import BAD, blames_b_and_d
from tests.integrations.llama_index.engines import Counting, engine_of, retriever_of
from tests.integrations.llama_index.models import Telling, bad_where_both_are_shown, nodes
from tests.integrations.llama_index.zoo.agents import RAG, sync_tool, texts_of
from tests.integrations.llama_index.zoo.chats import buffered
from tests.integrations.llama_index.zoo.combined import choosing
from tests.interrupting import until

pytestmark = pytest.mark.filterwarnings("ignore")


def rules_of(response: Any) -> Explanation:
    rules = response.metadata["rag_rules"]
    assert json.loads(json.dumps(rules)) == rules
    return Explanation.model_validate(rules)


@pytest.mark.parametrize("awaiting", [False, True])
def test_a_response_stays_what_it_was(awaiting: bool) -> None:
    found = nodes("abd")
    for node in found:
        node.metadata = {"file": f"{node.node_id}.pdf"}
    plain = engine_of(Counting(found))
    engine = explained(plain, predicate=BAD)
    assert isinstance(engine, BaseQueryEngine)
    before: Any = plain.query("why?")
    after: Any = asyncio.run(engine.aquery("why?")) if awaiting else engine.query("why?")
    assert (after.response, after.source_nodes) == (before.response, before.source_nodes)
    assert {key: after.metadata[key] for key in "abd"} == before.metadata
    assert blames_b_and_d(rules_of(after))


def test_an_explained_engine_can_be_put_wherever_an_engine_can() -> None:
    engine = explained(engine_of(retriever_of()), predicate=BAD)
    tool = QueryEngineTool.from_defaults(engine, name="ask", description="Answers.")
    assert blames_b_and_d(rules_of(tool.call("why?").raw_output))
    router = RouterQueryEngine(
        selector=LLMSingleSelector.from_defaults(llm=choosing('[{"choice": 1, "reason": "r"}]')),
        query_engine_tools=[tool],
        llm=Telling(),
    )
    assert blames_b_and_d(rules_of(router.query("why?")))

    async def by_agent() -> Any:
        agent: Any = FunctionAgent(tools=[tool], llm=Telling())
        return await agent.run(user_msg="why?")

    output = asyncio.run(by_agent())
    assert blames_b_and_d(rules_of(output.tool_calls[0].tool_output.raw_output))
    chat = CondenseQuestionChatEngine.from_defaults(query_engine=engine, llm=Telling(), memory=buffered())
    assert "bad news" in chat.chat("why?").response


@pytest.mark.spread(fast=2)
@pytest.mark.parametrize("awaiting", [False, True])
def test_agents_and_workflows_become_query_engines(awaiting: bool) -> None:
    agent = FunctionAgent(tools=[sync_tool(retriever_of())], llm=Telling())
    for application in (agent, lambda: Asked(RAG(retriever_of(), Telling()))):
        engine = explained(application, predicate=BAD)
        assert isinstance(engine, ExplainedQueryEngine)
        response: Any = asyncio.run(engine.aquery("why?")) if awaiting else engine.query("why?")
        assert isinstance(response, Response)
        assert str(response).startswith("bad news")
        assert blames_b_and_d(rules_of(response))


class Asked(CustomQueryEngine):
    """A query engine around a workflow, as one would write it."""

    workflow: Any

    def __init__(self, workflow: Any) -> None:
        super().__init__(workflow=workflow)  # type: ignore[call-arg] -- a workflow agent takes it

    @override
    def custom_query(self, query_str: str) -> str:
        async def run() -> str:
            return str(await self.workflow.run(query=query_str))

        return asyncio.run(run())

    @override
    async def acustom_query(self, query_str: str) -> str:
        return str(await self.workflow.run(query=query_str))


class Verdict(BaseModel):
    news: str


class Structured(CustomQueryEngine):
    """Answers with an object."""

    retriever: Any

    @override
    def custom_query(self, query_str: str) -> Any:
        text = str(Telling().complete(texts_of(self.retriever.retrieve(query_str))))
        return PydanticResponse(Verdict(news=text.split(maxsplit=1)[0]))


def test_structured_responses_are_answers_with_a_value() -> None:
    engine = explained(Structured(retriever=retriever_of()), predicate=BAD)
    response: Any = engine.query("why?")
    assert isinstance(response, PydanticResponse)
    assert response.response == Verdict(news="bad")
    explanation = rules_of(response)
    assert explanation.baseline.value == {"news": "bad"}
    assert blames_b_and_d(explanation)


def test_a_chat_engine_stays_a_chat_engine() -> None:
    plain = CondenseQuestionChatEngine.from_defaults(
        query_engine=engine_of(retriever_of()), llm=Telling(), memory=buffered()
    )
    engine = explained(plain, predicate=BAD)
    assert isinstance(engine, ExplainedChatEngine)
    assert isinstance(engine, BaseChatEngine)
    assert blames_b_and_d(rules_of(engine.chat("why?")))
    assert engine.chat_history == plain.chat_history


def test_prompts_are_those_of_the_engine() -> None:
    plain = engine_of(retriever_of())
    assert set(explained(plain).get_prompts()) == {f"engine:{name}" for name in plain.get_prompts()}


def test_a_stream_can_be_printed_or_made_a_string_and_has_its_rules_then() -> None:
    engine = explained(engine_of(retriever_of(), streaming=True), predicate=BAD)
    response: Any = engine.query("why?")
    assert "rag_rules" not in response.metadata
    assert str(response).startswith("bad news")
    assert blames_b_and_d(rules_of(response))

    async def asynchronously() -> Any:
        response = await engine.aquery("why?")
        assert isinstance(response, AsyncStreamingResponse)
        assert str(await response.get_response()).startswith("bad news")
        return response

    assert blames_b_and_d(rules_of(asyncio.run(asynchronously())))


def test_a_stream_that_is_left_early_leaves_nothing_behind() -> None:
    engine: Any = explained(engine_of(retriever_of(), streaming=True), predicate=BAD, concurrency=1)
    for _ in range(3):
        stream = iter(engine.query("why?").response_gen)
        assert next(stream) == "bad"
        stream.close()
        assert not interception.active

    async def asynchronously() -> None:
        for _ in range(3):
            response = await engine.aquery("why?")
            stream = response.async_response_gen()
            assert await anext(stream) == "bad"
            await stream.aclose()
            await response.response_gen.aclose()
            assert not interception.active

    asyncio.run(asynchronously())
    # The only slot is free again.
    assert blames_b_and_d(engine.explainer.explain("why?"))


@pytest.mark.waits
@pytest.mark.slow
def test_a_stream_that_nobody_reads_is_let_go() -> None:
    engine = explained(engine_of(retriever_of(), streaming=True), predicate=BAD, concurrency=1)
    chat = explained(
        ContextChatEngine.from_defaults(retriever=retriever_of(), llm=Telling(), memory=buffered()),
        predicate=BAD,
    )

    async def asynchronously() -> None:
        for _ in range(2):
            await engine.aquery("why?")
            await chat.astream_chat("why?")
            gc.collect()

    def is_let_go() -> bool:
        gc.collect()
        return not interception.active

    for _ in range(2):
        engine.query("why?")
        chat.stream_chat("why?")
        # LlamaIndex writes to the memory in a thread of its own, which holds the stream until it is done.
        until(is_let_go)
    asyncio.run(asynchronously())
    until(is_let_go)


def test_the_consumer_of_a_stream_takes_part_in_nothing() -> None:
    retriever = retriever_of()
    engine: Any = explained(engine_of(retriever, streaming=True), predicate=BAD)
    for _ in engine.query("why?").response_gen:
        assert len(retriever.retrieve("mine")) == 3
    assert "mine" in retriever.live

    async def asynchronously() -> None:
        response = await engine.aquery("why?")
        async for _ in response.async_response_gen():
            assert len(await retriever.aretrieve("mine too")) == 3

    asyncio.run(asynchronously())
    assert "mine too" in retriever.live


def test_a_stream_that_breaks_raises_and_explains_nothing() -> None:
    class Breaking(Telling):
        @override
        def _chunks(self, response: Any) -> Any:
            yield next(super()._chunks(response))
            raise ConnectionError("gone")

    engine = explained(engine_of(retriever_of(), Breaking(), streaming=True), predicate=BAD)
    response: Any = engine.query("why?")
    with pytest.raises(ConnectionError, match="gone"):
        list(response.response_gen)
    assert "rag_rules" not in response.metadata
    assert not interception.active


def test_an_explainer_can_be_given_itself() -> None:
    explainer = RuleExplainer(engine_of(retriever_of()), predicate=BAD, rules="retention")
    assert explained(explainer).explainer is explainer
    with pytest.raises(InvalidInput, match="is not a setting"):
        explained(engine_of(retriever_of()), no_such_thing=1)


@pytest.mark.slow
def test_what_turns_out_to_be_async_is_run_as_such() -> None:
    retriever = retriever_of()

    def agent() -> Any:
        return FunctionAgent(tools=[sync_tool(retriever)], llm=Telling())

    async def asked(question: str) -> str:
        return str(await agent().run(user_msg=question))

    applications: list[Any] = [
        agent,
        asked,
        lambda question: asked(question),
        lambda question: agent().run(user_msg=question),
    ]
    for application in applications:
        response = explained(application, predicate=BAD).query("why?")
        assert blames_b_and_d(rules_of(response))
        assert blames_b_and_d(RuleExplainer(application, predicate=BAD).explain("why?"))
        assert blames_b_and_d(asyncio.run(RuleExplainer(application, predicate=BAD).aexplain("why?")))


def test_an_output_of_any_kind_is_read_by_answer_of() -> None:
    retriever, llm = retriever_of(), Telling()

    def answer(question: str) -> dict[str, str]:
        return {"said": str(llm.complete(texts_of(retriever.retrieve(question))))}

    response = explained(answer, predicate=BAD, answer_of=lambda output: output["said"]).query("why?")
    assert str(response).startswith("bad news")
    assert blames_b_and_d(rules_of(response))


def test_a_chat_stream_can_be_left_and_come_back_to() -> None:
    retriever = retriever_of()
    engine = explained(
        ContextChatEngine.from_defaults(retriever=retriever, llm=Telling(), memory=buffered()),
        predicate=BAD,
    )
    response = engine.stream_chat("why?")
    first = next(response.response_gen)
    assert "".join([first, *response.response_gen]).startswith("bad news")
    assert list(response.response_gen) == [response.response]
    assert blames_b_and_d(rules_of(response))
    assert retriever.live == ["why?"]

    async def asynchronously() -> None:
        response = await engine.astream_chat("why?")
        pieces = [piece async for piece in response.async_response_gen()]
        assert "".join(pieces).startswith("bad news")
        assert [piece async for piece in response.async_response_gen()] == [response.response]

    asyncio.run(asynchronously())


@pytest.mark.waits
def test_a_stream_that_is_left_early_says_nothing_on_stderr(capfd: pytest.CaptureFixture[str]) -> None:
    engine: Any = explained(engine_of(retriever_of(), streaming=True), predicate=BAD)
    for _ in engine.query("why?").response_gen:
        break

    async def asynchronously() -> None:
        response = await engine.aquery("why?")
        async for piece in response.async_response_gen():
            assert piece == "bad"
            break
        del response
        gc.collect()
        await asyncio.sleep(0.05)

    asyncio.run(asynchronously())
    gc.collect()
    assert capfd.readouterr().err == ""
    assert not interception.active


@pytest.mark.parametrize("is_chat", [False, True])
def test_a_stream_that_is_open_when_its_loop_ends_is_closed_without_a_word(
    caplog: pytest.LogCaptureFixture, is_chat: bool
) -> None:
    made: Any = (
        ContextChatEngine.from_defaults(
            retriever=retriever_of(), llm=Telling(says=bad_where_both_are_shown), memory=buffered()
        )
        if is_chat
        else engine_of(retriever_of(), streaming=True)
    )
    engine: Any = explained(made, predicate=BAD)

    async def asynchronously() -> None:
        response = await (engine.astream_chat if is_chat else engine.aquery)("why?")
        async for piece in response.async_response_gen():
            assert piece == "bad"
            break

    asyncio.run(asynchronously())
    gc.collect()
    assert [record.getMessage() for record in caplog.records] == []
    assert not interception.active


def test_an_explained_engine_retrieves_and_synthesizes_as_the_engine_does() -> None:
    plain = engine_of(retriever_of())
    engine = explained(plain, predicate=BAD)
    found = engine.retrieve(QueryBundle("why?"))
    assert [node.node_id for node in found] == list("abd")
    assert str(engine.synthesize(QueryBundle("why?"), found)).startswith("bad news")
    assert str(asyncio.run(engine.asynthesize(QueryBundle("why?"), found[:1]))).startswith("good news")
    with pytest.raises(NotImplementedError, match="use query"):
        explained(lambda question: "x").retrieve(QueryBundle("why?"))
