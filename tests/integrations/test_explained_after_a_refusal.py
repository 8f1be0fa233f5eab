"""Applications whose first explanation is refused because runs share state, explained once more."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from frozenlist import FrozenList

from rag_rule_explainer import StateShared
from tests.integrations.known import BAD, shown_in
from tests.integrations.leaving.innocent import a_chat_of_each_run, a_log_in_memory
from tests.integrations.leaving.parts import Answer, Ask, Leaving, Search, mode_of, written
from tests.integrations.test_passing_state import of_langchain, of_llama_index, of_plain

pytestmark = pytest.mark.waits


def what_is_new_decides(search: Search, ask: Ask) -> Answer:
    seen = dict[str, bool]()

    def answer(question: str) -> str:
        found = search(question)
        kept = [each for each in found if each not in seen]
        seen.update(dict.fromkeys(kept, True))
        return written(ask, mode_of(kept), found)

    return answer


class Greeting:
    """Answers the first question by what it found, and all later ones as if it had found nothing."""

    def __init__(self, search: Search, ask: Ask) -> None:
        self.search, self.ask, self.is_first = search, ask, True

    def answer(self, question: str) -> str:
        found = self.search(question)
        mode, self.is_first = mode_of(found if self.is_first else []), False
        return written(self.ask, mode, found)


def the_first_question_decides(search: Search, ask: Ask) -> Answer:
    return Greeting(search, ask).answer


@pytest.mark.spread(fast="each")
@pytest.mark.parametrize("of", [of_langchain, of_llama_index, of_plain])
@pytest.mark.parametrize("build", [what_is_new_decides, the_first_question_decides])
def test_nothing_is_proved_of_what_was_refused(of: Callable[..., Any], build: Any) -> None:
    with of(build) as explainer:
        with pytest.raises(StateShared):
            explainer.explain("What is new?")
        again = explainer.explain("What is new?")
    assert {rule.claim for rule in again.rules} <= {"unverified"}
    assert not again.complete
    assert any("an earlier explanation found" in each for each in again.warnings), again.warnings


def a_session_of_the_first_question(search: Search, ask: Ask) -> Answer:
    """The first question decides for all later ones."""
    sessions = dict[str, str]()

    def answer(question: str) -> str:
        found = search(question)
        if "anonymous" not in sessions:
            sessions["anonymous"] = mode_of(found)
        return written(ask, sessions["anonymous"], found)

    return answer


@pytest.mark.spread(fast="each")
@pytest.mark.parametrize("of", [of_langchain, of_llama_index, of_plain])
@pytest.mark.parametrize("build", [a_session_of_the_first_question, what_is_new_decides])
def test_an_estimate_leaves_nothing(of: Callable[..., Any], build: Any) -> None:
    with of(build) as explainer:
        explainer.estimate("What is new?")
        try:
            explanation = explainer.explain("What is new?")
        except StateShared:
            return
    assert {rule.claim for rule in explanation.rules} == {"unverified"}


def _by_a_mark(mark: Callable[[], object], is_marked: Callable[[], bool]) -> Leaving:
    """Every run leaves a mark, by which only a run on the first document goes."""

    def build(search: Search, ask: Ask) -> Answer:
        def answer(question: str) -> str:
            found, was = search(question), is_marked()
            mark()
            is_other = was and shown_in(" ".join(found)) == "a"
            return written(ask, "Warn" if is_other else mode_of(found), found)

        return answer

    return build


def by_a_file(folder: Path) -> Leaving:
    path = folder / "mark"
    return _by_a_mark(lambda: path.write_text("x"), lambda: os.path.exists(path))  # noqa: PTH110 -- as applications ask


def by_a_list_of_a_library(folder: Path) -> Leaving:
    names = FrozenList([folder.name])
    return _by_a_mark(names.freeze, lambda: names.frozen)


def by_a_file_of_notes(folder: Path) -> Leaving:
    """Nothing reads the notes."""
    path = folder / "notes"

    def note() -> None:
        with path.open("a") as notes:
            notes.write("a run\n")

    return _by_a_mark(note, bool)


@pytest.mark.spread(fast="each")
@pytest.mark.parametrize("of", [of_langchain, of_llama_index])
@pytest.mark.parametrize("made", [by_a_file, by_a_list_of_a_library])
def test_what_an_estimate_leaves_outside_leaves_nothing_proved(
    of: Callable[..., Any], made: Callable[[Path], Leaving], tmp_path: Path
) -> None:
    build = made(tmp_path)
    with of(build, predicate=BAD) as explainer:
        explainer.estimate("What is new?")
    with of(build, predicate=BAD) as explainer:
        explanation = explainer.explain("What is new?")
    assert {rule.claim for rule in explanation.rules} == {"unverified"}
    assert explanation.warnings[0].startswith("fidelity not checked")


@pytest.mark.parametrize("of", [of_langchain, of_llama_index])
def test_notes_of_an_estimate_do_no_harm(of: Callable[..., Any], tmp_path: Path) -> None:
    build = by_a_file_of_notes(tmp_path)
    with of(build, predicate=BAD) as explainer:
        explainer.estimate("What is new?")
        explanation = explainer.explain("What is new?")
    assert {rule.claim for rule in explanation.rules} == {"proved"}, explanation.warnings


@pytest.mark.spread(fast="each")
@pytest.mark.parametrize("of", [of_langchain, of_llama_index, of_plain])
@pytest.mark.parametrize("build", [a_log_in_memory, a_chat_of_each_run])
def test_what_an_estimate_leaves_harmlessly_is_proved(of: Callable[..., Any], build: Any) -> None:
    with of(build) as explainer:
        explainer.estimate("What is new?")
        explanation = explainer.explain("What is new?")
    assert explanation.complete
    assert not any("fidelity not checked" in each for each in explanation.warnings)


def by_a_second_name_of_a_file(folder: Path) -> Leaving:
    path = folder / "mark"
    path.write_text("x")

    def mark() -> None:
        if path.stat().st_nlink < 2:
            os.link(path, f"{path}.two")

    return _by_a_mark(mark, lambda: path.stat().st_nlink > 1)


def by_a_link_that_is_never_asked_for(folder: Path) -> Leaving:
    """Nothing goes by the second name."""
    path = folder / "notes"
    path.write_text("x")

    def mark() -> None:
        other = folder / uuid4().hex
        os.link(path, other)
        other.unlink()

    return _by_a_mark(mark, bool)


@pytest.mark.parametrize(
    ("made", "claim"),
    [(by_a_second_name_of_a_file, "unverified"), (by_a_link_that_is_never_asked_for, "proved")],
)
def test_a_second_name_of_a_file_counts_where_it_is_asked_for(
    made: Callable[[Path], Leaving], claim: str, tmp_path: Path
) -> None:
    build = made(tmp_path)
    with of_langchain(build, predicate=BAD, rules="omission") as explainer:
        explainer.explain("What is new?")
    with of_langchain(build, predicate=BAD) as explainer:
        explanation = explainer.explain("What is new?")
    assert {rule.claim for rule in explanation.rules} == {claim}, explanation.warnings
