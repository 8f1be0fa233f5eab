"""This module contains predicates on the tool calls of a run: which tools it calls, with which arguments,
in which order, and how often.

The calls are those in the replies of the run's models; ``Answer.calls`` has them. If they were not
recorded, the judgement is UNKNOWN. A call whose arguments are no JSON object is a call, but conditions on
its arguments are UNKNOWN.
"""

import json
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, cast

from ..allowed import called_as, checked_whole
from ..errors import InvalidInput
from ..printable import printable, shortened
from ..tool_calls import ToolCall, calls_said
from ..verdicts import Answer, Case, Judgement, Verdict
from .call_tests import CallSteps, CallTest, judged_steps
from .combine import Combinable
from .only_calls import is_cut
from .protocol import Judged, Predicate

_NOT_RECORDED = "the tool calls of this run were not recorded"
_NO_ORDER = Judgement(
    Verdict.UNKNOWN,
    "the order of the calls of one reply is not known, as one has arguments that are no JSON object",
)
_LONGEST = 160


def calls_key(case: Case, tests: Sequence[CallTest] = ()) -> Hashable | None:
    """Returns the cache key of a predicate on calls: the question, the calls of the baseline and of the
    answer, and the keys of the tests' arguments. None if a test must not be cached."""
    inside = tuple(test.keys(case) for test in tests)
    if None in inside:
        return None
    return case.question, _as_text(case.baseline), _as_text(case.answer), is_cut(case.answer), inside


def _not_recorded(answer: Answer) -> Judgement:
    return Judgement(Verdict.UNKNOWN, ": ".join(filter(None, (_NOT_RECORDED, answer.note))))


def _as_text(answer: Answer) -> str | None:
    if answer.calls is None:
        return None
    return json.dumps([(each.name, each.arguments, each.step) for each in answer.calls], default=str)


def _made(calls: Sequence[ToolCall]) -> str:
    """Returns a sentence that lists the calls of a run, to be used as a reason, such as "the run calls
    search(q="x"), then stop()"."""
    if not calls:
        return "the run calls no tool"
    return f"the run {printable(shortened(calls_said(calls), _LONGEST))}"


def _breaks_by(case: Case) -> Judgement:
    """Returns the judgement of a run that lacks the calls of the condition: BREAKS, or UNKNOWN if the run
    was ended at a tool call, because such calls might have come later."""
    calls = case.answer.calls or ()
    if is_cut(case.answer):
        return Judgement(Verdict.UNKNOWN, case.answer.note or f"{_made(calls)}, and was ended there")
    return Judgement(Verdict.BREAKS, _made(calls))


def _next_step(calls: Sequence[ToolCall]) -> Sequence[ToolCall]:
    """Returns the calls that a model asked for in the same reply as the first of ``calls``, without this
    first call itself. Returns an empty sequence if it is not known which calls belong to one reply: the
    ``step`` of the first call is then 0."""
    return [each for each in calls[1:] if each.step == calls[0].step > 0] if calls else []


@dataclass(frozen=True, slots=True)
class CallsTool(Combinable):
    """This predicate holds iff a tool call of the run passes ``test``. ``is_next``: if True, only the
    calls of the first reply with a call are tested, which are the model's next action."""

    test: CallTest
    is_next: bool = False
    reads_calls: ClassVar[bool] = True

    def __call__(self, case: Case) -> Judged:
        """Returns HOLDS; or BREAKS, with the calls of the run as the reason; or UNKNOWN if calls or
        arguments that decide are not known."""
        return judged_steps(self._steps(case))

    def _steps(self, case: Case) -> CallSteps:
        calls, unknown = case.answer.calls, None
        if calls is None:
            return _not_recorded(case.answer)
        for call in [*calls[:1], *_next_step(calls)] if self.is_next else calls:
            judgement = yield from self.test.steps(call, case)
            if judgement.verdict is Verdict.HOLDS:
                return judgement
            if judgement.verdict is Verdict.UNKNOWN:
                unknown = judgement
        if unknown is None and self.is_next and calls:
            # The first reply is complete even if the run was ended later, so the result is BREAKS, not
            # UNKNOWN.
            return Judgement(Verdict.BREAKS, _made(calls))
        return unknown or _breaks_by(case)

    def memo_key(self, case: Case) -> Hashable | None:
        """Returns the cache key: the question and the calls; None if the judgement of an argument must
        not be cached."""
        return calls_key(case, (self.test,))

    @property
    def on_arguments(self) -> tuple[Predicate, ...]:
        """Returns the predicates that judge arguments of the calls; an empty tuple if there are none."""
        return self.test.judges

    def __str__(self) -> str:
        return f"{self._subject} calls {self.test}"

    @property
    def negation(self) -> str:
        """Returns the opposite of this condition in words, as in "the run does not call 'pay'"."""
        if self.test.tool is None:
            return f"{self._subject} calls no tool{self.test.where}"
        return f"{self._subject} does not call {self.test}"

    @property
    def _subject(self) -> str:
        return "the next action" if self.is_next else "the run"


