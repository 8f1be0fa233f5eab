"""explained(): the chain's own output types, with the rules on them."""

import asyncio
import json
import pickle
from typing import Annotated, Any, TypedDict, cast

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import ConfigurableField, RunnableParallel, RunnablePassthrough
from langchain_rag_rule_explainer import Explained, RuleExplainer, Unexplained, explained, gate
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages

from rag_rule_explainer import (
    ConditionFalse,
    InvalidInput,
    NoSourcesCaptured,
    StateShared,
)
from rag_rule_explainer.instrumentation.outputs import rules_in
from tests.integrations.known import BAD, blames_b_and_d, check_unexplained
from tests.integrations.langchain.chains import Counting, named, retriever_of, step, texts
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
    assert said(output.rag_rules) == RULES  # type: ignore[attr-defined] -- it is attached at run time
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


def test_an_explained_graph_has_what_the_graph_has_beside_its_runs() -> None:
    retriever, model = Counting(documents=facts("abcd")), Telling()

    def reply(state: Talk) -> dict[str, Any]:
        found = "\n".join(each.page_content for each in retriever.invoke(state["messages"][-1].text))
        return {"messages": [model.invoke([HumanMessage(found)])]}

    graph: Any = StateGraph(Talk)
    graph.add_node("reply", reply)
    graph.add_edge(START, "reply")
    chain: Any = explained(graph.compile(checkpointer=InMemorySaver()), predicate=BAD)
    config: Any = {"configurable": {"thread_id": "1"}}
    chain.invoke({"messages": [HumanMessage("?")]}, config)
    assert [each.type for each in chain.get_state(config).values["messages"]] == ["human", "ai"]
    assert len(list(chain.get_state_history(config))) == 3
    chain.update_state(config, {"messages": [HumanMessage("again?")]})
    assert asyncio.run(chain.aget_state(config)).values["messages"][-1].text == "again?"
    with pytest.raises(AttributeError, match="get_states"):
        _ = chain.get_states
    with pytest.raises(AttributeError, match="get_state"):
        _ = cast("Any", explained(Telling(), predicate=BAD)).get_state


def test_an_explainer_may_be_given_itself_and_the_chain_goes_on_in_others() -> None:
    explainer = RuleExplainer(retriever_of("abcd") | step(answer), predicate=BAD)
    chain = step(str.strip) | explained(explainer) | step(str.upper)
    assert chain.invoke(" ? ") == "BAD"
    assert [str(each) for each in explained(explainer).batch(["1", "2"])] == ["bad", "bad"]
    assert explained(explainer).with_config(tags=["x"]).invoke("?") == "bad"


_FULL: Any = {"configurable": {"found": named("abcd")}}
COMPOSED: dict[str, Any] = {
    "config": lambda chain: lambda: chain.invoke("?", _FULL),
    "with_config": lambda chain: lambda: chain.with_config(_FULL).invoke("?"),
    "batch": lambda chain: lambda: chain.batch(["?"], _FULL)[0],
    "bind": lambda chain: lambda: chain.bind(stop=["."]).invoke("?", _FULL),
    "map": lambda chain: lambda: chain.map().invoke(["?"], _FULL)[0],
    "with_retry": lambda chain: lambda: chain.with_retry().invoke("?", _FULL),
    "with_fallbacks": lambda chain: lambda: chain.with_fallbacks([chain]).invoke("?", _FULL),
    "with_types": lambda chain: lambda: chain.with_types(input_type=str).invoke("?", _FULL),
    "configurable_alternatives": lambda chain: (
        lambda: chain.configurable_alternatives(ConfigurableField("which"), plain=step(str)).invoke(
            "?", _FULL
        )
    ),
}


@pytest.mark.spread(fast=2)
@pytest.mark.parametrize("way", COMPOSED)
def test_an_explained_chain_explains_however_it_is_composed_and_configured(way: str) -> None:
    retriever = retriever_of("a").configurable_fields(documents=ConfigurableField("found"))
    chain = explained(retriever | step(answer), predicate=BAD)
    assert [spec.id for spec in chain.config_specs] == ["found"]
    # With its own documents alone, the answer would be good.
    output: Any = COMPOSED[way](chain)()
    assert str(output) == "bad"
    assert said(output.rag_rules) == RULES


def rules_on(output: Any) -> Any:
    if isinstance(output, dict):
        return output["rag_rules"]
    if isinstance(output, AIMessage):
        return output.response_metadata["rag_rules"]
    return output.rag_rules if hasattr(output, "rag_rules") else rules_in(output)


def plain(output: Any) -> Any:
    """Without its rules."""
    if isinstance(output, dict):
        return {key: value for key, value in output.items() if key != "rag_rules"}
    if isinstance(output, AIMessage):
        return output.content
    return output.output if isinstance(output, Unexplained) else output


