"""This module explains one answer of an application by several conditions, from the same replays."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeAlias, TypeVar

from typing_extensions import Unpack

from ..allowed import checked_list
from ..citations.several_conditions import aexplain_each, explain_each
from ..errors import InvalidInput
from ..explainer import Explainer
from ..explanation.explanation import Explanation
from ..predicates import Predicate, PredicateLike, as_predicate
from ..probing.replaying import Baseline, Replay
from ..session.call_options import CallFields, chosen_replay
from ..sources import Source
from ..verdicts import Answer
from .call import Call
from .next_action import judged_by_each

Item = TypeVar("Item")
Value = TypeVar("Value")
AskReplays: TypeAlias = Callable[[Explainer, Sequence[Source], Replay], Awaitable[Value]]
"""An async function with three parameters: the explainer with the application's settings, the sources of
its run, and a function that replays the run on some of these sources."""


def explained_each(call: Call[Item], conditions: Sequence[PredicateLike]) -> tuple[Explanation, ...]:
    """Returns one explanation of the same answer for each condition. Blocks. The explainer's own
    condition is not used."""
    judged_by = _conditions(call, conditions)

    def ask_of(_output: Any) -> Callable[..., tuple[Explanation, ...]]:
        def ask(
            question: str, sources: Sequence[Source], baseline: Baseline, **fields: Unpack[CallFields]
        ) -> tuple[Explanation, ...]:
            return explain_each(call.explainer, question, sources, judged_by, baseline, **fields)

        return ask

    return call.asked(ask_of)[1]


async def aexplained_each(
    call: Call[Item], conditions: Sequence[PredicateLike]
) -> tuple[Explanation, ...]:
    """Returns one explanation of the same answer for each condition. Runs on the caller's event loop."""
    judged_by = _conditions(call, conditions)

    def ask_of(_output: Any) -> Callable[..., Awaitable[tuple[Explanation, ...]]]:
        async def ask(
            question: str, sources: Sequence[Source], baseline: Baseline, **fields: Unpack[CallFields]
        ) -> tuple[Explanation, ...]:
            return await aexplain_each(call.explainer, question, sources, judged_by, baseline, **fields)

        return ask

    return (await call.aasked(ask_of))[1]


async def aasked_by(call: Call[Item], ask: AskReplays[Value]) -> Value:
    """Runs the application once, on the caller's event loop. Then calls ``ask``, and returns the result
    of ``ask``. The function ``ask`` may replay the run as often as it likes."""

    def ask_of(_output: Any) -> Callable[..., Awaitable[Value]]:
        async def own(
            _question: str, sources: Sequence[Source], _baseline: Baseline, **fields: Unpack[CallFields]
        ) -> Value:
            replay = chosen_replay(fields.get("replay"), call.explainer.replay)
            return await ask(call.explainer, sources, replay)

        return own

    return (await call.aasked(ask_of))[1]


def _conditions(
    call: Call[Item], given: Sequence[PredicateLike]
) -> Callable[[Answer], Sequence[Predicate]]:
    conditions = [as_predicate(each) for each in checked_list("conditions", given, "conditions")]
    if not conditions:
        raise InvalidInput("conditions is empty; give at least one condition")
    call.run.manner, judged = judged_by_each(call.run.manner, conditions)
    return lambda _answer: judged
