"""Applications whose first explanation left state outside of what a function can make anew."""

import builtins
import logging
import os
import sqlite3
from collections.abc import Callable, Generator
from contextlib import closing, suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from langchain_core.runnables import RunnableLambda
from langchain_rag_rule_explainer import RuleExplainer

from rag_rule_explainer import StateShared
from tests.integrations.known import omission, retention, sets
from tests.integrations.langchain.chains import Counting
from tests.integrations.langchain.models import Telling, facts
from tests.integrations.leaving.parts import Answer, Ask, Leaving, Search, mode_of, said, written
from tests.integrations.passing_state import GOOD

pytestmark = pytest.mark.waits

_LOGGER = "rag_rule_test_anew"
_OWN: Any = builtins


class Shop:
    alert = False


_held = SimpleNamespace(modes=list[str]())


@pytest.fixture(autouse=True)
def nothing_is_left(monkeypatch: pytest.MonkeyPatch) -> Generator[None, None, None]:
    monkeypatch.chdir(Path.cwd())
    yield
    Shop.alert = False
    _held.modes.clear()
    logging.getLogger(_LOGGER).setLevel(logging.NOTSET)
    _OWN.__dict__.pop("rag_rule_alert", None)


def _select(folder: Path, sql: str) -> list[Any]:
    with closing(sqlite3.connect(folder / "shop.db")) as opened:
        opened.execute("create table if not exists modes (mode text)")
        found = opened.execute(sql).fetchall()
        opened.commit()
    return found


def in_a_file(folder: Path) -> tuple[Callable[[], object], Callable[[], object]]:
    return (folder / "alert").touch, lambda: (folder / "alert").exists()


def in_a_database(folder: Path) -> tuple[Callable[[], object], Callable[[], object]]:
    return (
        lambda: _select(folder, "insert into modes values ('Warn')"),
        lambda: _select(folder, "select mode from modes"),
    )


def on_a_class(_: Path) -> tuple[Callable[[], object], Callable[[], object]]:
    def note() -> None:
        Shop.alert = True

    return note, lambda: Shop.alert


def in_a_list_of_the_module(_: Path) -> tuple[Callable[[], object], Callable[[], object]]:
    return lambda: _held.modes.append("Warn"), lambda: _held.modes


def by_a_file_that_is_there(folder: Path) -> tuple[Callable[[], object], Callable[[], object]]:
    path = os.path.join(str(folder), "alert")  # noqa: PTH118 -- applications do so
    return lambda: Path(path).write_text("", encoding="utf-8"), lambda: os.path.isfile(path)  # noqa: PTH113 -- see above


def in_the_working_folder(folder: Path) -> tuple[Callable[[], object], Callable[[], object]]:
    return lambda: os.chdir(folder), lambda: str(Path.cwd()) == str(folder)


def in_the_level_of_a_logger(_: Path) -> tuple[Callable[[], object], Callable[[], object]]:
    return (
        lambda: logging.getLogger(_LOGGER).setLevel(logging.DEBUG),
        lambda: logging.getLogger(_LOGGER).level == logging.DEBUG,
    )


def in_the_level_of_a_logger_made_anew(folder: Path) -> tuple[Callable[[], object], Callable[[], object]]:
    """No logger of this name is there before the first run."""
    name = f"{_LOGGER}_{folder.name}"
    return (
        lambda: logging.getLogger(name).setLevel(logging.DEBUG),
        lambda: logging.getLogger(name).level == logging.DEBUG,
    )


def in_the_builtins(_: Path) -> tuple[Callable[[], object], Callable[[], object]]:
    def note() -> None:
        _OWN.rag_rule_alert = True

    return note, lambda: hasattr(builtins, "rag_rule_alert")


STATES = [
    in_a_file,
    in_a_database,
    on_a_class,
    in_a_list_of_the_module,
    by_a_file_that_is_there,
    in_the_working_folder,
    in_the_level_of_a_logger,
    in_the_level_of_a_logger_made_anew,
    in_the_builtins,
]


