"""Whose the answer is, where code makes it of what models replied: true rules, or none proved."""

import queue
import threading

import pytest

from rag_rule_explainer import StateShared
from tests.integrations.deciding import SHAPES, beside_a_hint
from tests.integrations.langchain.test_leaving import explainer_of
from tests.integrations.leaving.parts import Answer, Ask, Search
from tests.integrations.leaving.shapes import Shape, check


@pytest.mark.spread(fast=3)
@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
def test_an_answer_that_follows_from_replies_is_the_models(shape: Shape) -> None:
    check(shape, explainer_of(shape.build).explain("why?"))


def test_what_code_decides_by_the_sources_alone_is_ignored_where_that_is_said() -> None:
    explanation = explainer_of(beside_a_hint, ignore=["\\(little is known\\)"]).explain("why?")
    check(Shape(beside_a_hint), explanation)


@pytest.mark.waits
def test_a_thread_of_the_baseline_that_works_for_replays_is_named() -> None:
    jobs: queue.Queue[str | None] = queue.Queue()
    done: queue.Queue[str] = queue.Queue()
    threads = list[threading.Thread]()

    def by_one_thread(search: Search, ask: Ask) -> Answer:
        def work() -> None:
            while (prompt := jobs.get()) is not None:
                done.put(ask(prompt))

        def answer(question: str) -> str:
            jobs.put("\n".join(search(question)))
            if not threads:
                threads.append(threading.Thread(target=work, name="asking"))
                threads[0].start()
            return done.get()

        return answer

    try:
        with pytest.raises(StateShared, match="the thread 'asking', which the baseline began, works for"):
            explainer_of(by_one_thread).explain("why?")
    finally:
        jobs.put(None)
