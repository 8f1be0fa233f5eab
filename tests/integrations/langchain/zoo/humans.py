"""Graphs and agents that ask a human before they answer, and functions that answer them."""

from collections.abc import Callable
from itertools import count
from typing import Any, TypedDict

from langchain.agents import create_agent
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.func import entrypoint, task
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, interrupt

from rag_rule_explainer import BaselineFailed
from tests.integrations.langchain.models import Telling
from tests.integrations.langchain.zoo.agents import Calling
from tests.integrations.langchain.zoo.shapes import joined, retriever_of
from tests.integrations.public import Public
from tests.integrations.stateful import QUESTION, Made

THREAD: Any = {"configurable": {"thread_id": "t"}}
Graph = Callable[[str], Any]


class Draft(TypedDict, total=False):
    question: str
    context: str
    draft: str
    feedback: str
    answer: str


def graph_of(**nodes: Any) -> Any:
    """These nodes after one another, on threads."""
    graph: Any = StateGraph(Draft)
    before = START
    for name, node in nodes.items():
        graph.add_node(name, node)
        graph.add_edge(before, name)
        before = name
    graph.add_edge(before, END)
    return graph.compile(checkpointer=InMemorySaver())


def asking(graph: Graph, given: Any) -> Callable[[str], Made]:
    return lambda names: Made(graph(names), given, config=THREAD)


def answered(graph: Graph, given: Any, reply: Callable[[Any], Any]) -> Callable[[str], Made]:
    """The way out: a function that gives the human's answers as often as the graph asks."""
    numbers = count()

    def build(names: str) -> Made:
        asked = graph(names)

        def ask(_: str) -> Any:
            config: Any = {"configurable": {"thread_id": f"{next(numbers)}"}}
            output = asked.invoke(given, config)
            while isinstance(output, dict) and output.get("__interrupt__"):
                output = asked.invoke(Command(resume=reply(output["__interrupt__"][0].value)), config)
            return output

        async def aask(_: str) -> Any:
            config: Any = {"configurable": {"thread_id": f"{next(numbers)}"}}
            output = await asked.ainvoke(given, config)
            while isinstance(output, dict) and output.get("__interrupt__"):
                resume = reply(output["__interrupt__"][0].value)
                output = await asked.ainvoke(Command(resume=resume), config)
            return output

        return Made(RunnableLambda(ask, aask))

    return build


def reviewed(names: str) -> Any:
    """A human reads the draft and says what is missing; the answer is written after that."""
    retriever, llm = retriever_of(names), Telling()

    def retrieve(state: Draft) -> Draft:
        return {"context": joined(retriever.invoke(state.get("question", "")))}

    def write(state: Draft) -> Draft:
        return {"draft": llm.invoke(state.get("context") or "nothing").text}

    def review(state: Draft) -> Draft:
        return {"feedback": interrupt({"task": "review this", "draft": state.get("draft")})["feedback"]}

    def finish(state: Draft) -> Draft:
        said = f"{state.get('context')}\n\nDraft: {state.get('draft')}\n\n{state.get('feedback')}"
        return {"answer": llm.invoke(said).text}

    return graph_of(retrieve=retrieve, write=write, review=review, finish=finish)


def chosen(names: str) -> Any:
    """A human approves of what was found, or has it searched again: the first time, this one does."""
    retriever, llm = retriever_of(names), Telling()

    def retrieve(state: Draft) -> Draft:
        return {"context": joined(retriever.invoke(state.get("question", "")))}

    def approve(state: Draft) -> Any:
        said = interrupt({"found": len(state.get("context", "")), "again": "feedback" in state})
        if said["approved"]:
            return Command(goto="write")
        return Command(update={"feedback": said["wish"], "question": said["wish"]}, goto="retrieve")

    def write(state: Draft) -> Draft:
        return {"answer": llm.invoke(state.get("context") or "nothing").text}

    graph: Any = StateGraph(Draft)
    graph.add_node("retrieve", retrieve)
    graph.add_node("approve", approve, destinations=("retrieve", "write"))
    graph.add_node("write", write)
    graph.add_edge(START, "retrieve")
    graph.add_edge("retrieve", "approve")
    return graph.compile(checkpointer=InMemorySaver())