@dataclass(frozen=True, slots=True)
class CallsInOrder(Combinable):
    """This predicate holds iff the run has calls that pass ``tests``, in this order. Other calls may be
    made between them. Calls of one reply are taken in the order in which the reply has them. The
    judgement is UNKNOWN if this order may matter and is not known."""

    tests: tuple[CallTest, ...]
    reads_calls: ClassVar[bool] = True

    def __call__(self, case: Case) -> Judged:
        """Returns HOLDS; or BREAKS, with the calls of the run as the reason; or UNKNOWN if calls,
        arguments or an order that decide are not known."""
        return judged_steps(self._steps(case))

    def _steps(self, case: Case) -> CallSteps:
        if case.answer.calls is None:
            return _not_recorded(case.answer)
        if self._has_no_order(case.answer.calls):
            return _NO_ORDER
        # ``so_far[n]`` says whether some of the calls so far pass the first n tests in order.
        so_far = [Judgement(Verdict.HOLDS), *[Judgement(Verdict.BREAKS)] * len(self.tests)]
        for call in case.answer.calls:
            for place in range(len(self.tests), 0, -1):
                before, now = so_far[place - 1], so_far[place]
                if before.verdict is Verdict.BREAKS or now.verdict is Verdict.HOLDS:
                    continue
                passes = yield from self.tests[place - 1].steps(call, case)
                if passes.verdict is Verdict.BREAKS:
                    continue
                is_sure = Verdict.UNKNOWN not in (passes.verdict, before.verdict)
                unknown = passes if passes.verdict is Verdict.UNKNOWN else before
                so_far[place] = Judgement(Verdict.HOLDS) if is_sure else unknown
        last = so_far[-1]
        return _breaks_by(case) if last.verdict is Verdict.BREAKS else last

    def _has_no_order(self, calls: Sequence[ToolCall]) -> bool:
        """Returns True iff the order of the tested calls within a reply is not known. The order is lost
        if some of the calls have a JSON object as their arguments and others do not: frameworks such as
        LangChain put these two sorts of calls into separate lists."""
        tested = {test.tool for test in self.tests}
        mixed = dict[int, set[tuple[str, bool]]]()
        for call in calls:
            if call.step and (None in tested or call.name in tested):
                mixed.setdefault(call.step, set()).add((call.name, isinstance(call.arguments, str)))
        return any(
            len({name for name, _ in each}) > 1 and len({is_unread for _, is_unread in each}) > 1
            for each in mixed.values()
        )

    def memo_key(self, case: Case) -> Hashable | None:
        """Returns the cache key: the question and the calls; None if the judgement of an argument must
        not be cached."""
        return calls_key(case, self.tests)

    @property
    def on_arguments(self) -> tuple[Predicate, ...]:
        """Returns the predicates that judge arguments of the calls; an empty tuple if there are none."""
        return tuple(each for test in self.tests for each in test.judges)

    def __str__(self) -> str:
        return f"the run calls {', then '.join(map(str, self.tests))}"

    @property
    def negation(self) -> str:
        """Returns the opposite of this condition in words, such as "the run does not call 'a', then
        'b'"."""
        return f"the run does not call {', then '.join(map(str, self.tests))}"


