"""Incidents from a log, documents that are added, and input that cannot be explained as it is."""

import asyncio
from typing import Any

import pytest
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.response.schema import Response
from llama_index.core.chat_engine import ContextChatEngine
from llama_index.core.schema import Document, NodeWithScore, QueryBundle, TextNode
from llama_index.core.workflow import StartEvent, StopEvent, Workflow, step
from llama_index_rag_rule_explainer import RuleExplainer, explained, gate

from rag_rule_explainer import BaselineFailed, Explanation, InvalidInput, NoSourcesCaptured, Source
from tests.integrations.known import (
    BAD,
    TEXTS,
    blames_b_and_d,
    check_unexplained,
    ids,
    log_of,
    omission,
    retention,
    sets,
)
from tests.integrations.llama_index.crossing import crossed
from tests.integrations.llama_index.engines import engine_of, retriever_of
from tests.integrations.llama_index.models import Telling, nodes
from tests.integrations.llama_index.zoo.agents import sync_tool, texts_of

pytestmark = pytest.mark.filterwarnings("ignore")


def by_engine(retriever: Any) -> Any:
    return engine_of(retriever)


def by_chat(retriever: Any) -> Any:
    return ContextChatEngine.from_defaults(retriever=retriever, llm=Telling())


def by_agent(retriever: Any) -> Any:
    return FunctionAgent(tools=[sync_tool(retriever)], llm=Telling())


WAYS = [by_engine, by_chat, by_agent]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("made", "awaiting"),
    crossed(WAYS, [False, True], fast=[(by_engine, False), (by_chat, True), (by_agent, False)]),
)
def test_an_incident_that_was_logged_as_json_has_the_rules_of_the_live_run(
    made: Any, awaiting: bool
) -> None:
    retriever = retriever_of()
    explainer = RuleExplainer(made(retriever), predicate=BAD)
    live = explainer.explain("why?")
    incident = log_of(live)
    brought: dict[str, Any] = {"documents": incident["documents"], "baseline": incident["answer"]}
    if awaiting:
        again = asyncio.run(explainer.aexplain(incident["question"], **brought))
    else:
        again = explainer.explain(incident["question"], **brought)
    assert blames_b_and_d(live)
    assert again.rules == live.rules
    assert again.warnings == ()
    assert again.counts.baseline == 1
    assert retriever.live == ["why?"]


def test_that_the_application_answers_otherwise_by_now_is_said_first() -> None:
    explainer = RuleExplainer(engine_of(retriever_of("abc")), predicate=BAD)
    ways: list[dict[str, Any]] = [{}, {"documents": nodes("abc")}]
    for brought in ways:
        explanation = explainer.explain("why?", baseline="bad news, as it was", **brought)
        (warning,) = explanation.warnings
        assert "holds for 'bad news, as it was' and does not hold for 'good news" in warning
        assert str(explanation).startswith("WARNING: the logged answer is not")
        assert explanation.retention_rules == ()


def test_a_logged_response_is_read_as_the_engines_own() -> None:
    explainer = RuleExplainer(engine_of(retriever_of()), predicate=BAD)
    explanation = explainer.explain("why?", baseline=Response("bad news"))
    assert explanation.baseline.text == "bad news"
    assert blames_b_and_d(explanation)
    with pytest.raises(InvalidInput, match="answer_of"):
        explainer.explain("why?", baseline={"nothing": 1})


@pytest.mark.slow
@pytest.mark.parametrize("made", [by_engine, pytest.param(by_chat, marks=pytest.mark.slow), by_agent])
def test_documents_that_are_added_are_returned_by_every_retrieval(made: Any) -> None:
    retriever = retriever_of("ab")
    explainer = RuleExplainer(made(retriever), predicate=BAD)
    assert explainer.explain("why?").baseline.text.startswith("good news")
    explanation = explainer.explain("why?", add_documents=[{"id": "poison", "text": TEXTS["d"]}])
    assert explanation.baseline.text.startswith("bad news")
    assert retention(explanation) == {frozenset({"b", "poison"})}
    assert retriever.live == ["why?", "why?"]
    assert len(retriever.retrieve("afterwards")) == 2


