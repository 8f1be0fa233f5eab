"""Applications that go on until they have what they want."""

from collections.abc import Callable
from typing import Any, TypedDict

from langchain_core.documents import Document
from langchain_core.messages import BaseMessage
from langchain_core.runnables import RunnableLambda
from langgraph.graph import END, START, StateGraph

from tests.integrations.langchain.models import Telling, sent_in
from tests.integrations.langchain.zoo.heeding import Rationed, text_of
from tests.integrations.langchain.zoo.shapes import joined, model, retriever_of
from tests.integrations.stateful import Made, Stateful

NOT_AVAILABLE: Any = {"answer_without_sources": "N/A"}


class State(TypedDict, total=False):
    question: str
    documents: list[Document]
    tries: int
    answer: str


def grader() -> Telling:
    return Telling(says=lambda _: "yes")


def relevant(documents: list[Document], question: str, grades: Telling) -> list[Document]:
    return [
        document
        for document in documents
        if grades.invoke(f"Is this relevant to {question}?\n\n{document.page_content}").text == "yes"
    ]


def corrective(*, tries: int | None, parameters: Any = None) -> Made:
    """Retrieves, grades, and rewrites until something is relevant, or it was tried enough."""
    rationed = Rationed(lambda messages: f"more precisely: {text_of(messages)[-40:]}", 1000)
    retriever, grades, rewriter, llm = retriever_of(), grader(), Telling(says=rationed), model()

    def retrieve(state: State) -> State:
        return {"documents": retriever.invoke(state.get("question", ""))}

    def grade(state: State) -> State:
        question = state.get("question", "")
        return {"documents": relevant(state.get("documents", []), question, grades)}

    def rewrite(state: State) -> State:
        better = rewriter.invoke(f"Rewrite: {state.get('question', '')}").text
        return {"question": better, "tries": state.get("tries", 0) + 1}

    def generate(state: State) -> State:
        context = joined(state.get("documents", []))
        return {"answer": llm.invoke(f"{context}\n\nQuestion: {state.get('question', '')}").text}

    def enough(state: State) -> str:
        done = state.get("documents") or (tries is not None and state.get("tries", 0) >= tries)
        return "generate" if done else "rewrite"

    graph: Any = StateGraph(State)
    for name, node in (("retrieve", retrieve), ("grade", grade), ("rewrite", rewrite)):
        graph.add_node(name, node)
    graph.add_node("generate", generate)
    graph.add_edge(START, "retrieve")
    graph.add_edge("retrieve", "grade")
    graph.add_conditional_edges("grade", enough, ["generate", "rewrite"])
    graph.add_edge("rewrite", "retrieve")
    graph.add_edge("generate", END)
    return Made(
        graph.compile(),
        {"question": "why?"},
        parameters=parameters or {},
        requests=lambda: rationed.asked + len(grades.asked) + len(llm.asked),
    )


def self_rag(parameters: Any = None) -> Made:
    """Goes on until its answer is grounded in what was found: where nothing is, for ever."""
    rationed = Rationed(lambda messages: "yes" if sent_in(messages) else "no", 1000)
    retriever, judge, llm = retriever_of(), Telling(says=rationed), model()

    def retrieve(state: State) -> State:
        return {"documents": retriever.invoke(state.get("question", ""))}

    def generate(state: State) -> State:
        return {"answer": llm.invoke(joined(state.get("documents", [])) or "nothing").text}

    def grounded(state: State) -> str:
        asked = f"Facts: {joined(state.get('documents', []))}\n\nAnswer: {state.get('answer', '')}"
        return END if judge.invoke(asked).text == "yes" else "retrieve"

    graph: Any = StateGraph(State)
    graph.add_node("retrieve", retrieve)
    graph.add_node("generate", generate)
    graph.add_edge(START, "retrieve")
    graph.add_edge("retrieve", "generate")
    graph.add_conditional_edges("generate", grounded, [END, "retrieve"])
    return Made(
        graph.compile(),
        {"question": "why?"},
        parameters=parameters or {},
        requests=lambda: rationed.asked + len(llm.asked),
    )


def rewriting_function(parameters: Any = None) -> Made:
    """No graph, no limit: a while loop, until something was found."""
    rationed = Rationed(lambda messages: f"more precisely: {text_of(messages)[-40:]}", 1000)
    retriever, rewriter, llm = retriever_of(), Telling(says=rationed), model()

    def answer(question: str) -> str:
        while not (found := retriever.invoke(question)):
            question = rewriter.invoke(f"Rewrite: {question}").text
        return llm.invoke(f"{joined(found)}\n\n{question}").text

    async def aanswer(question: str) -> str:
        while not (found := await retriever.ainvoke(question)):
            question = (await rewriter.ainvoke(f"Rewrite: {question}")).text
        return (await llm.ainvoke(f"{joined(found)}\n\n{question}")).text

    return Made(
        RunnableLambda(answer, aanswer),
        parameters=parameters or {},
        requests=lambda: rationed.asked + len(llm.asked),
    )


def fallback() -> Made:
    """Where nothing is relevant, it says what a search of the web says."""
    retriever, grades, llm = retriever_of(), grader(), model()

    def web(question: str) -> str:
        return f"Nobody on the web has asked {question} before."

    def answer(question: str) -> str:
        found = relevant(retriever.invoke(question), question, grades)
        context = joined(found) if found else web(question)
        return llm.invoke(f"{context}\n\n{question}").text

    return Made(RunnableLambda(answer))


def criticized() -> Made:
    """Answers, has the answer criticized, and answers again, twice."""
    retriever, llm = retriever_of(), model()
    critic = Telling(says=lambda messages: f"Say it more briefly than {len(text_of(messages)) % 7}.")

    def answer(question: str) -> str:
        context, draft = joined(retriever.invoke(question)), "none"
        for _ in range(2):
            draft = llm.invoke(f"{context}\n\nDraft: {draft}\n\n{question}").text
            advice = critic.invoke(f"Criticize: {draft}").text
            draft = llm.invoke(f"{context}\n\nAdvice: {advice}\n\n{question}").text
        return draft

    return Made(RunnableLambda(answer))


def multi_hop() -> Made:
    """Asks a model what to search for next, until it says that this is enough."""
    retriever, llm = retriever_of(), model()

    def next_hop(messages: list[BaseMessage]) -> str:
        return "enough" if text_of(messages).count("Hop") > 2 else "what lies behind it?"

    planner = Telling(says=next_hop)

    def answer(question: str) -> str:
        notes, query = "", question
        while query != "enough":
            notes += f"Hop: {query}\n{joined(retriever.invoke(query))}\n"
            query = planner.invoke(f"{notes}\n\nWhat next?").text
        return llm.invoke(f"{notes}\n\n{question}").text

    return Made(RunnableLambda(answer))


def unbounded(build: Callable[..., Made], name: str, most: int = 600) -> Stateful:
    """A shape that has no answer where nothing was found: what needs one is left open."""
    return Stateful(
        name,
        build,
        way_out=lambda: build(parameters=NOT_AVAILABLE),
        in_part=True,
        most=most,
    )


SHAPES = (
    Stateful("loop: corrective RAG, three tries", lambda: corrective(tries=3)),
    unbounded(lambda **given: corrective(tries=None, **given), "loop: corrective RAG, any tries"),
    unbounded(self_rag, "loop: self-RAG until the answer is grounded"),
    unbounded(rewriting_function, "loop: a question rewritten until something is found"),
    Stateful("loop: another source where nothing is relevant", fallback),
    Stateful("loop: an answer that is criticized twice", criticized),
    Stateful("loop: several hops until it is enough", multi_hop),
)