def inside(names: str) -> Any:
    """A graph in a graph asks."""
    retriever, llm = retriever_of(names), Telling()

    def confirm(state: Draft) -> Draft:
        return {"question": interrupt(f"Do you mean {state.get('question')}?")}

    def retrieve(state: Draft) -> Draft:
        return {"context": joined(retriever.invoke(state.get("question", "")))}

    def write(state: Draft) -> Draft:
        return {"answer": llm.invoke(state.get("context") or "nothing").text}

    inner: Any = StateGraph(Draft)
    inner.add_node("confirm", confirm)
    inner.add_node("retrieve", retrieve)
    inner.add_edge(START, "confirm")
    inner.add_edge("confirm", "retrieve")
    return graph_of(search=inner.compile(), write=write)


def essay(names: str) -> Any:
    """LangGraph's functional API: a task writes, and a human reviews."""
    retriever = retriever_of(names)

    @task
    def write(topic: str) -> str:
        return Telling().invoke(joined(retriever.invoke(topic)) or "nothing").text

    @entrypoint(checkpointer=InMemorySaver())
    def workflow(topic: str) -> dict[str, Any]:
        written = write(topic).result()
        approved = interrupt({"essay": written, "action": "approve or reject"})
        return {"answer": written if approved else "nobody approved of it"}

    return workflow


class Consulting(Calling):
    """Searches, asks a human what they think of it, and answers."""

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> Any:
        result = super()._generate(messages, *args, **kwargs)
        called = sum(isinstance(message, ToolMessage) for message in messages)
        if called == 1:
            call = {"name": "human_assistance", "args": {"query": "is that all?"}, "id": "human"}
            result.generations[0].message = AIMessage("", tool_calls=[call])
        return result


def assisted(names: str) -> Any:
    """As LangGraph's tutorial has it: a human is one of the tools."""
    retriever = retriever_of(names)

    @tool(response_format="content_and_artifact")
    def search(query: str) -> tuple[str, list[Any]]:
        """Search the index."""
        found = retriever.invoke(query)
        return joined(found) or "nothing", found

    @tool
    def human_assistance(query: str) -> str:
        """Request assistance from a human."""
        return interrupt({"query": query})["data"]

    return create_agent(
        Consulting(tool="search"), [search, human_assistance], checkpointer=InMemorySaver()
    )


def at_tools(names: str) -> Any:
    """An agent that stops before it runs its tools."""
    retriever = retriever_of(names)

    @tool
    def search(query: str) -> str:
        """Search the index."""
        return joined(retriever.invoke(query)) or "nothing"

    return create_agent(
        Calling(tool="search"), [search], checkpointer=InMemorySaver(), interrupt_before=["tools"]
    )


def goes_on(names: str) -> Made:
    agent = at_tools(names)

    def ask(question: str) -> Any:
        agent.invoke({"messages": [("user", question)]}, THREAD)
        return agent.invoke(None, THREAD)

    async def aask(question: str) -> Any:
        await agent.ainvoke({"messages": [("user", question)]}, THREAD)
        return await agent.ainvoke(None, THREAD)

    return Made(RunnableLambda(ask, aask))


def human(
    name: str,
    graph: Graph,
    given: Any,
    says: str,
    reply: Callable[[Any], Any],
    warns: tuple[str, ...] = (),
) -> Public:
    return Public(
        name,
        asking(graph, given),
        refusal=BaselineFailed,
        says=f"ask a human.*{says}.*Command.resume",
        way_out=answered(graph, given, reply),
        warns=warns,
        async_since=(3, 11),
    )


ASKED = {"question": QUESTION}
MESSAGES = {"messages": [("user", QUESTION)]}
SHAPES = (
    human(
        "human: a draft is reviewed", reviewed, ASKED, "review this", lambda _: {"feedback": "Be brief."}
    ),
    human(
        "human: what was found is searched again",
        chosen,
        ASKED,
        "found",
        lambda asked: {"approved": asked["again"], "wish": "why exactly?"},
    ),
    human("human: a sub-graph asks", inside, ASKED, "Do you mean", lambda _: "why exactly?"),
    human("human: the functional API", essay, QUESTION, "approve or reject", lambda _: True),
    human(
        "human: one of the tools",
        assisted,
        MESSAGES,
        "is that all",
        lambda _: {"data": "I know nothing more."},
        ("human_assistance",),
    ),
    Public(
        "human: a breakpoint before the tools",
        asking(at_tools, MESSAGES),
        refusal=BaselineFailed,
        says=r"breakpoint.*tools.*invoke\(None, config",
        way_out=goes_on,
    ),
)
