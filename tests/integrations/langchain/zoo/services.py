"""Applications in the manner of public ones that count, show, limit and cache, or ask several times."""

import hashlib
import operator
import time
from collections import deque
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from tempfile import mkdtemp
from typing import Annotated, Any

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.documents import Document
from langchain_core.outputs import LLMResult
from langchain_core.runnables import RunnableLambda
from langgraph.graph import END, START, StateGraph
from langgraph.types import Send
from typing_extensions import TypedDict, override

from tests.integrations.known import TEXTS, shown_in
from tests.integrations.langchain.models import Telling
from tests.integrations.langchain.zoo.heeding import both
from tests.integrations.langchain.zoo.shapes import Store, joined, model, retriever_of
from tests.integrations.stateful import CACHED, Made, Stateful

Answering = Callable[[str], str]


class Costs(BaseCallbackHandler):
    """Adds up what replies cost, and says so after each."""

    def __init__(self) -> None:
        self.total, self.calls = 0.0, 0

    @override
    def on_llm_end(self, response: LLMResult, **kwargs: Any) -> None:
        self.calls += 1
        self.total += len(response.generations[0][0].text) * 0.001
        print(f"{self.calls} calls, {self.total:.3f} in all")


def costs() -> Made:
    retriever, llm, handler = retriever_of(), model(), Costs()
    chain = retriever | joined | llm
    return Made(both(lambda question: chain.invoke(question, {"callbacks": [handler]}).text))


class SessionState(dict[str, Any]):
    """Its entries are attributes, as Streamlit's are."""

    def __getattr__(self, name: str) -> Any:
        return self[name]

    def __setattr__(self, name: str, value: Any) -> None:
        self[name] = value


def screen() -> Made:
    """The history is for the screen; the chain gets the question alone."""
    state = SessionState(messages=[])

    def submitted(question: str) -> str:
        if "chain" not in state:
            state.chain = retriever_of() | joined | model()
        state.messages.append(("user", question))
        reply = state.chain.invoke(question).text
        state.messages.append(("assistant", reply))
        return reply

    return Made(both(submitted))


def single() -> Made:
    """One service for all requests, which loads what it needs at the first."""

    class Service:
        instance: "Service | None" = None
        is_ready = False

        @classmethod
        def get(cls) -> "Service":
            if cls.instance is None:
                cls.instance = cls()
            return cls.instance

        def ask(self, question: str) -> str:
            if not self.is_ready:
                self.store, self.llm, self.is_ready = Store(), model(), True
            return self.llm.invoke(joined(self.store.similarity_search(question))).text

    return Made(both(lambda question: Service.get().ask(question)))


class Assistant:
    """Keeps its last documents, a log that never grows long, and what is left of its budget."""

    def __init__(self) -> None:
        self.retriever, self.llm = retriever_of(), model()
        self.found, self.log, self.used = list[Document](), list[tuple[str, int]](), 0

    def ask(self, question: str) -> str:
        self.found = self.retriever.invoke(question)
        reply = self.llm.invoke(joined(self.found)).text
        self.log.append((question, len(self.found)))
        if len(self.log) > 1000:
            self.log.pop(0)
        self.used += len(reply)
        if self.used > 1_000_000:
            raise RuntimeError("the budget is used up")
        return f"{reply} ({', '.join(str(each.id) for each in self.found)})"


def assistant() -> Made:
    return Made(both(Assistant().ask))


def limited() -> Made:
    """At most so many calls a minute, by a decorator."""
    retriever, llm, calls = retriever_of(), model(), deque[float]()

    def at_most(function: Answering) -> Answering:
        @wraps(function)
        def called(prompt: str) -> str:
            now = time.monotonic()
            while calls and now - calls[0] > 60:
                calls.popleft()
            if len(calls) >= 100_000:
                time.sleep(60)
            calls.append(now)
            return function(prompt)

        return called

    ask = at_most(lambda prompt: llm.invoke(prompt).text)
    return Made(both(lambda question: ask(joined(retriever.invoke(question)))))


