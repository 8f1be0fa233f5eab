"""This module defines ``tool``, the decorator that marks a function as a tool of the model."""

import inspect
from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from typing import Any, TypeVar

from ...allowed import checked_function
from ..run_context import participation, using_tool
from ..tool_replay import UsedTool

ToolFunction = TypeVar("ToolFunction", bound=Callable[..., Any])


def tool(function: ToolFunction) -> ToolFunction:
    """Returns a function, sync or async, that is marked as a tool of the model. The tool has the name of
    the function. ``tool`` is a decorator.

    ``stub_tools=`` replaces the results of tools that must not run, such as a tool that writes or sends.
    Where a condition is about tool calls, or ``on_new_tool_call=`` is set, the calls of replays are
    answered from those of the baseline. Both only work for marked functions. Tool calls in the model's
    replies are counted even without the mark. Outside of an explanation, the function does the same as
    before.
    """
    name = checked_function("tool", function, "a function").__name__
    signature = inspect.signature(function)

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        used = _used(name, signature, args, kwargs)
        if used is None:
            return function(*args, **kwargs)
        if used.outcome is not None:
            return _made(used.outcome.given())
        with using_tool(name), used.noting_errors():
            result = function(*args, **kwargs)
        return _made(used.noted(result))

    @wraps(function)
    async def acall(*args: Any, **kwargs: Any) -> Any:
        used = _used(name, signature, args, kwargs)
        if used is None:
            return await function(*args, **kwargs)
        if used.outcome is not None:
            return _made(used.outcome.given())
        with using_tool(name), used.noting_errors():
            result = await function(*args, **kwargs)
        return _made(used.noted(result))

    is_async: Any = inspect.iscoroutinefunction(function)
    return acall if is_async else call  # pyright: ignore[reportReturnType] -- of the same parameters


def _used(
    name: str, signature: inspect.Signature, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> UsedTool | None:
    run = participation()
    if run is None:
        return None
    arguments: object = None
    with suppress(TypeError):  # the function itself says what is wrong with its arguments
        arguments = signature.bind(*args, **kwargs).arguments
    return run.use_tool(name, arguments)


def _made(result: Any) -> Any:
    run = participation()
    if run is not None:
        run.made.append(str(result))
    return result
