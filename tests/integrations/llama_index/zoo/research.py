"""Agents over query engines, agents that pass notes, and research in rounds with summaries."""

import json
import re
from typing import Any

from llama_index.core.agent.workflow import (
    AgentStream,
    AgentWorkflow,
    FunctionAgent,
    ReActAgent,
    ToolCallResult,
)
from llama_index.core.base.llms.types import ChatResponse, MessageRole
from llama_index.core.tools import FunctionTool, QueryEngineTool
from llama_index.core.workflow import Context, Event, StartEvent, StopEvent, Workflow, step

from tests.integrations.known import shown_in
from tests.integrations.llama_index.engines import Counting, engine_of, retriever_of
from tests.integrations.llama_index.models import Telling
from tests.integrations.llama_index.zoo.agents import sync_tool
from tests.integrations.public import Public
from tests.integrations.stateful import QUESTION, Made

TOPICS = {"a": "amber", "b": "basalt", "c": "copper", "d": "dunes"}


def topics_in(text: str) -> list[str]:
    """What nodes or earlier summaries in a text are about."""
    return [topic for name, topic in TOPICS.items() if name in shown_in(text) or topic in text]


def sums_up(prompt: str) -> str:
    """A summary in words of its own: of the sentences, nothing is left."""
    told = topics_in(prompt)
    return f"The sources speak of {', '.join(told)}." if told else "The sources speak of nothing."


def reports(prompt: str) -> str:
    """What is known of it from summaries alone."""
    return "bad news" if {"basalt", "dunes"} <= set(topics_in(prompt)) else "good news"


def halves(names: str) -> tuple[Counting, Counting]:
    middle = (len(names) + 1) // 2
    return retriever_of(names[:middle]), retriever_of(names[middle:])


class Looping(Telling):
    """Calls each of its tools once, then answers."""

    def _chat(self, messages: Any, tools: Any = ()) -> ChatResponse:
        called = sum(message.role == MessageRole.TOOL for message in messages)
        if called >= len(tools):
            return super()._chat(messages, ())
        own = [message for message in messages if message.role != MessageRole.TOOL]
        response = super()._chat(own, tools[called:])
        response.message.additional_kwargs["tool_calls"][0]["id"] = f"{called}"
        return response


def engine_tools(names: str) -> list[Any]:
    """Two indices, each with an engine that sums up what it has."""
    return [
        QueryEngineTool.from_defaults(
            engine_of(retriever, Telling(says=sums_up)), name=name, description=f"Knows {name}."
        )
        for name, retriever in zip(("stones", "winds"), halves(names), strict=True)
    ]


def over_two_engines(names: str) -> Made:
    return Made(FunctionAgent(tools=engine_tools(names), llm=Looping(says=reports)))


def reacting(names: str) -> Made:
    """A ReActAgent that asks one engine, then the other."""

    def says(prompt: str) -> str:
        talk = prompt.rsplit("Current Conversation", 1)[-1]
        seen = talk.count("Observation:")
        if seen < 2:
            name = ("stones", "winds")[seen]
            return f'Thought: I need to look.\nAction: {name}\nAction Input: {{"input": "why?"}}'
        return f"Thought: I can answer without using any more tools.\nAnswer: {reports(talk)}"

    return Made(ReActAgent(tools=engine_tools(names), llm=Telling(says=says)))


class Reporting(Telling):
    """Looks something up, notes it, and hands over."""

    def _chat(self, messages: Any, tools: Any = ()) -> ChatResponse:
        called = sum(message.role == MessageRole.TOOL for message in messages)
        told = "\n".join(str(message.content or "") for message in messages)
        calls: list[tuple[str, dict[str, Any]]] = [
            ("search", {"query": "why?"}),
            ("record_notes", {"notes": sums_up(told)}),
            ("handoff", {"to_agent": "writer", "reason": "the notes are there"}),
        ]
        name, given = calls[min(called, 2)]
        chosen = next(tool for tool in tools if tool.metadata.name == name)
        response = super()._chat([each for each in messages if each.role != MessageRole.TOOL], [chosen])
        call = response.message.additional_kwargs["tool_calls"][0]
        call["id"], call["function"]["arguments"] = f"{called}", json.dumps(given)
        return response


async def record_notes(ctx: Context, notes: str) -> str:
    """Record notes on the question."""
    async with ctx.store.edit_state() as state:
        state["state"]["notes"] = notes
    return "Noted."


async def read_notes(ctx: Context) -> str:
    """Read the notes on the question."""
    return f"Notes: {(await ctx.store.get('state'))['notes']}"


