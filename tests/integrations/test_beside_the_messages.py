"""Whatever stands beside the messages and may have been made of an omitted turn leaves nothing *proved*,
unless the user names it; innocent data there do no harm."""

import ast
import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from langchain_core.runnables import RunnableConfig, RunnableLambda
from langchain_rag_rule_explainer import RuleExplainer

from rag_rule_explainer import Explanation, contains
from rag_rule_explainer.instrumentation.requests.volatile import Steady
from rag_rule_explainer.instrumentation.shared_state.holdings import Holdings
from rag_rule_explainer.instrumentation.source_kinds.independence import doubted_beside
from rag_rule_explainer.instrumentation.source_kinds.own_memories import OwnMemories
from rag_rule_explainer.instrumentation.source_kinds.prompt_sections import PromptMessage
from rag_rule_explainer.instrumentation.source_kinds.prompt_sources import PromptSources
from rag_rule_explainer.instrumentation.source_kinds.taking_out import TakingOut
from rag_rule_explainer.instrumentation.source_kinds.turn_remains import Copy
from tests.instrumentation.source_kinds.test_prompt_sources import as_turn
from tests.integrations.beside_forms import ASKED, FORMS, SAID, TALK
from tests.integrations.beside_innocent import INNOCENT
from tests.integrations.beside_unseen import UNSEEN_GUILTY, UNSEEN_INNOCENT
from tests.integrations.test_texts_made_of_turns import as_dicts, pairs
from tests.integrations.test_turns_left_in_the_application import as_it_is, claims

pytestmark = [pytest.mark.waits, pytest.mark.filterwarnings("ignore")]

ALL = [*TALK, ASKED]
MOST_DOUBTED, MOST_MISSED = 0.24, 0.18
"""The largest shares of unseen data that are judged wrongly."""


@dataclass
class Case:
    """An application, and what it is given."""

    application: Any
    given: Any
    config: Any = None
    files: Sequence[str] = ()


def explained(case: Case, ignore: Sequence[str] = ()) -> Explanation:
    kinds: Any = {"source_kinds": ["turns", "memory"], "miner": "exact", "question_of": str}
    explainer = RuleExplainer(
        RunnableLambda(case.application), contains("is paid"), ignore=ignore, **kinds
    )
    return explainer.explain(case.given, case.config)


def doubted_in(case: Case, ignore: Sequence[str] = ()) -> set[str]:
    """Returns the names of what is doubted, without a run of the application."""
    steady = Steady(tuple(ignore))
    prompts = PromptSources.of(
        [PromptMessage(*each) for each in ALL], as_turn("turns"), ["turns"], "remove"
    )
    memories = OwnMemories(Holdings(case.application), case.files, steady.is_ignored)
    data = {each: prompts.texts_of(each) for each in prompts.groups}
    more = {f"config.{name}": each for name, each in (case.config or {}).items()}
    objects = [case.given] if isinstance(case.given, Body) else []
    prompts.beside.update(memories.copies_of(data, prompts.asked, more, objects))
    given = {"beside": [case.given], **{name: [each] for name, each in more.items()}}
    doubted_beside(prompts, memories, given, [], objects)
    found = dict[str, Copy]()
    TakingOut(prompts, frozenset(data), found.__setitem__, steady.is_ignored).edited(case.given)
    return {path for each in found.values() for path in (each.path, *each.others)}


def looks_at(beside: Any) -> bool:
    """Stands for an application that goes by what is beside the messages."""
    return bool(repr(beside))


def in_the_input(name: str, beside: Any, _: Path) -> Case:
    def answer(given: Any) -> str:
        assert looks_at(given[name])
        return as_it_is(pairs(given["messages"]))

    return Case(answer, {"messages": as_dicts(ALL), name: beside})


def on_a_message(name: str, beside: Any, _: Path) -> Case:
    def answer(given: Any) -> str:
        assert looks_at(given[-1])
        return as_it_is(pairs(given))

    *earlier, last = as_dicts(ALL)
    return Case(answer, [*earlier, {**last, name: beside}])


def in_the_config(name: str, beside: Any, _: Path) -> Case:
    def answer(given: Any, config: RunnableConfig) -> str:
        assert looks_at(config.get("configurable", {})[name])
        return as_it_is(pairs(given))

    return Case(answer, as_dicts(ALL), {"configurable": {name: beside, "user_id": "u-17"}})


class Session:
    """An object of the application's own."""

    def answer(self, given: Any) -> str:
        assert looks_at(vars(self))
        return as_it_is(pairs(given))


def in_a_session(name: str, beside: Any, _: Path) -> Case:
    session = Session()
    setattr(session, name, beside)
    return Case(session.answer, as_dicts(ALL))


MADE = """
def made({name}):
    def answer(given):
        assert looks_at({name})
        return as_it_is(pairs(given))
    return answer
"""


def in_a_closure(name: str, beside: Any, _: Path) -> Case:
    names = {**globals()}
    exec(MADE.format(name=name), names)  # noqa: S102 -- the variable has the name
    return Case(names["made"](beside), as_dicts(ALL))


@dataclass
class Body:
    messages: list[Any]
    context: Any


def in_an_object(name: str, beside: Any, _: Path) -> Case:
    def answer(given: Body) -> str:
        assert looks_at(given.context[name])
        return as_it_is(pairs(given.messages))

    return Case(answer, Body(as_dicts(ALL), {name: beside}))


