"""All marks, by their classes, and what is known of applications that go by one, or by none."""

from collections.abc import Callable
from typing import Any

from rag_rule_explainer import Explanation, StateShared
from tests.integrations.known import omission, retention, sets
from tests.integrations.leaving.parts import Answer, Ask, Search, asking
from tests.integrations.noticing import (
    attached,
    collected,
    commands,
    described,
    farther,
    going_on,
    harmless,
    harmless_beside,
    harmless_work,
    interpreter,
    names,
    objects,
    of_c,
    of_libraries,
    of_packages,
    of_python,
    of_standard,
    of_texts,
    process,
    special,
)
from tests.integrations.noticing.modes import MODES, Channel, Left

PAIRS = sets("ab", "ad", "bd")
"""The rules of all applications here: the news is bad wherever two documents are found."""
NEAR = (
    names.NAMES,
    commands.COMMANDS,
    process.PROCESS,
    interpreter.IN_THE_INTERPRETER,
    objects.OBJECTS,
    collected.COLLECTIONS,
    farther.FARTHER,
)
BESIDE = (
    attached.ATTACHED,
    special.SPECIAL,
    described.DESCRIBED,
    going_on.GOING_ON,
    of_libraries.OF_LIBRARIES,
    of_texts.OF_TEXTS,
    of_packages.OF_PACKAGES,
    of_c.OF_C,
    of_standard.OF_STANDARD,
    of_python.OF_PYTHON,
)
HARMLESS = (*harmless.NAMES_AND_COMMANDS, *harmless_work.IN_THE_PROCESS, *harmless_beside.BESIDE)
KNOWN_TO_LAST = frozenset({"a_pair_of_sockets_of_each_run", "a_pipe_of_each_run"})
"""Harmless applications that are unverified: what they make in each run, others keep."""

Shape = tuple[Left, Channel]
Build = Callable[[Search, Ask], Answer]


def guilty(classes: tuple[tuple[Channel, ...], ...]) -> list[list[Shape]]:
    """Each mark of each class, with each way in which an application goes by it."""
    return [[(mode, channel) for channel in channels for mode in MODES] for channels in classes]


def name_of(given: Any) -> str:
    return given.__name__ if callable(given) else "-".join(each.__name__ for each in reversed(given))


def check_guilty(shape: Shape, explainer_of: Callable[[Build], Any]) -> None:
    """No rule that rests on a mark is proved."""
    mode, channel = shape
    try:
        explanation = explainer_of(lambda search, ask: mode(channel, search, ask)).explain("why?")
    except StateShared:
        return
    claims = {rule.claim for rule in explanation.rules}
    if "proved" in claims or explanation.complete:
        # Nothing was left then: the environment, for one, is put back after each run.
        assert rules_of(explanation) == (PAIRS, PAIRS)


def check_harmless(use: Any, explainer_of: Callable[[Build], Any]) -> None:
    """Who keeps nothing has proved rules."""
    explanation = explainer_of(lambda search, ask: asking(search, ask, use())).explain("why?")
    if use.__name__ in KNOWN_TO_LAST:
        assert {rule.claim for rule in explanation.rules} == {"unverified"}
        return
    assert {rule.claim for rule in explanation.rules} == {"proved"}, explanation.warnings
    assert rules_of(explanation) == (PAIRS, PAIRS)


def rules_of(explanation: Explanation) -> tuple[Any, Any]:
    return retention(explanation), omission(explanation)
