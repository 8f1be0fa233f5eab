"""Agents that LangChain makes."""

import asyncio
from itertools import count
from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware import (
    AgentMiddleware,
    HumanInTheLoopMiddleware,
    LLMToolEmulator,
    dynamic_prompt,
)
from langchain.agents.structured_output import ToolStrategy
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.prompts import ChatPromptTemplate, FewShotChatMessagePromptTemplate
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import StructuredTool, create_retriever_tool, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from pydantic import BaseModel
from typing_extensions import override

from rag_rule_explainer import BaselineFailed, ToolCall
from tests.agents.zoo.scripts import AT_ONCE, LED_ON, ONE_BY_ONE, Script, Step, World
from tests.agents.zoo.shapes import (
    DELEGATED,
    DELEGATES,
    DOCUMENTS,
    EARLIER,
    QUESTION,
    READS,
    UNDATED,
    Built,
    Clients,
    Shape,
    functions,
)
from tests.integrations.known import TEXTS, shown_in
from tests.integrations.langchain.zoo.shapes import retriever_of


class Scripted(BaseChatModel):
    """Does what its script says, since the user last spoke."""

    script: Script

    @property
    @override
    def _llm_type(self) -> str:
        return "scripted"

    @override
    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self

    @override
    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        last = max(place for place, each in enumerate(messages) if isinstance(each, HumanMessage))
        made = [
            call["name"]
            for each in messages[last:]
            if isinstance(each, AIMessage)
            for call in each.tool_calls
        ]
        shown = shown_in("\n".join(str(each.text) for each in messages))
        calls: Any = [
            {"name": each.name, "args": each.arguments, "id": f"call {len(messages)} {place}"}
            for place, each in enumerate(self.script.next(shown, made))
        ]
        message = AIMessage("" if calls else self.script.says(shown), tool_calls=calls)
        return ChatResult(generations=[ChatGeneration(message=message)])


def asked(*earlier: tuple[str, str]) -> Any:
    return {"messages": [*earlier, ("user", QUESTION)]}


def tools_of(ran: list[str], inbox: str = "ab", day: str = "d") -> list[Any]:
    return [tool(each) for each in functions(ran, inbox, day).values()]


def plain(_: Clients) -> Built:
    return Built(create_agent(Scripted(script=ONE_BY_ONE), tools_of(ran := [])), asked(), ran)


def in_parallel(_: Clients) -> Built:
    return Built(create_agent(Scripted(script=AT_ONCE), tools_of(ran := [])), asked(), ran)


def led_on(_: Clients) -> Built:
    return Built(create_agent(Scripted(script=LED_ON), tools_of(ran := [])), asked(), ran)


def streaming(_: Clients) -> Built:
    """Its application reads the agent's stream."""
    agent = create_agent(Scripted(script=ONE_BY_ONE), tools_of(ran := []))

    def run(given: Any) -> Any:
        return list(agent.stream(given, stream_mode="values"))[-1]

    async def arun(given: Any) -> Any:
        return [each async for each in agent.astream(given, stream_mode="values")][-1]

    return Built(RunnableLambda(run, arun), asked(), ran)


class Reminding(AgentMiddleware[Any, Any]):
    """Adds a message before each request, and a word to each reply of the model."""

    @override
    def wrap_model_call(self, request: Any, handler: Any) -> Any:
        return handler(self._reminded(request))

    @override
    async def awrap_model_call(self, request: Any, handler: Any) -> Any:
        return await handler(self._reminded(request))

    def _reminded(self, request: Any) -> Any:
        return request.override(messages=[AIMessage("I am careful."), *request.messages])


class Guarding(AgentMiddleware[Any, Any]):
    """Looks at each call of a tool, and lets it be made."""

    @override
    def wrap_tool_call(self, request: Any, handler: Any) -> Any:
        return handler(request)

    @override
    async def awrap_tool_call(self, request: Any, handler: Any) -> Any:
        return await handler(request)


def with_middleware(_: Clients) -> Built:
    @dynamic_prompt
    def prompt(request: Any) -> str:
        return f"You have read {len(request.messages)} messages."

    middleware = [prompt, Reminding(), Guarding()]
    agent = create_agent(Scripted(script=ONE_BY_ONE), tools_of(ran := []), middleware=middleware)
    return Built(agent, asked(), ran)


