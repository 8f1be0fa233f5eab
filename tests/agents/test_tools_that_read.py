"""Tests that the recorded result of a tool counts only where the tool would read the same."""

import asyncio
import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain_rag_rule_explainer import RuleExplainer

from rag_rule_explainer import ToolCall, calls_tool
from tests.agents import (
    reading_files,
    reading_library_objects,
    reading_notes,
    reading_nothing_new,
    reading_objects,
    reading_outside,
    reading_own_objects,
    reading_states,
    reading_stores,
    reading_through_code,
    reading_unknown_objects,
    reading_variables,
)
from tests.agents.reading import ASKED, Omitted, Shape, calls_in, false_rules
from tests.agents.reading_agents import GUILTY, INNOCENT

MODULES = (
    *(
        reading_files,
        reading_library_objects,
        reading_notes,
        reading_nothing_new,
        reading_objects,
        reading_outside,
        reading_own_objects,
        reading_states,
    ),
    *(reading_stores, reading_through_code, reading_unknown_objects, reading_variables),
)
"""The modules that fill ``GUILTY`` and ``INNOCENT``."""
OF_STORES = [each for each in GUILTY if each.__module__ == reading_stores.__name__]


def real_run(make: Shape, omitted: Omitted) -> bool:
    application = make(omitted)
    run = application.invoke if hasattr(application, "invoke") else application
    output: Any = run(ASKED)
    return "block" in calls_in(asyncio.run(output) if inspect.iscoroutine(output) else output)


def noted(_: ToolCall) -> str:
    return "noted"


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture(autouse=True)
def no_connection_is_left() -> Iterator[None]:
    yield
    reading_outside.end_servers()
    while reading_objects.OPENED:
        reading_objects.OPENED.pop().close()


def skip_unless_it_works(make: Shape) -> None:
    """Old releases of LangChain do not give tools all that newer ones do."""
    if not real_run(make, ()):
        pytest.skip("this release does not give the tool what it reads")


def explained(make: Shape, **options: Any) -> Any:
    explainer = RuleExplainer(make(()), calls_tool("block"), source_kinds=["tools"], **options)
    if inspect.iscoroutinefunction(make(())):
        return asyncio.run(explainer.aexplain(ASKED))
    return explainer.explain(ASKED)


@pytest.mark.parametrize("make", GUILTY, ids=lambda make: make.__name__)
def test_no_false_rule_about_a_tool_that_reads_what_the_run_made(make: Shape) -> None:
    skip_unless_it_works(make)
    explanation = explained(make)

    assert false_rules(explanation, lambda omitted: real_run(make, omitted)) == []
    assert not explanation.complete
    assert explanation.doubted or "safe_tools=['policy'" in str(explanation)


def test_a_model_that_is_made_in_the_run_replies_in_a_replay_of_one_action() -> None:
    make = reading_states.model_that_is_made_in_the_run
    explanation = explained(make, replay_of="next_action")

    assert explanation.complete, str(explanation)
    assert not explanation.doubted
    assert explanation.rules
    assert false_rules(explanation, lambda omitted: real_run(make, omitted)) == []


@pytest.mark.parametrize("make", INNOCENT, ids=lambda make: make.__name__)
def test_a_tool_that_reads_what_no_source_changes_gets_its_recorded_result(make: Shape) -> None:
    skip_unless_it_works(make)
    explanation = explained(make)

    assert explanation.complete, str(explanation)
    assert not explanation.doubted
    assert "UNVERIFIED" not in str(explanation)
    assert false_rules(explanation, lambda omitted: real_run(make, omitted)) == []


@pytest.mark.parametrize("make", OF_STORES, ids=lambda make: make.__name__)
@pytest.mark.parametrize("safe", ["policy", "remember"])
def test_no_false_rule_where_one_of_two_tools_runs_again(make: Shape, safe: str) -> None:
    skip_unless_it_works(make)
    explanation = explained(make, safe_tools=[safe])

    assert false_rules(explanation, lambda omitted: real_run(make, omitted)) == []
    assert not explanation.complete
    assert "safe_tools=['policy', 'remember']" in str(explanation)


@pytest.mark.parametrize("make", OF_STORES, ids=lambda make: make.__name__)
def test_the_way_out_for_what_a_tool_reads_of_a_store_helps(make: Shape) -> None:
    skip_unless_it_works(make)
    safe = ["policy", "remember"]
    assert f"safe_tools={safe}" in str(explained(make))
    explanation = explained(make, safe_tools=safe)

    assert explanation.complete, str(explanation)
    assert not explanation.doubted
    assert false_rules(explanation, lambda omitted: real_run(make, omitted)) == []


def test_what_a_call_that_only_a_replay_makes_would_write_is_not_read() -> None:
    make = reading_stores.an_item_that_depends_on_the_mails
    skip_unless_it_works(make)
    explanation = explained(make, on_new_tool_call=noted)

    assert explanation.rules
    assert false_rules(explanation, lambda omitted: real_run(make, omitted)) == []
