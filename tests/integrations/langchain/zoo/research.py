"""Research: rounds of searching, summing up and reflecting, before anything is answered."""

from collections.abc import Sequence
from operator import add
from typing import Annotated, Any, TypedDict

from langchain_core.documents import Document
from langchain_core.messages import BaseMessage, HumanMessage, RemoveMessage
from langchain_core.runnables import RunnableLambda
from langchain_rag_rule_explainer import gate
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.types import Send

from tests.integrations.known import TEXTS, shown_in
from tests.integrations.langchain.chains import Scripted
from tests.integrations.langchain.models import Telling, facts
from tests.integrations.langchain.zoo.heeding import text_of
from tests.integrations.langchain.zoo.shapes import joined, retriever_of
from tests.integrations.public import Public
from tests.integrations.stateful import QUESTION, Made
from tests.integrations.web import snippets

TOPICS = {"a": "amber", "b": "basalt", "c": "copper", "d": "dunes"}
ASKED = {"question": QUESTION}


def topics_in(text: str) -> list[str]:
    """What documents or earlier summaries in a text are about."""
    return [topic for name, topic in TOPICS.items() if name in shown_in(text) or topic in text]


def sums_up(messages: list[BaseMessage]) -> str:
    """A summary in words of its own: of the sentences, nothing is left."""
    told = topics_in(text_of(messages))
    return f"The sources speak of {', '.join(told)}." if told else "The sources speak of nothing."


def reports(messages: list[BaseMessage]) -> str:
    """What is known of it from summaries alone."""
    return "bad news" if {"basalt", "dunes"} <= set(topics_in(text_of(messages))) else "good news"


class Research(TypedDict, total=False):
    question: str
    query: str
    found: list[str]
    summary: str
    summaries: Annotated[list[str], add]
    loops: int
    answer: str


def halves(names: str) -> Scripted:
    """Finds one half of the documents first, and the other when it is asked for more."""

    def script(query: str) -> list[Document]:
        middle = (len(names) + 1) // 2
        return facts(names[middle:] if "follow" in query else names[:middle])

    return Scripted(script=script)


class Written(TypedDict, total=False):
    summaries: Annotated[list[str], add]


def chained(*nodes: tuple[str, Any], output: Any = Research) -> Any:
    """These nodes after one another; where it goes on from the last one is left open."""
    graph: Any = StateGraph(Research, output_schema=output)
    before = START
    for name, node in nodes:
        graph.add_node(name, node)
        graph.add_edge(before, name)
        before = name
    return graph


def running_summary(names: str) -> Made:
    """Searches, extends a running summary, reflects on what is missing, searches again, and reports."""
    retriever, writer = halves(names), Telling(says=sums_up)
    reflecting, reporter = Telling(says=lambda _: "follow up on that"), Telling(says=reports)

    def plan(state: Research) -> Research:
        return {"query": state.get("question", ""), "loops": 0}

    def search(state: Research) -> Research:
        loops = state.get("loops", 0) + 1
        return {"found": [joined(retriever.invoke(state.get("query", "")))], "loops": loops}

    def sum_up(state: Research) -> Research:
        told = f"Summary: {state.get('summary', '')}\n\nNew: {state.get('found', [''])[-1]}"
        return {"summary": writer.invoke(told).text}

    def reflect(state: Research) -> Research:
        return {"query": reflecting.invoke(f"What is missing? {state.get('summary')}").text}

    def finish(state: Research) -> Research:
        return {"answer": reporter.invoke(f"Report on: {state.get('summary')}").text}

    graph = chained(("plan", plan), ("search", search), ("sum_up", sum_up), ("reflect", reflect))
    graph.add_node("finish", finish)
    graph.add_conditional_edges(
        "reflect", lambda state: "search" if state["loops"] < 2 else "finish", ["search", "finish"]
    )
    graph.add_edge("finish", END)
    return Made(graph.compile(), ASKED)


def map_reduce(names: str) -> Made:
    """Sums up each document in a branch of its own, and all summaries into one."""
    retriever, writer, reporter = retriever_of(names), Telling(says=sums_up), Telling(says=reports)

    async def search(state: Research) -> Research:
        found = await retriever.ainvoke(state.get("question", ""))
        return {"found": [each.page_content for each in found]}

    async def sum_up(state: Any) -> Research:
        return {"summaries": [(await writer.ainvoke(f"Sum up: {state['text']}")).text]}

    async def finish(state: Research) -> Research:
        told = "\n".join(state.get("summaries", [])) or "nothing"
        return {"answer": (await reporter.ainvoke(f"Report on: {told}")).text}

    graph: Any = StateGraph(Research)
    for name, node in (("search", search), ("sum_up", sum_up), ("finish", finish)):
        graph.add_node(name, node)
    graph.add_edge(START, "search")
    graph.add_conditional_edges(
        "search",
        lambda state: [Send("sum_up", {"text": each}) for each in state["found"]] or "finish",
        ["sum_up", "finish"],
    )
    graph.add_edge("sum_up", "finish")
    graph.add_edge("finish", END)
    return Made(graph.compile(), ASKED)


