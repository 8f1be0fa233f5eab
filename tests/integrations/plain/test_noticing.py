"""No rule is proved of an application that goes by a mark of an earlier run, wherever the mark is. Rules
of an application that leaves none are proved."""

from collections.abc import Generator
from typing import Any

import pytest
from openai import OpenAI
from plain_rag_rule_explainer import RuleExplainer, gate

from tests.integrations.known import BAD, TEXTS
from tests.integrations.leaving.parts import cleared, said
from tests.integrations.noticing.tables import (
    BESIDE,
    HARMLESS,
    Build,
    Shape,
    check_guilty,
    check_harmless,
    guilty,
    name_of,
)
from tests.integrations.plain.models import client_of
from tests.representing import some, some_of_each
from tests.support.openai_server import OpenAIServer

# The marks that iterators leave are read in a way that Python 3.14 no longer has.
pytestmark = pytest.mark.filterwarnings("ignore:Pickle, copy, and deepcopy support:DeprecationWarning")


@pytest.fixture(autouse=True)
def nothing_is_left() -> Generator[None, None, None]:
    with cleared():
        yield


@pytest.fixture(autouse=True, scope="module")
def served() -> Generator[None, None, None]:
    def replied(body: Any) -> str:
        return said("\n".join(str(each.get("content")) for each in body["messages"]))

    with OpenAIServer(replied) as server, client_of(server.base_url) as client:
        CLIENTS.append(client)
        yield
        CLIENTS.clear()


CLIENTS = list[OpenAI]()


def explainer_of(build: Build) -> Any:
    client = CLIENTS[0]

    @gate
    def find(query: str) -> list[dict[str, str]]:
        return [{"id": name, "text": TEXTS[name]} for name in "abd"]

    def ask(prompt: str) -> str:
        reply = client.chat.completions.create(model="m", messages=[{"role": "user", "content": prompt}])
        return reply.choices[0].message.content or ""

    answer = build(lambda question: [each["text"] for each in find(question)], ask)
    return RuleExplainer(answer, predicate=BAD, miner="exact")


@pytest.mark.waits
@pytest.mark.spread(fast=2, slow=3)
@pytest.mark.parametrize("shape", some_of_each(guilty(BESIDE), every=43), ids=name_of)
def test_no_rule_that_rests_on_a_mark_is_proved(shape: Shape) -> None:
    check_guilty(shape, explainer_of)


@pytest.mark.waits
@pytest.mark.spread(fast=2)
@pytest.mark.parametrize("use", some(HARMLESS, every=25), ids=name_of)
def test_who_keeps_nothing_has_proved_rules(use: Any) -> None:
    check_harmless(use, explainer_of)