def made_of(note: Callable[[], object], noted: Callable[[], object], *, is_seen_at_once: bool) -> Leaving:
    """Returns a function that makes an application which goes by what it noted. ``is_seen_at_once``: its
    first run differs from all others, so that it is refused; else those that find one document differ."""

    def build(search: Search, ask: Ask) -> Answer:
        def answer(question: str) -> str:
            found = search(question)
            if is_seen_at_once:
                mode = mode_of([] if noted() else found)
                note()
                return written(ask, mode, found)
            if len(found) == 1:
                note()
            return written(ask, "Calm" if noted() else mode_of(found), found)

        return answer

    return build


def explainer_of(build: Leaving, *, anew: bool = False, **parameters: Any) -> Any:
    retriever = Counting(documents=facts("abd"))
    model = Telling(says=lambda messages: said(messages[0].text))

    def search(question: str) -> list[str]:
        return [found.page_content for found in retriever.invoke(question)]

    def ask(prompt: str) -> str:
        return model.invoke(prompt).text

    answer = (lambda question: build(search, ask)(question)) if anew else build(search, ask)  # pyright: ignore[reportUnknownVariableType, reportUnknownLambdaType] -- the way out, as the error words it
    return RuleExplainer(RunnableLambda(answer), predicate=~GOOD, miner="exact", **parameters)  # pyright: ignore[reportUnknownArgumentType] -- see above


@pytest.mark.spread(fast=2)
@pytest.mark.parametrize("is_seen_at_once", [True, False])
@pytest.mark.parametrize("state", STATES)
def test_nothing_is_proved_by_the_way_out_of_state_that_it_does_not_make_anew(
    state: Callable[..., Any], is_seen_at_once: bool, tmp_path: Path
) -> None:
    build = made_of(*state(tmp_path), is_seen_at_once=is_seen_at_once)
    with suppress(StateShared):
        explainer_of(build).explain("why?")
    try:
        explanation = explainer_of(build, anew=True).explain("why?")
    except StateShared:
        return
    assert {rule.claim for rule in explanation.rules} <= {"unverified"}
    assert not explanation.complete


@pytest.mark.spread(fast="each")
@pytest.mark.parametrize("kind", ["retention", "omission"])
@pytest.mark.parametrize("state", STATES)
def test_nothing_is_proved_after_an_explanation_of_one_kind_of_rule(
    state: Callable[..., Any], kind: Any, tmp_path: Path
) -> None:
    build = made_of(*state(tmp_path), is_seen_at_once=False)
    with suppress(StateShared):
        explainer_of(build, rules=kind).explain("why?")
    try:
        explanation = explainer_of(build).explain("why?")
    except StateShared:
        return
    assert {rule.claim for rule in explanation.rules} <= {"unverified"}
    assert not explanation.complete


def _is_known(explanation: Any) -> bool:
    return (retention(explanation), omission(explanation)) == (sets("ab", "ad", "bd"),) * 2


def a_history_of_its_own(search: Search, ask: Ask) -> Answer:
    """What is made anew is the whole state of it: the way out is right."""
    told = list[str]()

    def answer(question: str) -> str:
        found = search(question)
        mode, before = mode_of(found), told[-1:]
        told.append(mode)
        return written(ask, mode if not before else "Calm", found)

    return answer


def a_log_of_all(search: Search, ask: Ask) -> Answer:
    """What it keeps outside is only written."""

    def answer(question: str) -> str:
        found = search(question)
        _held.modes.append(mode_of(found))
        logging.getLogger(_LOGGER).info("found %s", len(found))
        return written(ask, mode_of(found), found)

    return answer


@pytest.mark.parametrize("build", [a_history_of_its_own, a_log_of_all])
def test_a_way_out_that_makes_all_of_it_anew_is_proved(build: Leaving) -> None:
    with suppress(StateShared):
        explainer_of(build).explain("why?")
    for _ in range(2):
        explanation = explainer_of(build, anew=True).explain("why?")
        assert {rule.claim for rule in explanation.rules} == {"proved"}, explanation.warnings
        assert _is_known(explanation)


@pytest.mark.parametrize("kind", ["retention", "omission"])
def test_one_kind_after_the_other_is_proved_where_nothing_goes_by_what_is_left(kind: Any) -> None:
    explainer_of(a_log_of_all, rules=kind).explain("why?")
    explanation = explainer_of(a_log_of_all).explain("why?")
    assert {rule.claim for rule in explanation.rules} == {"proved"}, explanation.warnings
    assert _is_known(explanation)
