"""Retriever classes are wrapped while somebody explains, for who takes part, and never longer."""

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from contextvars import ContextVar, copy_context
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable
from langchain_rag_rule_explainer import RuleExplainer
from langchain_rag_rule_explainer.finding import Found, documents_found, identify
from langchain_rag_rule_explainer.interception import interception
from typing_extensions import override

from rag_rule_explainer import BaselineFailed, ReplayMissedGate
from rag_rule_explainer.instrumentation.recording.captured import Captured
from rag_rule_explainer.instrumentation.recording.current import taking_part
from rag_rule_explainer.instrumentation.recording.recorder import Recording
from rag_rule_explainer.instrumentation.recording.serving import Serving
from tests.integrations.known import BAD, blames_b_and_d, omission, retention, sets
from tests.integrations.langchain.chains import Counting, bad_with, named, retriever_of, step, texts
from tests.representing import SELDOM


class Overriding(Counting):
    """A retriever class of the kind that has entries of its own."""

    @override
    def invoke(self, input: str, config: Any = None, **kwargs: Any) -> list[Document]:
        return super().invoke(input, config, **kwargs)

    @override
    async def ainvoke(self, input: str, config: Any = None, **kwargs: Any) -> list[Document]:
        return await super().ainvoke(input, config, **kwargs)


ENTRIES = [
    (owner, name) for owner in (BaseRetriever, Overriding, Counting) for name in ("invoke", "ainvoke")
]
ORIGINAL = [vars(owner).get(name) for owner, name in ENTRIES]


def are_as_before() -> bool:
    now = [vars(owner).get(name) for owner, name in ENTRIES]
    return all(ours is original for ours, original in zip(now, ORIGINAL, strict=True))


@pytest.fixture(autouse=True)
def _classes_are_as_before_afterwards() -> Iterator[None]:
    assert are_as_before()
    yield
    assert are_as_before()


def explainer_of(chain: Runnable[Any, Any], **settings: Any) -> RuleExplainer[Any, Any]:
    return RuleExplainer(chain, predicate=BAD, **settings)


def captured(names: str) -> Captured[Found]:
    recording = Recording[Found](identify)
    recording.record((), documents_found(named(names)), None)
    return recording.captured()


def test_both_entries_are_wrapped_while_explaining_and_whole_again_afterwards() -> None:
    seen: list[bool] = []
    chain = retriever_of("ab") | step(lambda _: seen.append(are_as_before()) or "good")
    explainer = explainer_of(chain)
    explainer.explain("?")
    asyncio.run(explainer.aexplain("?"))
    assert seen
    assert not any(seen)
    assert are_as_before()
    assert "invoke" not in vars(Counting)


def test_a_class_with_entries_of_its_own_is_intercepted_too() -> None:
    retriever = Overriding(documents=named("abcd"))
    explainer = explainer_of(retriever | bad_with("b", "d"))
    assert blames_b_and_d(explainer.explain("?"))
    assert blames_b_and_d(asyncio.run(explainer.aexplain("?")))
    assert retriever.live == ["?", "?"]


def test_a_class_whose_own_entry_never_asks_its_parent_is_intercepted_too() -> None:
    class Alone(Counting):
        @override
        def invoke(self, input: str, config: Any = None, **kwargs: Any) -> list[Document]:
            self.live.append(input)
            return self.documents

    retriever = Alone(documents=named("abcd"))
    assert blames_b_and_d(explainer_of(retriever | bad_with("b", "d")).explain("?"))
    assert retriever.live == ["?"]


def test_a_class_defined_while_explaining_is_intercepted_from_the_next_replay_on() -> None:
    live: list[str] = []
    made: list[BaseRetriever] = []

    def search(query: str) -> list[Document]:
        if not made:

            class Late(BaseRetriever):
                @override
                def invoke(self, input: str, config: Any = None, **kwargs: Any) -> list[Document]:
                    live.append(input)
                    return named("abcd")

                @override
                def _get_relevant_documents(self, query: str, **_: Any) -> list[Document]:
                    raise NotImplementedError

            made.append(Late())
            # The baseline is recorded through a class that was there before.
            return retriever_of("abcd").invoke(query)
        return made[0].invoke(query)

    assert blames_b_and_d(explainer_of(step(search) | bad_with("b", "d")).explain("?"))
    assert live == ["?"]  # one real search says what the late retriever finds, for all replays
    assert made[0].invoke("afterwards")
    assert live == ["?", "afterwards"]
    assert not hasattr(vars(type(made[0]))["invoke"], "__wrapped__")


