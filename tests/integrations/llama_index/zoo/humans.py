"""Workflows and agents that ask a human before they answer, and functions that answer them."""

from collections.abc import Callable
from typing import Any

from llama_index.core.agent.workflow import AgentWorkflow, FunctionAgent
from llama_index.core.base.llms.types import ChatResponse, MessageRole
from llama_index.core.tools import FunctionTool
from llama_index.core.workflow import Context, Event, StartEvent, StopEvent, Workflow, step
from llama_index.core.workflow.events import HumanResponseEvent, InputRequiredEvent

from rag_rule_explainer import BaselineFailed
from tests.integrations.llama_index.engines import Counting, retriever_of
from tests.integrations.llama_index.models import Telling
from tests.integrations.llama_index.zoo.agents import sync_tool, texts_of
from tests.integrations.public import Public
from tests.integrations.stateful import QUESTION, Made

Flow = Callable[[str], Any]


class Drafted(InputRequiredEvent):
    """Shows a human the draft."""

    draft: str


class Reviewed(HumanResponseEvent):
    """What a human says to it."""

    feedback: str


class Finish(Event):
    feedback: str


class Reviewing(Workflow):
    """Writes a draft, has it reviewed, and writes it again until the human is content."""

    def __init__(self, retriever: Counting) -> None:
        super().__init__(timeout=None)
        self.retriever, self.llm = retriever, Telling()

    @step
    async def draft(self, ctx: Context, ev: StartEvent) -> Drafted:
        context = texts_of(await self.retriever.aretrieve(ev.question))
        await ctx.store.set("context", context)
        return Drafted(draft=str(await self.llm.acomplete(context or "nothing")))

    @step
    async def again(self, ctx: Context, ev: Reviewed) -> Drafted | StopEvent:
        told = f"{await ctx.store.get('context')}\n\n{ev.feedback}"
        answer = str(await self.llm.acomplete(told))
        return StopEvent(result=answer) if ev.feedback == "good" else Drafted(draft=answer)


class Confirming(Workflow):
    """Waits for a human in the middle of a step."""

    def __init__(self, retriever: Counting) -> None:
        super().__init__(timeout=30)
        self.retriever, self.llm = retriever, Telling()

    @step
    async def answer(self, ctx: Context, ev: StartEvent) -> StopEvent:
        asked = InputRequiredEvent(prefix="Do you mean that?")  # pyright: ignore[reportCallIssue] -- events take any field
        said = await ctx.wait_for_event(HumanResponseEvent, waiter_event=asked, waiter_id="meant")
        context = texts_of(await self.retriever.aretrieve(f"{ev.query} {said.response}"))
        return StopEvent(result=str(await self.llm.acomplete(context or "nothing")))


class Child(Workflow):
    """Is run by another workflow."""

    def __init__(self, retriever: Counting) -> None:
        super().__init__()
        self.retriever = retriever

    @step
    async def confirm(self, ev: StartEvent) -> InputRequiredEvent:
        return InputRequiredEvent(prefix=f"May I look for {ev.query}?")  # pyright: ignore[reportCallIssue] -- events take any field

    @step
    async def look(self, ev: HumanResponseEvent) -> StopEvent:
        return StopEvent(result=texts_of(await self.retriever.aretrieve(ev.response)))


class Parent(Workflow):
    """Hands on what its child asks, and what a human says to it."""

    def __init__(self, retriever: Counting) -> None:
        super().__init__(timeout=None)
        self.child, self.llm = Child(retriever), Telling()

    @step
    async def answer(self, ctx: Context, ev: StartEvent) -> StopEvent:
        inner = self.child.run(query=ev.query)
        async for event in inner.stream_events():
            if isinstance(event, InputRequiredEvent):
                asked = InputRequiredEvent(prefix=event.prefix)  # pyright: ignore[reportCallIssue] -- as above
                said = await ctx.wait_for_event(HumanResponseEvent, waiter_event=asked)
                inner.ctx.send_event(HumanResponseEvent(response=said.response))  # pyright: ignore[reportCallIssue, reportOptionalMemberAccess] -- as above
        return StopEvent(result=str(await self.llm.acomplete(await inner or "nothing")))


