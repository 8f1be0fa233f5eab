"""This module finds out whether an application makes decisions by random values.

A comparison of runs cannot always show this. For example, code may choose a model at random if it has
found fewer than three documents. Replays on all sources then agree, although replays on fewer sources do
not.
"""

import ast
from collections.abc import Callable, Iterator
from contextlib import suppress
from types import FunctionType

from ..copies.guarded_code import own_code
from ..doubts import pattern_of
from ..shared_state.contents import is_of_user, names_in
from ..shared_state.counting import running_functions
from ..shared_state.holdings import Holdings
from .flow import Flow
from .places import KnownNames, code_of
from .sources import DrawnKind, is_seeding

_DEEPEST = 3
"""The maximum depth of calls that are followed. If a function returns the result of a second function,
the second function is read too."""
BY_CHANCE = "answers may hang on chance"
"""The first words of the warning for the user."""


def doubt_about_chance(holdings: Holdings, is_ignored: Callable[[str], bool]) -> str:
    """Returns a warning for the user if the user's code makes a decision by a random value; empty if
    there is no such code. ``holdings``: all objects of the application. ``is_ignored``: returns True iff
    the user ignores the function with this name."""
    for function, called in _deciding(holdings):
        if not is_ignored(called) and not is_ignored(function.__name__):
            name = "a lambda" if function.__name__ == "<lambda>" else f"{function.__name__}()"
            return (
                f"{BY_CHANCE}: {name} of the application decides by what {called}() draws, so "
                "answers on the same documents may differ from run to run, and each was asked for once. "
                "Let votes decide (noise=9), or draw from a generator that every run makes anew from a "
                "fixed seed, as random.Random(7). Where no answer hangs on it, name it: "
                f"ignore=[{pattern_of(called)!r}]"
            )
    return ""


def _deciding(holdings: Holdings) -> Iterator[tuple[FunctionType, str]]:
    """Yields each function of the user's that makes a decision by a random value, with the name of the
    function that draws the value."""
    functions = [
        (None if held.holder is None else holdings.all[held.holder].thing, function)
        for held, function in running_functions(holdings)
    ]
    is_seeded = False
    with suppress(Exception):
        is_seeded = any(_seeds(function, holder) for holder, function in functions)
    for holder, function in functions:
        called = ""
        # Reading a user's object may raise any error.
        with suppress(Exception):
            flows = _flows(function, holder, is_seeded, _DEEPEST)
            called = next(filter(None, (flow.decided_by() for flow in flows)), "")
        if called:
            yield function, called


def _seeds(function: FunctionType, holder: object) -> bool:
    """Returns True iff the function seeds the generators of ``random`` or ``numpy.random``. All runs then
    draw the same values from these generators, so no decision depends on chance."""
    if "seed" not in names_in(own_code(function)):
        return False
    return any(
        isinstance(each, ast.Call) and bool(each.args) and is_seeding(names.object_of(each.func))
        for node in code_of(function)
        for names in (KnownNames(function, node, holder),)
        for each in ast.walk(node)
    )


def _flows(function: FunctionType, holder: object, is_seeded: bool, depth: int) -> Iterator[Flow]:
    def returned_by(other: FunctionType) -> tuple[DrawnKind, str] | None:
        if not depth or not is_of_user(other):
            return None
        flows = _flows(other, None, is_seeded, depth - 1)
        return next((found for flow in flows if (found := flow.returned())), None)

    for node in code_of(function):
        yield Flow(node, KnownNames(function, node, holder), returned_by, is_seeded)
