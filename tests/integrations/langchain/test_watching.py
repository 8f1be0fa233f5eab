"""What models are sent and reply, and replies that are no answers."""

import asyncio
import sys
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import Runnable, RunnableLambda, RunnablePassthrough
from langchain_rag_rule_explainer import RuleExplainer
from langchain_rag_rule_explainer.watching import Watch

from rag_rule_explainer import BaselineFailed, Case, Explanation
from rag_rule_explainer.probing.wholeness import CUT_OFF, EMPTY_REPLY, HALF
from tests.integrations.known import BAD, omission, retention, sets
from tests.integrations.langchain.chains import Counting
from tests.integrations.langchain.models import Telling, facts, sent_in


def chain_with(model: Telling, *, streaming: bool = False) -> Runnable[Any, Any]:
    """The model is asked without a config, as people do."""
    retriever = Counting(documents=facts("abcd"))

    def answer(question: str) -> str:
        found = "\n".join(each.page_content for each in retriever.invoke(question))
        prompt = [HumanMessage(f"{found}\n\n{question}")]
        return (
            "".join(chunk.text for chunk in model.stream(prompt))
            if streaming
            else model.invoke(prompt).text
        )

    return RunnableLambda(answer)


class Faulty(Telling):
    """Replies with a fault to just these documents."""

    to: str
    fault: dict[str, Any]
    text: str = "good"

    def _generate(self, messages: list[Any], *args: Any, **kwargs: Any) -> Any:
        result = super()._generate(messages, *args, **kwargs)
        if sent_in(messages) == self.to:
            result.generations[0].message = AIMessage(self.text, response_metadata=self.fault)
        return result

    def _stream(self, messages: list[Any], *args: Any, **kwargs: Any) -> Any:
        chunks = list(super()._stream(messages, *args, **kwargs))
        if sent_in(messages) == self.to:
            chunks = chunks[:1]
            chunks[0].message.response_metadata = self.fault
        yield from chunks


@pytest.mark.parametrize(
    ("fault", "text", "reason"),
    [
        ({"finish_reason": "length"}, "bad", CUT_OFF),
        ({"stop_reason": "max_tokens"}, "bad", CUT_OFF),
        ({"finish_reason": "stop"}, "", EMPTY_REPLY),
        ({}, "", EMPTY_REPLY),
    ],
)
def test_a_reply_that_is_none_makes_its_probe_unknown_and_no_rule_rests_on_it(
    fault: dict[str, Any], text: str, reason: str
) -> None:
    model = Faulty(to="ac", fault=fault, text=text)
    explanation = RuleExplainer(chain_with(model), predicate=BAD, miner="exhaustive", retries=0).explain(
        "?"
    )
    (failed,) = [probe for probe in explanation.probes if probe.error]
    assert (failed.kept, failed.error) == (("a", "c"), reason)
    assert not explanation.complete
    # These two rest on the subset without a verdict; that a or c is left out as well does not.
    assert omission(explanation) == sets("ab", "bc", "ad", "cd")
    assert retention(explanation) == sets("bd")


def test_a_half_stream_is_no_answer() -> None:
    model = Faulty(to="ac", fault={"model_provider": "openai"}, told={"finish_reason": "stop"})
    explanation = RuleExplainer(chain_with(model, streaming=True), predicate=BAD, retries=0).explain("?")
    assert [(probe.kept, probe.error) for probe in explanation.probes if probe.error] == [
        (("a", "c"), HALF)
    ]


def test_a_model_that_never_gives_a_reason_is_believed() -> None:
    explanation = RuleExplainer(chain_with(Telling(), streaming=True), predicate=BAD).explain("?")
    assert explanation.complete


def test_a_length_limit_may_be_meant() -> None:
    model = Telling(told={"finish_reason": "length"})
    with pytest.raises(BaselineFailed, match=r"length limit.*allow_length=True"):
        RuleExplainer(chain_with(model), predicate=BAD, retries=0).explain("?")
    explanation = RuleExplainer(chain_with(model), predicate=BAD, allow_length=True).explain("?")
    assert retention(explanation) == sets("bd")


