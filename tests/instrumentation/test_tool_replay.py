"""Tool calls of replays, answered from the record of the baseline, against a naive reading."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_rule_explainer import InvalidInput, ToolCall
from rag_rule_explainer.instrumentation.bounds import ReplayEnded
from rag_rule_explainer.instrumentation.executed_calls import ToolOutcome
from rag_rule_explainer.instrumentation.made_tools import MadeTools
from rag_rule_explainer.instrumentation.tool_record import ToolRecord
from rag_rule_explainer.instrumentation.tool_replay import NewToolCall, ToolReplay, UsedTool
from rag_rule_explainer.instrumentation.tool_settings import checked_on_new_tool_call, checked_tool_names

ARGUMENTS = st.sampled_from([{}, {"n": 1}, {"n": 1.5, "m": [2]}, "odd"])
CALLS = st.lists(st.tuples(st.sampled_from("ab"), ARGUMENTS))
SAFE, RUNS, ENDED = frozenset("b"), "runs", "ended"


def no_call() -> str:
    return "x"


def two_calls(call: ToolCall, other: ToolCall) -> str:
    return f"{call} {other}"


def recorded(calls: list[tuple[str, Any]]) -> ToolRecord:
    record = ToolRecord()
    for place, call in enumerate(calls):
        record.note(ToolCall(*call), record.keys.of(*call), ToolOutcome([place]))
    return record


def outcome(replay: ToolReplay, name: str, arguments: Any = None) -> ToolOutcome | None:
    retrieves = replay.retrieves(name, None, MadeTools())
    key = replay.record.keys.of(name, arguments or {})
    return replay.outcome(ToolCall(name, arguments or {}), key, retrieves=retrieves)


def naive(first: list[Any], asked: list[Any], on_new: str, safe: frozenset[str]) -> list[Any]:
    """What each call of a replay gets: the place of the baseline's call whose result it is, or a word."""
    got: list[Any] = []
    for number, call in enumerate(asked):
        places = [place for place, each in enumerate(first) if each == call]
        before = asked[:number].count(call)
        if ENDED in got:
            got.append(ENDED)
        elif before < len(places):
            got.append(places[before])
        else:
            got.append(RUNS if on_new == "live" or call[0] in safe else ENDED)
    return got


@given(CALLS, CALLS, st.sampled_from(["unknown", "live"]), st.sampled_from([frozenset[str](), SAFE]))
def test_calls_get_what_the_same_calls_of_the_baseline_got(
    first: Any, asked: Any, on_new: Any, safe: frozenset[str]
) -> None:
    replay, got = ToolReplay(recorded(first), safe=safe, on_new=on_new), list[Any]()
    for call in asked:
        try:
            known = outcome(replay, *call)
        except (NewToolCall, ReplayEnded):
            got.append(ENDED)
        else:
            got.append(RUNS if known is None else known.given()[0])
    assert got == naive(first, asked, on_new, safe)
    assert bool(replay.cut) is (ENDED in got)


def test_a_function_answers_what_is_new() -> None:
    replay = ToolReplay(recorded([("a", {})]), on_new=lambda call: f"{call.name} of {call.arguments}")
    results = [outcome(replay, "a", each) for each in ({}, {"n": 1})]
    assert [each and each.result for each in results] == [[0], "a of {'n': 1}"]


def test_a_tool_that_retrieves_runs_and_nothing_runs_after_the_end() -> None:
    replay = ToolReplay(recorded([("a", {})]), retrieving={"a"})
    assert outcome(replay, "a") is None
    with pytest.raises(NewToolCall, match=r"no tool runs: b\(\) \(safe_tools=\['b'\]"):
        outcome(replay, "b")
    for _ in range(30):
        with pytest.raises((NewToolCall, ReplayEnded)):
            outcome(replay, "a")
    with pytest.raises(ReplayEnded):
        replay.check()


def test_a_tool_that_runs_again_runs_for_recorded_calls_too() -> None:
    replay = ToolReplay(recorded([("a", {}), ("b", {}), ("b", {})]), safe=SAFE, again=SAFE)
    assert [outcome(replay, each) for each in "bbb"] == [None] * 3
    assert replay.lasting(["now"], "b", replay.record.keys.of("b", {})) == ["now"]
    assert (found := outcome(replay, "a")) is not None
    assert found.result == [0]
    with pytest.raises(NewToolCall):
        outcome(replay, "a")


def test_errors_are_raised_again_and_results_are_copies() -> None:
    record, result = ToolRecord(), ["x"]
    record.note(ToolCall("a"), record.keys.of("a", {}), ToolOutcome(result))
    record.note(ToolCall("a"), record.keys.of("a", {}), ToolOutcome(error=ValueError("it is closed")))
    result.append("changed after the call")
    replays = [ToolReplay(record), ToolReplay(record)]
    firsts: list[Any] = [outcome(replay, "a") for replay in replays]
    firsts[0].given().append("changed by a run")
    assert [each.given() for each in firsts] == [["x"], ["x"]]
    failed: Any = outcome(replays[0], "a")
    with pytest.raises(ValueError, match="it is closed"):
        failed.given()


def test_a_stream_is_not_recorded() -> None:
    record = ToolRecord()
    record.note(ToolCall("a"), record.keys.of("a", {}), ToolOutcome(iter("xyz")))
    with pytest.raises(NewToolCall):
        outcome(ToolReplay(record), "a")


@pytest.mark.parametrize("given_", ["Unknown", "", 5, no_call, two_calls])
def test_what_is_no_policy(given_: Any) -> None:
    with pytest.raises(InvalidInput, match="on_new_tool_call"):
        checked_on_new_tool_call(given_)


@pytest.mark.parametrize("given_", ["send", [5], [""], {"send": "x"}, None])
def test_what_are_no_names_of_tools(given_: Any) -> None:
    with pytest.raises(InvalidInput, match="safe_tools"):
        checked_tool_names("safe_tools", given_)


_OF_A_FRAMEWORK = """
def call(used, error):
    with used.noting_errors():
        raise error
"""


@pytest.mark.parametrize(
    ("error", "module", "has_begun"),
    [
        (NotImplementedError("no sync interface"), "langchain_core.tools.structured", False),
        (NotImplementedError("no such account"), "banking", True),
        (ValueError("paid, and then broke"), "langchain_core.tools.structured", True),
    ],
)
def test_a_tool_without_the_called_interface_has_not_begun(
    error: Exception, module: str, has_begun: bool
) -> None:
    """Any other tool may have acted before its error."""
    held: dict[str, Any] = {"__name__": module}
    exec(_OF_A_FRAMEWORK, held)  # noqa: S102 -- the code of a module of that name
    record = ToolRecord()
    used = UsedTool(ToolCall("pay", {}), record, None, key="pay")
    # This function stands for the framework's own frames, which the error has not left yet.
    with pytest.raises(type(error)):
        held["call"](used, error)
    assert bool(record.not_begun) is not has_begun
