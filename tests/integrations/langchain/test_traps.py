"""What has gone wrong for others, and must not here."""

import asyncio
import threading
import time
from typing import Any

import pytest
from langchain_core.caches import InMemoryCache
from langchain_core.chat_history import InMemoryChatMessageHistory
from langchain_core.globals import set_llm_cache
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnableLambda, RunnablePassthrough
from langchain_core.runnables.history import RunnableWithMessageHistory
from langchain_core.tools import tool
from langchain_rag_rule_explainer import RuleExplainer

from rag_rule_explainer import BaselineFailed, Explanation, InvalidInput, Retries, SourceLeak, StateShared
from rag_rule_explainer.probing.wholeness import CUT_OFF, EMPTY_REPLY, HALF
from tests.integrations.known import BAD, TEXTS, omission, retention, sets
from tests.integrations.langchain.chains import Counting
from tests.integrations.langchain.models import Telling, facts
from tests.integrations.langchain.test_wire import chat_model
from tests.integrations.langchain.zoo.shapes import joined, model, retriever_of
from tests.representing import SELDOM
from tests.support.completions import Completion
from tests.support.openai_server import OpenAIServer


def is_the_truth(explanation: Explanation) -> bool:
    return (retention(explanation), omission(explanation)) == (sets("bd"), sets("b", "d"))


@pytest.mark.waits
@pytest.mark.spread(fast=3)
@pytest.mark.parametrize(
    ("streaming", "fault", "reason"),
    [
        (True, Completion("good", finish_reason=None), HALF),
        (False, Completion("good", finish_reason=None), HALF),
        (False, Completion(None), EMPTY_REPLY),
        (True, Completion(""), EMPTY_REPLY),
        (False, Completion("good", finish_reason="length"), CUT_OFF),
        (True, Completion("good", finish_reason="length"), CUT_OFF),
    ],
)
def test_a_faulty_reply_over_the_wire_is_no_verdict(
    streaming: bool, fault: Completion, reason: str
) -> None:
    def script(body: Any) -> str | Completion:
        sent = str(body["messages"])
        shown = "".join(name for name, text in TEXTS.items() if text in sent)
        return fault if shown == "ac" else "bad" if "b" in shown and "d" in shown else "good"

    retriever = retriever_of()
    with OpenAIServer(script) as server, chat_model(server.base_url) as chat:
        chat.streaming = streaming
        app = retriever | joined | (lambda text: chat.invoke(text or "nothing"))
        explanation = RuleExplainer(app, predicate=BAD, miner="exhaustive", retries=0).explain("?")
        failed = {probe.kept: probe.error for probe in explanation.probes if probe.error}
    assert failed == {("a", "c"): reason}
    assert not explanation.complete
    assert retention(explanation) == sets("bd")
    assert all(
        {"b", "d"} & set(rule.sources) and len(rule.sources) > 1 for rule in explanation.omission_rules
    )


@pytest.mark.waits
def test_a_baseline_that_is_half_a_stream_is_no_answer_to_explain() -> None:
    with (
        OpenAIServer(lambda _: Completion("half an ans", finish_reason=None)) as server,
        chat_model(server.base_url) as chat,
    ):
        chat.streaming = True
        app = retriever_of() | joined | (lambda text: chat.invoke(text))
        with pytest.raises(BaselineFailed, match="without a finish_reason"):
            RuleExplainer(app, retries=Retries(first_wait=0.01)).explain("?")


