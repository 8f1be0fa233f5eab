"""Replays go on one at a time where runs leave data on what they share, and side by side where not."""

import threading
from collections.abc import Callable

import httpx
import pytest

from rag_rule_explainer.instrumentation.shared_state.outside import Outside
from rag_rule_explainer.instrumentation.shared_state.temporaries import OneAtATime


class Pipeline:
    found: list[str] = []  # noqa: RUF012

    def __init__(self) -> None:
        self.asked = 0
        self.client = httpx.Client()
        self.texts: list[str] = []

    def counts(self) -> None:
        self.asked += 1

    def uses_its_client(self) -> None:
        self.client.headers = {"x-run": str(self.asked)}
        self.client.params = {"q": "why?"}

    def keeps_its_texts(self) -> None:
        self.texts = [*"ab"]

    def keeps_them_on_its_class(self) -> None:
        Pipeline.found = [*"ab"]


def noticed(application: object, run: Callable[[], object]) -> bool:
    alone = OneAtATime(application, "", Outside())
    run()  # the baseline
    with alone.noticing():
        run()
    return alone.is_needed


@pytest.mark.parametrize("name", ["counts", "uses_its_client"])
def test_counters_and_what_a_client_keeps_are_no_results(name: str) -> None:
    pipeline = Pipeline()
    run = getattr(pipeline, name)
    assert not noticed(run, run)


@pytest.mark.parametrize("name", ["keeps_its_texts", "keeps_them_on_its_class"])
def test_data_on_an_object_or_its_class_are_results(name: str) -> None:
    pipeline = Pipeline()
    run = getattr(pipeline, name)
    assert noticed(run, run)


def test_what_a_function_encloses_is_a_result() -> None:
    found: list[str] = []

    def run() -> list[str]:
        nonlocal found
        found = [*"ab"]
        return found

    assert noticed(run, run)


def test_a_lock_made_anew_is_none() -> None:
    holder = {"lock": threading.Lock()}

    def run() -> None:
        holder["lock"] = threading.Lock()

    assert not noticed(run, run)