@dataclass(frozen=True, slots=True)
class CallCount(Combinable):
    """This predicate holds iff the run has at least ``at_least`` and at most ``at_most`` calls of
    ``tool``. ``tool``: None for the calls of all tools. ``at_most``: None for any number."""

    tool: str | None
    at_least: int
    at_most: int | None
    reads_calls: ClassVar[bool] = True

    def __call__(self, case: Case) -> Judgement:
        """Returns HOLDS; or BREAKS, with the calls of the run as the reason; or UNKNOWN if calls that
        decide are not known."""
        calls = case.answer.calls
        if calls is None:
            return _not_recorded(case.answer)
        number = sum(self.tool is None or call.name == self.tool for call in calls)
        too_many = self.at_most is not None and number > self.at_most
        if is_cut(case.answer) and not too_many and (number < self.at_least or self.at_most is not None):
            return _breaks_by(case)
        fits = self.at_least <= number and not too_many
        return Judgement(Verdict.of(fits), "" if fits else _made(calls))

    def memo_key(self, case: Case) -> Hashable | None:
        """Returns the cache key, which contains the question and the calls. It is never None."""
        return calls_key(case)

    def __str__(self) -> str:
        return f"the run makes {self._number}"

    @property
    def negation(self) -> str:
        """Returns the opposite of this condition in words, such as "the run does not make exactly 2 tool
        calls"."""
        return f"the run does not make {self._number}"

    @property
    def _number(self) -> str:
        least, most = self.at_least, self.at_most
        if most is None:
            number = f"at least {least}"
        elif least == most:
            number = f"exactly {least}"
        else:
            number = f"{least} to {most}" if least else f"at most {most}"
        plural = "" if (least if most is None else most) == 1 else "s"
        of_tool = "" if self.tool is None else f" of {printable(self.tool)!r}"
        return f"{number} tool call{plural}{of_tool}"


@called_as("calls_tool")
def calls_tool(tool: str | None = None, /, **arguments: Any) -> CallsTool:
    """Returns a predicate that holds iff the run calls ``tool``; without ``tool``, any tool.

    ``arguments``: conditions on the call's arguments, all of which must hold for one and the same call:
    predicates, as in ``calls_tool("send_email", to=contains("evil"))``, functions of the value that
    return True or False, or values that the argument must equal, compared as JSON. The predicate also
    judges a run that ends with a tool call and gives no text; predicates that are not about calls are
    then UNKNOWN. Raises InvalidInput for a tool that is no str, and for a value that JSON cannot
    represent.
    """
    return CallsTool(CallTest.of(tool, arguments))


@called_as("next_call")
def next_call(tool: str | None = None, /, **arguments: Any) -> CallsTool:
    """Returns a predicate that holds iff the model's next action, the first reply of the run with a tool
    call, calls ``tool``. The arguments and errors are those of ``calls_tool``."""
    return CallsTool(CallTest.of(tool, arguments), is_next=True)


@called_as("calls_in_order")
def calls_in_order(*tools: str | CallsTool) -> CallsInOrder:
    """Returns a predicate that holds iff the run calls these tools in this order, with or without other
    calls between. Each is the name of a tool, or a ``calls_tool(...)`` with conditions on arguments.
    Raises InvalidInput for fewer than two."""
    if len(tools) < 2:
        raise InvalidInput("calls_in_order needs at least two tools; for one, write calls_tool('...')")
    tests = (
        each.test
        if isinstance(each, CallsTool) and not each.is_next
        else CallTest.of("" if cast("Any", each) is None else each, {})
        for each in tools
    )
    return CallsInOrder(tuple(tests))


@called_as("number_of_calls")
def number_of_calls(
    tool: str | None = None, /, *, at_least: int = 0, at_most: int | None = None
) -> CallCount:
    """Returns a predicate that holds iff the run makes at least ``at_least`` and at most ``at_most``
    calls of ``tool``; without ``tool``, of all tools together. Raises InvalidInput if neither bound is
    given, or they exclude each other."""
    least = checked_whole("at_least", at_least, 0)
    most = None if at_most is None else checked_whole("at_most", at_most, 0)
    if most is None and not least:
        raise InvalidInput("number_of_calls holds for every run so; give at_most= or at_least=")
    if most is not None and most < least:
        raise InvalidInput(f"number_of_calls has at_least={least} and at_most={most}, which no run meets")
    return CallCount(CallTest.of(tool, {}).tool, least, most)
