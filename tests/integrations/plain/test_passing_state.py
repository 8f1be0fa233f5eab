"""What runs count and may forget again: rules that rest on it are never proved."""

from typing import Any

import pytest
from openai import OpenAI
from plain_rag_rule_explainer import RuleExplainer

from tests.integrations.leaving.parts import Leaving, said
from tests.integrations.passing_state import GOOD, REMEMBERING, a_breaker_that_only_counts, check
from tests.integrations.plain.models import client_of
from tests.integrations.plain.zoo.shapes import Index, user
from tests.support.openai_server import OpenAIServer

pytestmark = pytest.mark.waits


def explainer_of(build: Leaving, client: OpenAI) -> Any:
    index = Index()

    def ask(prompt: str) -> str:
        reply = client.chat.completions.create(model="m", messages=user(prompt))
        return reply.choices[0].message.content or ""

    answer = build(lambda question: [each["text"] for each in index.search(question)], ask)
    return RuleExplainer(answer, predicate=GOOD, miner="exact")


@pytest.mark.spread(fast=2)
@pytest.mark.parametrize("build", [*REMEMBERING, a_breaker_that_only_counts])
def test_no_rule_that_rests_on_what_was_counted_is_proved(build: Leaving) -> None:
    with (
        OpenAIServer(lambda body: said(body["messages"][0]["content"])) as server,
        client_of(server.base_url) as client,
    ):
        check(build, lambda: explainer_of(build, client).explain("why?"))
