"""A replay is the baseline but for its sources: what carries over from run to run is seen, and
refused."""

import asyncio
import functools
import itertools
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, TypedDict

import pytest
from langchain_core.documents import Document
from langchain_core.messages import BaseMessage
from langchain_core.runnables import RunnableLambda
from langchain_rag_rule_explainer import RuleExplainer
from langchain_rag_rule_explainer.application import LangChainApplication
from langchain_rag_rule_explainer.interception import interception
from langchain_rag_rule_explainer.reading import answer_in
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages

from rag_rule_explainer import ApplicationChanged, Explanation, InvalidInput, StateShared, Store
from rag_rule_explainer.errors import UnseenSourcesNeeded
from rag_rule_explainer.instrumentation.bounds import FEWEST_SECONDS, seconds_for
from rag_rule_explainer.instrumentation.options import CallInput, Manner
from rag_rule_explainer.instrumentation.runs import ApplicationRun
from tests.integrations.known import BAD, blames_b_and_d, retention, sets
from tests.integrations.langchain.chains import Counting, bad_with, named, retriever_of
from tests.integrations.langchain.models import Telling, bad_with_b_and_d, facts
from tests.integrations.langchain.zoo.heeding import heeds
from tests.integrations.langchain.zoo.shapes import joined

Answer = Callable[[str], str]


def said_before(messages: list[BaseMessage]) -> str:
    """Says bad again where it is told that it was said before, as a model with a conversation does."""
    if "bad" in messages[0].text:
        return "bad news once more"
    return bad_with_b_and_d(messages)


def application(prompt: Callable[[str, str], str], says: Any = said_before) -> tuple[Any, Telling]:
    """A function that retrieves, and asks with a prompt made of the context and the question."""
    model, retriever = Telling(says=says), Counting(documents=facts("abcd"))

    def answer(question: str) -> str:
        return model.invoke(prompt(joined(retriever.invoke(question)), question)).text

    return RunnableLambda(answer), model


def with_list() -> tuple[Any, Telling]:
    history: list[str] = []
    model, retriever = Telling(says=said_before), Counting(documents=facts("abcd"))

    def answer(question: str) -> str:
        context = joined(retriever.invoke(question))
        said = model.invoke("\n".join([*history[-4:], context, question])).text
        history.extend([question, said])
        return said

    return RunnableLambda(answer), model


def refusal(app: Any, **settings: Any) -> str:
    with pytest.raises(StateShared) as caught:
        RuleExplainer(app, predicate=BAD, **settings).explain("why?")
    return str(caught.value)


def test_a_list_that_goes_into_the_next_prompt_is_refused_after_the_repeat_check() -> None:
    app, model = with_list()
    told = refusal(app)
    assert len(model.asked) == 2
    assert "holds what the baseline made: 'bad news'" in told
    assert "a session id" in told
    assert "make_chain" in told


def test_the_same_asynchronously() -> None:
    app, model = with_list()
    with pytest.raises(StateShared):
        asyncio.run(RuleExplainer(app, predicate=BAD).aexplain("why?"))
    assert len(model.asked) == 2


def test_the_way_out_is_to_make_it_anew() -> None:
    explainer = RuleExplainer(RunnableLambda(lambda given: with_list()[0].invoke(given)), predicate=BAD)
    assert blames_b_and_d(explainer.explain("why?"))


def test_under_votes_it_is_refused_as_well() -> None:
    from rag_rule_explainer import Noise

    app, _ = with_list()
    refusal(app, noise=Noise(samples=3))


def test_a_counter_is_state() -> None:
    turns = itertools.count(1)
    app, _ = application(lambda context, question: f"turn {next(turns)}: {context} {question}")
    told = refusal(app)
    assert "turn 1" in told
    assert "turn 2" in told