@pytest.mark.waits
@pytest.mark.parametrize("awaiting", SELDOM)
def test_max_concurrency_bounds_all_inputs_of_a_batch_together(awaiting: bool) -> None:
    lock, running, peak = threading.Lock(), 0, 0

    def enter() -> None:
        nonlocal running, peak
        with lock:
            running += 1
            peak = max(peak, running)

    def leave() -> None:
        nonlocal running
        with lock:
            running -= 1

    def goes_on(text: str) -> bool:
        # A baseline may be alone; everything else waits until it has once met another one.
        return peak > 1 or all(TEXTS[name] in text for name in "abc")

    def says(messages: Any) -> str:
        enter()
        while not goes_on(messages[-1].text):
            time.sleep(0.001)
        leave()
        return "bad" if TEXTS["b"] in messages[-1].text else "good"

    chat = Telling(says=says)

    async def asked(text: str) -> str:
        return (await chat.ainvoke(text or "nothing")).text

    answer: Any = RunnableLambda(lambda text: chat.invoke(text or "nothing").text, asked)
    # What the model counts for this test is no memory: set back to 0, it would wait for a second request.
    harmless = [r"\b(?:peak|running)\b"]
    explainer = RuleExplainer(retriever_of("abc") | joined | answer, predicate=BAD, ignore=harmless)
    config: Any = {"max_concurrency": 4}
    inputs = [f"question {n}" for n in range(3)]
    if awaiting:
        explained = asyncio.run(explainer.abatch(inputs, config))
    else:
        explained = explainer.batch(inputs, config)
    assert [retention(each.explanation) for each in explained] == [sets("b")] * 3
    assert 1 < peak <= 4
    peak = 0
    explainer.batch(inputs)
    assert peak <= 8


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("awaiting", SELDOM)
def test_a_message_history_grows_by_what_one_run_adds(awaiting: bool) -> None:
    retriever, history = retriever_of(), InMemoryChatMessageHistory()
    lengths: set[int] = set()

    def says(messages: Any) -> str:
        lengths.add(len(messages))
        return "bad" if TEXTS["b"] in messages[-1].text and TEXTS["d"] in messages[-1].text else "good"

    prompt = ChatPromptTemplate.from_messages(
        [("placeholder", "{history}"), ("human", "{context}\n\n{question}")]
    )

    def context(given: dict[str, Any]) -> str:
        return joined(retriever.invoke(given["question"]))

    def history_of(session_id: str) -> InMemoryChatMessageHistory:
        return history

    chat = RunnableWithMessageHistory(
        RunnablePassthrough.assign(context=context) | prompt | Telling(says=says),
        history_of,
        input_messages_key="question",
        history_messages_key="history",
    )
    explainer, config = RuleExplainer(chat, predicate=BAD), {"configurable": {"session_id": "s"}}
    given: Any = {"question": "why?"}
    for explaining, before, after in ((True, 0, 0), (False, 0, 2), (True, 2, 2), (False, 2, 4)):
        lengths.clear()
        if explaining:
            explanation = (
                # Inputs of all kinds.
                asyncio.run(explainer.aexplain(given, config))  # type: ignore[arg-type]
                if awaiting
                else explainer.explain(given, config)  # type: ignore[arg-type] -- inputs of all kinds
            )
        else:
            explained: Any = (
                # Inputs of all kinds.
                asyncio.run(explainer.ainvoke(given, config))  # type: ignore[arg-type]
                if awaiting
                else explainer.invoke(given, config)  # type: ignore[arg-type] -- inputs of all kinds
            )
            explanation = explained.explanation
        assert is_the_truth(explanation)
        assert len(history.messages) == after
        # Every replay was shown the conversation as it was, and its own question.
        assert lengths == {before + 1}


def test_a_tool_with_side_effects_is_warned_of_and_can_be_stubbed() -> None:
    retriever, sent = retriever_of(), list[str]()

    @tool
    def send_mail(text: str) -> str:
        """Send a mail."""
        sent.append(text)
        return "sent"

    @tool
    def look_up(query: str) -> str:
        """Look something up."""
        return joined(retriever.invoke(query))

    def app(question: str) -> str:
        found = look_up.invoke({"query": question})
        state = send_mail.invoke({"text": question})
        return f"{model().invoke(found or 'nothing').text}, {state}"

    loud = RuleExplainer(app, predicate=BAD).explain("?")
    assert is_the_truth(loud)
    assert len(sent) == loud.counts.replays
    (warning,) = loud.warnings
    assert "the tool 'send_mail' retrieved nothing" in warning
    assert "stub_tools={'send_mail': its result}" in warning
    sent.clear()
    quiet = RuleExplainer(app, predicate=BAD, stub_tools={"send_mail": "not sent"}).explain("?")
    assert is_the_truth(quiet)
    assert (sent, quiet.warnings, quiet.baseline.text) == ([], (), "bad news, not sent")
    assert asyncio.run(RuleExplainer(app, stub_tools={"send_mail": 1}).aexplain("?")).baseline.text
    both = {"send_mail": "not sent", "send_letter": "not sent"}
    assert "stub_tools names 'send_letter', and the first run called no" in str(
        RuleExplainer(app, predicate=BAD, stub_tools=both).explain("?").notes
    )
    with pytest.raises(InvalidInput, match=r"'sendmail', and .*; did you mean 'send_mail'\?"):
        RuleExplainer(app, predicate=BAD, stub_tools={"sendmail": "not sent"}).explain("?")
    assert len(sent) == 1
    other = RuleExplainer(app, predicate=BAD, stub_tools={"book": "not booked"}).explain("?")
    assert any("stub_tools names 'book', and the first run called no" in told for told in other.warnings)


