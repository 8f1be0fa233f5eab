"""Graphs and agents that are given something by name: a context, a way to be streamed."""

from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypedDict

from langchain.agents import create_agent
from langchain.agents.middleware import dynamic_prompt
from langchain.tools import ToolRuntime
from langchain_core.messages import AIMessageChunk
from langchain_core.runnables import RunnableConfig, RunnableGenerator, RunnableLambda
from langchain_core.tools import tool
from langgraph.config import get_stream_writer
from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime, get_runtime
from langgraph.store.memory import InMemoryStore

from tests.integrations.langchain.chains import Counting
from tests.integrations.langchain.models import Telling
from tests.integrations.langchain.zoo.agents import Calling
from tests.integrations.langchain.zoo.shapes import joined, retriever_of
from tests.integrations.public import Public
from tests.integrations.stateful import QUESTION, Made


class State(TypedDict, total=False):
    question: str
    context: str
    answer: str


ASKED = {"question": QUESTION}
MESSAGES = {"messages": [("user", QUESTION)]}


@dataclass
class Reader:
    """Who asks: plain data."""

    name: str
    language: str = "English"


@dataclass
class Tools:
    """What a run works with: live objects, as for tests and tenants."""

    retriever: Counting
    llm: Telling


class Wishes(TypedDict):
    style: str


def after_one_another(schema: Any, *nodes: tuple[str, Any], **compiled: Any) -> Any:
    graph: Any = StateGraph(State, context_schema=schema)
    before = START
    for name, node in nodes:
        graph.add_node(name, node)
        graph.add_edge(before, name)
        before = name
    graph.add_edge(before, END)
    return graph.compile(**compiled)


def searching(names: str) -> Callable[[State], State]:
    retriever = retriever_of(names)
    return lambda state: {"context": joined(retriever.invoke(state.get("question", "")))}


def for_reader(names: str) -> Made:
    """The node of a sub-graph writes in the language of whoever asks."""
    llm = Telling()

    def write(state: State, runtime: Runtime[Reader]) -> State:
        told = f"Answer {runtime.context.name} in {runtime.context.language}: {state.get('context')}"
        return {"answer": llm.invoke(told).text}

    inner = after_one_another(Reader, ("write", write))
    graph = after_one_another(Reader, ("search", searching(names)), ("inner", inner))
    return Made(graph, ASKED, keywords={"context": Reader("Ada")})


def handed_on(names: str) -> Made:
    """A node calls another graph, which has a context of its own, made of the first one."""
    llm = Telling()

    async def write(state: State, runtime: Runtime[Wishes]) -> State:
        told = f"{runtime.context['style']}: {state.get('context')}"
        return {"answer": (await llm.ainvoke(told)).text}

    inner = after_one_another(Wishes, ("search", searching(names)), ("write", write))

    async def delegate(state: State, runtime: Runtime[Reader]) -> State:
        given: Any = {"question": state.get("question")}
        done = await inner.ainvoke(given, context={"style": f"for {runtime.context.name}"})
        return {"answer": done["answer"]}

    graph = after_one_another(Reader, ("delegate", delegate))
    return Made(graph, ASKED, keywords={"context": Reader("Ada")})


def with_live_objects(names: str) -> Made:
    """All that is called is in the context."""

    def search(state: State, runtime: Runtime[Tools]) -> State:
        return {"context": joined(runtime.context.retriever.invoke(state.get("question", "")))}

    def write(state: State) -> State:
        return {"answer": get_runtime(Tools).context.llm.invoke(state.get("context") or "none").text}

    graph = after_one_another(Tools, ("search", search), ("write", write))
    return Made(graph, ASKED, keywords={"context": Tools(retriever_of(names), Telling())})


def of_the_user(names: str) -> Made:
    """What is known of the user comes from a store, under the name in the context."""
    memories, llm = InMemoryStore(), Telling()
    memories.put(("users",), "Ada", {"likes": "short answers"})

    def write(state: State, runtime: Runtime[Reader]) -> State:
        assert runtime.store is not None
        known = runtime.store.get(("users",), runtime.context.name)
        runtime.store.put(("users",), "last", {"asked": state.get("question")})
        likes = known.value["likes"] if known else "nothing"
        return {"answer": llm.invoke(f"Likes {likes}.\n\n{state.get('context')}").text}

    graph = after_one_another(Reader, ("search", searching(names)), ("write", write), store=memories)
    return Made(
        graph,
        ASKED,
        keywords={"context": Reader("Ada")},
        memory=lambda: [each.key for each in memories.search(("users",))],
    )