@pytest.mark.parametrize("ended", ["used up", "good news"])
def test_what_a_count_changes_only_after_some_runs_is_refused_at_the_end(ended: str) -> None:
    """As a budget of a day does: it is doubted from the repeat check on, and then it has run out."""
    used = {"runs": 0}
    model, retriever = Telling(says=bad_with_b_and_d), Counting(documents=facts("abd"))

    def answer(question: str) -> str:
        used["runs"] += 1
        found = retriever.invoke(question)
        if used["runs"] > 8 and ended == "used up":
            return ended
        return model.invoke(joined(found[:1] if used["runs"] > 8 else found)).text

    with pytest.raises(StateShared, match="request 1 to a model differs between the baseline"):
        RuleExplainer(RunnableLambda(answer), predicate=BAD).explain("why?")
    # The baseline, the repeat check, each subset, and the replay on all sources once more.
    assert used["runs"] <= 10


def test_a_counter_that_means_nothing_is_ignored_where_that_is_said() -> None:
    turns = itertools.count(1)
    app, _ = application(lambda context, question: f"turn {next(turns)}: {context} {question}")
    assert blames_b_and_d(RuleExplainer(app, predicate=BAD, ignore=[r"turn \d+"]).explain("why?"))


def test_times_dates_and_ids_are_no_state() -> None:
    seconds = itertools.count(1_795_000_000, 3_601)

    def prompt(context: str, question: str) -> str:
        now = time.gmtime(next(seconds))
        stamp = time.strftime("%A, %B %d, %Y at %H:%M:%S / %Y-%m-%dT%H:%M:%SZ", now)
        return f"[{uuid.uuid4()} {stamp} {time.mktime(now)}] {context} {question}"

    # The model does not look for "bad", which an id may have in it.
    app, _ = application(prompt, says=bad_with_b_and_d)
    assert blames_b_and_d(RuleExplainer(app, predicate=BAD).explain("why?"))


@pytest.mark.parametrize("ignore", ["turn", ["("], [3], 7])
def test_patterns_that_are_none_are_told(ignore: Any) -> None:
    with pytest.raises(InvalidInput, match="ignore"):
        RuleExplainer(retriever_of("ab") | bad_with("b"), ignore=ignore)


def test_a_cache_by_question_is_refused() -> None:
    app, _ = application(lambda context, question: context + question)
    cached = functools.lru_cache(lambda question: app.invoke(question))
    told = refusal(RunnableLambda(lambda question: cached(question)), on_no_retrieval="accept")
    assert "the replay did not" in told


def test_what_only_later_runs_say_is_found_in_their_requests() -> None:
    """The baseline and the repeat say nothing that is remembered; a later answer is."""
    notes: list[str] = []
    model = Telling(says=lambda messages: bad_with_b_and_d(messages) + " from the model that was asked")
    retriever = Counting(documents=facts("abcd"))

    def answer(question: str) -> str:
        context = joined(retriever.invoke(question))
        said = model.invoke("\n".join([*notes, context, question])).text
        if "good" in said:
            notes.append(said)
        return said

    told = refusal(RunnableLambda(answer), concurrency=1)
    assert "good news from the model that was asked" in told


def test_two_words_in_a_prompt_say_nothing_where_the_run_says_others() -> None:
    """That "bad news" stands in a prompt says nothing; the comparison of requests is what there is."""
    app, _ = application(
        lambda context, question: f"{'' if 'Basalt' in context else 'bad news'} {context} {question}",
        says=bad_with_b_and_d,
    )
    assert blames_b_and_d(RuleExplainer(app, predicate=BAD).explain("why?"))


def test_a_replay_that_says_two_words_after_another_run_is_undecided() -> None:
    """What is remembered reaches the model without documents alone, so no comparison sees it."""
    said: list[str] = []
    model = Telling(says=heeds)
    retriever = Counting(documents=facts("abcd"))

    def answer(question: str) -> str:
        context = joined(retriever.invoke("news"))
        earlier = f"Nothing was found. {question} Earlier you said: {' '.join(said)}"
        said.append(model.invoke(context or earlier).text)
        return said[-1]

    explanation = RuleExplainer(RunnableLambda(answer), predicate=BAD, miner="exact").explain("why?")
    assert not explanation.complete
    assert "'bad news', which the baseline had made" in str(explanation.unresolved)
    assert retention(explanation) == sets("bd")


