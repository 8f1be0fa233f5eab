"""The same with a query engine of LlamaIndex and its client for OpenAI-compatible servers."""

from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from llama_index.core import Settings
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.prompts import ChatPromptTemplate
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from llama_index_rag_rule_explainer import RuleExplainer

from demos.paper_model.brute_force import subsets_of
from demos.real_model.asked import Asked
from demos.real_model.chain import LONGEST, SYSTEM, USER
from demos.real_model.runtime import TOKENS, Endpoint
from rag_rule_explainer import Explanation, condition
from tests.model.asking import said_by
from tests.model.test_real_model import EXPLAINED, QUESTIONS, Condition, compare, messages

pytestmark = [pytest.mark.model, pytest.mark.timeout(1800), pytest.mark.filterwarnings("ignore")]


class FourDocuments(BaseRetriever):
    """Finds what belongs to one question, the right document last."""

    def __init__(self, asked: Asked) -> None:
        self._asked = asked
        super().__init__()  # pyright: ignore[reportUnknownMemberType] -- LlamaIndex's plain dict

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        texts = sorted(self._asked.documents.items(), key=lambda each: each[0] == self._asked.right)
        return [NodeWithScore(node=TextNode(id_=name, text=text), score=1.0) for name, text in texts]


def engine(asked: Asked, endpoint: Endpoint) -> RetrieverQueryEngine:
    module: Any = import_module("llama_index.llms.openai_like")
    llm = module.OpenAILike(
        model=endpoint.name,
        api_base=endpoint.url,
        api_key="none",
        is_chat_model=True,
        context_window=TOKENS,
        max_tokens=LONGEST,
        temperature=0,
        timeout=300,
        additional_kwargs={"seed": 1, "extra_body": {"cache_prompt": False}},
    )
    template = ChatPromptTemplate(
        [
            ChatMessage(SYSTEM, role="system"),
            ChatMessage(USER.format(context="{context_str}", question="{query_str}"), role="user"),
        ]
    )
    return RetrieverQueryEngine.from_args(FourDocuments(asked), llm=llm, text_qa_template=template)


@pytest.mark.parametrize("right", EXPLAINED)
def test_llama_index_with_its_client_for_servers_like_openai(
    right: str, endpoint: Endpoint, tmp_path: Path, own_loop: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip(
        "llama_index.llms.openai_like", reason="`make model` installs LlamaIndex's client"
    )
    monkeypatch.setattr(Settings, "_tokenizer", str.split)
    asked = QUESTIONS[right]
    ids = [each.node_id for each in FourDocuments(asked).retrieve(asked.question)]
    answers = {
        frozenset(kept): said_by(endpoint, messages("\n\n".join(asked.documents[i] for i in kept), asked))
        for kept in subsets_of(ids)
        if kept
    }
    # LlamaIndex asks no model about nothing.
    answers[frozenset()] = "Empty Response"

    def explained(holds: Condition) -> Explanation:
        return RuleExplainer(
            engine(asked, endpoint),
            predicate=condition(lambda case: holds(case.answer.text), "holds"),
            allow_length=True,
            store=tmp_path / "answers.db",
        ).explain(asked.question)

    compare(explained, asked, answers, ids)
