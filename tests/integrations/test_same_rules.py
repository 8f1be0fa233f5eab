"""The same documents and the same reader have the same rules, whatever the application is built with."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnablePassthrough
from langchain_rag_rule_explainer import OfflineChatModel
from langchain_rag_rule_explainer import RuleExplainer as ChainExplainer
from llama_index.core.prompts import PromptTemplate
from llama_index.core.schema import TextNode
from llama_index_rag_rule_explainer import OfflineLLM
from llama_index_rag_rule_explainer import RuleExplainer as EngineExplainer

from rag_rule_explainer import Finding, same_answer
from tests.drawing import examples
from tests.integrations.langchain.chains import Counting as Retriever
from tests.integrations.llama_index.engines import Counting as NodeRetriever
from tests.integrations.llama_index.engines import engine_of

ORDER = "Use these sources.\n\n{context}\n\nQuestion: {question}\nAnswer:"
RECORDS = 20
MOST = 7
"""Sources of a record: 128 subsets, mined exactly."""

Rules = tuple[Finding, ...]


def sources_of(record: dict[str, Any]) -> list[tuple[str, str]]:
    """The first sources of a record, those that its answer rests on among them, in its order."""
    supporting = [place for place, source in enumerate(record["sources"]) if source["necessary"]]
    others = [place for place in range(len(record["sources"])) if place not in supporting]
    chosen = sorted([*supporting, *others][:MOST])
    texts = [record["sources"][place] for place in chosen]
    return [(f"D{n}", f"{each['title']}\n{each['text']}") for n, each in enumerate(texts, start=1)]


def by_chain(record: dict[str, Any]) -> tuple[str, Rules]:
    documents = [Document(id=name, page_content=text) for name, text in sources_of(record)]

    def shown(found: list[Document]) -> str:
        return "\n\n".join(f"<source>\n{each.page_content}\n</source>" for each in found)

    question = {"context": Retriever(documents=documents) | shown, "question": RunnablePassthrough()}
    chain: Any = (
        question | ChatPromptTemplate.from_template(ORDER) | OfflineChatModel() | StrOutputParser()
    )
    explainer = ChainExplainer(
        chain, predicate=same_answer(), miner="exact", answer_without_sources="N/A"
    )
    explanation = explainer.explain(record["question"])
    return explanation.baseline.text, explanation.rules


def by_engine(record: dict[str, Any], *, awaiting: bool) -> tuple[str, Rules]:
    nodes = [
        TextNode(id_=name, text=text, text_template="<source>\n{content}\n</source>", metadata={"k": "v"})
        for name, text in sources_of(record)
    ]
    for node in nodes:
        node.excluded_llm_metadata_keys = ["k"]
    template = PromptTemplate(ORDER.format(context="{context_str}", question="{query_str}"))
    engine = engine_of(NodeRetriever(nodes), OfflineLLM(), text_qa_template=template)
    explainer = EngineExplainer(
        engine, predicate=same_answer(), miner="exact", answer_without_sources="N/A"
    )
    asked = record["question"]
    if awaiting:
        explanation = asyncio.get_event_loop().run_until_complete(explainer.aexplain(asked))
    else:
        explanation = explainer.explain(asked)
    return explanation.baseline.text, explanation.rules


@pytest.mark.slow
@pytest.mark.usefixtures("own_loop")
def test_a_chain_and_a_query_engine_over_the_same_documents_have_the_same_rules(real_data: Path) -> None:
    with (real_data / "hotpotqa_train.jsonl").open(encoding="utf-8") as file:
        records = [json.loads(next(file)) for _ in range(examples(RECORDS))]
    rules = 0
    for number, record in enumerate(records):
        chain = by_chain(record)
        assert by_engine(record, awaiting=number % 4 == 3) == chain, record["question"]
        rules += len(chain[1])
    assert rules > len(records)
