"""This module tells the user of tools and arguments that a condition names but no tool call has, because
these names may be misspelt."""

from collections.abc import Iterable, Iterator, Mapping

from ..allowed import did_you_mean
from ..explanation.wording import phrase_within
from ..predicates import Predicate
from ..predicates.calling import CallCount
from ..predicates.inside import predicates_in
from ..printable import encodable, printable, shortened
from ..tool_calls import ToolCall
from ..verdicts import Answer

_LONGEST = 240


def notes_on_calls(predicates: Iterable[Predicate], answers: Iterable[Answer]) -> Iterator[str]:
    """Yields a note for each tool that a condition names and no answer calls, and for each argument that
    a condition names and no call of the tool has. Yields nothing if the calls of no answer are known."""
    known = [each.calls for each in answers if each.calls is not None]
    calls = [call for each in known for call in each]
    named = dict.fromkeys(name for each in predicates for name in _names_in(each)) if known else ()
    for tool, argument in named:
        of_tool = calls if tool is None else [each for each in calls if each.name == tool]
        if argument is None or not of_tool:
            if tool is not None and not of_tool:
                yield _note(f"no call of {_shown(tool)} in any run", "tools", tool, _tools(calls))
        elif all(isinstance(each.arguments, Mapping) for each in of_tool):
            has = dict.fromkeys(name for each in of_tool for name in each.arguments)
            if argument not in has:
                what = "no call" if tool is None else f"no call of {_shown(tool)}"
                yield _note(f"{what} has an argument {_shown(argument)}", "arguments", argument, has)


def _names_in(predicate: Predicate) -> Iterator[tuple[str | None, str | None]]:
    """Yields (tool, None) for each tool that a condition names, and (tool, argument) for each argument
    that it names. The tool is None if the condition is about the calls of all tools."""
    for part in predicates_in(predicate):
        if isinstance(part, CallCount) and part.at_least:
            yield part.tool, None
        test = getattr(part, "test", None)
        tests = getattr(part, "tests", () if test is None else (test,))
        for each in tests if getattr(part, "reads_calls", False) is True else ():
            yield each.tool, None
            yield from ((each.tool, argument.name) for argument in each.arguments)


def _tools(calls: Iterable[ToolCall]) -> dict[str, None]:
    return dict.fromkeys(each.name for each in calls)


def _note(said: str, what: str, name: str, seen: Iterable[str]) -> str:
    near = did_you_mean(name, seen)
    listed = phrase_within(sorted(map(_shown, seen)), _LONGEST)
    return encodable(f"{said}; {printable(near)}{what} seen: {listed or 'none'}")


def _shown(name: str) -> str:
    return repr(printable(shortened(name, 80)))
