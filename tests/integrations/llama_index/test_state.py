"""What an application remembers: replays start from it, and leave it alone."""

import asyncio
from typing import Any

import pytest
from llama_index.core import MockEmbedding
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import ChatMessage, MessageRole, TextBlock
from llama_index.core.chat_engine import ContextChatEngine
from llama_index.core.memory import (
    BaseMemoryBlock,
    ChatSummaryMemoryBuffer,
    Memory,
    StaticMemoryBlock,
    VectorMemory,
)
from llama_index.core.memory.types import BaseMemory
from llama_index.core.workflow import Context, StartEvent, StopEvent, Workflow, step
from llama_index_rag_rule_explainer import RuleExplainer, explained
from pydantic import PrivateAttr
from typing_extensions import override

from rag_rule_explainer import SourceLeak, StateShared
from rag_rule_explainer.instrumentation.outputs import Unexplained
from tests.integrations.known import BAD, TEXTS, blames_b_and_d, shown_in
from tests.integrations.llama_index.crossing import alternating, crossed
from tests.integrations.llama_index.engines import retriever_of
from tests.integrations.llama_index.models import Telling, bad_where_both_are_shown
from tests.integrations.llama_index.zoo.agents import sync_tool, texts_of
from tests.integrations.llama_index.zoo.chats import PAST, buffered, remembered

pytestmark = pytest.mark.filterwarnings("ignore")


class Elsewhere(BaseMemory):
    """Keeps its messages where no copy reaches: think of a service."""

    _kept: list[ChatMessage] = PrivateAttr(default_factory=lambda: list(PAST))
    _lock: Any = PrivateAttr(default_factory=__import__("threading").Lock)
    _writes: int = PrivateAttr(default=0)

    @classmethod
    @override
    def from_defaults(cls, **kwargs: Any) -> "Elsewhere":
        return cls()

    @property
    def writes(self) -> int:
        return self._writes

    @override
    def get(self, input: str | None = None, **kwargs: Any) -> list[ChatMessage]:
        return list(self._kept)

    @override
    def get_all(self) -> list[ChatMessage]:
        return list(self._kept)

    @override
    def put(self, message: ChatMessage) -> None:
        self._writes += 1
        self._kept.append(message)

    @override
    def set(self, messages: list[ChatMessage]) -> None:
        self._writes += 1
        self._kept = list(messages)

    @override
    def reset(self) -> None:
        self.set([])


def summarized() -> ChatSummaryMemoryBuffer:
    return ChatSummaryMemoryBuffer.from_defaults(
        chat_history=list(PAST), llm=Telling(says=lambda _: "They greeted."), token_limit=1000
    )


def of_vectors() -> VectorMemory:
    memory = VectorMemory.from_defaults(embed_model=MockEmbedding(embed_dim=8))
    for message in PAST:
        memory.put(message)
    return memory


MEMORIES = [buffered, remembered, Elsewhere, summarized, of_vectors]


def prompts_of(asked: list[str]) -> Any:
    def says(prompt: str) -> str:
        asked.append(prompt)
        return bad_where_both_are_shown(prompt)

    return Telling(says=says)


def contents(memory: BaseMemory) -> list[str]:
    return [str(message.content) for message in memory.get(input="why?")]


EACH, OTHER = (alternating(MEMORIES, [False, True], start=start) for start in (0, 1))
"""Each of them in one way; and in the other one."""


@pytest.mark.spread(fast=2)
@pytest.mark.parametrize(("memory_of", "awaiting"), crossed(MEMORIES, [False, True], fast=EACH))
def test_every_replay_sees_the_past_and_none_adds_to_it(memory_of: Any, awaiting: bool) -> None:
    memory, asked = memory_of(), list[str]()
    before = contents(memory)
    engine = ContextChatEngine.from_defaults(
        retriever=retriever_of(), llm=prompts_of(asked), memory=memory
    )
    explainer = RuleExplainer(engine, predicate=BAD)
    explanation = asyncio.run(explainer.aexplain("why?")) if awaiting else explainer.explain("why?")
    assert blames_b_and_d(explanation)
    assert contents(memory) == before
    assert len(asked) == explanation.counts.replays - 1
    assert {prompt.count("why?") for prompt in asked} == {1}
    if memory_of is not of_vectors:
        assert {prompt.count("Good morning to you.") for prompt in asked} == {1}


