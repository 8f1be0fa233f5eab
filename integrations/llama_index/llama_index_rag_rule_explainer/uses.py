"""Replaces a method, sync or async, by a use of what a run sees."""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeAlias

from rag_rule_explainer.instrumentation.copies.state import State
from rag_rule_explainer.instrumentation.isolation.isolating import (
    Real,
    Use,
    acarried_out,
    carried_out,
    current_state,
)

Using: TypeAlias = Callable[[State, Any, str, Callable[..., Any], tuple[Any, ...], dict[str, Any]], Use]
"""(what the run sees, the thing, the plain name of the method, the method, its arguments) -> the use."""


def replacing(
    using: Using,
    *,
    is_async: bool,
    plain: str,
    twin: Callable[[str], str],
    inside: Callable[[Any], bool] = lambda _: True,
) -> Callable[[Any], Any]:
    """Returns what makes of a method its replacement.

    ``plain``: the name of its sync form; ``twin``: the async form of such a name. ``inside``: True for
    things that are nowhere else, so that one which the run has made is its own.
    """

    def wrapping(method: Any) -> Any:
        @wraps(method)
        def use(thing: Any, *args: Any, **kwargs: Any) -> Any:
            state = current_state()
            if state is None or (state.bore(thing) and inside(thing)):
                return method(thing, *args, **kwargs)

            def call(real: Real) -> Any:
                if real.reading:
                    return getattr(thing, real.reading)(*real.given)
                return method(thing, *args, **kwargs)

            return carried_out(using(state, thing, plain, method, args, kwargs), call)

        @wraps(method)
        async def ause(thing: Any, *args: Any, **kwargs: Any) -> Any:
            state = current_state()
            if state is None or (state.bore(thing) and inside(thing)):
                return await method(thing, *args, **kwargs)

            async def call(real: Real) -> Any:
                if real.reading:
                    return await getattr(thing, twin(real.reading))(*real.given)
                return await method(thing, *args, **kwargs)

            return await acarried_out(using(state, thing, plain, method, args, kwargs), call)

        return ause if is_async else use

    return wrapping


def with_a(name: str) -> str:
    """Returns the async form of a name, as most of LlamaIndex's methods have it."""
    return f"a{name}"


def same(name: str) -> str:
    """Returns the async form of a name where all methods are async."""
    return name