@pytest.mark.slow
@pytest.mark.parametrize("made", [by_engine, by_chat, pytest.param(by_agent, marks=pytest.mark.slow)])
def test_pinned_documents_are_always_delivered_and_in_no_rule(made: Any) -> None:
    explainer = RuleExplainer(made(retriever_of()), predicate=BAD)
    ways: list[dict[str, Any]] = [{}, {"documents": nodes("abd")}]
    for brought in ways:
        explanation = explainer.explain("why?", pinned=["d"], **brought)
        assert (retention(explanation), omission(explanation)) == (sets("b"), sets("b"))
        assert all("d" in (probe.answers[0].delivered or ()) for probe in explanation.probes)
        assert [source.id for source in explanation.sources if source.pinned] == ["d"]


@pytest.mark.spread(fast=2)
@pytest.mark.parametrize(
    "documents",
    [
        [TextNode(id_=name, text=text) for name, text in TEXTS.items()],
        [NodeWithScore(node=TextNode(id_=name, text=text), score=0.1) for name, text in TEXTS.items()],
        [Document(id_=name, text=text) for name, text in TEXTS.items()],
        [Source(name, text) for name, text in TEXTS.items()],
        [{"id": name, "page_content": text} for name, text in TEXTS.items()],
    ],
    ids=["nodes", "scored nodes", "documents", "sources", "json"],
)
def test_documents_may_be_brought_in_any_form(documents: list[Any]) -> None:
    retriever = retriever_of("a")
    explanation = RuleExplainer(engine_of(retriever), predicate=BAD).explain("?", documents=documents)
    assert blames_b_and_d(explanation)
    assert retriever.live == []


def test_texts_alone_are_named_by_their_place() -> None:
    explanation = RuleExplainer(engine_of(retriever_of("a")), predicate=BAD).explain(
        "?", documents=list(TEXTS.values())
    )
    assert ids(explanation) == ["D1", "D2", "D3", "D4"]


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"documents": "one string"}, "the documents are one str; pass a list"),
        ({"documents": nodes("a")[0]}, "the documents are one TextNode; pass a list"),
        ({"documents": []}, "documents is empty"),
        ({"documents": [7]}, "document 1 is an int; pass a TextNode, or its text"),
        ({"documents": [{"id": "x"}]}, "document 1 has no text"),
        ({"documents": [*nodes("a"), *nodes("a")]}, "documents has 'a' twice"),
        ({"documents": nodes("a"), "add_documents": nodes("b")}, "add them to documents"),
        ({"pinned": "d"}, "give a list of ids"),
        ({"pinned": ["nobody"]}, "'nobody', which is no source"),
    ],
)
def test_bad_input_gets_one_clear_error(given: dict[str, Any], says: str) -> None:
    with pytest.raises(InvalidInput, match=says):
        RuleExplainer(engine_of(retriever_of()), predicate=BAD).explain("why?", **given)


def test_a_question_in_other_words_may_be_read_out_of_the_input() -> None:
    explainer = RuleExplainer(engine_of(retriever_of()), predicate=BAD)
    explanation = explainer.explain(QueryBundle("why?", custom_embedding_strs=["x"]))
    assert explanation.question == "why?"
    with pytest.raises(InvalidInput, match="pass question_of="):
        explainer.explain(7)


ENGINES = "pass a query engine, a chat engine, an agent"


@pytest.mark.parametrize(
    ("nonsense", "says"),
    [
        *((7, ENGINES), ("an engine", ENGINES), (None, ENGINES)),
        (lambda a, b: a, "pass a function of one question, or explain a function of .question, sources."),
    ],
)
def test_what_is_no_application_is_refused_with_what_would_be_one(nonsense: Any, says: str) -> None:
    for explain in (RuleExplainer, explained):
        with pytest.raises(InvalidInput, match=says):
            explain(nonsense)


def test_a_function_that_makes_nothing_to_explain_is_refused() -> None:
    for explain in (
        RuleExplainer(lambda: retriever_of()).explain,
        lambda q: asyncio.run(RuleExplainer(lambda: 7).aexplain(q)),
    ):
        with pytest.raises(InvalidInput, match="the function that makes the engine made a"):
            explain("why?")


def test_what_cannot_be_gated_is_refused() -> None:
    with pytest.raises(InvalidInput, match=r"such as store\.query"):
        gate(7)


