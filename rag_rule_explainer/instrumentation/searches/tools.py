"""This module defines ``tool``, the decorator that marks a function as a tool of the model."""

import inspect
from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from typing import Any, TypeVar

from ...allowed import checked_function
from ..copies.copying import copied
from ..run_context import participation, using_tool

Function = TypeVar("Function", bound=Callable[..., Any])
_NOT_STUBBED = object()


def tool(function: Function) -> Function:
    """Returns a function, sync or async, that is marked as a tool of the model. The tool has the name of
    the function. ``tool`` is a decorator.

    ``stub_tools=`` replaces the results of tools that must not run in replays, such as a tool that writes
    or sends. It only works for marked functions. Tool calls in the model's replies are counted even
    without the mark. Outside of an explanation, the function does the same as before.
    """
    name = checked_function("tool", function, "a function").__name__
    signature = inspect.signature(function)

    def begun(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        run = participation()
        if run is None:
            return _NOT_STUBBED
        arguments: object = None
        with suppress(TypeError):  # the function itself says what is wrong with its arguments
            arguments = signature.bind(*args, **kwargs).arguments
        run.use_tool(name, arguments)
        if name not in run.stubs:
            return _NOT_STUBBED
        run.stubbed.add(name)
        return copied(run.stubs[name])

    def made(result: Any) -> Any:
        run = participation()
        if run is not None:
            run.made.append(str(result))
        return result

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        stub = begun(args, kwargs)
        with using_tool(name):
            return made(function(*args, **kwargs) if stub is _NOT_STUBBED else stub)

    @wraps(function)
    async def acall(*args: Any, **kwargs: Any) -> Any:
        stub = begun(args, kwargs)
        with using_tool(name):
            return made(await function(*args, **kwargs) if stub is _NOT_STUBBED else stub)

    is_async: Any = inspect.iscoroutinefunction(function)
    return acall if is_async else call  # pyright: ignore[reportReturnType] -- of the same parameters
