"""LangGraph: nodes, tasks, a store in a node, a thread."""

from itertools import pairwise
from operator import add
from typing import Annotated, Any, TypedDict

from langchain_core.messages import AIMessage
from langchain_core.tools import create_retriever_tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.func import entrypoint, task
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.types import Command, Send

from tests.integrations.langchain.chains import Scripted
from tests.integrations.langchain.models import facts
from tests.integrations.langchain.zoo.agents import GIVEN, Calling
from tests.integrations.langchain.zoo.shapes import (
    Built,
    Shape,
    Store,
    asked,
    joined,
    model,
    retriever_of,
)


class State(TypedDict, total=False):
    question: str
    context: str
    answer: str


def graph_of(*nodes: tuple[str, Any], checkpointer: Any = None) -> Any:
    graph: Any = StateGraph(State)
    for name, node in nodes:
        graph.add_node(name, node)
    names = [name for name, _ in nodes]
    for before, after in pairwise([START, *names, END]):
        graph.add_edge(before, after)
    return graph.compile(checkpointer=checkpointer)


def generate(state: State) -> State:
    return {"answer": model().invoke(state.get("context", "") + state.get("question", "")).text}


def nodes() -> Built:
    retriever = retriever_of()

    def retrieve(state: State) -> State:
        return {"context": joined(retriever.invoke(state.get("question", "")))}

    graph = graph_of(("retrieve", retrieve), ("generate", generate))
    return Built(graph, {"question": "why?"}, asked(retriever))


def async_nodes() -> Built:
    retriever = retriever_of()

    async def retrieve(state: State) -> State:
        return {"context": joined(await retriever.ainvoke(state.get("question", "")))}

    async def agenerate(state: State) -> State:
        reply = await model().ainvoke(state.get("context", "") + state.get("question", ""))
        return {"answer": reply.text}

    graph = graph_of(("retrieve", retrieve), ("generate", agenerate))
    return Built(graph, {"question": "why?"}, asked(retriever))


def searching_node() -> Built:
    store = Store()

    def retrieve(state: State) -> State:
        return {"context": joined(store.similarity_search(state.get("question", ""), k=4))}

    graph = graph_of(("retrieve", retrieve), ("generate", generate))
    return Built(graph, {"question": "why?"}, lambda: store.searches)


def with_a_thread() -> Built:
    retriever = retriever_of()

    def retrieve(state: State) -> State:
        # Somebody who resumes a thread that has its context does not retrieve again.
        found = state.get("context") or joined(retriever.invoke(state.get("question", "")))
        return {"context": found}

    graph = graph_of(("retrieve", retrieve), ("generate", generate), checkpointer=InMemorySaver())
    config = {"configurable": {"thread_id": "t"}}
    return Built(graph, {"question": "why?"}, asked(retriever), config=config)


def tasks() -> Built:
    retriever = retriever_of()

    @task
    def retrieve(question: str) -> str:
        return joined(retriever.invoke(question))

    @task
    def reply(context: str) -> str:
        return model().invoke(context or "nothing").text

    @entrypoint()
    def application(question: str) -> str:
        return reply(retrieve(question).result()).result()

    return Built(application, "why?", asked(retriever))


class Gathered(TypedDict, total=False):
    question: str
    found: Annotated[list[str], add]
    answer: str


def fanned_out() -> Built:
    """Each query is searched by a node of its own, all at once."""
    queries: list[str] = []

    def script(query: str) -> Any:
        queries.append(query)
        return facts("ab" if query == "first" else "cd")

    retriever = Scripted(script=script)

    def search(state: Gathered) -> Gathered:
        return {"found": [joined(retriever.invoke(state.get("question", "")))]}

    def reply(state: Gathered) -> Gathered:
        return {"answer": model().invoke("\n".join(state.get("found", [])) or "nothing").text}

    graph: Any = StateGraph(Gathered)
    graph.add_node("search", search)
    graph.add_node("reply", reply)
    graph.add_conditional_edges(
        START, lambda _: [Send("search", {"question": each}) for each in ("first", "second")], ["search"]
    )
    graph.add_edge("search", "reply")
    graph.add_edge("reply", END)
    return Built(graph.compile(), {"question": "why?"}, lambda: len(queries))


def inside_another() -> Built:
    retriever = retriever_of()

    def retrieve(state: State) -> State:
        return {"context": joined(retriever.invoke(state.get("question", "")))}

    inner = graph_of(("retrieve", retrieve))
    return Built(
        graph_of(("inner", inner), ("generate", generate)), {"question": "why?"}, asked(retriever)
    )


def commanded() -> Built:
    retriever = retriever_of()

    def retrieve(state: State) -> Any:
        found = joined(retriever.invoke(state.get("question", "")))
        return Command(update={"context": found}, goto="generate" if found else "give_up")

    graph: Any = StateGraph(State)
    graph.add_node("retrieve", retrieve, destinations=("generate", "give_up"))
    graph.add_node("generate", generate)
    graph.add_node("give_up", lambda _: {"answer": "nothing is known of that"})
    graph.add_edge(START, "retrieve")
    return Built(graph.compile(), {"question": "why?"}, asked(retriever))


def tools_in_a_node() -> Built:
    """Agentic RAG by hand: a model, a node that runs the tools it calls, and a loop of both."""
    retriever = retriever_of()
    search = create_retriever_tool(retriever, "search", "Search the index.")
    agent = Calling(tool="search")

    def call_model(state: MessagesState) -> Any:
        return {"messages": [agent.invoke(state["messages"])]}

    def run_tools(state: MessagesState) -> Any:
        reply = state["messages"][-1]
        calls = reply.tool_calls if isinstance(reply, AIMessage) else []
        return {"messages": [search.invoke(call) for call in calls]}

    def goes_on(state: MessagesState) -> str:
        reply = state["messages"][-1]
        return "tools" if isinstance(reply, AIMessage) and reply.tool_calls else END

    graph: Any = StateGraph(MessagesState)
    graph.add_node("model", call_model)
    graph.add_node("tools", run_tools)
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", goes_on, ["tools", END])
    graph.add_edge("tools", "model")
    return Built(graph.compile(), GIVEN, asked(retriever))


SHAPES = (
    Shape("LangGraph: nodes", nodes),
    Shape("LangGraph: async nodes", async_nodes),
    Shape("LangGraph: vector store in a node", searching_node),
    Shape("LangGraph: checkpointer and thread", with_a_thread),
    Shape("LangGraph: `@task` and `@entrypoint`", tasks, async_since=(3, 11)),
    Shape("LangGraph: `Send` to several searches", fanned_out, live=2),
    Shape("LangGraph: a graph in a graph", inside_another),
    Shape("LangGraph: `Command`", commanded),
    Shape("LangGraph: tools in a node", tools_in_a_node),
)
