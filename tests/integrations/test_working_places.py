"""Tools that an application calls in another context, a timer, or a thread or a task that was begun
before the run: such calls are answered where it is certain to which run they belong, and else refused. No
replay runs a tool."""

import asyncio
import threading
import time
from collections import Counter
from collections.abc import Collection, Generator
from contextlib import contextmanager
from typing import Any

import pytest
from langchain_core.runnables import RunnableLambda
from llama_index_instrumentation import get_dispatcher

from rag_rule_explainer import Explanation, InvalidInput, ToolCall, UntrueReplay
from rag_rule_explainer.instrumentation import stray_calls
from tests.agents.zoo.scripts import ONE_BY_ONE, Script
from tests.agents.zoo.shapes import INBOX, PAYS, QUESTION, functions
from tests.integrations.known import omission, retention
from tests.integrations.working_places import (
    KITS,
    Kit,
    Tasks,
    Worker,
    aloop,
    end_workers,
    in_a_new_context,
    in_a_new_context_in_a_thread,
    in_a_new_context_of_a_task,
    in_a_pool,
    in_a_pool_of_multiprocessing,
    in_a_task_of_a_task,
    in_a_timer,
    loop,
)
from tests.representing import some

pytestmark = [pytest.mark.waits, pytest.mark.filterwarnings("ignore")]


@pytest.fixture(autouse=True)
def workers() -> Generator[None, None, None]:
    yield
    end_workers()


ONCE = {"search_inbox": 1, "calendar": 1, "pay": 1}
RULES = INBOX.rules(ONE_BY_ONE, "pay", "whole_run")
CERTAIN = (
    in_a_new_context,
    in_a_new_context_in_a_thread,
    in_a_timer,
    in_a_pool,
    in_a_pool_of_multiprocessing,
)


def explained(kit: Kit, application: Any, **options: Any) -> Explanation:
    explainer = kit.explainer(application, PAYS, source_kinds=["tools"], miner="exact", **options)
    return explainer.explain(QUESTION)


async def aexplained(kit: Kit, application: Any) -> Explanation:
    explainer = kit.explainer(application, PAYS, source_kinds=["tools"], miner="exact")
    return await explainer.aexplain(QUESTION)


@contextmanager
def worker(*, in_context: bool = False) -> Generator[Worker, None, None]:
    own = Worker(in_context=in_context)
    try:
        yield own
    finally:
        own.end()


@pytest.mark.spread(fast="each")
@pytest.mark.parametrize("kit", KITS)
@pytest.mark.parametrize("place", CERTAIN)
def test_a_call_that_is_certainly_of_the_run_is_answered(kit: Any, place: Any) -> None:
    own = kit(functions(ran := []))
    explanation = explained(own, loop(own, place))
    assert (retention(explanation), omission(explanation)) == RULES
    assert Counter(ran) == ONCE


@pytest.mark.spread(fast="each")
@pytest.mark.parametrize("kit", KITS)
@pytest.mark.parametrize("place", [in_a_new_context_of_a_task, in_a_task_of_a_task])
def test_so_is_one_in_a_task(kit: Any, place: Any) -> None:
    own = kit(functions(ran := []))
    explanation = asyncio.run(aexplained(own, aloop(own, place)))
    assert (retention(explanation), omission(explanation)) == RULES
    assert Counter(ran) == ONCE


@pytest.mark.parametrize("kit", some(KITS, 3, first=0))
def test_so_is_one_of_a_sync_application_that_is_awaited(kit: Any) -> None:
    own = kit(functions(ran := []))
    explanation = asyncio.run(aexplained(own, loop(own, in_a_new_context)))
    assert (retention(explanation), omission(explanation)) == RULES
    assert Counter(ran) == ONCE


@pytest.mark.parametrize("kit", some(KITS, 3, first=1))
def test_a_worker_that_was_there_before_is_refused(kit: Any) -> None:
    own = kit(functions(ran := []))
    with worker() as place, pytest.raises(InvalidInput, match=r"thread.*copy_context"):
        explained(own, loop(own, place))
    assert Counter(ran) == ONCE


