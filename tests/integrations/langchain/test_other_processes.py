"""No replay runs a tool's function in another process, and pools that do other work go on."""

import multiprocessing
import os
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import StructuredTool
from langchain_rag_rule_explainer import RuleExplainer

from rag_rule_explainer import Explanation, contains
from tests.integrations.langchain.models import Telling
from tests.integrations.langchain.test_functions_of_other_kinds import SCHEMA, TURNS, unknown
from tests.integrations.sending import Office, called, parsed, send, through

pytestmark = [
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork"),
]
FORKED = multiprocessing.get_context("fork")
SPAWNED = multiprocessing.get_context("spawn")
TOOL = StructuredTool(name="send", description="Sends.", func=send, args_schema=SCHEMA)


@pytest.fixture(name="sent")
def count_sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """Returns a function that returns how often the tool's function has run, in any process."""
    path = tmp_path / "sent.txt"
    path.touch()
    monkeypatch.setenv("SENDING", str(path))
    return lambda: len(path.read_text().splitlines())


def by_executor(work: Any, *given: Any, context: Any = FORKED) -> Any:
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        return pool.submit(work, *given).result()


def by_map_of_executor(work: Any, *given: Any) -> Any:
    with ProcessPoolExecutor(1, mp_context=FORKED) as pool:
        return [*pool.map(work, *([each] for each in given))].pop()


def by_pool(work: Any, *given: Any) -> Any:
    with FORKED.Pool(1) as pool:
        return pool.apply(work, given)


def by_starmap(work: Any, *given: Any) -> Any:
    with FORKED.Pool(1) as pool:
        return pool.starmap(work, [given])[0]


def by_imap(work: Any, *given: Any) -> Any:
    with FORKED.Pool(1) as pool:
        return [*pool.imap_unordered(partial(work, *given[:-1]), given[-1:])].pop()


def by_process(work: Any, *given: Any, context: Any = FORKED) -> Any:
    process = context.Process(target=work, args=given)
    process.start()
    process.join()
    return "ended"


class Own(multiprocessing.Process):
    """A process with a method ``run`` of its own."""

    def __init__(self, work: Any, given: Any) -> None:
        super().__init__()
        self.work, self.given = work, given

    def run(self) -> None:
        self.work(*self.given)


def by_own_process(work: Any, *given: Any) -> Any:
    process = Own(work, given)
    process.start()
    process.join()
    return "ended"


def by_fork(work: Any, *given: Any) -> Any:
    child = os.fork()
    if child == 0:
        try:
            work(*given)
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    return "ended"


def by_initializer(work: Any, *given: Any) -> Any:
    with FORKED.Pool(1, work, given) as pool:
        return pool.apply(parsed, ("x",))


PLACES = {
    "executor": by_executor,
    "executor, spawned": partial(by_executor, context=SPAWNED),
    "executor's map": by_map_of_executor,
    "pool": by_pool,
    "starmap": by_starmap,
    "imap": by_imap,
    "process": by_process,
    "process, spawned": partial(by_process, context=SPAWNED),
    "own process": by_own_process,
    "fork": by_fork,
    "initializer": by_initializer,
}
WORK: dict[str, Callable[[], tuple[Any, ...]]] = {
    "function": lambda: (send, "x"),
    "partial": lambda: (partial(send, "x"),),
    "by its name": lambda: (through, "x"),
    "argument": lambda: (called, send, "x"),
    "method of its holder": lambda: (Office().sends, "x"),
    "tool": lambda: (TOOL.invoke, {"what": "x"}),
}


def explained(hand: Callable[[], object], **options: Any) -> Explanation:
    """Explains an application that hands work over where a turn is missing."""

    def run(messages: Any) -> str:
        if "Bonn" not in str(messages):
            hand()
        model = Telling(says=lambda told: "Bonn" if "Bonn" in str(told) else "none")
        return str(model.invoke(messages).text) + TOOL.name[:0]

    return RuleExplainer(
        RunnableLambda(run), contains("Bonn"), source_kinds=["turns"], **options
    ).explain(TURNS)


def reasons(explanation: Explanation) -> str:
    return str([each.reason for probe in explanation.probes for each in probe.verdicts.values()])


@pytest.mark.spread(fast=3)
@pytest.mark.parametrize("work", WORK)
@pytest.mark.parametrize("place", PLACES)
def test_no_replay_runs_a_tool_in_another_process(place: str, work: str, sent: Any) -> None:
    given = WORK[work]()
    if place == "executor's map" and len(given) == 1:
        pytest.skip("map calls with an argument")
    if place == "imap" and len(given) == 1:
        pytest.skip("imap calls with an argument")
    explanation = explained(lambda: PLACES[place](*given))
    assert sent() == 0
    assert unknown(explanation) > 0
    assert "another process" in reasons(explanation)


def forked() -> bool:
    return os.fork() == 0


def sends_in_a_child() -> None:
    if forked():
        try:
            send("x")
        finally:
            os._exit(0)
    os.wait()


def invokes_in_a_child() -> None:
    if forked():
        try:
            TOOL.invoke({"what": "x"})
        finally:
            os._exit(0)
    os.wait()


def parses_in_a_child() -> None:
    if forked():
        parsed("x")
        os._exit(0)
    os.wait()


@pytest.mark.waits
@pytest.mark.parametrize("work", [sends_in_a_child, invokes_in_a_child])
def test_a_guard_holds_in_a_forked_child_and_the_replay_knows_it(work: Any, sent: Any) -> None:
    explanation = explained(work)
    assert sent() == 0
    assert "ended in a forked child" in reasons(explanation)


@pytest.mark.waits
def test_a_forked_child_that_does_other_work_goes_on(sent: Any) -> None:
    assert unknown(explained(parses_in_a_child)) == sent() == 0


INNOCENT: dict[str, Callable[[], tuple[Any, ...]]] = {
    "function": lambda: (parsed, "x"),
    "partial": lambda: (partial(parsed, "x"),),
    "argument": lambda: (called, parsed, "x"),
    "method of the holder of a tool": lambda: (Office().parses, "x"),
    "builtin": lambda: (len, "x"),
}


@pytest.mark.spread(fast=2)
@pytest.mark.parametrize("work", INNOCENT)
@pytest.mark.parametrize("place", [each for each in PLACES if "spawned" not in each])
def test_a_pool_that_does_other_work_goes_on(place: str, work: str, sent: Any) -> None:
    given = INNOCENT[work]()
    if place in {"executor's map", "imap"} and len(given) == 1:
        pytest.skip("it calls with an argument")
    explanation = explained(lambda: PLACES[place](*given))
    assert unknown(explanation) == 0
    assert sent() == 0


@pytest.mark.waits
def test_a_tool_that_is_safe_runs_in_another_process(sent: Any) -> None:
    explanation = explained(lambda: by_executor(send, "x"), safe_tools=["send"])
    assert unknown(explanation) == 0
    assert sent() > 0