def in_a_file(name: str, beside: Any, folder: Path) -> Case:
    is_text, is_bytes = isinstance(beside, str), isinstance(beside, bytes)
    path = folder / f"{name}.{'txt' if is_text else 'bin' if is_bytes else 'json'}"
    stored = json.dumps(beside, default=lambda each: getattr(each, "page_content", ""))
    path.write_bytes(beside if is_bytes else (beside if is_text else stored).encode())

    def answer(given: Any) -> str:
        assert looks_at(path.read_bytes())
        return as_it_is(pairs(given))

    return Case(answer, as_dicts(ALL), files=[str(path)])


PLACES: dict[str, Callable[[str, Any, Path], Case]] = {
    "input": in_the_input,
    "message": on_a_message,
    "config": in_the_config,
    "session": in_a_session,
    "closure": in_a_closure,
    "object": in_an_object,
    "file": in_a_file,
}


def guilty(form: str, place: str, folder: Path) -> Case:
    name, make = FORMS[form]
    return PLACES[place](name, make(list(SAID)), folder)


def innocent(data: str, place: str, folder: Path) -> Case:
    name, beside = INNOCENT[data]
    return PLACES[place](name, beside, folder)


@pytest.mark.parametrize("place", PLACES)
def test_what_may_be_made_of_a_turn_is_doubted(place: str, tmp_path: Path) -> None:
    missed = [each for each in FORMS if not doubted_in(guilty(each, place, tmp_path))]
    assert missed == []


@pytest.mark.parametrize("place", PLACES)
def test_innocent_data_are_not_doubted(place: str, tmp_path: Path) -> None:
    doubted = {each: doubted_in(innocent(each, place, tmp_path)) for each in INNOCENT}
    assert {each: found for each, found in doubted.items() if found} == {}


@pytest.mark.spread(fast=60, slow=4)
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("form", FORMS)
def test_a_warning_names_the_place_and_the_way_out(form: str, place: str, tmp_path: Path) -> None:
    case = guilty(form, place, tmp_path)
    explanation = explained(case)
    assert claims(explanation) == {"unverified"}
    ways_out = ast.literal_eval(explanation.warnings[0].rpartition("ignore=")[2])
    assert claims(explained(case, ways_out)) == {"proved"}


@pytest.mark.spread(fast=60, slow=4)
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("data", INNOCENT)
def test_innocent_data_do_no_harm(data: str, place: str, tmp_path: Path) -> None:
    explanation = explained(innocent(data, place, tmp_path))
    assert claims(explanation) == {"proved"}, explanation.warnings


def share(cases: Iterable[Case], *, doubted: bool) -> float:
    """Returns the share of the cases that are doubted, or are not."""
    found = [bool(doubted_in(each)) is doubted for each in cases]
    return sum(found) / len(found)


@pytest.mark.slow
@pytest.mark.parametrize("place", PLACES)
def test_most_data_that_no_list_of_words_knows_are_judged_rightly(place: str, tmp_path: Path) -> None:
    innocent_ones = (PLACES[place](name, beside, tmp_path) for name, beside in UNSEEN_INNOCENT)
    guilty_ones = (PLACES[place](name, make(list(SAID)), tmp_path) for name, make in UNSEEN_GUILTY)
    assert share(innocent_ones, doubted=True) <= MOST_DOUBTED
    assert share(guilty_ones, doubted=False) <= MOST_MISSED


def made(word: str, summary: str = "") -> Callable[[Any], str]:
    def answer(given: Any) -> str:
        assert looks_at((word, summary))
        return as_it_is(pairs(given))

    return answer


def test_a_constant_that_makes_a_function_is_not_doubted() -> None:
    assert not doubted_in(Case(made("Keller"), as_dicts(ALL)))


def test_a_constant_of_a_conversation_or_with_its_words_is_doubted() -> None:
    assert doubted_in(Case(made("Keller", summary="The bill is settled."), as_dicts(ALL)))
    assert doubted_in(Case(made("Bob Keller of Bonn pays"), as_dicts(ALL)))


def test_what_stands_in_no_code_is_doubted_in_the_same_function() -> None:
    word = "".join(("A", "nn"))
    assert doubted_in(Case(made(word), as_dicts(ALL)))


def test_a_digest_is_doubted_also_under_the_name_of_something_else(tmp_path: Path) -> None:
    digest = hashlib.sha1("".join(SAID).encode()).hexdigest()  # noqa: S324 -- no secret
    assert doubted_in(in_the_input("cache_key", digest, tmp_path))
    assert not doubted_in(in_the_input("cache_key", digest[::-1], tmp_path))


def test_single_words_of_a_turn_one_after_another_are_doubted(tmp_path: Path) -> None:
    assert doubted_in(in_the_input("scratch", ["at", "the", "desk."], tmp_path))
    assert not doubted_in(in_the_input("scratch", ["at", "desk."], tmp_path))


def test_a_formal_text_with_a_word_of_a_turn_is_doubted(tmp_path: Path) -> None:
    assert doubted_in(in_the_input("ddl", "CREATE TABLE printer (id INT)", tmp_path))
    assert not doubted_in(in_the_input("ddl", "CREATE TABLE loans (id INT)", tmp_path))
