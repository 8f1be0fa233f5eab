"""The offline reader as a chat model, alone and in chains."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnablePassthrough
from langchain_rag_rule_explainer import OfflineChatModel, RuleExplainer, chat_replay
from typing_extensions import override

from rag_rule_explainer import Explainer, Explanation, Source, consistent_with, contains, same_answer
from rag_rule_explainer.cli.models import offline_replay
from rag_rule_explainer.cli.stories import LONG_COVID
from rag_rule_explainer.predicates import Predicate
from tests.integrations.known import retention
from tests.integrations.langchain.chains import Counting, step


class Chatty(OfflineChatModel):
    """The offline reader, as a model that counts its tokens."""

    @override
    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> Any:
        result = super()._generate(messages, *args, **kwargs)
        for generation in result.generations:
            message = generation.message
            assert isinstance(message, AIMessage)
            message.usage_metadata = UsageMetadata(input_tokens=10, output_tokens=2, total_tokens=12)
        return result


PROMPT = ChatPromptTemplate.from_template("{context}\n\nQuestion: {question}")


def shown(documents: list[Document]) -> str:
    def passage(document: Document) -> str:
        return Source("x", document.page_content, document.metadata).passage

    return "\n\n".join(f"<source>\n{passage(document)}\n</source>" for document in documents)


def reading_chain(retriever: BaseRetriever, model: OfflineChatModel) -> Runnable[str, Any]:
    context = retriever | step(shown)
    question = {"context": context, "question": RunnablePassthrough[str]()}
    return question | PROMPT | model


def test_the_offline_reader_is_a_chat_model() -> None:
    model = OfflineChatModel()
    messages = [
        SystemMessage("Answer from the context:\n<source>Mira was born in Kelvick.</source>"),
        HumanMessage("Question: Where was Mira born?"),
    ]
    answers = [model.invoke(messages), asyncio.run(model.ainvoke(messages))]
    assert [answer.text for answer in answers] == ["Kelvick", "Kelvick"]
    assert answers[0].response_metadata["finish_reason"] == "stop"
    assert "".join(chunk.text for chunk in model.stream(messages)) == "Kelvick"
    with pytest.raises(ValueError, match="no question"):
        model.invoke("")


def test_a_chat_model_is_explained_without_a_chain() -> None:
    sources = [Source(each.id, each.text, {"title": each.title}) for each in LONG_COVID.documents]
    explainer = Explainer(chat_replay(Chatty()), predicate=contains(LONG_COVID.symptom))
    explanation = explainer.explain(LONG_COVID.question, sources)
    assert retention(explanation) == {frozenset({"preprint-17"})}
    assert explanation.spent.replays["total_tokens"] == 12 * explanation.counts.replays
    assert explanation.baseline.finish_reason == "stop"


def test_the_tokens_of_every_model_in_the_chain_are_counted() -> None:
    documents = [Document(id=each.id, page_content=each.text) for each in LONG_COVID.documents]
    model = Chatty()

    def rewritten(question: str) -> str:
        assert model.invoke(f"Question: {question}").text == "N/A"
        return question

    chain = step(rewritten) | reading_chain(Counting(documents=documents), model)
    explainer = RuleExplainer(chain, predicate=contains(LONG_COVID.symptom))
    for explanation in (
        explainer.explain(LONG_COVID.question),
        asyncio.run(explainer.aexplain(LONG_COVID.question)),
    ):
        assert explanation.spent.replays == {
            "input_tokens": 20 * explanation.counts.replays,
            "output_tokens": 4 * explanation.counts.replays,
            "total_tokens": 24 * explanation.counts.replays,
        }


def records(real_data: Path, how_many: int) -> list[dict[str, Any]]:
    lines = (real_data / "hotpotqa_train.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines[:how_many]]


def assert_chain_and_replay_agree(record: dict[str, Any], most_sources: int) -> None:
    sources = [
        Source(f"D{place}", source["text"], {"title": source["title"]})
        for place, source in enumerate(record["sources"][:most_sources], start=1)
    ]
    retriever = Counting(
        documents=[
            Document(id=source.id, page_content=source.text, metadata=dict(source.metadata))
            for source in sources
        ]
    )
    chain = reading_chain(retriever, OfflineChatModel()) | StrOutputParser()
    predicates: list[Predicate] = [same_answer(), consistent_with(record["answer"])]
    for predicate in predicates:
        by_chain = RuleExplainer(chain, predicate=predicate, miner="exact").explain(record["question"])
        by_replay = Explainer(offline_replay, predicate=predicate, miner="exact").explain(
            record["question"], sources
        )
        assert by_chain.rules == by_replay.rules
        assert by_chain.counts.probes == by_replay.counts.probes
        assert answers(by_chain) == answers(by_replay)
    assert len(retriever.live) == len(predicates)


def answers(explanation: Explanation) -> dict[tuple[str, ...], str]:
    return {probe.kept: probe.answers[0].text for probe in explanation.probes}


@pytest.mark.slow
def test_over_real_passages_a_chain_obeys_the_same_rules_as_the_reader_alone(real_data: Path) -> None:
    for record in records(real_data, 3):
        assert_chain_and_replay_agree(record, most_sources=6)


@pytest.mark.nightly
def test_over_all_ten_real_passages_as_well(real_data: Path) -> None:
    for record in records(real_data, 4):
        assert_chain_and_replay_agree(record, most_sources=10)
