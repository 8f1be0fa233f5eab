"""Whatever a run leaves a mark in, no rule that rests on it is proved; where none is left, rules are."""

from collections.abc import Generator
from typing import Any

import pytest
from langchain_core.runnables import RunnableLambda
from langchain_rag_rule_explainer import RuleExplainer

from rag_rule_explainer import StateShared
from tests.integrations.known import BAD, omission, retention, sets
from tests.integrations.langchain.chains import Counting
from tests.integrations.langchain.models import Telling, facts
from tests.integrations.leaving.parts import Answer, asking, cleared, said
from tests.integrations.noticing import (
    attached,
    collected,
    commands,
    farther,
    harmless,
    harmless_work,
    interpreter,
    names,
    objects,
    process,
)
from tests.integrations.noticing.harmless import Used
from tests.integrations.noticing.modes import MODES, Channel, Left
from tests.representing import some, some_of_each

# The marks that iterators leave are read in a way that Python 3.14 no longer has.
pytestmark = pytest.mark.filterwarnings("ignore:Pickle, copy, and deepcopy support:DeprecationWarning")

PAIRS = sets("ab", "ad", "bd")
"""The rules of all applications here: the news is bad wherever two documents are found."""
CLASSES = (
    names.NAMES,
    commands.COMMANDS,
    process.PROCESS,
    interpreter.IN_THE_INTERPRETER,
    objects.OBJECTS,
    collected.COLLECTIONS,
    farther.FARTHER,
    attached.ATTACHED,
)
GUILTY = [[(mode, channel) for channel in channels for mode in MODES] for channels in CLASSES]
HARMLESS = (*harmless.NAMES_AND_COMMANDS, *harmless_work.IN_THE_PROCESS)
KNOWN_TO_LAST = frozenset({"a_pair_of_sockets_of_each_run", "a_pipe_of_each_run"})
"""Harmless applications that are unverified: what they make in each run, others keep."""


@pytest.fixture(autouse=True)
def nothing_is_left() -> Generator[None, None, None]:
    with cleared():
        yield


def explainer_of(build: Any) -> Any:
    retriever = Counting(documents=facts("abd"))
    model = Telling(says=lambda messages: said(messages[0].text))
    answer: Answer = build(
        lambda question: [found.page_content for found in retriever.invoke(question)],
        lambda prompt: model.invoke(prompt).text,
    )
    return RuleExplainer(RunnableLambda(answer), predicate=BAD, miner="exact")


def name_of(given: Any) -> str:
    return given.__name__ if callable(given) else "-".join(each.__name__ for each in reversed(given))


@pytest.mark.spread(fast=2, slow=3)
@pytest.mark.parametrize("shape", some_of_each(GUILTY, every=13), ids=name_of)
def test_no_rule_that_rests_on_a_mark_is_proved(shape: tuple[Left, Channel]) -> None:
    mode, channel = shape
    try:
        explanation = explainer_of(lambda search, ask: mode(channel, search, ask)).explain("why?")
    except StateShared:
        return
    claims = {rule.claim for rule in explanation.rules}
    if "proved" in claims or explanation.complete:
        # Nothing was left then: the environment, for one, is put back after each run.
        assert (retention(explanation), omission(explanation)) == (PAIRS, PAIRS)


@pytest.mark.spread(fast=2)
@pytest.mark.parametrize("use", some(HARMLESS, every=5), ids=name_of)
def test_who_keeps_nothing_has_proved_rules(use: Any) -> None:
    def build(search: Any, ask: Any) -> Answer:
        used: Used = use()
        return asking(search, ask, used)

    explanation = explainer_of(build).explain("why?")
    if use.__name__ in KNOWN_TO_LAST:
        assert {rule.claim for rule in explanation.rules} == {"unverified"}
        return
    assert {rule.claim for rule in explanation.rules} == {"proved"}, explanation.warnings
    assert (retention(explanation), omission(explanation)) == (PAIRS, PAIRS)