@pytest.mark.spread(fast=2)
@pytest.mark.parametrize(("memory_of", "awaiting"), crossed(MEMORIES, [False, True], fast=OTHER))
def test_an_explained_engine_remembers_what_it_answered_once(memory_of: Any, awaiting: bool) -> None:
    memory = memory_of()
    engine = explained(
        ContextChatEngine.from_defaults(
            retriever=retriever_of(), llm=Telling(says=bad_where_both_are_shown), memory=memory
        ),
        predicate=BAD,
    )
    response: Any = asyncio.run(engine.achat("why?")) if awaiting else engine.chat("why?")
    assert response.metadata["rag_rules"]["retention_rules"][0]["sources"] == ["b", "d"]
    said = [str(message.content) for message in memory.get(input="why?")]
    assert said.count("bad news") == 1
    if memory_of is Elsewhere:
        assert memory.writes == 2


def test_a_history_that_is_set_anew_is_set_in_every_run() -> None:
    memory, asked = Elsewhere(), list[str]()
    engine = ContextChatEngine.from_defaults(
        retriever=retriever_of(), llm=prompts_of(asked), memory=memory
    )
    other = [ChatMessage(role="user", content="Good evening.")]
    given = {"message": "why?", "chat_history": other}
    assert blames_b_and_d(RuleExplainer(engine, predicate=BAD).explain(given))
    assert memory.writes == 0
    assert all("Good evening." in each and "Good morning" not in each for each in asked)


class Growing(BaseMemoryBlock[str]):
    """Long-term memory that is told what the short-term one lets go."""

    _told: list[str] = PrivateAttr(default_factory=list[str])

    @property
    def told(self) -> list[str]:
        return self._told

    @override
    async def _aget(self, messages: Any = None, **kwargs: Any) -> str:
        return "The user is a geologist."

    @override
    async def _aput(self, messages: list[ChatMessage]) -> None:
        self._told.extend(str(message.content) for message in messages)


def test_long_term_memory_is_read_and_never_written_to() -> None:
    block, asked = Growing(name="facts"), list[str]()
    fixed = StaticMemoryBlock(name="fixed", static_content=[TextBlock(text="Answers are short.")])
    memory = Memory.from_defaults(
        session_id="s", token_limit=120, token_flush_size=10, memory_blocks=[block, fixed]
    )
    memory.put_messages([ChatMessage(role="user", content=" ".join(["old"] * 60))])
    before = (list(block.told), contents(memory))
    engine = ContextChatEngine.from_defaults(
        retriever=retriever_of(), llm=prompts_of(asked), memory=memory
    )
    assert blames_b_and_d(RuleExplainer(engine, predicate=BAD).explain("why?"))
    assert (block.told, contents(memory)) == before
    assert all("The user is a geologist." in each and "Answers are short." in each for each in asked)


class Silent(Telling):
    """Calls no tool when it is greeted."""

    @override
    def _chat(self, messages: Any, tools: Any = ()) -> Any:
        greeted = messages[-1].content == "Good morning."
        return super()._chat(messages[-1:] if greeted else messages, () if greeted else tools)


