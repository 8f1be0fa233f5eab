"""This module replaces a method, sync or async, by a method that works on the current run's own state."""

from collections.abc import Callable
from dataclasses import dataclass
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
"""A function that computes the result of a method call for one run, from the run's own state, in place
of the method.

Its arguments are the state of the run, the object, the sync name of the method, the method, and the args
and kwargs of the call. It returns a generator, which yields those calls that must be made on real
objects.
"""


@dataclass(frozen=True, slots=True)
class Replacement:
    """A ``Replacement`` replaces a method during runs. Outside of runs, the method is unchanged.

    ``using``: computes the result in place of the method. ``plain``: the name of the method's sync form.
    ``twin``: a function that returns the name of the async form for the name of a sync method.
    ``inside``: returns True for objects that hold all their state in the process. The method is not
    replaced for such an object if the current run made it.
    """

    using: Using
    plain: str
    twin: Callable[[str], str]
    inside: Callable[[Any], bool] = lambda _: True

    def of(self, method: Any, *, is_async: bool) -> Any:
        """Returns the function that replaces a method. ``is_async``: True if the method is async."""
        return self._asynchronous(method) if is_async else self._sync(method)

    def _sync(self, method: Any) -> Any:
        @wraps(method)
        def use(thing: Any, *args: Any, **kwargs: Any) -> Any:
            state = self._state_for(thing)
            if state is None:
                return method(thing, *args, **kwargs)

            def call(real: Real) -> Any:
                if real.reading:
                    return getattr(thing, real.reading)(*real.given)
                return method(thing, *args, **kwargs)

            return carried_out(self.using(state, thing, self.plain, method, args, kwargs), call)

        return use

    def _asynchronous(self, method: Any) -> Any:
        @wraps(method)
        async def use(thing: Any, *args: Any, **kwargs: Any) -> Any:
            state = self._state_for(thing)
            if state is None:
                return await method(thing, *args, **kwargs)

            async def call(real: Real) -> Any:
                if real.reading:
                    return await getattr(thing, self.twin(real.reading))(*real.given)
                return await method(thing, *args, **kwargs)

            return await acarried_out(self.using(state, thing, self.plain, method, args, kwargs), call)

        return use

    def _state_for(self, thing: Any) -> State | None:
        state = current_state()
        return None if state is not None and state.bore(thing) and self.inside(thing) else state


def with_a(name: str) -> str:
    """Returns the usual async form of a method's name, such as "aput" for "put"."""
    return f"a{name}"


def same(name: str) -> str:
    """Returns the name itself. It is the async form of a name in classes that have only async methods."""
    return name