def fused() -> Made:
    """RAG fusion: several queries, and one ranking of all that they find."""
    retriever, llm = retriever_of(), model()

    def ranked(results: list[list[Document]]) -> list[Document]:
        scores, known = dict[str, float](), dict[str, Document]()
        for found in results:
            for rank, each in enumerate(found):
                known[each.page_content] = each
                scores[each.page_content] = scores.get(each.page_content, 0.0) + 1 / (rank + 60)
        return [known[text] for text in sorted(scores, key=lambda text: -scores[text])]

    queries = RunnableLambda(lambda question: [f"{question} {each}" for each in ("one", "two")])
    return Made(queries | retriever.map() | ranked | joined | llm | (lambda reply: reply.text))


def decomposed() -> Made:
    """Each question is answered with the answers to those before it."""
    retriever, llm = retriever_of(), model()

    def answer(question: str) -> str:
        pairs = ""
        for part in ("what is it?", "how does it work?", question):
            reply = llm.invoke(f"{pairs}\n{joined(retriever.invoke(part))}\n{part}").text
            pairs += f"\nQ: {part}\nA: {reply}"
        return reply

    return Made(both(answer))


class Parts(TypedDict):
    question: str
    texts: list[str]
    summaries: Annotated[list[str], operator.add]
    answer: str


def summed_up() -> Made:
    """Map and reduce: a summary of each document, then an answer from them all."""
    retriever, llm = retriever_of(), model()
    short = Telling(says=lambda sent: " ".join(TEXTS[name] for name in shown_in(sent[0].text)))

    def retrieve(state: Parts) -> dict[str, Any]:
        return {"texts": [each.page_content for each in retriever.invoke(state["question"])]}

    def summaries(state: Parts) -> Any:
        return [Send("shorten", {"text": text}) for text in state["texts"]] or "reduce"

    def shorten(state: dict[str, str]) -> dict[str, list[str]]:
        return {"summaries": [short.invoke(state["text"]).text]}

    def reduce(state: Parts) -> dict[str, str]:
        return {"answer": llm.invoke("\n".join(sorted(state["summaries"])) or "nothing").text}

    graph: Any = StateGraph(Parts)
    for node in (retrieve, shorten, reduce):
        graph.add_node(node.__name__, node)
    graph.add_edge(START, "retrieve")
    graph.add_conditional_edges("retrieve", summaries, ["shorten", "reduce"])
    graph.add_edge("shorten", "reduce").add_edge("reduce", END)
    return Made(graph.compile(), {"question": "why?"})


def alone() -> Made:
    """No model is asked: the answer is made of what was found."""
    retriever = retriever_of()
    return Made(
        retriever | joined | (lambda text: "bad" if {"b", "d"} <= set(shown_in(text)) else "good")
    )


def on_disk(folder: Path) -> Any:
    """Keeps replies in files, by the whole prompt."""
    retriever, llm = retriever_of(), model()

    def answer(question: str) -> str:
        prompt = f"{joined(retriever.invoke(question))}\n\n{question}"
        file = folder / hashlib.sha256(prompt.encode()).hexdigest()
        if not file.is_file():
            file.write_text(llm.invoke(prompt).text)
        return file.read_text()

    return both(answer)


def cached_on_disk() -> Made:
    return Made(on_disk(Path(mkdtemp())))


def cached_in_a_folder_of_each_run() -> Made:
    return Made(RunnableLambda(lambda _: on_disk(Path(mkdtemp()))))


SHAPES = (
    Stateful("service: costs are added up and printed", costs),
    Stateful("service: a history for the screen", screen),
    Stateful("service: one for all, loaded at the first request", single),
    Stateful("service: last documents, a short log, a budget", assistant),
    Stateful("service: calls of the last minute", limited),
    Stateful("several: RAG fusion", fused),
    Stateful("several: decomposed, with the answers so far", decomposed),
    Stateful("several: map and reduce by Send", summed_up),
    Stateful("service: no model", alone),
    Stateful("cache: replies in files", cached_on_disk, CACHED, cached_in_a_folder_of_each_run),
)
