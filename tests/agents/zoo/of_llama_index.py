"""LlamaIndex's agents and workflows."""

import asyncio
import json
from collections.abc import Sequence
from typing import Any

from llama_index.core.agent.workflow import AgentWorkflow, FunctionAgent, ReActAgent
from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    MessageRole,
    TextBlock,
    ToolCallBlock,
)
from llama_index.core.llms.llm import ToolSelection
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.tools import FunctionTool, RetrieverTool
from llama_index.core.workflow import (
    Context,
    HumanResponseEvent,
    InputRequiredEvent,
    StartEvent,
    StopEvent,
    Workflow,
    step,
)
from llama_index.llms.openai import OpenAI
from llama_index.tools.mcp import McpToolSpec
from mcp.server.fastmcp import FastMCP
from mcp.types import CallToolResult, ListToolsResult
from typing_extensions import override

from rag_rule_explainer import BaselineFailed, ToolCall
from tests.agents.zoo.scripts import AT_ONCE, LED_ON, LOOK, ONE_BY_ONE, PAY, SEARCH, Script, Step, World
from tests.agents.zoo.shapes import (
    DELEGATED,
    DELEGATES,
    DOCUMENTS,
    EARLIER,
    PAID,
    QUESTION,
    READS,
    UNDATED,
    Built,
    Clients,
    Shape,
    functions,
)
from tests.integrations.known import TEXTS, shown_in
from tests.integrations.llama_index.engines import retriever_of
from tests.integrations.llama_index.models import Telling


class Scripted(Telling):
    """Does what its script says, since the user last spoke."""

    script_of: Any = ONE_BY_ONE

    @override
    def _chat(self, messages: Sequence[ChatMessage], tools: Sequence[Any] = ()) -> ChatResponse:
        places = [n for n, each in enumerate(messages) if each.role == MessageRole.USER]
        made = [
            block.tool_name
            for each in messages[places[-1] :]
            for block in each.blocks
            if isinstance(block, ToolCallBlock)
        ]
        shown = shown_in("\n".join(str(each.content) for each in messages))
        calls = self.script_of.next(shown, made)
        blocks: list[Any] = [
            ToolCallBlock(
                tool_call_id=f"call {len(messages)} {place}",
                tool_name=each.name,
                tool_kwargs=each.arguments,
            )
            for place, each in enumerate(calls)
        ]
        blocks = blocks or [TextBlock(text=self.script_of.says(shown))]
        return ChatResponse(message=ChatMessage(role=MessageRole.ASSISTANT, blocks=blocks), raw={})

    @override
    def _chunks(self, response: ChatResponse) -> Any:
        yield response.model_copy(update={"delta": response.message.content})

    @override
    def get_tool_calls_from_response(
        self, response: ChatResponse, error_on_no_tool_call: bool = True, **kwargs: Any
    ) -> list[ToolSelection]:
        return [
            ToolSelection(
                tool_id=str(block.tool_call_id),
                tool_name=block.tool_name,
                tool_kwargs=dict(block.tool_kwargs) if isinstance(block.tool_kwargs, dict) else {},
            )
            for block in response.message.blocks
            if isinstance(block, ToolCallBlock)
        ]


def tools_of(ran: list[str], day: str = "d") -> list[Any]:
    return [FunctionTool.from_defaults(each) for each in functions(ran, day=day).values()]


def agent_of(ran: list[str], script: Script = ONE_BY_ONE, day: str = "d", **parameters: Any) -> Any:
    return FunctionAgent(tools=tools_of(ran, day), llm=Scripted(script_of=script), **parameters)


def plain(_: Clients) -> Built:
    return Built(agent_of(ran := [], streaming=False), QUESTION, ran)


def streaming(_: Clients) -> Built:
    return Built(agent_of(ran := [], streaming=True), QUESTION, ran)


def over_the_wire(clients: Clients) -> Built:
    """Its model streams, as it does unless one says otherwise, and says in its last chunk but one why it
    ended."""
    http: Any = (clients.client._client, clients.aclient._client)  # pyright: ignore[reportPrivateUsage] -- to share
    url = str(clients.client.base_url)
    given: Any = {"api_base": url, "api_key": "none", "max_retries": 0}
    llm = OpenAI("gpt-4o-mini", http_client=http[0], async_http_client=http[1], **given)
    return Built(FunctionAgent(tools=tools_of(ran := []), llm=llm), QUESTION, ran)


def in_parallel(_: Clients) -> Built:
    return Built(agent_of(ran := [], AT_ONCE), QUESTION, ran)


def led_on(_: Clients) -> Built:
    return Built(agent_of(ran := [], LED_ON), QUESTION, ran)