def sections(names: str) -> Made:
    """Sections, each of them researched on the web by a sub-graph, all at once; then a report."""
    writer, reporter = Telling(says=sums_up), Telling(says=reports)

    @gate
    def search_web(query: str) -> list[dict[str, Any]]:
        return [{"id": name, "snippet": TEXTS[name], "asked": query} for name in names]

    def research(state: Research) -> Research:
        return {"found": [snippets(search_web(state.get("query", "")))]}

    def write(state: Research) -> Research:
        told = f"Section {state.get('query')}: {''.join(state.get('found', []))}"
        return {"summaries": [writer.invoke(told).text]}

    section = chained(("research", research), ("write", write), output=Written).compile()

    def compile_report(state: Research) -> Research:
        told = "\n".join(state.get("summaries", []))
        return {"answer": reporter.invoke(f"Report on: {told}").text}

    graph: Any = StateGraph(Research)
    graph.add_node("section", section, input_schema=Research)
    graph.add_node("compile", compile_report)
    graph.add_conditional_edges(
        START, lambda _: [Send("section", {"query": each}) for each in ("causes", "effects")], ["section"]
    )
    graph.add_edge("section", "compile")
    graph.add_edge("compile", END)
    return Made(graph.compile(), ASKED)


def interviews(names: str) -> Made:
    """Perspectives: an analyst asks an expert, who searches, for two turns; then an editor writes."""
    retriever = retriever_of(names)
    analyst = Telling(says=lambda messages: f"question {text_of(messages).count('Expert') + 1} on that")
    expert, editor = Telling(says=sums_up), Telling(says=reports)

    def interview(perspective: str) -> str:
        talk = f"You are a {perspective}."
        for _ in range(2):
            asked = analyst.invoke(talk).text
            told = expert.invoke(f"{joined(retriever.invoke(asked))}\n\n{asked}").text
            talk += f"\nAnalyst: {asked}\nExpert: {told}"
        return talk

    async def ainterview(perspective: str) -> str:
        talk = f"You are a {perspective}."
        for _ in range(2):
            asked = (await analyst.ainvoke(talk)).text
            told = (await expert.ainvoke(f"{joined(await retriever.ainvoke(asked))}\n\n{asked}")).text
            talk += f"\nAnalyst: {asked}\nExpert: {told}"
        return talk

    talks = RunnableLambda(interview, ainterview).map()
    chain = RunnableLambda(lambda _: ["geologist", "builder"]) | talks | "\n\n".join | editor
    return Made(chain, QUESTION)


def conversation_summed_up(names: str) -> Made:
    """A chat that replaces old messages by a summary, and retrieves for each question."""
    retriever, writer, llm = retriever_of(names), Telling(says=sums_up), Telling()

    class Chat(MessagesState, total=False):
        summary: str

    def sum_up(state: Chat) -> Any:
        old: Sequence[BaseMessage] = state["messages"][:-1]
        if len(old) < 4:
            return {}
        gone = [RemoveMessage(id=str(each.id)) for each in old]
        return {"summary": writer.invoke([*old, HumanMessage("Sum it up.")]).text, "messages": gone}

    def reply(state: Chat) -> Any:
        found = joined(retriever.invoke(state["messages"][-1].text))
        before = f"Summary: {state.get('summary', '')}\n\n{found}"
        return {"messages": [llm.invoke([HumanMessage(before), *state["messages"]])]}

    graph: Any = StateGraph(Chat)
    graph.add_node("sum_up", sum_up)
    graph.add_node("reply", reply)
    graph.add_edge(START, "sum_up")
    graph.add_edge("sum_up", "reply")
    graph.add_edge("reply", END)
    made = graph.compile(checkpointer=InMemorySaver())
    thread: Any = {"configurable": {"thread_id": "t"}}
    past = ["Good morning.", "Good morning to you.", "How are you?", "I am well."]
    made.update_state(thread, {"messages": [HumanMessage(each) for each in past]})
    return Made(
        made,
        {"messages": [("user", QUESTION)]},
        config=thread,
        memory=lambda: [each.text for each in made.get_state(thread).values["messages"]],
    )


def planned(names: str) -> Made:
    """Plan and execute: steps one by one, each with what was found; a planner says when it is enough."""
    retriever, worker, reporter = retriever_of(names), Telling(says=sums_up), Telling(says=reports)
    planner = Telling(
        says=lambda messages: "done" if text_of(messages).count("Step") > 1 else "look it up"
    )

    def answer(question: str) -> str:
        past = ""
        while (step := planner.invoke(f"{question}\n{past}").text) != "done":
            done = worker.invoke(f"{step}\n\n{joined(retriever.invoke(step))}").text
            past += f"Step: {step}. Result: {done}\n"
        return reporter.invoke(f"{question}\n{past}").text

    return Made(RunnableLambda(answer), QUESTION)


SHAPES = (
    Public("research: a running summary, and what is missing", running_summary),
    Public("research: each document summed up in a branch", map_reduce),
    Public("research: sections by sub-graphs, from the web", sections),
    Public("research: interviews", interviews, is_function=True),
    Public("research: a conversation that is summed up", conversation_summed_up),
    Public("research: plan and execute", planned, is_function=True),
)
