"""LangGraph: nodes, tasks, a store in a node, a thread."""

from itertools import pairwise
from typing import Any, TypedDict

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.func import entrypoint, task
from langgraph.graph import END, START, StateGraph

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


SHAPES = (
    Shape("LangGraph: nodes", nodes),
    Shape("LangGraph: async nodes", async_nodes),
    Shape("LangGraph: vector store in a node", searching_node),
    Shape("LangGraph: checkpointer and thread", with_a_thread),
    Shape("LangGraph: `@task` and `@entrypoint`", tasks),
)
