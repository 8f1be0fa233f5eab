"""Searches that interception cannot see, gated by hand."""

import inspect
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import wraps
from typing import Any, TypeAlias

from ..probing.gating import GoingOn, going_on, rejoining
from .asking import Asked, Shape, adriven, driven
from .copying import described

PartOf: TypeAlias = Callable[[object], GoingOn | None]
"""What a call of a retriever takes part in."""


@contextmanager
def joining(run: GoingOn | None) -> Generator[None, None, None]:
    """Inside, what a gate was made in goes on, also in a thread that knows nothing of it."""
    if run is None or run.closed or going_on() is not None:
        yield
    else:
        with rejoining(run):
            yield


def gated_function(search: Callable[..., Any], shape: Shape[Any], part_of: PartOf) -> Callable[..., Any]:
    """The same function, sync or async, recorded and served; it belongs to the run it is made in."""
    joined = going_on()

    def asked(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Asked[Any]:
        said = described((args, kwargs))
        keys = (id(gated), said), (_name(search), said)
        return Asked(gated, keys, str(args[0] if args else ""), shape, hangs_on=(search,))

    @wraps(search)
    def sync(*args: Any, **kwargs: Any) -> Any:
        with joining(joined):
            part = part_of(gated)
            if part is None:
                return search(*args, **kwargs)
            return driven(asked(args, kwargs).retrieval(part), lambda: search(*args, **kwargs))

    @wraps(search)
    async def asynchronous(*args: Any, **kwargs: Any) -> Any:
        with joining(joined):
            part = part_of(gated)
            if part is None:
                return await search(*args, **kwargs)
            return await adriven(asked(args, kwargs).retrieval(part), lambda: search(*args, **kwargs))

    gated = asynchronous if _is_async(search) else sync
    return gated


def _name(search: Callable[..., Any]) -> str:
    return f"{getattr(search, '__module__', '')}.{getattr(search, '__qualname__', type(search).__name__)}"


def _is_async(search: Callable[..., Any]) -> bool:
    called = getattr(search, "__call__", None)  # noqa: B004 -- the method itself, not whether it exists
    return inspect.iscoroutinefunction(search) or inspect.iscoroutinefunction(called)