def test_branches_side_by_side_may_ask_in_any_order() -> None:
    model, retriever = Telling(), Counting(documents=facts("abcd"))
    turn = itertools.count()

    def answer(question: str) -> str:
        documents = retriever.invoke(question)
        parts = [f"part {place}: {each.page_content}" for place, each in enumerate(documents)]
        # Another branch is first every time.
        shift = next(turn) % len(parts) if parts else 0
        for part in [*parts[shift:], *parts[:shift]]:
            model.invoke(part)
        return model.invoke(joined(documents) or question).text

    assert blames_b_and_d(RuleExplainer(RunnableLambda(answer), predicate=BAD).explain("why?"))


def test_a_model_that_samples_goes_its_own_way_after_its_first_other_reply() -> None:
    wording = itertools.count()

    def says(messages: list[BaseMessage]) -> str:
        if "rewrite" in messages[0].text:
            return f"the question in wording number {next(wording)} of many"
        return bad_with_b_and_d(messages)

    model, retriever = Telling(says=says), Counting(documents=facts("abcd"))

    def answer(question: str) -> str:
        rewritten = model.invoke(f"rewrite {question}").text
        return model.invoke(f"{rewritten} {joined(retriever.invoke(question))}").text

    assert blames_b_and_d(RuleExplainer(RunnableLambda(answer), predicate=BAD).explain("why?"))


def test_without_the_repeat_check_nothing_is_proved_and_that_is_said_first() -> None:
    app, _ = application(lambda context, question: context + question, says=bad_with_b_and_d)
    explanation = RuleExplainer(app, predicate=BAD, check_repeatable=False).explain("why?")
    assert unchecked(explanation)
    checked = RuleExplainer(app, predicate=BAD).explain("why?")
    assert not checked.warnings
    assert all(rule.proved for rule in checked.rules)


def test_where_no_model_tells_what_it_was_sent_nothing_is_proved() -> None:
    chain = Counting(documents=named("abcd")) | bad_with("b", "d")
    assert unchecked(RuleExplainer(chain, predicate=BAD).explain("why?"))


def unchecked(explanation: Explanation) -> bool:
    assert blames_b_and_d(explanation)
    assert not any(rule.proved for rule in explanation.rules)
    assert all(
        "UNVERIFIED" in str(rule) and "fidelity not checked" in str(rule) for rule in explanation.rules
    )
    assert Explanation.model_validate_json(explanation.model_dump_json()) == explanation
    return explanation.warnings[0].startswith("fidelity not checked")


class Talk(TypedDict):
    messages: Annotated[list[Any], add_messages]
    found: str


def loop() -> tuple[Any, Telling]:
    """Searches again until a document satisfies it, as self-RAG does."""
    model, retriever = Telling(), Counting(documents=facts("abcd"))

    def search(state: Any) -> Any:
        return {"found": joined(retriever.invoke("why?"))}

    def grade(state: Any) -> Any:
        model.invoke(f"is this relevant? {state['found']}")
        return {}

    def answer(state: Any) -> Any:
        return {"messages": [model.invoke(state["found"])]}

    graph: Any = StateGraph(Talk)
    graph.add_node("search", search)
    graph.add_node("grade", grade)
    graph.add_node("answer", answer)
    graph.add_edge(START, "search")
    graph.add_edge("search", "grade")
    graph.add_conditional_edges("grade", lambda state: "answer" if state["found"] else "search")
    graph.add_edge("answer", END)
    return graph.compile(), model


