"""The offline reader as an LLM, in the prompts that LlamaIndex writes."""

import asyncio
from typing import Any

import pytest
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.chat_engine import CondensePlusContextChatEngine, ContextChatEngine
from llama_index.core.chat_engine.condense_plus_context import DEFAULT_CONDENSE_PROMPT_TEMPLATE
from llama_index.core.chat_engine.condense_question import DEFAULT_TEMPLATE
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.prompts.chat_prompts import CHAT_REFINE_PROMPT
from llama_index.core.prompts.default_prompts import DEFAULT_REFINE_PROMPT
from llama_index.core.query_engine import CitationQueryEngine
from llama_index.core.response_synthesizers import ResponseMode
from llama_index.core.schema import TextNode
from llama_index_rag_rule_explainer import BM25Retriever, OfflineLLM, RuleExplainer, lexical_engine

from rag_rule_explainer import contains
from rag_rule_explainer.testing.reader import NO_ANSWER
from tests.integrations.known import omission, retention
from tests.integrations.llama_index.engines import Counting, engine_of

QUESTION = "How soon may patients run again after knee surgery?"
NODES = [
    TextNode(id_="guide", text="Patients may run again sixteen weeks after knee surgery."),
    TextNode(id_="hall", text="The hall is open on weekdays."),
    TextNode(id_="menu", text="There is soup on Mondays."),
]
SIXTEEN = contains("sixteen weeks")


@pytest.mark.spread(fast=3)
@pytest.mark.parametrize(
    "mode",
    [
        ResponseMode.COMPACT,
        ResponseMode.REFINE,
        ResponseMode.TREE_SUMMARIZE,
        ResponseMode.SIMPLE_SUMMARIZE,
        ResponseMode.ACCUMULATE,
    ],
)
@pytest.mark.parametrize("awaiting", [False, True])
def test_it_answers_whatever_the_synthesizer(mode: ResponseMode, awaiting: bool) -> None:
    engine = engine_of(Counting(NODES), OfflineLLM(), response_mode=mode)
    explainer = RuleExplainer(engine, predicate=SIXTEEN)
    explanation = asyncio.run(explainer.aexplain(QUESTION)) if awaiting else explainer.explain(QUESTION)
    assert explanation.complete
    assert retention(explanation) == omission(explanation) == {frozenset({"guide"})}


def test_it_answers_with_citations_and_in_chats() -> None:
    # The retriever is all that it uses.
    cited = CitationQueryEngine.from_args(None, retriever=Counting(NODES), llm=OfflineLLM())  # type: ignore[arg-type]
    past = [
        ChatMessage(role="user", content="Who may use the hall?"),
        ChatMessage(role="assistant", content="Everybody may."),
    ]
    chats = [
        kind.from_defaults(
            retriever=Counting(NODES),
            llm=OfflineLLM(),
            memory=ChatMemoryBuffer.from_defaults(chat_history=past, token_limit=3000),
        )
        for kind in (ContextChatEngine, CondensePlusContextChatEngine)
    ]
    for application in (cited, *chats):
        explanation = RuleExplainer(application, predicate=SIXTEEN).explain(QUESTION)
        assert retention(explanation) == {frozenset({"guide"})}, application


def test_refining_keeps_the_answer_where_there_is_no_better_one() -> None:
    llm = OfflineLLM()
    for template in (DEFAULT_REFINE_PROMPT, CHAT_REFINE_PROMPT):
        for context, answer in (
            ("There is soup on Mondays.", "six months"),
            (NODES[0].text, "Patients may run again sixteen weeks after knee surgery."),
        ):
            prompt = template.format(
                query_str=QUESTION, existing_answer="six months", context_msg=context
            )
            assert llm.complete(prompt).text == answer


def test_a_follow_up_question_is_repeated_as_it_is() -> None:
    history = "user: Who may use the hall?\nassistant: Everybody."
    prompts = (
        DEFAULT_CONDENSE_PROMPT_TEMPLATE.format(chat_history=history, question=QUESTION),
        DEFAULT_TEMPLATE.format(chat_history=history, question=QUESTION),
    )
    for prompt in prompts:
        assert OfflineLLM().complete(prompt).text == QUESTION


def test_it_streams_and_chats_the_same() -> None:
    llm: Any = OfflineLLM()
    prompt = f"Context:\n{NODES[0].text}\n\nQuestion: {QUESTION}"
    told = llm.complete(prompt).text
    message = [ChatMessage(role="user", content=prompt)]
    assert llm.chat(message).message.content == told
    assert "".join(piece.delta for piece in llm.stream_complete(prompt)) == told
    *_, last = llm.stream_chat(message)
    assert last.message.content == told

    async def asynchronously() -> None:
        assert (await llm.acomplete(prompt)).text == told
        assert (await llm.achat(message)).message.content == told
        pieces = [piece async for piece in await llm.astream_chat(message)]
        assert pieces[-1].message.content == told

    asyncio.run(asynchronously())
    assert llm.complete(f"Context:\nThere is soup.\n\nQuestion: {QUESTION}").text == NO_ANSWER
    with pytest.raises(ValueError, match="no question found"):
        llm.complete("")
    assert llm.class_name() == "OfflineLLM"


def test_a_whole_application_without_a_key() -> None:
    titled = [
        TextNode(
            id_="leaflet",
            text="Patients may run again sixteen weeks after knee surgery.",
            metadata={"title": "Running after surgery"},
        ),
        TextNode(id_="menu", text="There is soup on Mondays."),
    ]
    engine = lexical_engine(titled, k=1)
    assert [node.node_id for node in BM25Retriever(titled, 1).retrieve("soup")] == ["menu"]
    assert [node.score for node in BM25Retriever(titled, 2).retrieve("surgery or soup")] == [1.0, 0.5]
    assert "sixteen" in str(engine.query(QUESTION))
    assert titled[0].text_template == TextNode().text_template