def test_a_call_of_a_tool_is_no_empty_reply() -> None:
    retriever = Counting(documents=facts("ab"))

    class Calling(Telling):
        def _generate(self, messages: list[Any], *args: Any, **kwargs: Any) -> Any:
            result = super()._generate(messages, *args, **kwargs)
            if not sent_in(messages):
                call = {"name": "look", "args": {}, "id": "1"}
                result.generations[0].message = AIMessage("", tool_calls=[call])
            return result

    model = Calling(says=lambda messages: "bad" if "b" in sent_in(messages) else "good")

    def app(question: str) -> str:
        model.invoke(question)
        found = " ".join(each.page_content for each in retriever.invoke(question))
        return model.invoke(found or "nothing there").text or "good"

    assert retention(RuleExplainer(app, predicate=BAD).explain("?")) == sets("b")


def test_tokens_of_replays_and_of_the_judge_are_told_apart() -> None:
    judge = Telling(says=lambda _: "yes", spends=100)

    async def is_bad(case: Case) -> bool:
        await judge.ainvoke([HumanMessage(f"Is this bad? {case.answer.text}")])
        return "bad" in case.answer.text

    def is_bad_too(case: Case) -> bool:
        judge.invoke([HumanMessage(f"Is this bad? {case.answer.text}")])
        return "bad" in case.answer.text

    for predicate in (is_bad, is_bad_too):
        judge.asked.clear()
        model = Telling(spends=10)
        explanation = RuleExplainer(chain_with(model), predicate=predicate).explain("?")
        runs = len(model.asked)
        assert runs == explanation.counts.replays
        assert explanation.spent.replays == {
            "input_tokens": 10 * runs,
            "output_tokens": runs,
            "total_tokens": 11 * runs,
        }
        assert explanation.spent.judge["input_tokens"] == 100 * len(judge.asked) > 0


def test_each_probe_says_what_was_delivered_and_seen() -> None:
    explanation = RuleExplainer(chain_with(Telling()), predicate=BAD, miner="exhaustive").explain("?")
    assert len(explanation.probes) == 16
    for probe in explanation.probes:
        assert probe.answers[0].delivered == probe.answers[0].seen == probe.kept
    assert Explanation.model_validate_json(explanation.model_dump_json()) == explanation


def test_a_model_is_seen_however_it_is_called() -> None:
    retriever = Counting(documents=facts("abcd"))
    prompt = ChatPromptTemplate.from_template("{context}\n\n{question}")
    context = retriever | (lambda found: "\n".join(each.page_content for each in found))
    lcel = (
        {"context": context, "question": RunnablePassthrough()} | prompt | Telling() | StrOutputParser()
    )

    async def alone(question: str) -> str:
        found = await retriever.ainvoke(question)
        reply = await Telling().ainvoke("\n".join(each.page_content for each in found) or "nothing")
        return reply.text

    for app in (lcel, alone, chain_with(Telling(), streaming=True)):
        explanation = asyncio.run(RuleExplainer(app, predicate=BAD).aexplain("?"))
        assert explanation.scope == "seen"
        assert all(probe.answers[0].seen == probe.kept for probe in explanation.probes)


def test_what_a_model_inside_the_retriever_is_shown_has_not_been_seen() -> None:
    class Grading(Counting):
        """Asks a model about everything it has, as rerankers do, and returns it all."""

        def _get_relevant_documents(self, query: str, *, run_manager: Any) -> Any:
            found = super()._get_relevant_documents(query, run_manager=run_manager)
            Telling(says=lambda _: "graded").invoke("\n".join(each.page_content for each in found))
            return found

    retriever = Grading(documents=facts("abcd"))

    def answer(question: str) -> str:
        best = [each for each in retriever.invoke(question) if each.id != "a"]
        return Telling().invoke("\n".join(each.page_content for each in best) or "nothing").text

    explanation = RuleExplainer(answer, predicate=BAD).explain("?")
    assert [source.id for source in explanation.held_out] == ["a"]
    assert retention(explanation) == sets("bd")


def test_a_run_is_told_of_chains_only_where_graphs_may_be_among_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    watch = Watch()
    monkeypatch.setitem(sys.modules, "langgraph", sys)
    assert not watch.ignore_chain
    monkeypatch.delitem(sys.modules, "langgraph")
    assert watch.ignore_chain
    assert watch.ignore_retriever
    assert not watch.ignore_llm
