"""An explained application inside a graph: no text of a replay reaches the stream of the graph's user."""

from typing import Any

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.runnables import RunnableLambda
from langchain_rag_rule_explainer import explained
from langgraph.graph import END, START, StateGraph
from typing_extensions import TypedDict, override

from tests.integrations.known import BAD
from tests.integrations.langchain.chains import Counting
from tests.integrations.langchain.models import Telling, facts
from tests.integrations.langchain.zoo.shapes import joined


class State(TypedDict):
    question: str
    answer: str


def said(messages: Any) -> str:
    shown = messages[-1].text
    return "bad" if "b" in shown.split() and "d" in shown.split() else "good"


def chain() -> Any:
    return Counting(documents=facts("abd")) | RunnableLambda(joined) | Telling(says=said)


def graph_over(inner: Any, node: str = "answering") -> Any:
    def answer(state: State) -> dict[str, str]:
        given = (
            {"question": state["question"]} if hasattr(inner, "get_graph") and node == "outer" else None
        )
        found = inner.invoke(given or state["question"])
        return {"answer": found["answer"] if given else found.text}

    building: Any = StateGraph(State)
    building.add_node(node, answer)
    building.add_edge(START, node)
    building.add_edge(node, END)
    return building.compile()


ASKED = {"question": "why?"}


def streamed(graph: Any, **modes: Any) -> list[Any]:
    return [*graph.stream(ASKED, **modes)]


@pytest.mark.parametrize("trace_replays", [True, False])
def test_messages_of_replays_are_not_streamed(trace_replays: bool) -> None:
    def texts(inner: Any) -> list[str]:
        return [each.text for each, _ in streamed(graph_over(inner), stream_mode="messages")]

    asked = explained(chain(), predicate=BAD, trace_replays=trace_replays)
    assert "".join(texts(asked)) == "".join(texts(chain())) != ""


@pytest.mark.parametrize("trace_replays", [True, False])
def test_updates_of_a_graph_that_is_replayed_are_not_streamed(trace_replays: bool) -> None:
    def updates(inner: Any) -> list[Any]:
        graph = graph_over(inner, "outer")
        return [each[1] for each in streamed(graph, stream_mode="updates", subgraphs=True)]

    inner = graph_over(chain())
    asked = explained(graph_over(chain()), predicate=BAD, trace_replays=trace_replays)
    theirs = [each for each in updates(asked) if "rag_rules" not in each]
    assert theirs == updates(inner)


class Hearing(BaseCallbackHandler):
    def __init__(self) -> None:
        self.heard: list[str] = []

    @override
    def on_retriever_start(self, *args: Any, **kwargs: Any) -> None:
        self.heard.append("search")


def test_a_handler_of_the_users_hears_no_replay_of_a_graph_that_is_hidden() -> None:
    hearing = Hearing()
    graph = explained(graph_over(chain()), predicate=BAD, trace_replays=False)
    assert graph.invoke(ASKED, {"callbacks": [hearing]})["rag_rules"]["counts"]["replays"]
    assert hearing.heard == ["search"]
