"""This module puts searches into gates that explanations can see. Searches that belong to no framework
need this, such as the user's own functions."""

import inspect
from collections.abc import Callable, Collection, Generator, Mapping
from contextlib import contextmanager
from functools import wraps
from typing import Any, TypeAlias, cast
from weakref import WeakKeyDictionary

from ...errors import InvalidInput
from ..copies.copying import described
from ..recording.current import GoingOn, going_on, rejoining
from .driving import adriven, driven
from .intercepted_call import Asked, Shape

PartOf: TypeAlias = Callable[[object], GoingOn | None]
"""A function that is given a retriever, and returns the record of the baseline or replay that is running;
None if calls of this retriever are neither recorded nor served."""


@contextmanager
def joining(run: GoingOn | None) -> Generator[None, None, None]:
    """Makes ``run`` the current run for the duration of the block, unless a run is current or ``run`` has
    ended. A user's thread that does not have the run's context needs this."""
    if run is None or run.closed or going_on() is not None:
        yield
    else:
        with rejoining(run):
            yield


def check_no_class(search: object) -> None:
    """Raises InvalidInput for a class. Calling a class makes an instance and searches nothing; its
    instances search."""
    if isinstance(search, type):
        raise InvalidInput(
            f"gate was given the class {search.__name__}; pass an instance of it, or a method of one"
        )


_awaited: WeakKeyDictionary[Any, bool] = WeakKeyDictionary()
"""For the code of each plain function: True iff its last call returned an awaitable."""


class _Awaiting:
    """An ``_Awaiting`` remembers whether a function returned an awaitable, because a served result has to
    be awaitable then too."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._code = getattr(function, "__code__", None)
        self._default = _is_async(function)
        self._seen: bool | None = None

    def note(self, result: Any) -> Any:
        """Stores whether this result of a call is awaitable, and returns the result."""
        self._seen = inspect.isawaitable(result)
        if self._code is not None:
            _awaited[self._code] = self._seen
        return result

    def is_expected(self) -> bool:
        """Returns True iff the next call will probably return an awaitable: by the last call, else by the
        form of the function."""
        if self._seen is not None:
            return self._seen
        return self._default if self._code is None else _awaited.get(self._code, self._default)


def gated_function(
    search: Callable[..., Any],
    shape: Shape[Any],
    part_of: PartOf,
    *,
    unsaid: Collection[str] = (),
) -> Callable[..., Any]:
    """Returns the search as a function, sync or async, whose calls are recorded in the baseline and
    served in replays. If this is called while a run is active, later calls belong to that run, also in
    threads without its context.

    ``shape``: splits and builds results. ``part_of``: finds the run of a call. ``unsaid``: names of
    arguments that do not belong to the query, such as callbacks.
    """
    joined, awaiting = going_on(), _Awaiting(inspect.unwrap(search))

    def asked(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Asked[Any]:
        telling = {name: each for name, each in kwargs.items() if name not in unsaid}
        said = described((args, telling))
        keys = (id(gated), said), (_name(search), said)
        return Asked(gated, keys, _query(args, telling), shape, hangs_on=(search,))

    @wraps(search)
    def sync(*args: Any, **kwargs: Any) -> Any:
        with joining(joined):
            part = part_of(gated)
            if part is None:
                return search(*args, **kwargs)
            retrieval = asked(args, kwargs).retrieval(part)
            expected = awaiting.is_expected()
            return driven(retrieval, lambda: awaiting.note(search(*args, **kwargs)), awaited=expected)

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
    """Returns the query as text: the first positional argument, or else all texts among the keyword
    arguments."""
    if args:
        return str(args[0])
    texts: list[str] = []
    for each in kwargs.values():
        inside = cast("list[object]", each) if isinstance(each, list) else [each]
        texts.extend(text for text in inside if isinstance(text, str))
    return " ".join(texts)


def _is_async(search: Callable[..., Any]) -> bool:
    called = getattr(search, "__call__", None)  # noqa: B004 -- the method itself, not whether it exists
    return inspect.iscoroutinefunction(search) or inspect.iscoroutinefunction(called)
