"""This module tests one tool call: its tool, and conditions on its arguments."""

from collections.abc import Callable, Generator, Hashable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..allowed import brief, checked_text
from ..errors import InvalidInput
from ..printable import printable, shortened
from ..tool_calls import ToolCall
from ..verdicts import Answer, Case, Judgement, Verdict
from .combine import AllOf, AnyOf, as_predicate, unwrapped
from .outcomes import as_judgement, joint_judgement, run
from .protocol import Judged, Predicate
from .structured import as_answer, json_of, parsed_json, said_in_json, same_json

_OF_ANSWER = "the answer "
CallSteps = Generator[Judged, Judgement, Judgement]


@dataclass(frozen=True, slots=True)
class ArgumentTest:
    """An ``ArgumentTest`` is a condition on one argument of a call, which must have the argument.

    At most one of the following three is set; if none is set, any value passes. ``expected``: JSON that
    the value must equal. ``inner``: a predicate that judges the value as if it were the answer. ``test``:
    a function of the value that must return True.
    """

    name: str
    expected: str | None = None
    inner: Predicate | None = None
    test: Callable[[Any], Any] | None = None

    @classmethod
    def of(cls, name: str, given: Any) -> "ArgumentTest":
        """Returns the test of the argument ``name``. ``given``: a predicate, a function of the argument's
        value that returns True or False, or the value that the argument must equal. Raises InvalidInput
        for a value that JSON cannot represent."""
        if isinstance(given, Predicate):
            return cls(name, inner=as_predicate(given))
        if callable(given):
            return cls(name, test=given)
        said = said_in_json(given)
        if said is None:
            raise InvalidInput(
                f"the argument {name!r} of a tool call is to be {brief(given)}, which JSON cannot say; "
                "give a predicate, a function of the value, or a value as JSON has them"
            )
        return cls(name, expected=said)

    def judged(self, call: ToolCall, case: Case, against: Mapping[str, Any]) -> Judged:
        """Returns the judgement of this argument of a call: BREAKS if the call does not have the
        argument, and UNKNOWN if the call's arguments are no JSON object. ``against``: the arguments of
        the baseline's call. The predicate ``inner`` may compare the argument with the baseline's argument
        of the same name."""
        if isinstance(call.arguments, str):
            text = printable(shortened(call.arguments, 80))
            return Judgement(
                Verdict.UNKNOWN, f"the arguments of the call of {_named(call.name)} are no JSON: {text}"
            )
        if self.name not in call.arguments:
            return Judgement(Verdict.BREAKS, f"a call of {_named(call.name)} has no {_plain(self.name)}")
        value = call.arguments[self.name]
        if self.inner is not None:
            return self.inner(self._inside(value, case, against))
        if self.test is not None:
            return as_judgement(self.test(value), self)
        if self.expected is None or same_json(value, parsed_json(self.expected)):
            return Judgement(Verdict.HOLDS)
        return Judgement(Verdict.BREAKS, f"{_plain(self.name)} is {shortened(json_of(value), 80)}")

    def _inside(self, value: Any, case: Case, against: Mapping[str, Any]) -> Case:
        before = as_answer(against[self.name]) if self.name in against else Answer("")
        return replace(case, baseline=before, answer=as_answer(value))

    def key(self, call: ToolCall, case: Case, against: Mapping[str, Any]) -> Hashable | None:
        """Returns the part that this argument adds to the cache key of a judgement of the calls: the key
        of ``inner``, or () if this call can be judged without ``inner``. Returns None if the judgement
        must not be cached, because there is a ``test``, or ``inner`` has no cache key."""
        if self.test is not None:
            return None
        if self.inner is None or isinstance(call.arguments, str) or self.name not in call.arguments:
            return ()
        return self.inner.memo_key(self._inside(call.arguments[self.name], case, against))

    def __str__(self) -> str:
        name = _plain(self.name)
        if self.inner is not None:
            base, _ = unwrapped(self.inner)
            clause = str(self.inner)
            if isinstance(base, (AllOf, AnyOf)) or not clause.startswith(_OF_ANSWER):
                return f"of {name} ({clause})"
            return f"{name} {clause.removeprefix(_OF_ANSWER)}"
        if self.test is not None:
            function = getattr(self.test, "__name__", type(self.test).__name__)
            return f"{'the given function' if function == '<lambda>' else function}({name}) is true"
        return f"{name} is {printable(self.expected or '')}"


