"""Everything that can go wrong on the wire: the rules come out as if nothing had."""

import asyncio
from collections import Counter

import pytest
from langchain_rag_rule_explainer import RuleExplainer

from rag_rule_explainer import Explanation, Retries
from tests.drawing import examples
from tests.integrations.langchain.models import facts
from tests.integrations.langchain.test_wire import chain_of, chat_model
from tests.integrations.spoilt import PREDICATE, Spoilt, many
from tests.support.faults import Fault, Faults
from tests.support.openai_server import OpenAIServer

pytestmark = pytest.mark.waits

QUICK = Retries(most=60, first_wait=0.01, longest_wait=0.05)
OURS = 0.4
"""Seconds a replay may take; on a busy machine one that does not hang may need several tries as well."""
WAYS = [(on_a_loop, streaming) for on_a_loop in (False, True) for streaming in (False, True)]


def explained(
    case: Spoilt, way: tuple[bool, bool], ours: float = OURS
) -> tuple[Explanation, OpenAIServer]:
    on_a_loop, streaming = way
    faults = Faults(case.share, seed=case.seed, kinds=case.kinds)
    with (
        OpenAIServer(case.script, faults=faults, retry_after=0.02) as server,
        chat_model(
            server.base_url, keep_alive=False, streaming=streaming, timeout=ours * case.patience
        ) as model,
    ):
        explainer = RuleExplainer(
            chain_of(model, facts(case.names)), predicate=PREDICATE, timeout=ours, retries=QUICK
        )

        async def explained_on_a_loop() -> Explanation:
            try:
                return await explainer.aexplain("why?")
            finally:
                await model.root_async_client.close()

        return asyncio.run(explained_on_a_loop()) if on_a_loop else explainer.explain("why?"), server


@pytest.mark.spread(fast=3, slow=3)
@pytest.mark.parametrize("way", [WAYS[0], pytest.param(WAYS[-1], marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", Fault)
def test_each_kind_of_fault_is_tried_again_and_leaves_no_trace(
    kind: Fault, way: tuple[bool, bool]
) -> None:
    case = Spoilt("ab", "pair", seed=1, share=0.6, kinds=(kind,))
    # Where nothing hangs, a busy machine is no fault.
    explanation, server = explained(case, way, OURS if kind is Fault.HANG else 30)
    assert case.is_the_truth(explanation)
    # On a busy machine, a healthy reply may come too late as well.
    assert explanation.counts.retries >= sum(server.faults_sent.values()) > 0
    in_time = explanation.counts.retries == sum(server.faults_sent.values())
    if in_time and kind not in {Fault.HALF_STREAM, Fault.NO_CHOICES}:
        # Of these two, the one tells its tokens and is not counted, the other the other way round.
        spent, sent = explanation.spent.replays, server.tokens
        assert (spent["input_tokens"], spent["output_tokens"]) == (sent.prompt, sent.completion)


@pytest.mark.spread(slow=4)
@pytest.mark.slow
@pytest.mark.parametrize(
    "way", [WAYS[0], *(pytest.param(way, marks=pytest.mark.slow) for way in WAYS[1:])]
)
def test_whatever_goes_wrong_fifty_explanations_come_out_as_if_nothing_had(
    way: tuple[bool, bool],
) -> None:
    faults, retries = Counter[Fault](), 0
    asked = examples(50)
    for case in many(asked, start=50 * WAYS.index(way)):
        explanation, server = explained(case, way)
        assert case.is_the_truth(explanation), (case, str(explanation))
        # On a busy machine, a healthy reply may come too late as well.
        assert explanation.counts.retries >= sum(server.faults_sent.values()), case
        faults += server.faults_sent
        retries += explanation.counts.retries
    print(f"{retries} retries; {dict(faults)}")
    # Of fewer explanations, a fault may have no place in any.
    assert asked < 50 or set(faults) == set(Fault)