@pytest.mark.parametrize("way", ["invoke", "ainvoke", "stream", "astream"])
def test_an_answer_comes_back_although_it_has_no_rules(
    way: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def asked(chain: Any) -> Any:
        if way == "ainvoke":
            return await chain.ainvoke("?")
        chunks = [each async for each in chain.astream("?")]
        return chunks[:-1], chunks[-1]

    def ask(chain: Any) -> Any:
        if way.startswith("a"):
            return asyncio.run(asked(chain))
        if way == "invoke":
            return chain.invoke("?")
        *chunks, last = chain.stream("?")
        return chunks, last

    for answered in ("bad", AIMessage("bad"), {"answer": "bad"}, ["bad"]):
        bare = step(lambda _, answered=answered: answered)
        output = ask(explained(bare, predicate=BAD, answer_of=str))
        if "stream" in way:
            chunks, output = output
            assert chunks == [answered]
        else:
            assert plain(output) == plain(answered)
        check_unexplained(rules_on(output), NoSourcesCaptured, r"in gate\(\.\.\.\)")
        (record,) = caplog.records
        assert record.message.startswith("the answer comes without rules: NoSourcesCaptured: the appl")
        caplog.clear()


def refusals() -> dict[str, tuple[Any, type[Exception], str]]:
    history: list[str] = []
    model = Telling()

    def remembers(found: Any) -> str:
        history.append(model.invoke([HumanMessage("\n".join([*history, *sorted(texts(found))]))]).text)
        return "bad"

    unreadable = gate(lambda question: [object()])
    return {
        "state": (retriever_of("ab") | step(remembers), StateShared, "carry over from run to run"),
        "gate": (step(lambda asked: "bad" if unreadable(asked) else ""), InvalidInput, "text_of="),
        "condition": (retriever_of("ab") | step(lambda _: "good"), ConditionFalse, "'bad'"),
        "nothing": (retriever_of("") | step(answer), NoSourcesCaptured, "returned no documents"),
    }


@pytest.mark.parametrize("awaiting", [False, True])
@pytest.mark.parametrize("name", refusals())
def test_whatever_is_refused_costs_no_answer(name: str, awaiting: bool) -> None:
    chain, error, told = refusals()[name]
    expected = chain.invoke("?")
    own: Any = explained(chain, predicate=BAD, false_condition="error")
    output: Any = asyncio.run(own.ainvoke("?")) if awaiting else own.invoke("?")
    assert output == expected
    check_unexplained(output.rag_rules, error, told)


def test_a_question_that_cannot_be_read_is_answered() -> None:
    chain: Any = explained(step(lambda given: given["what"]) | retriever_of("abcd") | step(answer), BAD)
    output = chain.invoke({"what": "?"})
    assert str(output) == "bad"
    check_unexplained(output.rag_rules, InvalidInput, "pass question_of=")
    with pytest.raises(InvalidInput, match="pass question_of="):
        chain.explainer.invoke({"what": "?"})


def test_what_the_chain_raises_is_raised() -> None:
    def fails(_: Any) -> str:
        raise KeyError("nope")

    chain: Any = explained(retriever_of("ab") | step(fails), predicate=BAD)

    async def awaited() -> None:
        await chain.ainvoke("?")

    for run in (
        lambda: chain.invoke("?"),
        lambda: chain.batch(["?"]),
        lambda: list(chain.stream("?")),
        lambda: asyncio.run(awaited()),
    ):
        with pytest.raises(KeyError, match="nope"):
            run()
    assert isinstance(chain.batch(["?"], return_exceptions=True)[0], KeyError)


@pytest.mark.parametrize("way", ["invoke", "stream"])
def test_an_explained_chain_inside_what_is_explained_is_a_chain_like_any_other(way: str) -> None:
    inner: Any = explained(retriever_of("abcd") | step(answer), predicate=BAD)

    def ask(question: str) -> str:
        output = inner.invoke(question) if way == "invoke" else "".join(inner.stream(question))
        return str(output)

    output: Any = explained(step(ask), predicate=BAD).invoke("?")
    assert said(output.rag_rules) == RULES


def test_it_shows_itself_as_the_chain_it_wraps() -> None:
    chain = retriever_of("abcd") | step(answer)
    assert len(explained(chain).get_graph().nodes) == len(chain.get_graph().nodes)
    assert explained(chain).InputType is chain.InputType
    graph = RuleExplainer(chain).get_graph()
    assert len(graph.nodes) == len(chain.get_graph().nodes) + 1
    assert "RuleExplainer" in graph.draw_mermaid()
    assert RuleExplainer(chain).get_input_jsonschema()["type"] == "string"
