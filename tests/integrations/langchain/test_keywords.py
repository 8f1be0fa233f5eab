"""What a run is given by name reaches every run, and a graph is streamed as its caller asks."""

import asyncio
import sys
from dataclasses import dataclass, field
from inspect import signature
from typing import Any, TypedDict

import pytest
from langchain_core.documents import Document
from langchain_core.runnables import ConfigurableField, RunnableLambda
from langchain_rag_rule_explainer import RuleExplainer, explained
from langgraph.graph import END, START, StateGraph
from langgraph.pregel import Pregel
from langgraph.runtime import Runtime

from rag_rule_explainer import InvalidInput
from tests.integrations.known import BAD, blames_b_and_d
from tests.integrations.langchain.chains import Counting
from tests.integrations.langchain.models import Telling, facts
from tests.integrations.langchain.streams import rules_in, shape
from tests.integrations.langchain.zoo.shapes import joined


class State(TypedDict):
    question: str
    documents: list[Document]
    answer: str


@dataclass
class Context:
    language: str
    seen: list[str] = field(default_factory=list[str])


def graph() -> tuple[Any, Telling]:
    retriever, model = Counting(documents=facts("abcd")), Telling()

    def retrieve(state: State) -> Any:
        return {"documents": retriever.invoke(state["question"])}

    def write(state: State, runtime: Runtime[Context]) -> Any:
        # What one run does to its context reaches no other one.
        runtime.context.seen.append(state["question"])
        prompt = f"{runtime.context.language}{len(runtime.context.seen)}: {joined(state['documents'])}"
        return {"answer": model.invoke(prompt).text}

    made: Any = StateGraph(State, context_schema=Context)
    made.add_node("retrieve", retrieve)
    made.add_node("write", write)
    made.add_edge(START, "retrieve")
    made.add_edge("retrieve", "write")
    made.add_edge("write", END)
    return made.compile(), model


ASKED = {"question": "why?"}
READING: Any = {"predicate": BAD, "answer_of": lambda state: state["answer"]}


@pytest.mark.spread(fast=2)
@pytest.mark.parametrize("awaiting", [False, True])
def test_a_context_is_given_to_every_run(awaiting: bool) -> None:
    application, _ = graph()
    explainer, context = RuleExplainer(application, **READING), Context("en")
    if awaiting:
        explanation = asyncio.run(explainer.aexplain(ASKED, context=context))
    else:
        explanation = explainer.explain(ASKED, context=context)
    assert blames_b_and_d(explanation)
    assert context.seen == []
    assert explainer.verify(["b", "d"], "retention", ASKED, context=context).holds
    assert explainer.estimate(ASKED, context=context).worst.replays >= explanation.counts.replays


def test_it_goes_through_invoke_as_well() -> None:
    application, _ = graph()
    context = Context("en")
    output = explained(application, **READING).invoke(ASKED, context=context)
    assert output["answer"] == "bad news"
    assert [each["sources"] for each in output["rag_rules"]["retention_rules"]] == [["b", "d"]]
    assert context.seen == ["why?"]  # the run is the user's own


@pytest.mark.spread(fast=2)
@pytest.mark.parametrize("mode", [None, "updates", "values", "messages", ["messages", "values"]])
def test_a_graph_is_streamed_as_it_is_without_rules(mode: Any) -> None:
    asked: dict[str, Any] = {} if mode is None else {"stream_mode": mode}
    application, _ = graph()
    plain = list(application.stream(ASKED, context=Context("en"), **asked))
    *chunks, last = explained(application, **READING).stream(ASKED, context=Context("en"), **asked)
    assert [shape(each) for each in chunks] == [shape(each) for each in plain]
    assert rules_in(last) == [["b", "d"]]
    assert type(last) is type(plain[-1]) or isinstance(last, dict)


def test_each_method_shows_what_explain_takes() -> None:
    for method in (RuleExplainer.cite, RuleExplainer.acite, RuleExplainer.explain_each):
        assert {"documents", "add_documents", "pinned", "baseline"} <= signature(method).parameters.keys()


IS_TYPED = "version" in signature(Pregel.invoke).parameters
READING_TYPED: Any = {"predicate": BAD, "answer_of": lambda output: output.value["answer"]}
TYPED = pytest.mark.skipif(not IS_TYPED, reason="a newer LangGraph")


@pytest.mark.spread(fast=2)
@TYPED
@pytest.mark.parametrize("mode", [None, "messages", ["messages", "values"]])
@pytest.mark.parametrize("awaiting", [False, True])
def test_every_chunk_of_a_typed_stream_has_type_namespace_and_data(mode: Any, awaiting: bool) -> None:
    application, _ = graph()
    asked: dict[str, Any] = {"stream_mode": mode, "version": "v2"}
    plain = list(application.stream(ASKED, context=Context("en"), **asked))
    chain = explained(application, **READING_TYPED)

    async def collected() -> list[Any]:
        return [each async for each in chain.astream(ASKED, context=Context("en"), **asked)]

    told = asyncio.run(collected()) if awaiting else chain.stream(ASKED, context=Context("en"), **asked)
    *chunks, last = told
    assert [each["type"] for each in chunks] == [each["type"] for each in plain]
    assert (last["type"], last["ns"]) == ("custom", ())
    assert rules_in(last["data"]) == [["b", "d"]]


@TYPED
def test_an_output_with_its_interrupts_keeps_its_type() -> None:
    application, _ = graph()
    chain = explained(application, **READING_TYPED)
    output: Any = chain.invoke(ASKED, context=Context("en"), version="v2")
    assert (output.value["answer"], output.interrupts) == ("bad news", ())
    assert rules_in(output.value) == [["b", "d"]]