def test_a_model_cache_changes_nothing_and_is_not_changed() -> None:
    cache = InMemoryCache()
    set_llm_cache(cache)
    try:
        chat = Telling()
        app = retriever_of() | joined | (lambda text: chat.invoke(text or "nothing").text)
        assert is_the_truth(RuleExplainer(app, predicate=BAD).explain("?"))
        assert vars(cache)["_cache"] == {}
        # The baseline, two comparisons with it, 15 subsets; and all sources once more at the end, as one
        # subset was answered in words of the code, "nothing".
        assert len(chat.asked) == 19
        app.invoke("?")
        assert is_the_truth(RuleExplainer(app, predicate=BAD).explain("?"))
        assert len(vars(cache)["_cache"]) == 1
        # What was cached before is looked up by every run: it is the reply to the full set. The last
        # comparison is on fewer sources.
        assert len(chat.asked) == 19 + 1 + 16
    finally:
        set_llm_cache(None)


def test_a_cache_of_contexts_is_a_leak_and_no_rule() -> None:
    retriever, cache = retriever_of(), dict[str, str]()

    def app(question: str) -> str:
        retriever.invoke(question)  # asked, and not looked at
        return model().invoke(cache.setdefault(question, joined(facts("abcd")))).text

    with pytest.raises(SourceLeak, match="a cache"):
        RuleExplainer(app, predicate=BAD).explain("?")


def test_an_application_that_empties_what_it_was_given_harms_nobody() -> None:
    own = facts("abcd")

    class ReturnsItsOwn(Counting):
        def _get_relevant_documents(self, query: str, *, run_manager: Any) -> Any:
            self.live.append(query)
            return own

    retriever = ReturnsItsOwn(documents=[])

    def app(question: str) -> str:
        found = retriever.invoke(question)
        text = joined(found)
        if question == "emptied":
            found.clear()
        return model().invoke(text or "nothing").text

    assert is_the_truth(RuleExplainer(app, predicate=BAD).explain("?"))
    assert [document.id for document in own] == list("abcd")
    assert is_the_truth(RuleExplainer(app, predicate=BAD).explain("emptied"))


def test_it_is_serialized_like_any_runnable_of_somebody_elses() -> None:
    assert RuleExplainer.is_lc_serializable() is False
    assert RuleExplainer.get_lc_namespace()[0] == "langchain_rag_rule_explainer"


def test_a_cache_of_answers_is_state_of_the_applications_own() -> None:
    retriever, cache = retriever_of(), dict[str, str]()

    def app(question: str) -> str:
        found = joined(retriever.invoke(question))
        if question not in cache:
            cache[question] = model().invoke(found).text
        return cache[question]

    with pytest.raises(StateShared, match="the replay did not"):
        RuleExplainer(app, predicate=BAD).explain("?")


def test_a_tool_whose_own_tool_retrieves_is_not_warned_of() -> None:
    retriever = retriever_of()

    @tool
    def inner(query: str) -> str:
        """Search."""
        return joined(retriever.invoke(query))

    @tool
    def outer(query: str) -> str:
        """Ask somebody who searches."""
        return inner.invoke({"query": query})

    def app(question: str) -> str:
        return model().invoke(outer.invoke({"query": question}) or "nothing").text

    explanation = RuleExplainer(app, predicate=BAD).explain("?")
    assert is_the_truth(explanation)
    assert explanation.warnings == ()