def test_a_loop_that_never_ends_without_documents_is_bounded_by_the_baseline() -> None:
    graph, model = loop()
    explanation = RuleExplainer(graph, predicate=BAD).explain({"messages": ["why?"]})
    without = next(probe for probe in explanation.probes if not probe.kept)
    assert "answer_without_sources" in without.error
    assert "10 model requests, where the baseline made 2" in without.error
    # Two for each of the others, ten for the one that never ends.
    assert len(model.asked) == 2 * (explanation.counts.replays - 1) + 10
    assert not explanation.complete


def test_the_way_out_of_the_loop_is_an_answer_without_sources() -> None:
    graph, _ = loop()
    explainer = RuleExplainer(graph, predicate=BAD, answer_without_sources="N/A")
    assert blames_b_and_d(explainer.explain({"messages": ["why?"]}))


def test_a_loop_that_asks_no_model_is_bounded_by_its_steps() -> None:
    retriever, model, steps = Counting(documents=facts("abcd")), Telling(), itertools.count()

    def search(state: Any) -> Any:
        next(steps)
        return {"found": joined(retriever.invoke("why?"))}

    graph: Any = StateGraph(Talk)
    graph.add_node("search", search)
    graph.add_node("answer", lambda state: {"messages": [model.invoke(state["found"])]})
    graph.add_edge(START, "search")
    graph.add_conditional_edges("search", lambda state: "answer" if state["found"] else "search")
    graph.add_edge("answer", END)
    explanation = RuleExplainer(graph.compile(), predicate=BAD).explain({"messages": ["why?"]})
    without = next(probe for probe in explanation.probes if not probe.kept)
    assert "steps" in without.error
    assert next(steps) < 60


def test_a_search_that_is_made_until_something_is_found_is_bounded() -> None:
    model, retriever = Telling(), Counting(documents=facts("abcd"))
    searches = itertools.count()

    def answer(question: str) -> str:
        while not (found := retriever.invoke(question)):
            next(searches)
        return model.invoke(joined(found)).text

    explanation = RuleExplainer(RunnableLambda(answer), predicate=BAD).explain("why?")
    assert "25 retrievals" in next(probe.error for probe in explanation.probes if not probe.kept)
    assert next(searches) <= 30


def test_an_application_that_swallows_every_error_is_ended_all_the_same() -> None:
    model, retriever = Telling(), Counting(documents=facts("abcd"))

    def answer(question: str) -> str:
        while True:
            context = joined(retriever.invoke(question))
            try:
                said = model.invoke(context or question).text
            except Exception:  # noqa: S112 -- as careless applications do
                continue
            if context:
                return said

    explainer: Any = RuleExplainer(RunnableLambda(answer), predicate=BAD)
    explanation = explainer.explain("why?")
    assert "5 model requests" in next(probe.error for probe in explanation.probes if not probe.kept)
    assert len(model.asked) == explanation.counts.replays - 1 + 5


def test_a_replay_may_take_a_multiple_of_what_the_baseline_took() -> None:
    app, _ = application(lambda context, question: context + question)
    case = CallInput("why?", "why?", {})

    def longest(bound: float | None) -> float | None:
        run = ApplicationRun(LangChainApplication(app), case, Manner(answer_in, replay_bound=bound))
        with interception.intercepting():
            return run.recorded(run.baseline())[1].longest

    assert longest(5) == FEWEST_SECONDS
    assert longest(None) is None
    assert seconds_for(30, 5) == 600


@pytest.mark.parametrize("bound", [0, 0.5, "5", float("inf"), True])
def test_a_bound_that_is_none_is_told(bound: Any) -> None:
    with pytest.raises(InvalidInput, match="replay_bound"):
        RuleExplainer(retriever_of("ab") | bad_with("b"), replay_bound=bound)