@dataclass(frozen=True, slots=True)
class CallTest:
    """A ``CallTest`` is a test of a tool call. A call passes it if it calls ``tool`` (any tool, if this
    is None) and its arguments pass all tests in ``arguments``."""

    tool: str | None
    arguments: tuple[ArgumentTest, ...] = ()

    @classmethod
    def of(cls, tool: object, arguments: Mapping[str, Any]) -> "CallTest":
        """Returns a test for calls of ``tool`` (None: of any tool) with one condition for each argument.
        Raises InvalidInput for a tool that is no str."""
        if tool is not None:
            checked_text("the tool in a condition", tool, "the name of a tool, a str")
        tests = tuple(ArgumentTest.of(*each) for each in arguments.items())
        return cls(tool if isinstance(tool, str) else None, tests)

    def concerns(self, call: ToolCall) -> bool:
        """Returns True iff the call is a call of the tested tool, or every tool is tested."""
        return self.tool is None or call.name == self.tool

    def steps(self, call: ToolCall, case: Case) -> CallSteps:
        """Returns the judgement of one call. Yields the judgement of each of its arguments, until an
        argument breaks its condition."""
        if not self.concerns(call):
            return Judgement(Verdict.BREAKS)
        against = self._in_baseline(case)
        judged = tuple(_Fixed(each, call, against) for each in self.arguments)
        return (yield from joint_judgement(judged, case, Verdict.BREAKS))

    def keys(self, case: Case) -> tuple[Hashable, ...] | None:
        """Returns the cache keys of all arguments that may be judged; None if the judgement of one of
        them must not be cached."""
        against = self._in_baseline(case)
        keys = tuple(
            each.key(call, case, against)
            for call in case.answer.calls or ()
            if self.concerns(call)
            for each in self.arguments
        )
        return None if None in keys else keys

    def _in_baseline(self, case: Case) -> Mapping[str, Any]:
        calls = (call.arguments for call in case.baseline.calls or () if self.concerns(call))
        return next((each for each in calls if not isinstance(each, str)), dict[str, Any]())

    @property
    def judges(self) -> tuple[Predicate, ...]:
        """Returns the predicates among the conditions on arguments (the others are values and
        functions)."""
        return tuple(each.inner for each in self.arguments if each.inner is not None)

    def __str__(self) -> str:
        tool = "a tool" if self.tool is None else _named(self.tool)
        return f"{tool}{self.where}"

    @property
    def where(self) -> str:
        """Returns the conditions on arguments in words, such as " where to contains 'evil'"; empty if
        there are none."""
        return f" where {' and '.join(map(str, self.arguments))}" if self.arguments else ""


@dataclass(frozen=True, slots=True)
class _Fixed:
    """A ``_Fixed`` is a predicate that applies ``test`` to one argument of the tool call ``call``. It
    does not read the calls of the case that it judges. ``against``: the arguments of the baseline's call,
    for conditions that compare with the baseline."""

    test: ArgumentTest
    call: ToolCall
    against: Mapping[str, Any]

    def __call__(self, case: Case, /) -> Judged:
        return self.test.judged(self.call, case, self.against)

    def memo_key(self, case: Case, /) -> Hashable | None:
        return self.test.key(self.call, case, self.against)


def judged_steps(steps: CallSteps) -> Judged:
    """Runs ``steps``, a generator that judges a call argument by argument, and returns the judgement of
    the call. If a predicate on an argument is async, as a judge is, returns an awaitable of the judgement
    instead."""
    return run(steps)


def _named(tool: str) -> str:
    return repr(printable(tool))


def _plain(name: str) -> str:
    return printable(name)