class Writing(Telling):
    """Answers from the notes alone, which it reads first."""

    def _chat(self, messages: Any, tools: Any = ()) -> ChatResponse:
        last = messages[-1]
        if str(last.content or "").startswith("Notes: "):
            return super()._chat([last], ())
        response = super()._chat([each for each in messages if each.role != MessageRole.TOOL], tools)
        call = response.message.additional_kwargs["tool_calls"][0]
        call["id"], call["function"]["arguments"] = "notes", "{}"
        return response


def passing_notes(names: str) -> Made:
    """LlamaIndex's example of several agents: one searches and notes, another writes from the notes."""
    researcher = FunctionAgent(
        name="researcher",
        description="Searches and takes notes.",
        tools=[sync_tool(retriever_of(names)), FunctionTool.from_defaults(async_fn=record_notes)],
        llm=Reporting(),
        can_handoff_to=["writer"],
    )

    writer = FunctionAgent(
        name="writer",
        description="Writes.",
        tools=[FunctionTool.from_defaults(async_fn=read_notes)],
        llm=Writing(says=reports),
    )
    return Made(
        AgentWorkflow(
            agents=[researcher, writer],
            root_agent="researcher",
            initial_state={"notes": "none yet"},
        )
    )


def asked(agent: Any, question: str) -> Any:
    """A run of an agent, of which each release has other types."""
    return agent.run(user_msg=question)


def read_as_it_streams(names: str) -> Made:
    """A function that reads an agent's events, as the backend of a chat does."""
    retriever = retriever_of(names)

    async def reply(question: str) -> dict[str, Any]:
        agent = FunctionAgent(tools=[sync_tool(retriever)], llm=Telling())
        handler, text, used = asked(agent, question), "", list[str]()
        async for event in handler.stream_events():
            if isinstance(event, AgentStream):
                text += event.delta
            elif isinstance(event, ToolCallResult):
                used.append(event.tool_name)
        await handler
        return {"answer": text, "tools": used}

    return Made(reply)


class Plan(Event):
    context: str


class Question(Event):
    question: str


class Answer(Event):
    question: str
    answer: str


class Review(Event):
    report: str


class DeepResearch(Workflow):
    """LlamaIndex's example: questions, answered by an agent each, a report, and a review of it."""

    def __init__(self, names: str) -> None:
        super().__init__(timeout=None)
        self.agent = FunctionAgent(tools=[sync_tool(retriever_of(names))], llm=Telling(says=sums_up))
        self.planner = Telling(says=lambda _: "What of stones? | What of winds?")
        self.writer = Telling(says=reports)
        self.reviewer = Telling(says=lambda prompt: "fine" if "Round 2" in prompt else "more on it?")

    @step
    async def plan(self, ctx: Context, ev: StartEvent) -> Plan:
        await ctx.store.set("topic", ev.topic)
        await ctx.store.set("known", [])
        await ctx.store.set("round", 0)
        return Plan(context=f"The topic is {ev.topic}")

    @step
    async def question(self, ctx: Context, ev: Plan) -> Question | None:
        asked = re.split(r"\s*\|\s*", str(await self.planner.acomplete(ev.context)))
        await ctx.store.set("wanted", len(asked))
        for question in asked:
            ctx.write_event_to_stream(Question(question=question))
            ctx.send_event(Question(question=question))
        return None

    @step(num_workers=2)
    async def answer(self, ev: Question) -> Answer:
        return Answer(question=ev.question, answer=str(await asked(self.agent, ev.question)))

    @step
    async def write(self, ctx: Context, ev: Answer) -> Review | None:
        answers = ctx.collect_events(ev, [Answer] * await ctx.store.get("wanted"))
        if answers is None:
            return None
        known = await ctx.store.get("known")
        known += sorted(f"{each.question} {each.answer}" for each in answers)
        await ctx.store.set("known", known)
        await ctx.store.set("round", await ctx.store.get("round") + 1)
        return Review(report=str(await self.writer.acomplete("\n".join(known))))

    @step
    async def review(self, ctx: Context, ev: Review) -> StopEvent | Plan:
        told = f"Round {await ctx.store.get('round')}: {ev.report}"
        said = str(await self.reviewer.acomplete(told))
        return StopEvent(result=ev.report) if said == "fine" else Plan(context=f"{told}. {said}")


SHAPES = (
    Public("research: an agent over two query engines", over_two_engines),
    Public("research: a ReActAgent over two query engines", reacting, is_costly=True),
    Public(
        "research: agents that pass notes",
        passing_notes,
        warns=("read_notes", "record_notes"),
        is_costly=True,
    ),
    Public("research: an agent's events, read as they stream", read_as_it_streams, is_function=True),
    Public(
        "research: questions, agents, a report and a review",
        lambda names: Made(DeepResearch(names), {"topic": QUESTION}),
        is_costly=True,
    ),
)
