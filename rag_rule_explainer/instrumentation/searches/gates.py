"""Searches that interception cannot see, gated by hand."""

import inspect
from collections.abc import Callable, Collection, Generator, Mapping
from contextlib import contextmanager
from functools import wraps
from typing import Any, TypeAlias, cast
from weakref import WeakKeyDictionary

from ..copies.copying import described
from ..recording.current import GoingOn, going_on, rejoining
from .intercepted_call import Asked, Shape, adriven, driven

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


_awaited: WeakKeyDictionary[Any, bool] = WeakKeyDictionary()
"""Whether plain functions of this code were last seen to return an awaitable."""


def gated_function(
    search: Callable[..., Any],
    shape: Shape[Any],
    part_of: PartOf,
    *,
    unsaid: Collection[str] = (),
) -> Callable[..., Any]:
    """Returns the same function, sync or async, recorded and served; it belongs to the run it is made in.

    ``unsaid``: names of arguments that say nothing of what is searched for, such as callbacks.
    """
    joined, own = going_on(), inspect.unwrap(search)
    code, seen = getattr(own, "__code__", None), list[bool]()

    def asked(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Asked[Any]:
        telling = {name: each for name, each in kwargs.items() if name not in unsaid}
        said = described((args, telling))
        keys = (id(gated), said), (_name(search), said)
        return Asked(gated, keys, _query(args, telling), shape, hangs_on=(search,))

    @wraps(search)
    def sync(*args: Any, **kwargs: Any) -> Any:
        def called() -> Any:
            result = search(*args, **kwargs)
            seen[:] = [inspect.isawaitable(result)]
            if code is not None:
                _awaited[code] = seen[0]
            return result

        with joining(joined):
            part = part_of(gated)
            if part is None:
                return search(*args, **kwargs)
            guess = _is_async(own) if code is None else _awaited.get(code, _is_async(own))
            awaited = seen[0] if seen else guess
            return driven(asked(args, kwargs).retrieval(part), called, awaited=awaited)

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


def _query(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> str:
    """Returns what is searched for, as text: the first argument, else the texts among those that have
    names."""
    if args:
        return str(args[0])
    texts: list[str] = []
    for each in kwargs.values():
        inside = cast("list[object]", each) if isinstance(each, list) else [each]
        texts.extend(one for one in inside if isinstance(one, str))
    return " ".join(texts)


def _is_async(search: Callable[..., Any]) -> bool:
    called = getattr(search, "__call__", None)  # noqa: B004 -- the method itself, not whether it exists
    return inspect.iscoroutinefunction(search) or inspect.iscoroutinefunction(called)