@pytest.mark.parametrize("kit", some(KITS, 3, first=2))
def test_the_advice_is_right(kit: Any) -> None:
    own = kit(functions(ran := []))
    with worker(in_context=True) as place:
        explanation = explained(own, loop(own, place))
    assert (retention(explanation), omission(explanation)) == RULES
    assert Counter(ran) == ONCE


class Late:
    """A worker that its first use begins, and that later runs use as well. ``changes``: the application
    changes the arguments that the model gave."""

    def __init__(self, kit: Kit, *, in_context: bool, changes: bool) -> None:
        self.kit, self.in_context, self.changes = kit, in_context, changes
        self.worker: Worker | None = None

    def __call__(self, work: Any) -> Any:
        self.worker = self.worker or Worker(in_context=self.in_context)
        name, given = work.__defaults__
        given = dict.fromkeys(given, "yesterday") if self.changes else given
        return self.worker(lambda: self.kit.run(name, given))


@pytest.mark.spread(fast="each")
@pytest.mark.parametrize("kit", KITS)
@pytest.mark.parametrize("changes", [False, True])
def test_a_worker_that_the_first_run_begins(kit: Any, changes: bool) -> None:
    own = kit(functions(ran := []))
    place = Late(own, in_context=False, changes=changes)
    with pytest.raises(UntrueReplay, match=r"'search_inbox' was called in a thread.*copy_context"):
        explained(own, loop(own, place), concurrency=1)
    assert place.worker is not None
    place.worker.end()
    assert Counter(ran) == ONCE


@pytest.mark.parametrize("kit", some(KITS, 3, first=0))
def test_the_advice_is_right_for_it_too(kit: Any) -> None:
    own = kit(functions(ran := []))
    place = Late(own, in_context=True, changes=False)
    explanation = explained(own, loop(own, place))
    assert place.worker is not None
    place.worker.end()
    assert (retention(explanation), omission(explanation)) == RULES
    assert Counter(ran) == ONCE


class Asking(Script):
    """It searches again, once, where it does not pay."""

    def next(self, shown: Collection[str], made: Collection[str]) -> tuple[ToolCall, ...]:
        calls, searched = super().next(shown, made), Counter(made)["search_inbox"] > 1
        again = () if searched or "pay" in made else (ToolCall("search_inbox", {"of": "yesterday"}),)
        return calls or again


@pytest.mark.parametrize("kit", some(KITS, 3, first=1))
def test_a_worker_that_only_replays_use_runs_nothing(kit: Any) -> None:
    own = kit(functions(ran := []), Asking(ONE_BY_ONE.steps))
    with worker() as place:

        def somewhere(work: Any) -> Any:
            return place(work) if "yesterday" in work.__defaults__[1].values() else work()

        application = loop(own, somewhere)
        with pytest.raises(UntrueReplay, match=r"'search_inbox' was called in a thread.*copy_context"):
            explained(own, application)
    assert Counter(ran) == ONCE


@pytest.mark.parametrize("kit", some(KITS, 3, first=0))
def test_a_worker_may_be_faster_than_whoever_waits_for_it(kit: Any) -> None:
    own = kit(functions(ran := []), Asking(ONE_BY_ONE.steps))
    with worker() as place:
        place.pause = 0.05

        def somewhere(work: Any) -> Any:
            return place(work) if "yesterday" in work.__defaults__[1].values() else work()

        application = loop(own, somewhere)
        with pytest.raises(UntrueReplay, match=r"'search_inbox' was called in a thread.*copy_context"):
            explained(own, application)
    assert Counter(ran) == ONCE