def test_nested_and_overlapping_uses_share_the_wrapping() -> None:
    with ExitStack() as first, ExitStack() as second:
        first.enter_context(interception.intercepting())
        wrapped = vars(BaseRetriever)["invoke"]
        second.enter_context(interception.intercepting())
        assert vars(BaseRetriever)["invoke"] is wrapped
        first.close()
        assert vars(BaseRetriever)["invoke"] is wrapped
        second.close()
        assert are_as_before()


@pytest.mark.waits
def test_explanations_at_the_same_time_do_not_see_each_others_documents() -> None:
    # Each baseline waits for all the others, so all of them do overlap.
    together = threading.Barrier(6)

    def explain(first: str, second: str) -> bool:
        retriever = retriever_of("abcd")

        def answer(found: list[Document]) -> str:
            if len(found) == 4:
                together.wait(120)
            return "bad" if texts(found) >= {first, second} else "good"

        explanation = explainer_of(retriever | step(answer), check_repeatable=False).explain("?")
        found = retention(explanation), omission(explanation)
        return found == (sets(first + second), sets(first, second)) and retriever.live == ["?"]

    pairs = ["ab", "ac", "ad", "bc", "bd", "cd"]
    with ThreadPoolExecutor(len(pairs)) as threads:
        assert all(threads.map(explain, *zip(*pairs, strict=True)))


def test_explanations_on_one_loop_at_the_same_time_keep_apart_as_well() -> None:
    async def all_of_them() -> list[bool]:
        async def explain(names: str) -> bool:
            chain = retriever_of("abcd") | bad_with(*names)
            return retention(await explainer_of(chain).aexplain("?")) == sets(names)

        return await asyncio.gather(*map(explain, ["ab", "ac", "ad", "bc", "bd", "cd"]))

    assert all(asyncio.run(all_of_them()))


@pytest.mark.waits
def test_ordinary_traffic_of_twenty_threads_sees_all_its_documents_meanwhile() -> None:
    retriever, ended = retriever_of("abcd"), threading.Event()

    def traffic(_: int) -> list[int]:
        sizes: list[int] = []
        while not (ended.is_set() and sizes):
            sizes.append(len(retriever.invoke("traffic")))
            sizes.append(len(asyncio.run(retriever.ainvoke("traffic"))))
        return sizes

    with ThreadPoolExecutor(20) as threads:
        seen = [threads.submit(traffic, number) for number in range(20)]
        try:
            found = [explainer_of(retriever | bad_with("b", "d")).explain("?") for _ in range(3)]
        finally:
            ended.set()
        assert all(set(each.result(120)) == {4} for each in seen)
    assert all(map(blames_b_and_d, found))
    assert retriever.live.count("?") == 3


@pytest.mark.parametrize("awaiting", SELDOM)
def test_an_error_in_the_middle_unwraps(awaiting: bool) -> None:
    def failing(found: list[Document]) -> str:
        assert not are_as_before()
        raise ValueError("no")

    numbers = iter(range(9))
    cached = named("ab")

    def missing_the_gate(query: str) -> list[Document]:
        return cached if next(numbers) else retriever_of("ab").invoke(query)

    for chain, error in (
        (retriever_of("ab") | step(failing), BaselineFailed),
        (step(missing_the_gate) | bad_with("b"), ReplayMissedGate),
    ):
        explainer = explainer_of(chain)
        with pytest.raises(error):
            asyncio.run(explainer.aexplain("?")) if awaiting else explainer.explain("?")
        assert are_as_before()


@pytest.mark.waits
def test_a_cancelled_explanation_unwraps() -> None:
    async def cancelled() -> None:
        begun = asyncio.Event()

        async def waiting(_: object) -> str:
            begun.set()
            await asyncio.sleep(60)
            return "bad"

        task = asyncio.create_task(explainer_of(retriever_of("ab") | step(waiting)).aexplain("?"))
        await asyncio.wait_for(begun.wait(), 60)
        assert not are_as_before()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert are_as_before()

    asyncio.run(cancelled())


def test_once_nobody_explains_a_late_replay_wraps_nothing() -> None:
    interception.wrap_loaded_classes()
    assert are_as_before()