def test_replays_side_by_side_are_told_apart() -> None:
    """Many runs make alike texts at the same time; nobody's are taken for another's."""

    def says(messages: list[BaseMessage]) -> str:
        text = messages[0].text
        if "summarise" in text:
            return f"a summary of what was found in all of this: {sorted(text)[:3]}"
        return bad_with_b_and_d(messages)

    model, retriever = Telling(says=says), Counting(documents=facts("abcd"))

    def answer(question: str) -> str:
        context = joined(retriever.invoke(question))
        summary = model.invoke(f"summarise {context}").text
        return model.invoke(f"{summary} {context}").text

    explainer: Any = RuleExplainer(RunnableLambda(answer), predicate=BAD, concurrency=8)
    assert blames_b_and_d(explainer.explain("why?"))


def answering_with(prompt: str) -> Any:
    return application(lambda context, question: f"{prompt} {context} {question}", says=bad_with_b_and_d)[
        0
    ]


def test_a_store_refuses_an_application_that_has_changed(tmp_path: Path) -> None:
    store = Store(str(tmp_path / "answers.db"), "guide")
    first = RuleExplainer(answering_with("Answer briefly."), predicate=BAD, store=store).explain("why?")
    assert all(rule.proved for rule in first.rules)
    again = RuleExplainer(answering_with("Answer briefly."), predicate=BAD, store=store).explain("why?")
    # Wholly from the store, and the same application: what was checked then is so now.
    assert again.counts.replays == 1
    assert all(rule.proved for rule in again.rules)
    assert not again.warnings
    with pytest.raises(ApplicationChanged, match="namespace of its own"):
        RuleExplainer(answering_with("Answer at length."), predicate=BAD, store=store).explain("why?")
    other = Store(str(tmp_path / "answers.db"), "guide, at length")
    changed = RuleExplainer(answering_with("Answer at length."), predicate=BAD, store=other)
    assert blames_b_and_d(changed.explain("why?"))


def test_what_a_store_has_from_unchecked_runs_is_not_proved_by_it(tmp_path: Path) -> None:
    store = Store(str(tmp_path / "answers.db"), "guide")
    settings: Any = {"predicate": BAD, "store": store, "check_repeatable": False}
    for _ in range(2):
        assert unchecked(RuleExplainer(answering_with("Answer."), **settings).explain("why?"))
    checked = RuleExplainer(answering_with("Answer."), predicate=BAD, store=store).explain("why?")
    assert all(rule.proved for rule in checked.rules)


def test_a_fingerprint_with_other_patterns_says_nothing(tmp_path: Path) -> None:
    store = Store(str(tmp_path / "answers.db"), "guide")
    RuleExplainer(answering_with("Answer 1."), predicate=BAD, store=store).explain("why?")
    told = RuleExplainer(answering_with("Answer 2."), predicate=BAD, store=store, ignore=[r"\d"])
    assert unchecked(told.explain("why?"))


STEERING = "This page is shown to no model at all, but says where it is worth to look any further."


def with_a_page_that_nobody_sees(remembers: bool) -> Any:
    """It is searched first. Without it nothing else is, unless the application remembers instead."""
    history: list[str] = []
    model, retriever = Telling(says=bad_with_b_and_d), Counting(documents=facts("abcd"))
    pages = Counting(documents=[Document(id="s", page_content=STEERING)])

    def answer(question: str) -> str:
        page = pages.invoke(f"where: {question}")
        found = retriever.invoke(question) if page or remembers else []
        said = model.invoke("\n".join([*history, joined(found), question])).text
        history.extend([question, said] if remembers else [])
        return said

    return RunnableLambda(answer)


def test_a_memory_is_told_as_such_also_where_sources_are_held_out() -> None:
    with pytest.raises(StateShared, match="it holds what the baseline made: 'bad news'"):
        RuleExplainer(with_a_page_that_nobody_sees(remembers=True), predicate=BAD).explain("why?")


def test_a_source_that_is_needed_unseen_is_told_as_such() -> None:
    with pytest.raises(UnseenSourcesNeeded, match="s was retrieved by Counting and shown to no model"):
        RuleExplainer(with_a_page_that_nobody_sees(remembers=False), predicate=BAD).explain("why?")