@pytest.mark.parametrize("kit", some(KITS, 3, first=2))
def test_a_task_that_only_replays_use_runs_it_once_at_most(kit: Any) -> None:
    own = kit(functions(ran := []), Asking(ONE_BY_ONE.steps))

    async def asked() -> str:
        tasks = Tasks()

        async def somewhere(work: Any) -> Any:
            return await (tasks(work) if "yesterday" in work.__defaults__[1].values() else work())

        explainer = own.explainer(aloop(own, somewhere), PAYS, source_kinds=["tools"], concurrency=1)
        with pytest.raises(UntrueReplay, match=r"task that was begun outside.*copy_context") as refused:
            await explainer.aexplain(QUESTION)
        tasks.task.cancel()
        return str(refused.value)

    said = asyncio.run(asked())
    assert "'search_inbox'" in said
    # If the thread of the loop happens to start another one at this moment, the call is not run at all.
    again = [] if "was not run" in said else ["search_inbox"]
    assert Counter(ran) == Counter(ONCE) + Counter(again)


@pytest.mark.parametrize("kit", some(KITS, 3, first=0))
def test_the_calls_of_others_at_the_same_time_are_left_alone(
    kit: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As those that a server answers: they are made while a run waits for no other thread. However long
    this run is looked at, it never comes to wait."""
    monkeypatch.setattr(stray_calls, "_LONGEST", 0.01)
    own, served = kit(functions(ran := [])), list[str]()
    with worker() as others:

        def beside_others(work: Any) -> Any:
            before = len(served)
            others.waiting.put(lambda: served.append(str(work())))
            while len(served) == before:
                time.sleep(0.001)
            return work()

        explanation = explained(own, loop(own, beside_others), concurrency=1)
    assert (retention(explanation), omission(explanation)) == RULES
    assert len(ran) == len(served) + 3
    assert len(set(served)) == 3, "each got the whole result of its tool"


@pytest.mark.spread(fast="each")
@pytest.mark.parametrize("kit", KITS)
@pytest.mark.parametrize("in_context", [False, True])
def test_a_task_that_was_there_before(kit: Any, in_context: bool) -> None:
    own = kit(functions(ran := []))

    async def asked() -> None:
        place = Tasks(in_context=in_context)
        try:
            if not in_context:
                with pytest.raises(InvalidInput, match=r"task.*copy_context"):
                    await aexplained(own, aloop(own, place))
                return
            explanation = await aexplained(own, aloop(own, place))
            assert (retention(explanation), omission(explanation)) == RULES
        finally:
            place.task.cancel()

    asyncio.run(asked())
    assert Counter(ran) == ONCE


def in_a_run_of_langchain(work: Any) -> Any:
    return RunnableLambda(lambda _: work()).invoke("of another user")


@get_dispatcher().span
def in_a_run_of_llama_index(work: Any) -> Any:
    return work()


@pytest.mark.parametrize(
    ("kit", "in_a_run"),
    [(KITS[0], in_a_run_of_langchain), (KITS[1], in_a_run_of_llama_index)],
)
def test_a_run_of_another_user_that_makes_the_same_call_really_makes_it(kit: Any, in_a_run: Any) -> None:
    """Even while a replay that asked for this very call waits for a thread."""
    own, served = kit(functions(ran := [])), list[str]()
    with worker() as others:

        def beside_another_user(work: Any) -> Any:
            done = threading.Event()

            def serve() -> None:
                served.append(str(in_a_run(work)))
                done.set()

            others.waiting.put(serve)
            assert done.wait(120)
            return work()

        explanation = explained(own, loop(own, beside_another_user), concurrency=1)
    assert (retention(explanation), omission(explanation)) == RULES
    assert len(served) > sum(ONCE.values())
    assert len(ran) == len(served) + sum(ONCE.values())
    assert not any("was not run" in each for each in served)


@pytest.mark.parametrize("kit", KITS)
def test_another_users_call_of_the_same_function_runs_all_its_tools(kit: Any) -> None:
    own, served = kit(functions(ran := [])), list[str]()
    with worker() as others:

        def beside_another_user(work: Any) -> Any:
            done = threading.Event()

            def serve() -> None:
                served.append(application(QUESTION))
                done.set()

            if threading.current_thread() is not others.thread:
                others.waiting.put(serve)
                assert done.wait(120)
            return work()

        application = loop(own, beside_another_user)
        explanation = explained(own, application, concurrency=1)
    assert (retention(explanation), omission(explanation)) == RULES
    assert set(served) == {explanation.baseline.text}
    assert len(ran) == (len(served) + 1) * len(ONCE)
