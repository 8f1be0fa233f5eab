"""explained(): the chain's own output types, with the rules on them."""

import asyncio
import json
import pickle
from typing import Annotated, Any, TypedDict

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import RunnableParallel, RunnablePassthrough
from langchain_rag_rule_explainer import Explained, RuleExplainer, explained
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages

from tests.integrations.known import BAD, blames_b_and_d
from tests.integrations.langchain.chains import Counting, retriever_of, step, texts
from tests.integrations.langchain.models import Telling, facts

RULES = [["b", "d"]]


def said(rag_rules: dict[str, Any]) -> list[list[str]]:
    assert json.loads(json.dumps(rag_rules)) == rag_rules
    return [rule["sources"] for rule in rag_rules["retention_rules"]]


def answer(found: Any) -> str:
    return "bad" if texts(found) >= {"b", "d"} else "good"


@pytest.mark.parametrize("awaiting", [False, True])
def test_a_string_stays_a_string(awaiting: bool) -> None:
    chain = explained(retriever_of("abcd") | step(answer), predicate=BAD)
    output = asyncio.run(chain.ainvoke("?")) if awaiting else chain.invoke("?")
    assert output == "bad"
    assert isinstance(output, str)
    assert said(output.rag_rules) == RULES  # type: ignore[attr-defined]
    again = pickle.loads(pickle.dumps(output))  # noqa: S301 -- our own
    assert (again, said(again.rag_rules)) == ("bad", RULES)


def test_a_message_is_copied() -> None:
    message = AIMessage("bad", id="m", response_metadata={"finish_reason": "stop"})
    chain = retriever_of("abcd") | step(lambda f: message if answer(f) == "bad" else AIMessage("good"))
    output: Any = explained(chain, predicate=BAD).invoke("?")
    assert (output.content, output.id, output.response_metadata["finish_reason"]) == ("bad", "m", "stop")
    assert said(output.response_metadata["rag_rules"]) == RULES
    assert "rag_rules" not in message.response_metadata


def test_a_dict_gets_a_key() -> None:
    chain = RunnableParallel(answer=retriever_of("abcd") | step(answer), asked=RunnablePassthrough())
    output: Any = explained(chain, predicate=BAD).invoke("?")
    assert {key: output[key] for key in ("answer", "asked")} == {"answer": "bad", "asked": "?"}
    assert said(output["rag_rules"]) == RULES


def test_anything_else_is_put_beside_its_explanation() -> None:
    chain = retriever_of("abcd") | step(lambda found: [answer(found)])
    output: Any = explained(chain, predicate=BAD, answer_of=lambda out: out[0]).invoke("?")
    assert isinstance(output, Explained)
    assert output.output == ["bad"]
    assert blames_b_and_d(output.explanation)


class Talk(TypedDict):
    messages: Annotated[list[Any], add_messages]


def test_a_graphs_state_gets_a_key_and_its_last_answer_the_rules() -> None:
    retriever = Counting(documents=facts("abcd"))
    model = Telling()

    def reply(state: Talk) -> dict[str, Any]:
        found = "\n".join(each.page_content for each in retriever.invoke(state["messages"][-1].text))
        return {"messages": [model.invoke([HumanMessage(found)])]}

    graph: Any = StateGraph(Talk)
    graph.add_node("reply", reply)
    graph.add_edge(START, "reply")
    graph.add_edge("reply", END)
    output: Any = explained(graph.compile(), predicate=BAD).invoke({"messages": [HumanMessage("?")]})
    assert said(output["rag_rules"]) == RULES
    asked, replied = output["messages"]
    assert said(replied.response_metadata["rag_rules"]) == RULES
    assert asked.response_metadata == {}
    assert retriever.live == ["?"]


def test_an_explainer_may_be_given_itself_and_the_chain_goes_on_in_others() -> None:
    explainer = RuleExplainer(retriever_of("abcd") | step(answer), predicate=BAD)
    chain = step(str.strip) | explained(explainer) | step(str.upper)
    assert chain.invoke(" ? ") == "BAD"
    assert [str(each) for each in explained(explainer).batch(["1", "2"])] == ["bad", "bad"]
    assert explained(explainer).with_config(tags=["x"]).invoke("?") == "bad"


def test_it_shows_itself_as_the_chain_it_wraps() -> None:
    chain = retriever_of("abcd") | step(answer)
    assert len(explained(chain).get_graph().nodes) == len(chain.get_graph().nodes)
    assert explained(chain).InputType is chain.InputType
    graph = RuleExplainer(chain).get_graph()
    assert len(graph.nodes) == len(chain.get_graph().nodes) + 1
    assert "RuleExplainer" in graph.draw_mermaid()
    assert RuleExplainer(chain).get_input_jsonschema()["type"] == "string"