class Report(BaseModel):
    """What was done."""

    paid: bool


REPORTS = Script((*ONE_BY_ONE.steps, Step((ToolCall("Report", {"paid": True}),))))


def structured(_: Clients) -> Built:
    model = Scripted(script=REPORTS)
    agent = create_agent(model, tools_of(ran := []), response_format=ToolStrategy(Report))
    return Built(agent, asked(), ran)


def emulated(_: Clients) -> Built:
    emulator = LLMToolEmulator(tools=["pay"], model=Scripted(script=Script(())))
    agent = create_agent(Scripted(script=ONE_BY_ONE), tools_of(ran := []), middleware=[emulator])
    return Built(agent, asked(), ran)


def on_a_thread(_: Clients) -> Built:
    saver, config = InMemorySaver(), {"configurable": {"thread_id": "1"}}
    agent = create_agent(Scripted(script=ONE_BY_ONE), tools_of(ran := [], day=""), checkpointer=saver)
    said: Any = [{"role": role, "content": text} for role, text in EARLIER]
    # A dict where the type has a TypedDict.
    agent.update_state(config, {"messages": said}, as_node="model")  # pyright: ignore[reportArgumentType]
    return Built(agent, asked(), ran, config)


def with_history(_: Clients) -> Built:
    agent = create_agent(Scripted(script=ONE_BY_ONE), tools_of(ran := [], day=""))
    return Built(agent, asked(*EARLIER), ran)


def with_sections(_: Clients) -> Built:
    prompt = f"# Tone\n{TEXTS['c']}\n# Facts\n{TEXTS['d']}\n"
    agent = create_agent(Scripted(script=ONE_BY_ONE), tools_of(ran := [], day=""), system_prompt=prompt)
    return Built(agent, asked(), ran)


def last_words(given: Any) -> list[Any]:
    return [HumanMessage(given["messages"][-1][1])]


def loop(model: BaseChatModel, tools: list[Any], prompt: Any = None) -> Any:
    """A loop over ``bind_tools``, as people write it."""
    bound, by_name = model.bind_tools(tools), {each.name: each for each in tools}
    first = prompt or last_words

    def run(given: Any) -> str:
        messages: list[Any] = first(given)
        while True:
            reply: Any = bound.invoke(messages)
            messages.append(reply)
            if not reply.tool_calls:
                return reply.text
            messages += [by_name[each["name"]].invoke(each) for each in reply.tool_calls]

    async def arun(given: Any) -> str:
        messages: list[Any] = first(given)
        while True:
            reply: Any = await bound.ainvoke(messages)
            messages.append(reply)
            if not reply.tool_calls:
                return reply.text
            calls = (by_name[each["name"]].ainvoke(each) for each in reply.tool_calls)
            messages += await asyncio.gather(*calls)

    return RunnableLambda(run, arun)


def by_hand(_: Clients) -> Built:
    return Built(loop(Scripted(script=AT_ONCE), tools_of(ran := [])), asked(), ran)


def with_examples(_: Clients) -> Built:
    pairs = [{"asked": EARLIER[n][1], "said": EARLIER[n + 1][1]} for n in (0, 2)]
    example = ChatPromptTemplate([("user", "{asked}"), ("assistant", "{said}")])
    shown = FewShotChatMessagePromptTemplate(examples=pairs, example_prompt=example)
    prompt = ChatPromptTemplate([shown, ("user", "{question}")])

    def first(given: Any) -> list[Any]:
        return prompt.invoke({"question": given["messages"][-1][1]}).to_messages()

    agent = loop(Scripted(script=ONE_BY_ONE), tools_of(ran := [], day=""), first)
    return Built(agent, asked(), ran)


def mixed(_: Clients) -> Built:
    """Documents that a tool retrieves, what another returns, and an earlier turn."""
    ran = list[str]()
    search = create_retriever_tool(retriever_of("ab"), "search_inbox", "Finds.")
    script = Script((Step((ToolCall("search_inbox", {"query": "q"}),)), *ONE_BY_ONE.steps[1:]))
    agent = create_agent(Scripted(script=script), [search, *tools_of(ran, day="")[1:]])
    return Built(agent, asked(*EARLIER), ran)


