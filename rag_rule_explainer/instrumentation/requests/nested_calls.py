"""This module distinguishes a call of a model by the application from a call that the model makes to
itself.

For example, a model's ``stream`` may call the model's own ``complete``, and the frameworks report both
calls. If the baseline streams and a replay does not, the replay would seem to make fewer requests than
the baseline.
"""

import inspect
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from enum import Enum
from functools import wraps
from typing import Any, cast


class Nesting(Enum):
    """A ``Nesting`` says whether a call of a model runs inside another call of the same model, the
    *outer* call. For example, a call of ``complete`` may run inside a call of ``stream``.

    OUTER: the call runs inside no outer call. INNER: the call runs inside an outer call, and sends a text
    that was not yet sent during the outer call. REPEATED: the call runs inside an outer call, and sends a
    text that was already sent.
    """

    OUTER = "outer"
    INNER = "inner"
    REPEATED = "repeated"


@dataclass(slots=True, eq=False)
class _Call:
    model: object
    texts: set[str] = field(default_factory=set[str])


_calls: ContextVar[tuple[_Call, ...]] = ContextVar("rag_rule_model_calls", default=())
"""The calls of models that run in this context, the outermost first."""


def nesting(text: str) -> Nesting:
    """Returns the ``Nesting`` of the innermost call of a model that runs in this context. ``text``: the
    request that this call is about to send, which is recorded for later calls of this function."""
    calls = _calls.get()
    if not calls:
        return Nesting.OUTER
    own = calls[-1]
    outer = next((call for call in calls[:-1] if call.model is own.model and call.texts), None)
    said = own.texts if outer is None else outer.texts
    is_known = text in said
    said.add(text)
    if outer is None:
        return Nesting.OUTER
    return Nesting.REPEATED if is_known else Nesting.INNER


def is_within_no_model() -> bool:
    """Returns True iff no call of a model runs in this context."""
    return not _calls.get()


def is_within_a_model() -> bool:
    """Returns True iff the innermost running call of a model runs inside a call of a different model. An
    example of the other model is a wrapper, which only passes requests and replies on."""
    calls = _calls.get()
    return any(call.model is not calls[-1].model for call in calls[:-1])


def calls_noted(is_watched: Callable[[], bool]) -> Callable[[str, Any], Any]:
    """Returns a function that makes the replacement of a model's method. The replacement records its
    calls for ``nesting``.

    A streaming call counts as running only while it makes its next part, because the code that reads the
    stream runs between the parts. ``is_watched``: returns True iff requests are recorded in this context.
    """

    def wrapping(_: str, method: Any) -> Any:
        @wraps(method)
        def call(self: object, *args: Any, **kwargs: Any) -> Any:
            bound = method.__get__(self, type(self))
            if not is_watched():
                return bound(*args, **kwargs)
            noted = _Call(self)
            with _within(noted):
                return _noted(noted, bound(*args, **kwargs))

        @wraps(method)
        async def acall(self: object, *args: Any, **kwargs: Any) -> Any:
            given = call(self, *args, **kwargs)
            return await given

        return acall if inspect.iscoroutinefunction(method) else call

    return wrapping


@contextmanager
def _within(call: _Call) -> Generator[None, None, None]:
    above = _calls.get()
    _calls.set((*above, call))
    try:
        yield
    finally:
        _calls.set(above)


def _noted(call: _Call, result: Any) -> Any:
    """Returns the result of a call. If a part of the call runs later, as with a stream, that part is also
    recorded."""
    if isinstance(result, Generator):
        return _parts(call, cast("Generator[Any, None, None]", result))
    if isinstance(result, AsyncGenerator):
        return _aparts(call, cast("AsyncGenerator[Any, None]", result))
    return _awaited(call, cast("Awaitable[Any]", result)) if inspect.iscoroutine(result) else result


async def _awaited(call: _Call, result: Awaitable[Any]) -> Any:
    with _within(call):
        return _noted(call, await result)


def _parts(call: _Call, stream: Generator[Any, None, None]) -> Generator[Any, None, None]:
    try:
        while True:
            with _within(call):
                try:
                    part = next(stream)
                except StopIteration as end:
                    return end.value
            yield part
    finally:
        stream.close()


async def _aparts(call: _Call, stream: AsyncGenerator[Any, None]) -> AsyncGenerator[Any, None]:
    try:
        while True:
            with _within(call):
                try:
                    part = await anext(stream)
                except StopAsyncIteration:
                    return
            yield part
    finally:
        await stream.aclose()
