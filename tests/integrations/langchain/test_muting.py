"""Verbose chains: what they print and warn of is heard once, of the first run."""

import asyncio
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from langchain_core.globals import get_debug, get_verbose, set_debug, set_verbose
from langchain_core.runnables import RunnableLambda
from langchain_rag_rule_explainer import explained

from tests.integrations.known import BAD
from tests.integrations.langchain.chains import bad_with, retriever_of


@pytest.fixture(params=["verbose", "debug"])
def _talkative(request: pytest.FixtureRequest) -> Iterator[None]:
    set_to: Callable[[bool], None] = set_verbose if request.param == "verbose" else set_debug
    before = get_verbose() if request.param == "verbose" else get_debug()
    set_to(True)
    yield
    set_to(before)


def loud(given: Any) -> Any:
    print("asked")
    warnings.warn("old", DeprecationWarning, stacklevel=1)
    return given


@pytest.mark.usefixtures("_talkative")
@pytest.mark.parametrize("awaiting", [False, True])
def test_a_talkative_chain_is_heard_once(awaiting: bool, capsys: pytest.CaptureFixture[str]) -> None:
    chain = explained(RunnableLambda(loud) | retriever_of("bd") | bad_with("b"), predicate=BAD)
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("always")
        answer: Any = asyncio.run(chain.ainvoke("why?")) if awaiting else chain.invoke("why?")
    told = capsys.readouterr().out
    assert told.splitlines().count("asked") == 1
    assert "rag_rule_replay" not in told
    assert [str(each.message) for each in shown if each.category is DeprecationWarning] == ["old"]
    assert answer.rag_rules["counts"]["replays"] > 2
