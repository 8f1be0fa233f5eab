"""Query engines and retrievers that hand on only some of what searches inside them found."""

import asyncio
from typing import Any

import pytest
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.postprocessor import LongContextReorder, SimilarityPostprocessor
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.retrievers import QueryFusionRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle
from llama_index_rag_rule_explainer import RuleExplainer
from typing_extensions import override

from rag_rule_explainer import Explanation
from tests.integrations.known import BAD, TEXTS, ids, omission, retention, sets
from tests.integrations.llama_index.engines import Counting, engine_of, retriever_of
from tests.integrations.llama_index.models import Telling


class BestTwo(BaseNodePostprocessor):
    @override
    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        return nodes[:2]


class Reranked(BaseRetriever):
    """A retriever of a user's own around another one."""

    def __init__(self, inner: BaseRetriever) -> None:
        super().__init__()
        self.inner = inner

    @override
    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return self.inner.retrieve(query_bundle)[:2]


def postprocessed(inner: Counting) -> Any:
    return engine_of(inner, node_postprocessors=[BestTwo()])


def fused(inner: Counting) -> Any:
    fusion = QueryFusionRetriever(
        [inner], llm=Telling(), num_queries=1, similarity_top_k=2, use_async=False
    )
    return engine_of(fusion)


def of_a_users_class(inner: Counting) -> Any:
    return engine_of(Reranked(inner))


def explained(engine: Any, *, awaited: bool = False, **parameters: Any) -> Explanation:
    explainer = RuleExplainer(engine, predicate=BAD, **parameters)
    return asyncio.run(explainer.aexplain("why?")) if awaited else explainer.explain("why?")


CUTTING = [postprocessed, fused, of_a_users_class]


@pytest.mark.spread(fast="each")
@pytest.mark.parametrize("awaited", [False, True])
@pytest.mark.parametrize("made", CUTTING, ids=lambda made: made.__name__)
def test_what_a_search_cut_takes_the_proof_away_if_it_moves_up(made: Any, awaited: bool) -> None:
    inner = retriever_of("abcd")
    explanation = explained(made(inner), awaited=awaited)
    assert ids(explanation) == ["a", "b"]
    assert explanation.rules
    assert {rule.claim for rule in explanation.rules} == {"unverified"}
    assert explanation.warnings[0].startswith("if sources are left out, the model is shown others")
    assert "c and d when" in explanation.warnings[0]
    # The replay that tries it serves the inner search from the record.
    assert len(inner.live) == 1


@pytest.mark.parametrize("made", CUTTING, ids=lambda made: made.__name__)
def test_the_way_out_gives_the_rules_of_the_application(made: Any) -> None:
    inner = retriever_of("abcd")
    explanation = explained(made(inner), scope="retrieved")
    assert ids(explanation) == ["a", "b", "c", "d"]
    assert (retention(explanation), omission(explanation)) == (set(), sets("b", "d"))
    assert all(rule.proved for rule in explanation.rules)
    assert len(inner.live) == 1


def test_what_does_not_move_up_takes_no_proof_away() -> None:
    below = SimilarityPostprocessor(similarity_cutoff=0.3)
    explanation = explained(engine_of(retriever_of("bdac"), node_postprocessors=[below]))
    assert (retention(explanation), omission(explanation)) == (sets("bd"), sets("b", "d"))
    assert all(rule.proved for rule in explanation.rules)
    assert not explanation.warnings


@pytest.mark.parametrize("scope", ["seen", "retrieved"])
def test_an_order_that_hangs_on_what_is_found_beside_is_made_anew(scope: Any) -> None:
    """The best nodes stand at both ends, so which one comes last depends on the others."""
    llm = Telling(says=lambda prompt: f"{'bad' if _stands_last('b', prompt) else 'good'} news")
    engine = engine_of(retriever_of("abd"), llm, node_postprocessors=[LongContextReorder()])
    explanation = explained(engine, scope=scope, awaited=scope == "seen")
    assert (retention(explanation), omission(explanation)) == (sets("bd"), sets("b"))
    assert all(rule.proved for rule in explanation.rules)


def _stands_last(name: str, prompt: str) -> bool:
    return max(TEXTS, key=lambda each: prompt.rfind(TEXTS[each])) == name and TEXTS[name] in prompt
