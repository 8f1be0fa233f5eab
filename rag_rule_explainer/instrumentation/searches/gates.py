"""This module wraps searches that belong to no framework, such as the user's own functions, so that
explanations can see their calls."""

import builtins
import inspect
from collections.abc import Callable, Collection, Generator, Iterator, Mapping
from contextlib import contextmanager
from functools import update_wrapper, wraps
from types import FunctionType
from typing import Any, TypeAlias, cast
from weakref import WeakKeyDictionary

from ...errors import InvalidInput
from ...printable import type_said
from ..copies.copying import described
from ..copies.guarded_code import own_code
from ..recording.current import AnyPart, going_on
from ..run_context import participation, refused, taking_part_again
from ..run_record import Participation
from .driving import adriven, driven
from .intercepted_call import Asked
from .likeness import Likeness, own_texts
from .shape import Shape
from .widening import wider_call

PartOf: TypeAlias = Callable[[object], AnyPart | None]
"""A function that takes a retriever, and returns the object that handles its calls in the current run:
this object records the calls in a baseline and answers them in a replay. The function returns None if
calls of this retriever are ignored, or if there is no run."""


@contextmanager
def joining(run: Participation | None) -> Generator[None, None, None]:
    """Makes ``run`` the current run for the duration of the block. Does nothing if a run is current
    already, or if ``run`` has ended. This is needed for threads that the user started without the run's
    context."""
    if run is None or run.gate.closed or going_on() is not None:
        yield
    else:
        with taking_part_again(run):
            yield


_OF_MODELS = ("_llm_type", "stream_complete")
"""Attributes that the classes of language models have in frameworks, and that no search has."""


def check_searches(search: object) -> None:
    """Raises InvalidInput for an object that is no search: a model, a built-in function, or a class
    (calling a class only makes an instance). Also raises InvalidInput for a method of a database cursor
    that fetches rows, because the arguments of such a method do not contain the query."""
    if isinstance(search, type):
        raise InvalidInput(
            f"gate was given the class {search.__name__}; pass an instance of it, or a method of one"
        )
    if getattr(search, "__self__", None) is builtins or any(
        hasattr(cast("object", type(search)), each) for each in _OF_MODELS
    ):
        named = getattr(search, "__name__", None) or type_said(search)
        raise InvalidInput(f"gate was given {named}, which searches nothing; gate what searches")
    name = str(getattr(search, "__name__", ""))
    if name.startswith("fetch") and hasattr(getattr(search, "__self__", None), "execute"):
        raise InvalidInput(
            f"gate was given {name}, whose calls do not say what is asked, so that two of them cannot be "
            "told apart; gate a function that executes the query and fetches what it finds"
        )


def _check_arguments(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
    """Raises InvalidInput for an argument that can be read only once, such as an iterator: reading it for
    the record would leave nothing for the search."""
    for each in (*args, *kwargs.values()):
        if isinstance(each, Iterator):
            kind = type_said(cast("object", each))
            message = (
                f"a gated search was given {kind}, which can be read only once, so that two calls cannot "
                "be told apart; pass a list, a text or bytes"
            )
            raise refused(InvalidInput(message))


_awaited: WeakKeyDictionary[Any, bool] = WeakKeyDictionary()
"""This dict stores, for the code of each plain function that was called, whether the last call returned
an awaitable."""


class _Awaiting:
    """An ``_Awaiting`` remembers whether a function returned an awaitable. If it did, a replay must
    return an awaitable too when it does not call the function."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._code = own_code(function) if hasattr(function, "__code__") else None
        self._default = _is_async(function)
        self._seen: bool | None = None

    def note(self, result: Any) -> Any:
        """Stores whether this result of a call is awaitable, and returns the result."""
        self._seen = inspect.isawaitable(result)
        if self._code is not None:
            _awaited[self._code] = self._seen
        return result

    def is_expected(self) -> bool:
        """Returns True iff the next call will probably return an awaitable. If there was a call before,
        this depends on whether the last call returned an awaitable. Before the first call, it depends on
        whether the function is an ``async def``."""
        if self._seen is not None:
            return self._seen
        return self._default if self._code is None else _awaited.get(self._code, self._default)


def gated_function(
    search: Callable[..., Any], shape: Shape[Any], part_of: PartOf, *, unsaid: Collection[str] = ()
) -> Callable[..., Any]:
    """Returns the search as a function, sync or async, whose calls are recorded in the baseline, and get
    recorded results in replays.

    ``shape``: splits and builds results. ``part_of``: returns the object that handles a call in its run.
    ``unsaid``: names of arguments that do not belong to the query, such as callbacks; calls that differ
    only in these arguments count as equal. If ``gated_function`` is called while a run is active, later
    calls of the search belong to that run, even in threads without the run's context.
    """
    joined, awaiting = participation(), _Awaiting(inspect.unwrap(search))

    def asked(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Asked[Any]:
        said = {name: each for name, each in kwargs.items() if name not in unsaid}
        return _asked(gated, search, shape, (args, said), wider_call(search, args, kwargs))

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


def _asked(
    gated: Callable[..., Any],
    search: Callable[..., Any],
    shape: Shape[Any],
    given: tuple[tuple[Any, ...], dict[str, Any]],
    wider: Any,
) -> Asked[Any]:
    """Returns one call of a search that the user wrapped in ``gate(...)``. ``given``: the arguments of
    the call that belong to the query. ``wider``: repeats the call for more results."""
    _check_arguments(*given)
    said = described(given)
    keys = (id(gated), own_texts(search), said), (Likeness(search), said)
    query = _query(*given)
    return Asked(gated, keys, query, shape, hangs_on=(search,), in_gate=True, wider=wider)


def gated_search(search: Callable[..., Any], shape: Shape[Any], part_of: PartOf) -> Callable[..., Any]:
    """Returns the search as a function whose calls are recorded in the baseline, and get recorded results
    in replays. If the search is defined in the body of a class, the method of each instance is wrapped
    separately. ``shape``: splits and builds results. ``part_of``: finds the object that handles a call.
    """
    is_of_class = isinstance(search, FunctionType) and "." in search.__qualname__.split("<locals>.")[-1]
    return _GatedMethod(search, shape, part_of) if is_of_class else gated_function(search, shape, part_of)


class _GatedMethod:
    """A ``_GatedMethod`` replaces a search method in its class. It wraps the method of each object
    separately, because otherwise the object (``self``) would be read as the query."""

    def __init__(self, search: Callable[..., Any], shape: Shape[Any], part_of: PartOf) -> None:
        update_wrapper(self, search)
        self._search, self._shape, self._part_of = search, shape, part_of

    def __get__(self, owner: object | None, kind: type | None = None) -> Callable[..., Any]:
        bound: Any = cast("Any", self._search).__get__(owner, kind)
        return self if owner is None else gated_function(bound, self._shape, self._part_of)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return gated_function(self._search, self._shape, self._part_of)(*args, **kwargs)


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
    called = getattr(search, "__call__", None)  # noqa: B004 -- reads the method itself
    return inspect.iscoroutinefunction(search) or inspect.iscoroutinefunction(called)