def test_an_agent_in_a_conversation_is_replayed_as_it_would_go_on() -> None:
    asked: list[str] = []
    llm = Silent(says=prompts_of(asked).says)
    agent: Any = FunctionAgent(tools=[sync_tool(retriever_of())], llm=llm)

    async def main() -> None:
        context, twin = Context(agent), Context(agent)
        for each in (context, twin):
            await agent.run(user_msg="Good morning.", ctx=each)
        asked.clear()
        # Whether an agent's memory outlives a run in its context depends on the release.
        await agent.run(user_msg="why?", ctx=twin)
        (goes_on,) = asked
        memory = await context.store.get("memory")
        before = contents(memory)
        asked.clear()
        explanation = await RuleExplainer(agent, predicate=BAD).aexplain(
            {"user_msg": "why?", "ctx": context}
        )
        assert blames_b_and_d(explanation)
        assert asked[0] == goes_on
        assert {prompt.count("Good morning.") for prompt in asked} == {goes_on.count("Good morning.")}
        assert contents(memory) == before
        assert await context.store.get("memory") is memory

    asyncio.run(main())


class Searching(Silent):
    """Searches for every question, whatever was found for earlier ones."""

    @override
    def _chat(self, messages: Any, tools: Any = ()) -> Any:
        asked = max(place for place, each in enumerate(messages) if each.role == MessageRole.USER)
        return super()._chat(messages[asked:], tools)


@pytest.mark.slow
def test_every_turn_of_an_explained_agent_in_one_context_has_its_rules() -> None:
    llm = Searching(says=bad_where_both_are_shown)
    agent: Any = FunctionAgent(tools=[sync_tool(retriever_of())], llm=llm)

    async def main() -> None:
        context, engine = Context(agent), explained(agent, predicate=BAD)
        await agent.run(user_msg="Good morning.", ctx=context)
        answered: Any = await engine.run("why?", ctx=context)
        assert blames_b_and_d(answered.explanation)
        again: Any = await engine.run("why then?", ctx=context)
        # Whether an agent's memory, with what was found, outlives a run in its context depends on the
        # release.
        if isinstance(again, Unexplained):
            assert isinstance(again.error, SourceLeak)
        else:
            assert blames_b_and_d(again.explanation)

    asyncio.run(main())


def test_a_conversation_that_has_the_sources_in_it_is_a_leak() -> None:
    memory = buffered()
    memory.put(ChatMessage(role="user", content=f"I have read that: {TEXTS['d']}"))
    engine = ContextChatEngine.from_defaults(
        retriever=retriever_of(), llm=Telling(says=bad_where_both_are_shown), memory=memory
    )
    with pytest.raises(SourceLeak, match="a memory"):
        RuleExplainer(engine, predicate=BAD).explain("why?")
    explanation = RuleExplainer(engine, predicate=BAD).explain("why?", pinned=["d"])
    assert [rule.sources for rule in explanation.retention_rules] == [("b",)]


class Tallying(Workflow):
    """Counts its runs in its context."""

    def __init__(self, retriever: Any) -> None:
        super().__init__()
        self.retriever, self.llm = retriever, Telling(says=bad_where_both_are_shown)

    @step
    async def answer(self, ctx: Context, ev: StartEvent) -> StopEvent:
        runs = await ctx.store.get("runs", default=0) + 1
        await ctx.store.set("runs", runs)
        found = texts_of(await self.retriever.aretrieve(ev.query))
        return StopEvent(result=f"{await self.llm.acomplete(found)} in run {runs}")


def test_a_context_is_the_same_for_every_run_and_stays_as_it_was() -> None:
    workflow = Tallying(retriever_of())
    context = Context(workflow)

    async def main() -> None:
        await workflow.run(query="first", ctx=context)
        explanation = await RuleExplainer(workflow, predicate=BAD).aexplain(
            {"query": "why?", "ctx": context}
        )
        assert blames_b_and_d(explanation)
        answers = {answer.text for probe in explanation.probes for answer in probe.answers}
        assert answers == {"bad news in run 2", "good news in run 2"}
        assert await context.store.get("runs") == 1
        engine = explained(workflow, predicate=BAD)
        assert engine.explainer.application is workflow

    asyncio.run(main())