def of_a_human(_: Clients) -> Built:
    """Stops before it pays."""
    ran, human = list[str](), HumanInTheLoopMiddleware(interrupt_on={"pay": True})
    agent = create_agent(
        Scripted(script=ONE_BY_ONE), tools_of(ran), middleware=[human], checkpointer=InMemorySaver()
    )
    return Built(agent, asked(), ran, {"configurable": {"thread_id": "1"}})


def resumed(_: Clients) -> Built:
    """A function that lets it go on, as the error says."""
    made, numbers = of_a_human(_), count()
    agent, yes = made.application, Command(resume={"decisions": [{"type": "approve"}]})

    def ask(given: Any) -> Any:
        config: Any = {"configurable": {"thread_id": f"of {next(numbers)}"}}
        output = agent.invoke(given, config)
        return agent.invoke(yes, config) if "__interrupt__" in output else output

    async def aask(given: Any) -> Any:
        config: Any = {"configurable": {"thread_id": f"of {next(numbers)}"}}
        output = await agent.ainvoke(given, config)
        return await agent.ainvoke(yes, config) if "__interrupt__" in output else output

    return Built(RunnableLambda(ask, aask), asked(), made.ran)


def delegating(_: Clients, **options: Any) -> Built:
    ran = list[str]()
    *reading, paying = tools_of(ran)
    expert: Any = create_agent(Scripted(script=READS), reading)

    def ask_expert(task: str) -> str:
        """Asks somebody who reads."""
        return expert.invoke({"messages": [("user", task)]})["messages"][-1].text

    async def aask_expert(task: str) -> str:
        said = await expert.ainvoke({"messages": [("user", task)]})
        return said["messages"][-1].text

    asking = StructuredTool.from_function(ask_expert, aask_expert)
    agent = create_agent(Scripted(script=DELEGATES), [asking, paying])
    return Built(agent, asked(), ran, options=options)


def opened(_: Clients) -> Built:
    return delegating(_, safe_tools=["ask_expert"])


SHAPES = (
    Shape("`create_agent`", plain),
    Shape("`create_agent`: parallel calls", in_parallel, script=AT_ONCE),
    Shape("`create_agent`: a result leads to the next call", led_on, script=LED_ON),
    Shape("`create_agent`: read as a stream", streaming),
    Shape("`create_agent`: middleware around models and tools", with_middleware),
    Shape("`create_agent`: a tool that a model emulates", emulated, once=("search_inbox", "calendar")),
    Shape("`create_agent`: structured response", structured, script=REPORTS),
    Shape(
        "`create_agent`: checkpointer and thread",
        on_a_thread,
        World(UNDATED, {"memory 1": "c", "memory 2": "d"}),
        kinds=("tools", "memory"),
    ),
    Shape(
        "`create_agent`: earlier turns",
        with_history,
        World(UNDATED, {"turn 1": "c", "turn 2": "d"}),
        kinds=("tools", "turns"),
    ),
    Shape(
        "`create_agent`: sections of the system prompt",
        with_sections,
        World(UNDATED, {"instructions: Tone": "c", "instructions: Facts": "d"}),
        kinds=("tools", "instructions"),
    ),
    Shape(
        "`create_agent`: documents, a tool and turns",
        mixed,
        World(DOCUMENTS, {"turn 1": "c", "turn 2": "d"}),
        kinds=("documents", "tools", "turns"),
        once=("calendar", "pay"),
    ),
    Shape(
        "`create_agent`: a human approves",
        of_a_human,
        refused={"whole_run": (BaselineFailed, "stopped to ask a human")},
        once=("search_inbox", "calendar"),
    ),
    Shape("`create_agent`: a human approves, in a function that resumes", resumed),
    Shape("`create_agent`: an agent in a tool", delegating, DELEGATED, DELEGATES),
    Shape("`create_agent`: an agent in a tool, named safe", opened, ways=("whole_run",)),
    Shape(
        "`create_agent`: what an agent in a tool has said, named safe",
        opened,
        DELEGATED,
        DELEGATES,
        ways=("next_action",),
    ),
    Shape("a loop over `bind_tools`", by_hand, script=AT_ONCE),
    Shape(
        "a loop over `bind_tools`: few-shot examples",
        with_examples,
        World(UNDATED, {"example 1": "c", "example 2": "d"}),
        kinds=("tools", "examples"),
    ),
)