def with_sections(_: Clients) -> Built:
    prompt = f"# Tone\n{TEXTS['c']}\n# Facts\n{TEXTS['d']}\n"
    return Built(agent_of(ran := [], day="", system_prompt=prompt), QUESTION, ran)


def history() -> list[ChatMessage]:
    return [ChatMessage(role=role, content=text) for role, text in EARLIER]


def with_memory(_: Clients) -> Built:
    agent, memory = agent_of(ran := [], day=""), ChatMemoryBuffer.from_defaults(history())
    return Built(agent, {"user_msg": QUESTION, "memory": memory}, ran)


def with_history(_: Clients) -> Built:
    agent = agent_of(ran := [], day="")
    return Built(agent, {"user_msg": QUESTION, "chat_history": history()}, ran)


def mixed(_: Clients) -> Built:
    ran, found = list[str](), retriever_of("ab")
    search = RetrieverTool.from_defaults(found, name="search_inbox", description="Finds.")
    script = Script((Step((ToolCall("search_inbox", {"input": "q"}),)), *ONE_BY_ONE.steps[1:]))
    tools = [search, *tools_of(ran, day="")[1:]]
    agent = FunctionAgent(tools=tools, llm=Scripted(script_of=script))
    return Built(agent, {"user_msg": QUESTION, "chat_history": history()}, ran)


def reacting(_: Clients) -> Built:
    """Writes its calls as text."""

    def says(prompt: str) -> str:
        told = prompt.rpartition(QUESTION)[2]
        made = [name for name in ("search_inbox", "calendar", "pay") if f"Action: {name}" in told]
        calls = ONE_BY_ONE.next(shown_in(told), made)
        if not calls:
            return "Thought: I can answer without using any more tools.\nAnswer: All of it is done."
        given = json.dumps(calls[0].arguments)
        return f"Thought: I look.\nAction: {calls[0].name}\nAction Input: {given}"

    agent = ReActAgent(tools=tools_of(ran := []), llm=Telling(says=says))
    return Built(agent, QUESTION, ran)


HANDS_OVER = Script(
    (
        Step((SEARCH,)),
        Step((ToolCall("handoff", {"to_agent": "payer", "reason": "to pay"}),), ("b",)),
        Step((LOOK,)),
        Step((PAY,), ("bd",)),
    )
)
"""One agent reads the inbox, another one looks and pays."""


def handing_over(_: Clients) -> Built:
    inbox, *others = tools_of(ran := [])
    llm = Scripted(script_of=HANDS_OVER)
    front = FunctionAgent(
        name="reader", description="Reads.", tools=[inbox], llm=llm, can_handoff_to=["payer"]
    )
    back = FunctionAgent(name="payer", description="Pays.", tools=others, llm=llm)
    return Built(AgentWorkflow(agents=[front, back], root_agent="reader"), QUESTION, ran)


class Reading(Workflow):
    """A loop in one step, as people write it."""

    def __init__(self, llm: Any, tools: list[Any]) -> None:
        super().__init__()
        self.llm, self.tools = llm, tools

    @step
    async def run_tools(self, ev: StartEvent) -> StopEvent:
        by_name = {each.metadata.name: each for each in self.tools}
        messages = [ChatMessage(role="user", content=ev.query)]
        while True:
            response = await self.llm.achat_with_tools(self.tools, chat_history=messages)
            messages.append(response.message)
            calls = self.llm.get_tool_calls_from_response(response, error_on_no_tool_call=False)
            if not calls:
                return StopEvent(result=str(response.message.content))
            for each in calls:
                said = await by_name[each.tool_name].acall(**each.tool_kwargs)
                beside = {"tool_call_id": each.tool_id, "name": each.tool_name}
                messages.append(ChatMessage(role="tool", content=str(said), additional_kwargs=beside))


def by_hand(_: Clients) -> Built:
    return Built(Reading(Scripted(script_of=ONE_BY_ONE), tools_of(ran := [])), {"query": QUESTION}, ran)


def of_a_human(_: Clients) -> Built:
    """Asks before it pays."""
    ran = list[str]()

    async def pay(ctx: Context, to: str) -> str:
        """Pays."""
        may: Any = {"prefix": "May I pay?"}
        asked = InputRequiredEvent(**may)
        said = await ctx.wait_for_event(HumanResponseEvent, waiter_event=asked)
        ran.append("pay")
        return PAID.format(to) if said.response == "yes" else "No."

    tools = [*tools_of(ran)[:2], FunctionTool.from_defaults(async_fn=pay)]
    return Built(FunctionAgent(tools=tools, llm=Scripted()), QUESTION, ran)