def of_an_agent(names: str) -> Made:
    """An agent whose prompt and whose tool go by the context."""
    shelves = {"Ada": retriever_of(names), "Bob": retriever_of("c")}

    @dynamic_prompt
    def greeting(request: Any) -> str:
        return f"You answer {request.runtime.context.name}."

    @tool(response_format="content_and_artifact")
    def search(query: str, runtime: ToolRuntime[Reader, Any]) -> tuple[str, list[Any]]:
        """Search the shelf of the user."""
        found = shelves[runtime.context.name].invoke(query)
        return joined(found) or "nothing", found

    middleware: Any = [greeting]
    agent = create_agent(Calling(tool="search"), [search], middleware=middleware, context_schema=Reader)
    return Made(agent, MESSAGES, keywords={"context": Reader("Ada")})


def told_as_it_goes(names: str) -> Made:
    """Nodes that write to the stream themselves."""
    search = searching(names)

    def find(state: State) -> State:
        get_stream_writer()({"progress": "searching"})
        return search(state)

    return Made(after_one_another(None, ("find", find), ("write", writing())), ASKED)


def writing() -> Callable[[State, RunnableConfig], State]:
    """A node that hands its config on, without which older Pythons tell no events of its model."""
    llm = Telling()

    def write(state: State, config: RunnableConfig) -> State:
        return {"answer": llm.invoke(state.get("context") or "none", config).text}

    return write


def tokens(names: str) -> Made:
    """A function that streams a graph's tokens, and is what its users call."""
    graph = told_as_it_goes(names).application

    def tell(questions: Iterator[str]) -> Iterator[str]:
        for question in questions:
            for message, _ in graph.stream({"question": question}, stream_mode="messages"):
                yield message.text

    async def atell(questions: AsyncIterator[str]) -> AsyncIterator[str]:
        async for question in questions:
            async for message, _ in graph.astream({"question": question}, stream_mode="messages"):
                yield message.text

    return Made(RunnableGenerator(tell, atell), QUESTION)


def several_modes(names: str) -> Made:
    """A handler that reads updates, values and messages of one stream, as of a chat's backend."""
    graph = told_as_it_goes(names).application
    modes = ["updates", "values", "messages", "custom"]

    def reply(question: str) -> dict[str, Any]:
        state: dict[str, Any] = {}
        for mode, chunk in graph.stream({"question": question}, stream_mode=modes):
            state = chunk if mode == "values" else state
        return {"answer": state["answer"]}

    async def areply(question: str) -> dict[str, Any]:
        state: dict[str, Any] = {}
        async for mode, chunk in graph.astream({"question": question}, stream_mode=modes):
            state = chunk if mode == "values" else state
        return {"answer": state["answer"]}

    return Made(RunnableLambda(reply, areply), QUESTION)


def events(names: str) -> Made:
    """A handler that reads events, as for server-sent ones: it is async alone."""
    graph = after_one_another(None, ("find", searching(names)), ("write", writing()))

    async def reply(question: str) -> str:
        text = ""
        async for event in graph.astream_events({"question": question}, version="v2"):
            if event["event"] == "on_chat_model_stream":
                chunk = event["data"]["chunk"]
                text += chunk.text if isinstance(chunk, AIMessageChunk) else ""
        return text

    return Made(RunnableLambda(reply), QUESTION)


SHAPES = (
    Public("context: a sub-graph writes for whoever asks", for_reader),
    Public("context: handed on to a graph that a node calls", handed_on),
    Public("context: live objects", with_live_objects),
    Public("context: what a store knows of the user", of_the_user),
    Public("context: an agent's prompt and tool", of_an_agent),
    Public("stream: nodes that write to it", told_as_it_goes),
    # On older ones LangGraph tells no tokens of what is awaited in a node.
    Public("stream: a function that tells the tokens", tokens, is_function=True, async_since=(3, 11)),
    Public(
        "stream: a handler that reads four modes", several_modes, is_function=True, async_since=(3, 11)
    ),
    Public("stream: a handler that reads events", events, is_function=True),
)