def test_an_engine_that_fails_is_a_failed_baseline() -> None:
    for error in (ConnectionError, ValueError):

        def says(prompt: str, error: type[Exception] = error) -> str:
            raise error("no such model")

        # A synthesizer swallows some errors of its model, and answers with a constant.
        engine = engine_of(retriever_of(), Telling(says=says))
        with pytest.raises(BaselineFailed, match="no such model"):
            RuleExplainer(engine, retries=0).explain("why?")
        with pytest.raises(BaselineFailed, match="no such model"):
            asyncio.run(RuleExplainer(engine, retries=0).aexplain("why?"))
        try:
            plain = str(engine.query("why?"))
        except error:
            with pytest.raises(error, match="no such model"):
                explained(engine).query("why?")
            with pytest.raises(error, match="no such model"):
                asyncio.run(explained(engine).aquery("why?"))
        else:
            response: Any = explained(engine).query("why?")
            assert str(response) == plain
            check_unexplained(response.metadata["rag_rules"], BaselineFailed, "no such model")


def test_nothing_retrieved_is_nothing_to_explain_by() -> None:
    with pytest.raises(NoSourcesCaptured, match="returned no nodes"):
        RuleExplainer(engine_of(retriever_of(""))).explain("why?")
    with pytest.raises(NoSourcesCaptured, match=r"in gate\(\.\.\.\)"):
        RuleExplainer(lambda question: "bad").explain("why?")


class Two(StartEvent):
    question: str
    style: str


class Styled(Workflow):
    @step
    async def answer(self, ev: Two) -> StopEvent:
        return StopEvent(result=ev.question)


def test_a_workflow_that_may_be_started_in_several_ways_asks_for_a_dict() -> None:
    with pytest.raises(InvalidInput, match="pass the arguments of its run"):
        RuleExplainer(Styled()).explain("why?")


def test_an_answer_that_cannot_be_read_names_answer_of() -> None:
    retriever = retriever_of()

    def answer(question: str) -> Any:
        return object() if texts_of(retriever.retrieve(question)) else ""

    with pytest.raises(InvalidInput, match="answer_of="):
        RuleExplainer(answer).explain("why?")
    explanation: Explanation = RuleExplainer(
        answer, predicate=BAD, answer_of=lambda output: "bad" if output else "good"
    ).explain("why?")
    assert explanation.baseline.text == "bad"


@pytest.mark.parametrize(
    ("parameters", "says"),
    [
        ({"scope": "visible"}, "scope is 'visible'; give one of 'seen', 'retrieved'"),
        (
            {"on_new_query": "keep"},
            r"on_new_query is 'keep'; did you mean 'kept'\? give one of 'kept', 'filter', 'error'",
        ),
        ({"trace_replays": "no"}, "trace_replays is 'no'; give True or False"),
        ({"on_no_retrieval": "acept"}, "on_no_retrieval is 'acept'"),
        ({"retrievers": retriever_of()}, "retrievers is a Counting; pass a list"),
        ({"retrievers": "abc"}, "retrievers is a str; pass a list"),
        ({"stub_tools": ["x"]}, "stub_tools is a list; pass a dict"),
        ({"no_such_setting": 1}, "is not a setting"),
    ],
)
def test_options_that_mean_nothing_are_refused(parameters: dict[str, Any], says: str) -> None:
    with pytest.raises(InvalidInput, match=says):
        RuleExplainer(engine_of(retriever_of()), **parameters)


def test_retrievers_that_were_never_asked_are_named() -> None:
    explainer = RuleExplainer(engine_of(retriever_of()), retrievers=[retriever_of()])
    with pytest.raises(NoSourcesCaptured, match="retrievers="):
        explainer.explain("why?")


def test_a_query_engine_is_asked_by_a_question() -> None:
    with pytest.raises(InvalidInput, match="this is a dict"):
        RuleExplainer(engine_of(retriever_of())).explain({"query": "why?"})


def test_a_function_with_a_default_is_asked_and_makes_nothing() -> None:
    retriever, llm = retriever_of(), Telling()

    def ask(question: str = "why?") -> str:
        return str(llm.complete(texts_of(retriever.retrieve(question))))

    def ask_with(*questions: str) -> str:
        return ask(*questions)

    for application in (ask, ask_with):
        assert blames_b_and_d(RuleExplainer(application, predicate=BAD).explain("why?"))


def test_a_function_that_blocks_does_not_hold_up_the_loop() -> None:
    retriever, llm = retriever_of(), Telling()

    def ask(question: str) -> str:
        async def inside() -> str:
            return str(await llm.acomplete(texts_of(await retriever.aretrieve(question))))

        return asyncio.run(inside())

    explanation = asyncio.run(RuleExplainer(ask, predicate=BAD).aexplain("why?"))
    assert blames_b_and_d(explanation)