def answered(clients: Clients) -> Built:
    """A function that answers in the human's place, as the error says."""
    made = of_a_human(clients)

    async def ask(question: str) -> str:
        handler = made.application.run(user_msg=question)
        async for event in handler.stream_events():
            if isinstance(event, InputRequiredEvent):
                yes: Any = {"response": "yes"}
                handler.ctx.send_event(HumanResponseEvent(**yes))
        return str(await handler)

    return Built(ask, QUESTION, made.ran)


def reading_events(_: Clients) -> Built:
    """A function that shows what the agent does while it does it."""
    agent = agent_of(ran := [])

    async def ask(question: str) -> str:
        handler = agent.run(user_msg=question)
        shown = [each async for each in handler.stream_events()]
        return f"{await handler} {len(shown)} events."

    return Built(ask, QUESTION, ran)


class InThisProcess:
    """A session with a server of MCP, without the wire between them."""

    def __init__(self, server: Any) -> None:
        self.server = server

    async def list_tools(self) -> Any:
        return ListToolsResult(tools=await self.server.list_tools())

    async def call_tool(self, name: str, arguments: dict[str, Any]) -> CallToolResult:
        content, structured = await self.server.call_tool(name, arguments)
        return CallToolResult(content=list(content), structuredContent=structured)


def over_mcp(_: Clients) -> Built:
    server = FastMCP("mailbox", log_level="ERROR")
    for each in functions(ran := []).values():
        server.add_tool(each)
    session: Any = InThisProcess(server)
    tools = asyncio.run(McpToolSpec(session).to_tool_list_async())
    return Built(FunctionAgent(tools=[*tools], llm=Scripted()), QUESTION, ran)


def delegating(_: Clients, **options: Any) -> Built:
    *reading, paying = tools_of(ran := [])
    expert: Any = FunctionAgent(tools=reading, llm=Scripted(script_of=READS))

    async def ask_expert(task: str) -> str:
        """Asks somebody who reads."""
        return str(await expert.run(task))

    tools = [FunctionTool.from_defaults(async_fn=ask_expert), paying]
    agent = FunctionAgent(tools=tools, llm=Scripted(script_of=DELEGATES))
    return Built(agent, QUESTION, ran, options=options)


def opened(_: Clients) -> Built:
    return delegating(_, safe_tools=["ask_expert"])


def with_context(_: Clients) -> Built:
    agent = agent_of(ran := [])
    return Built(agent, {"user_msg": QUESTION, "ctx": Context(agent)}, ran)


SHAPES = (
    Shape("`FunctionAgent`", plain),
    Shape("`FunctionAgent`: streaming", streaming),
    Shape("`FunctionAgent`: the `OpenAI` class, streaming", over_the_wire),
    Shape("`FunctionAgent`: parallel calls", in_parallel, script=AT_ONCE),
    Shape("`FunctionAgent`: a result leads to the next call", led_on, script=LED_ON),
    Shape("`FunctionAgent`: with a context", with_context),
    Shape(
        "`FunctionAgent`: a memory",
        with_memory,
        World(UNDATED, {"memory 1": "c", "memory 2": "d"}),
        kinds=("tools", "memory"),
    ),
    Shape(
        "`FunctionAgent`: earlier turns",
        with_history,
        World(UNDATED, {"turn 1": "c", "turn 2": "d"}),
        kinds=("tools", "turns"),
    ),
    Shape(
        "`FunctionAgent`: sections of the system prompt",
        with_sections,
        World(UNDATED, {"instructions: Tone": "c", "instructions: Facts": "d"}),
        kinds=("tools", "instructions"),
    ),
    Shape(
        "`FunctionAgent`: documents, a tool and turns",
        mixed,
        World(DOCUMENTS, {"turn 1": "c", "turn 2": "d"}),
        kinds=("documents", "tools", "turns"),
        once=("calendar", "pay"),
    ),
    Shape("`FunctionAgent`: tools over MCP", over_mcp),
    Shape("`FunctionAgent`: an agent in a tool", delegating, DELEGATED, DELEGATES),
    Shape("`FunctionAgent`: an agent in a tool, named safe", opened, ways=("whole_run",)),
    Shape("`ReActAgent`", reacting),
    Shape("`AgentWorkflow`: one agent hands over to another", handing_over, script=HANDS_OVER),
    Shape("a `Workflow` by hand", by_hand),
    Shape(
        "`FunctionAgent`: a human approves",
        of_a_human,
        refused={"whole_run": (BaselineFailed, "asks a human")},
        once=("search_inbox", "calendar"),
    ),
    Shape("`FunctionAgent`: a human approves, in a function that answers", answered),
    Shape("a function that reads an agent's events", reading_events),
)
