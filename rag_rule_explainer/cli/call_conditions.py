"""This module parses conditions about tool calls, as users write them on the command line."""

import re
from collections.abc import Callable
from functools import partial
from typing import Any

from ..errors import InvalidInput
from ..predicates import (
    Predicate,
    calls_in_order,
    calls_tool,
    contains,
    next_call,
    number_of_calls,
)

SYNTAX_OF_CALLS = (
    "calls[:TOOL[:ARG=JSON or TEXT&ARG~TEXT]] | next-call[:TOOL[:...]] | calls-in-order:TOOL|TOOL | "
    "calls-at-most:N[:TOOL] | calls-at-least:N[:TOOL]"
)
_ARGUMENT = re.compile(r"([A-Za-z_]\w*)([=~])(.*)", re.DOTALL)
_NEXT_ARGUMENT = re.compile(r"&(?=[A-Za-z_]\w*[=~])")


def call_conditions(value: Callable[[str], object]) -> dict[str, Callable[[str], Predicate]]:
    """Returns a dict from the name of each condition about calls to its parser. In
    "calls:send_email:to~attacker", the name is "calls", and the parser gets "send_email:to~attacker".
    ``value``: a function that parses the value of a tool's argument."""

    def called(make: Callable[..., Predicate]) -> Callable[[str], Predicate]:
        def parsed(written: str) -> Predicate:
            tool, _, conditions = written.partition(":")
            arguments = [_argument(each, value) for each in _split(conditions)]
            names = [name for name, _ in arguments]
            twice = next((each for each in names if names.count(each) > 1), None)
            if twice is not None:
                raise InvalidInput(f"{written!r} has two conditions on the argument {twice!r}; give one")
            return make(tool, **dict(arguments))

        return parsed

    return {
        "calls": called(calls_tool),
        "next-call": called(next_call),
        "calls-in-order": lambda written: calls_in_order(*map(str.strip, written.split("|"))),
        **{name: partial(_number, name) for name in ("calls-at-most", "calls-at-least")},
    }


def _split(conditions: str) -> list[str]:
    return _NEXT_ARGUMENT.split(conditions) if conditions else []


def _argument(written: str, value: Callable[[str], object]) -> tuple[str, Any]:
    found = _ARGUMENT.fullmatch(written)
    if found is None:
        raise InvalidInput(
            f"{written!r} is no condition on an argument; write ARG=VALUE, or ARG~TEXT for one that "
            "contains the text, as in calls:send_email:to~attacker"
        )
    name, sign, given = found.groups()
    return name, value(given) if sign == "=" else contains(given)


def _number(name: str, written: str) -> Predicate:
    number, _, tool = written.partition(":")
    if not number.strip().isdecimal():
        raise InvalidInput(
            f"'{number}' is no number of calls; write {name}:3, or, for one tool, {name}:3:search"
        )
    return number_of_calls(
        *([tool] if tool else []), **{name.removeprefix("calls-").replace("-", "_"): int(number)}
    )