class Awaiting(Event):
    """Tells whoever listens that a human is to say something."""

    told: str


class Silent(Workflow):
    """Waits for a human whom it asks with an event of its own."""

    def __init__(self, retriever: Counting) -> None:
        super().__init__(timeout=None)
        self.retriever, self.llm = retriever, Telling()

    @step
    async def answer(self, ctx: Context, ev: StartEvent) -> StopEvent:
        found = texts_of(await self.retriever.aretrieve(ev.query))
        await ctx.store.set("live", self.retriever)
        ctx.write_event_to_stream(Awaiting(told="What do you think?"))
        said = await ctx.wait_for_event(HumanResponseEvent)
        return StopEvent(result=str(await self.llm.acomplete(f"{found}\n\n{said.response}")))


async def dangerous_task(ctx: Context) -> str:
    """Does what a human has to allow."""
    asked = InputRequiredEvent(prefix="Are you sure?", user_name="Ada")  # pyright: ignore[reportCallIssue] -- as above
    said = await ctx.wait_for_event(
        HumanResponseEvent, waiter_id="sure?", waiter_event=asked, requirements={"user_name": "Ada"}
    )
    return "done" if said.response == "yes" else "not done"


class Careful(Telling):
    """Calls its tools one after the other, then answers."""

    def _chat(self, messages: Any, tools: Any = ()) -> ChatResponse:
        called = sum(message.role == MessageRole.TOOL for message in messages)
        if called >= len(tools):
            return super()._chat(messages, ())
        own = [message for message in messages if message.role != MessageRole.TOOL]
        response = super()._chat(own, tools[called:])
        calls: Any = response.message.additional_kwargs["tool_calls"]
        calls[0]["id"] = f"{called}"
        if called:
            calls[0]["function"]["arguments"] = "{}"
        return response


def careful(names: str) -> Any:
    tools: list[Any] = [
        sync_tool(retriever_of(names)),
        FunctionTool.from_defaults(async_fn=dangerous_task),
    ]
    return AgentWorkflow(agents=[FunctionAgent(name="agent", tools=tools, llm=Careful())])


def asking(flow: Flow, given: Any) -> Callable[[str], Made]:
    return lambda names: Made(flow(names), given)


def answered(flow: Flow, given: dict[str, Any], *replies: HumanResponseEvent) -> Callable[[str], Made]:
    """The way out: a function that gives the human's answers, one after the other."""

    def build(names: str) -> Made:
        workflow = flow(names)

        async def ask(_: str) -> Any:
            handler, left = workflow.run(**given), list(replies)
            async for event in handler.stream_events():
                # A step that has waited is run again from its beginning, and says again what it said.
                if isinstance(event, (InputRequiredEvent, Awaiting)) and left:
                    handler.ctx.send_event(left.pop(0))
            return await handler

        return Made(ask)

    return build


def human(
    name: str,
    flow: Flow,
    given: dict[str, Any],
    *replies: HumanResponseEvent,
    warns: tuple[str, ...] = (),
) -> Public:
    return Public(
        name,
        asking(flow, given),
        refusal=BaselineFailed,
        says=r"asks a human.*HumanResponseEvent",
        way_out=answered(flow, given, *replies),
        warns=warns,
    )


def yes(**more: Any) -> HumanResponseEvent:
    return HumanResponseEvent(response="yes", **more)  # pyright: ignore[reportCallIssue] -- as above


SHAPES = (
    human(
        "human: a draft is reviewed until it is good",
        lambda names: Reviewing(retriever_of(names)),
        {"question": QUESTION},
        Reviewed(feedback="shorter"),
        Reviewed(feedback="good"),
    ),
    human(
        "human: waited for in a step",
        lambda names: Confirming(retriever_of(names)),
        {"query": QUESTION},
        yes(),
    ),
    human(
        "human: a workflow in a workflow asks",
        lambda names: Parent(retriever_of(names)),
        {"query": QUESTION},
        yes(),
    ),
    human(
        "human: a tool of an agent asks",
        careful,
        {"user_msg": QUESTION},
        yes(user_name="Ada"),
        warns=("dangerous_task",),
    ),
)
