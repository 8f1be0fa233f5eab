"""A service that runs only ask is named in a note; one that is told something is doubted, or ignored."""

import asyncio
from collections.abc import Generator

import pytest

from tests.integrations.langchain.test_leaving import explainer_of
from tests.integrations.leaving import services
from tests.integrations.leaving.parts import Leaving, cleared


@pytest.fixture(autouse=True)
def nothing_is_left() -> Generator[None, None, None]:
    with cleared():
        yield


def test_what_runs_ask_is_named() -> None:
    notes = explainer_of(services.by_a_reranker).explain("why?").notes
    assert [note for note in notes if note.startswith("runs ask 127.0.0.1:")]


@pytest.mark.spread(fast=2)
@pytest.mark.parametrize("build", [services.with_a_service, services.with_a_memory_for_hire])
def test_a_service_is_believed_where_the_user_says_so(build: Leaving) -> None:
    explanation = asyncio.run(explainer_of(build, ignore=[r"127\.0\.0\.1:\d+"]).aexplain("why?"))
    assert {rule.claim for rule in explanation.rules} == {"proved"}
    assert not [note for note in explanation.notes if "runs ask" in note]
    explanation = asyncio.run(explainer_of(build).aexplain("why?"))
    assert {rule.claim for rule in explanation.rules} == {"unverified"}
    assert "name it: ignore=['127" in explanation.warnings[0]