@pytest.mark.parametrize("mode", ["messages", ["messages"], "custom"])
def test_a_stream_without_any_chunk_ends_with_the_rules_in_its_own_shape(mode: Any) -> None:
    retriever = Counting(documents=facts("abd"))
    nodes: Any = StateGraph(State)
    # A model with the tag "nostream" tells no tokens.
    nodes.add_node("answer", lambda state: {"answer": silently(retriever.invoke(state["question"]))})
    nodes.add_edge(START, "answer")
    told = list(explained(nodes.compile(), **READING).stream(ASKED, stream_mode=mode, subgraphs=True))
    assert len(told) == 1
    assert told[0][0] == ()
    assert rules_in(told[0]) == [["b", "d"]]


def silently(found: list[Document]) -> str:
    return Telling(disable_streaming=True).invoke(joined(found), {"tags": ["nostream"]}).text


@pytest.mark.skipif(sys.version_info < (3, 11), reason="LangGraph streams no tokens of awaited nodes")
def test_and_so_it_is_on_a_loop() -> None:
    application, _ = graph()

    async def streamed() -> list[Any]:
        chain = explained(application, **READING)
        return [
            each async for each in chain.astream(ASKED, context=Context("en"), stream_mode="messages")
        ]

    *chunks, last = asyncio.run(streamed())
    assert "".join(message.content for message, _ in chunks) == "bad news"
    assert rules_in(last) == [["b", "d"]]


def test_what_may_be_configured_in_the_application_may_be_configured_here() -> None:
    model = Telling().configurable_fields(spends=ConfigurableField("spends"))
    chain = Counting(documents=facts("abcd")) | RunnableLambda(joined) | model
    explainer = RuleExplainer(chain, predicate=BAD)
    assert [spec.id for spec in explainer.config_specs] == ["spends"]


@pytest.mark.parametrize(("own", "given", "most"), [(2, 5, 2), (5, 2, 2), (None, 3, 3)])
def test_of_both_bounds_the_smaller_one_holds(own: int | None, given: int, most: int) -> None:
    explainer = RuleExplainer(
        Counting(documents=facts("abcd")) | RunnableLambda(joined) | Telling(),
        predicate=BAD,
        **({} if own is None else {"concurrency": own}),
    )
    explanation = explainer.explain("why?", {"max_concurrency": given})
    assert explanation.settings["concurrency"] == most


def lcel() -> Any:
    retrieving = {"found": Counting(documents=facts("abd")) | RunnableLambda(joined)}
    return retrieving | RunnableLambda(str) | Telling()


SETTING = "RuleExplainer\\(application, {}=\\.\\.\\.\\)"


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("predicat", f"'predicat'; did you mean 'predicate'\\? .*{SETTING.format('predicate')}"),
        ("limits", f"'limits'; limits is a setting.*{SETTING.format('limits')}"),
        ("sources", "'sources'; did you mean 'documents'\\?"),
        ("docs", "'docs'; did you mean 'documents'\\?"),
        ("pined", "'pined'; did you mean 'pinned'\\? pinned is a keyword of explain"),
        ("max_replays", f"did you mean 'limits'\\? .*{SETTING.format('limits')}"),
        ("replays", f"did you mean 'limits'\\? .*{SETTING.format('limits')}"),
        ("samples", f"did you mean 'noise'\\? .*{SETTING.format('noise')}"),
    ],
)
def test_a_misspelt_setting_is_not_taken_for_a_keyword_of_the_application(given: str, told: str) -> None:
    explainer: Any = RuleExplainer(lcel(), predicate=BAD)
    with pytest.raises(InvalidInput, match=told):
        explainer.explain("why?", **{given: ["x"]})
    with pytest.raises(InvalidInput, match=told):
        asyncio.run(explainer.aexplain("why?", **{given: ["x"]}))
    attaching: Any = explained(lcel(), predicate=BAD)
    with pytest.raises(InvalidInput, match=told):
        attaching.invoke("why?", **{given: ["x"]})


def test_nor_where_a_graph_or_a_function_or_a_retriever_is_given_it() -> None:
    def answer(question: str) -> str:
        return Telling().invoke(joined(Counting(documents=facts("abd")).invoke(question))).text

    retrieving: Any = Counting(documents=facts("abd")) | RunnableLambda(joined) | Telling()
    applications: list[Any] = [graph()[0], answer, retrieving.with_config(tags=["t"]).with_retry()]
    for application in applications:
        with pytest.raises(InvalidInput, match="did you mean 'documents'"):
            RuleExplainer(application, **READING).explain(ASKED, document=[])


def test_what_the_application_takes_goes_through_whatever_it_looks_like() -> None:
    def answer(question: str, document: str) -> str:
        found = Counting(documents=facts("abd")).invoke(question)
        return document + Telling().invoke(joined(found)).text

    def collecting(question: str, **named: str) -> str:
        return answer(question, named["document"])

    applications: list[Any] = [answer, RunnableLambda[Any, Any](collecting) | RunnableLambda(str)]
    for application in applications:
        explanation = RuleExplainer(application, predicate=BAD).explain("why?", document="> ")
        assert explanation.baseline.text == "> bad news"
    # What looks like nothing of ours is left to the application, which may do nothing with it.
    assert blames_b_and_d(RuleExplainer(lcel(), predicate=BAD).explain("why?", stop=["x"]))