def test_a_wrapper_put_on_top_meanwhile_is_left_alone_and_ours_below_it_is_inert() -> None:
    class Watched(Counting):
        @override
        def invoke(self, input: str, config: Any = None, **kwargs: Any) -> list[Document]:
            return super().invoke(input, config, **kwargs)

    original = vars(Watched)["invoke"]
    watched: list[str] = []

    def watch() -> None:
        ours = vars(Watched)["invoke"]
        assert ours is not original

        def theirs(self: Watched, *given: Any, **more: Any) -> list[Document]:
            watched.append(given[0])
            return ours(self, *given, **more)

        Watched.invoke = theirs

    retriever = Watched(documents=named("abcd"))
    with interception.intercepting():
        watch()
        theirs = vars(Watched)["invoke"]
        with taking_part(Serving(captured("abcd"), ())):
            assert retriever.invoke("served") == []
    assert vars(Watched)["invoke"] is theirs
    assert len(retriever.invoke("afterwards")) == 4
    assert blames_b_and_d(explainer_of(retriever | bad_with("b", "d")).explain("?"))
    assert vars(Watched)["invoke"] is theirs
    assert watched == ["served", "afterwards", "?"]
    # A query that the recorded run did not make is searched for once, and no source is retained here.
    assert retriever.live == ["served", "afterwards", "?"]


@pytest.mark.waits
def test_a_thread_that_outlives_its_replay_retrieves_live() -> None:
    retriever = retriever_of("ab")
    proceed = threading.Event()
    outliving: list[Future[list[Document]]] = []
    with ThreadPoolExecutor(8) as threads:

        def late(query: str) -> list[Document]:
            proceed.wait(120)
            return retriever.invoke(query)

        def answer(found: list[Document]) -> str:
            context = copy_context()
            outliving.append(threads.submit(context.run, late, "late"))
            return "bad" if "b" in texts(found) else "good"

        chain = retriever | step(answer)
        with interception.intercepting():
            # The classes stay wrapped on purpose: what makes it inert is that its replay has ended.
            explanation = explainer_of(chain).explain("?")
            assert retriever.live == ["?"]
            proceed.set()
            assert [len(each.result(120)) for each in outliving] == [2] * explanation.counts.replays
    assert retention(explanation) == sets("b")


@pytest.mark.waits
def test_a_task_that_outlives_its_replay_retrieves_live() -> None:
    async def main() -> None:
        retriever = retriever_of("ab")
        proceed = asyncio.Event()
        outliving: list[asyncio.Task[list[Document]]] = []

        async def late() -> list[Document]:
            await proceed.wait()
            return await retriever.ainvoke("late")

        async def answer(found: list[Document]) -> str:
            outliving.append(asyncio.create_task(late()))
            return "bad" if "b" in texts(found) else "good"

        with interception.intercepting():
            explanation = await explainer_of(retriever | step(answer)).aexplain("?")
            assert retriever.live == ["?"]
            proceed.set()
            found = await asyncio.gather(*outliving)
        assert [len(each) for each in found] == [2] * explanation.counts.replays
        assert retention(explanation) == sets("b")

    asyncio.run(main())


def test_a_closed_serving_serves_nobody() -> None:
    retriever = retriever_of("ab")
    serving = Serving(captured("ab"), ())
    with interception.intercepting():
        with taking_part(serving):
            context = copy_context()
            assert retriever.invoke("?") == []
        assert context.run(retriever.invoke, "?") == named("ab")
    assert serving.served == 1


caller: ContextVar[str] = ContextVar("caller", default="nobody")


@pytest.mark.parametrize("awaiting", SELDOM)
def test_replays_see_the_context_of_the_caller_and_leave_it_alone(awaiting: bool) -> None:
    seen: list[str] = []

    def answer(found: list[Document]) -> str:
        seen.append(caller.get())
        caller.set("a replay")
        return "bad" if "b" in texts(found) else "good"

    def ask() -> str:
        caller.set("the user")
        explainer = explainer_of(retriever_of("ab") | step(answer))
        asyncio.run(explainer.aexplain("?")) if awaiting else explainer.explain("?")
        return caller.get()

    assert copy_context().run(ask) == "the user"
    assert set(seen) == {"the user"}
    assert len(seen) == 5
