"""Chat engines, agents and workflows that go on with a conversation: explained, verified, attached."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from llama_index.core.agent.workflow import AgentWorkflow, FunctionAgent, ReActAgent
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.chat_engine import (
    CondensePlusContextChatEngine,
    CondenseQuestionChatEngine,
    ContextChatEngine,
    SimpleChatEngine,
)
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.storage.chat_store import SimpleChatStore
from llama_index.core.workflow import Context, StartEvent, StopEvent, Workflow, step
from llama_index_instrumentation import get_dispatcher
from llama_index_rag_rule_explainer import RuleExplainer, RuleExplanationHandler, explained
from typing_extensions import override

from rag_rule_explainer import Explanation
from tests.integrations.known import BAD, blames_b_and_d
from tests.integrations.llama_index.crossing import alternating, crossed
from tests.integrations.llama_index.engines import engine_of, retriever_of
from tests.integrations.llama_index.keeping import PAST, ServiceChatStore, dump
from tests.integrations.llama_index.models import Telling, bad_where_both_are_shown
from tests.integrations.llama_index.zoo.agents import sync_tool, texts_of
from tests.integrations.llama_index.zoo.chats import condensing

pytestmark = pytest.mark.filterwarnings("ignore")


def simple_store() -> Any:
    return SimpleChatStore(store={"chat_history": list(PAST)})


def service_store() -> Any:
    return ServiceChatStore({"chat_history": list(PAST)})


def context(memory: Any) -> Any:
    return ContextChatEngine.from_defaults(retriever=retriever_of(), llm=condensing(), memory=memory)


def condense_plus_context(memory: Any) -> Any:
    return CondensePlusContextChatEngine.from_defaults(
        retriever=retriever_of(), llm=condensing(), memory=memory
    )


def condense_question(memory: Any) -> Any:
    return CondenseQuestionChatEngine.from_defaults(
        query_engine=engine_of(retriever_of(), llm=condensing()), llm=condensing(), memory=memory
    )


def simple(memory: Any) -> Any:
    """An engine that retrieves nothing, with what was found in the message."""
    engine, retriever = SimpleChatEngine.from_defaults(llm=condensing(), memory=memory), retriever_of()

    def answer(question: str) -> str:
        return str(engine.chat(f"{question} {texts_of(retriever.retrieve(question))}"))

    return answer


STORES = [simple_store, service_store]
ENGINES = [context, condense_plus_context, condense_question, simple]


@pytest.mark.spread(fast=2)
@pytest.mark.parametrize(
    ("engine_of_memory", "store_of"), crossed(ENGINES, STORES, fast=alternating(ENGINES, STORES))
)
def test_chat_engines_are_explained_and_verified_and_remember_nothing(
    engine_of_memory: Callable[[Any], Any], store_of: Callable[[], Any]
) -> None:
    store = store_of()
    before = dump(store)
    engine = engine_of_memory(ChatMemoryBuffer.from_defaults(chat_store=store))
    explainer = RuleExplainer(engine, predicate=BAD)
    assert blames_b_and_d(explainer.explain("why?"))
    assert blames_b_and_d(asyncio.run(explainer.aexplain("why?")))
    assert explainer.verify(["b", "d"], "retention", "why?").holds
    assert asyncio.run(explainer.averify(["b"], "omission", "why?")).holds
    assert dump(store) == before


@pytest.mark.spread(fast=2)
@pytest.mark.parametrize(
    ("engine_of_memory", "store_of", "awaiting"),
    crossed(
        ENGINES[:3],
        STORES,
        [False, True],
        fast=[
            (context, simple_store, False),
            (condense_plus_context, service_store, True),
            (condense_question, simple_store, True),
        ],
    ),
)
def test_attached_chat_engines_remember_one_turn(
    engine_of_memory: Callable[[Any], Any], store_of: Callable[[], Any], awaiting: bool
) -> None:
    store = store_of()
    engine = explained(engine_of_memory(ChatMemoryBuffer.from_defaults(chat_store=store)), predicate=BAD)
    response = asyncio.run(engine.achat("why?")) if awaiting else engine.chat("why?")
    assert response.metadata["rag_rules"]["retention_rules"][0]["sources"] == ["b", "d"]
    said = [str(message.content) for message in store.get_messages("chat_history")]
    assert said == [*(str(message.content) for message in PAST), "why?", "bad news"]


def test_an_application_may_reset_its_chat_engine_and_read_its_history() -> None:
    store = simple_store()
    before = dump(store)
    engine: Any = context(ChatMemoryBuffer.from_defaults(chat_store=store))

    def answer(question: str) -> str:
        assert len(engine.chat_history) == len(PAST)
        engine.reset()
        assert engine.chat_history == []
        reply = str(engine.chat(question))
        assert [message.content for message in engine.chat_history] == [question, reply]
        return reply

    assert blames_b_and_d(RuleExplainer(answer, predicate=BAD).explain("why?"))
    assert dump(store) == before
    explained(answer, predicate=BAD).query("why?")
    assert [message.content for message in engine.chat_history] == ["why?", "bad news"]


def test_a_run_that_a_handler_recorded_is_explained_by_what_was_there_before_it() -> None:
    store, asked = simple_store(), list[str]()

    def says(prompt: str) -> str:
        asked.append(prompt)
        return bad_where_both_are_shown(prompt)

    engine: Any = ContextChatEngine.from_defaults(
        retriever=retriever_of(),
        llm=Telling(says=says),
        memory=ChatMemoryBuffer.from_defaults(chat_store=store),
    )
    handler = RuleExplanationHandler(RuleExplainer(engine, predicate=BAD))
    dispatcher: Any = get_dispatcher()
    dispatcher.add_span_handler(handler)
    try:
        engine.chat("why?")
        after = dump(store)
        assert blames_b_and_d(handler.explain())
    finally:
        dispatcher.span_handlers.remove(handler)
    assert dump(store) == after
    assert {prompt.count("why?") for prompt in asked} == {1}
    assert not any("news" in prompt for prompt in asked)


def prompts_of(asked: list[str]) -> Telling:
    def says(prompt: str) -> str:
        asked.append(prompt)
        return bad_where_both_are_shown(prompt)

    return Telling(says=says)


def function_agent(llm: Telling) -> Any:
    return FunctionAgent(tools=[sync_tool(retriever_of())], llm=llm)


def several_agents(llm: Telling) -> Any:
    only: Any = FunctionAgent(name="only", description="all", tools=[sync_tool(retriever_of())], llm=llm)
    return AgentWorkflow(agents=[only], root_agent="only")


def reasoning_agent(llm: Telling) -> Any:
    """Asks for its tool in words."""

    def says(prompt: str) -> str:
        if "Observation:" not in prompt.rsplit("Current Conversation", 1)[-1]:
            return 'Thought: I look.\nAction: search\nAction Input: {"query": "why?"}'
        return f"Thought: I can answer.\nAnswer: {llm.says(prompt)}"

    return ReActAgent(tools=[sync_tool(retriever_of())], llm=Telling(says=says), streaming=False)


AGENTS = [function_agent, several_agents, reasoning_agent]


@pytest.mark.spread(fast=2)
@pytest.mark.parametrize(
    ("agent_of", "live"), crossed(AGENTS, [False, True], fast=alternating(AGENTS, [True, False]))
)
def test_an_agent_with_a_memory_of_its_own(agent_of: Callable[[Telling], Any], live: bool) -> None:
    asked, store = list[str](), simple_store()
    before = dump(store)
    agent, memory = agent_of(prompts_of(asked)), ChatMemoryBuffer.from_defaults(chat_store=store)

    async def answer(question: str) -> str:
        return str(await agent.run(user_msg=question, memory=memory))

    is_true(answer, live=live)
    said = [str(message.content) for message in store.get_messages("chat_history")]
    assert (dump(store) == before) == (not live)
    assert said.count("why?") == " ".join(said).count("bad news") == int(live)
    assert {prompt.count("Good morning to you.") for prompt in asked} == {1}
    assert {prompt.count("why?") for prompt in asked} == {asked[0].count("why?")}
    assert not any("news" in prompt for prompt in asked)


def is_true(answer: Any, *, live: bool) -> None:
    if live:
        metadata = explained(answer, predicate=BAD).query("why?").metadata
        assert blames_b_and_d(Explanation.model_validate(metadata["rag_rules"]))
    else:
        assert blames_b_and_d(RuleExplainer(answer, predicate=BAD).explain("why?"))


class Tallying(Workflow):
    """Counts its runs in its context."""

    def __init__(self) -> None:
        super().__init__()
        self.retriever, self.llm = retriever_of(), Telling(says=bad_where_both_are_shown)

    @step
    async def answer(self, ctx: Context, ev: StartEvent) -> StopEvent:
        runs = await ctx.store.get("runs", default=0) + 1
        await ctx.store.set("runs", runs)
        found = texts_of(await self.retriever.aretrieve(ev.query))
        return StopEvent(result=f"{await self.llm.acomplete(found)} in run {runs}")


@pytest.mark.spread(fast=2)
@pytest.mark.parametrize("live", [False, True], ids=["copies", "live"])
def test_a_context_that_the_application_keeps_is_each_runs_own(live: bool) -> None:
    workflow: Any = Tallying()

    async def main() -> None:
        kept = Context(workflow)

        async def answer(question: str) -> str:
            first = str(await workflow.run(query=question, ctx=kept))
            assert await kept.store.get("runs") == 2
            await kept.store.set("heard", first)
            assert str(await workflow.run(query=question, ctx=kept)).endswith("in run 3")
            assert await kept.store.get("heard") == first
            return first

        await workflow.run(query="first", ctx=kept)
        if live:
            response: Any = await explained(answer, predicate=BAD).aquery("why?")
            explanation = Explanation.model_validate(response.metadata["rag_rules"])
        else:
            explanation = await RuleExplainer(answer, predicate=BAD).aexplain("why?")
        assert blames_b_and_d(explanation)
        answers = {each.text for probe in explanation.probes for each in probe.answers}
        assert answers == {"bad news in run 2", "good news in run 2"}
        assert await kept.store.get("runs") == (3 if live else 1)
        assert await kept.store.get("heard", default=None) == ("bad news in run 2" if live else None)

    asyncio.run(main())


class Silent(Telling):
    """Calls no tool when it is greeted."""

    @override
    def _chat(self, messages: Any, tools: Any = ()) -> Any:
        greeted = messages[-1].content == "Good morning."
        return super()._chat(messages[-1:] if greeted else messages, () if greeted else tools)


@pytest.mark.slow
@pytest.mark.parametrize(
    "agent_of", [function_agent, pytest.param(several_agents, marks=pytest.mark.slow)]
)
def test_an_agent_in_a_context_that_is_kept_goes_on_where_it_was(
    agent_of: Callable[[Telling], Any],
) -> None:
    asked = list[str]()

    async def main() -> None:
        agent = agent_of(Silent(says=prompts_of(asked).says))
        kept, memory = Context(agent), ChatMemoryBuffer.from_defaults()
        await agent.run(user_msg="Good morning.", ctx=kept, memory=memory)
        held = [message.content for message in memory.get_all()]
        asked.clear()

        async def answer(question: str) -> str:
            return str(await agent.run(user_msg=question, ctx=kept, memory=memory))

        assert blames_b_and_d(await RuleExplainer(answer, predicate=BAD).aexplain("why?"))
        assert [message.content for message in memory.get_all()] == held
        assert await kept.store.get("user_msg_str") == "Good morning."

    asyncio.run(main())
    assert {prompt.count("Good morning.") for prompt in asked} == {1}
    assert {prompt.count("why?") for prompt in asked} == {1}


def test_two_explanations_at_once_do_not_meet() -> None:
    store = simple_store()
    before = dump(store)
    engine = context(ChatMemoryBuffer.from_defaults(chat_store=store))

    async def main() -> list[Explanation]:
        explainer = RuleExplainer(engine, predicate=BAD)
        return await asyncio.gather(*(explainer.aexplain("why?") for _ in range(3)))

    assert all(map(blames_b_and_d, asyncio.run(main())))
    assert dump(store) == before
    store.add_message("chat_history", ChatMessage(role="user", content="at last"))
    assert dump(store) != before