def test_a_context_that_cannot_be_copied_is_refused_with_a_way_out() -> None:
    workflow = Tallying(retriever_of())
    context = Context(workflow)

    async def main() -> None:
        await context.store.set("client", __import__("threading").Lock())
        with pytest.raises(StateShared, match="a Context of its own for every run"):
            await RuleExplainer(workflow, predicate=BAD).aexplain({"query": "why?", "ctx": context})

        async def ask(question: str) -> Any:
            made = Tallying(retriever_of())
            return await made.run(query=question, ctx=Context(made))

        assert blames_b_and_d(await RuleExplainer(ask, predicate=BAD).aexplain("why?"))

    asyncio.run(main())


def test_a_function_that_makes_engines_makes_one_for_every_run() -> None:
    made: list[Any] = []

    def make() -> Any:
        made.append(
            ContextChatEngine.from_defaults(
                retriever=retriever_of(), llm=Telling(says=bad_where_both_are_shown), memory=buffered()
            )
        )
        return made[-1]

    explanation = RuleExplainer(make, predicate=BAD).explain("why?")
    assert blames_b_and_d(explanation)
    assert len(made) == explanation.counts.replays
    # Each memory belongs to the run that made it, which wrote to it.
    assert all(len(engine.chat_history) == len(PAST) + 2 for engine in made)
    assert shown_in(" ".join(TEXTS.values())) == "abcd"


@pytest.mark.spread(fast=2)
@pytest.mark.parametrize("memory_of", [buffered, remembered, Elsewhere, summarized])
def test_what_a_live_run_wrote_before_it_read_is_no_past_of_its_replays(memory_of: Any) -> None:
    memory, retriever, asked = memory_of(), retriever_of(), list[str]()
    llm = prompts_of(asked)

    def answer(question: str) -> str:
        memory.put(ChatMessage(role="user", content=question))
        found = texts_of(retriever.retrieve(question))
        past = "\n".join(str(message.content) for message in memory.get_all())
        reply = str(llm.complete(f"{past}\n\n{found}"))
        memory.put(ChatMessage(role="assistant", content=reply))
        return reply

    response: Any = explained(answer, predicate=BAD).query("why?")
    rules = response.metadata["rag_rules"]
    assert [rule["sources"] for rule in rules["retention_rules"]] == [["b", "d"]]
    assert [rule["sources"] for rule in rules["omission_rules"]] == [["b"], ["d"]]
    # Each of them saw the question once, and no answer but those of before.
    assert {prompt.count("why?") for prompt in asked} == {1}
    assert not any("news" in prompt for prompt in asked)


@pytest.mark.spread(fast=2)
@pytest.mark.parametrize(
    ("memory_of", "live"),
    crossed(MEMORIES[:3], [False, True], fast=alternating(MEMORIES[:3], [False, True])),
)
def test_an_agent_with_a_memory_is_told_everything_once(memory_of: Any, live: bool) -> None:
    memory, asked = memory_of(), list[str]()
    before = contents(memory)
    agent: Any = FunctionAgent(tools=[sync_tool(retriever_of())], llm=prompts_of(asked))
    given = {"user_msg": "why?", "memory": memory}
    if live:

        async def answer(question: str) -> str:
            return str(await agent.run(**{**given, "user_msg": question}))

        response: Any = explained(answer, predicate=BAD).query("why?")
        assert [rule["sources"] for rule in response.metadata["rag_rules"]["retention_rules"]] == [
            ["b", "d"]
        ]
        assert len(contents(memory)) == len(before) + 4
    else:
        assert blames_b_and_d(RuleExplainer(agent, predicate=BAD).explain(given))
        assert contents(memory) == before
    assert {prompt.count("why?") for prompt in asked} == {1}
    assert {prompt.count("Good morning to you.") for prompt in asked} == {1}
