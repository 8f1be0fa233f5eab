"""This module records direct calls of the function inside a framework's tool, such as ``tool.func(...)``.
In replays, such calls get recorded results, as calls of the tool do, so that the function does not
run."""

import inspect
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial, wraps
from typing import Any

from typing_extensions import override

from ...probing.whose import is_users
from ..late_calls import takes_part
from ..requests.tools_in_use import tools_in_use
from ..run_context import run_begun
from .tools import recording_calls

_ALL = "__dict__"
_LISTING = ("__iter__", "model_dump", "dict")
"""Methods of pydantic by which the user can read all attributes."""


@dataclass(frozen=True, slots=True)
class OwnFunctions:
    """An ``OwnFunctions`` records the direct calls of the functions that do the work of a framework's
    tools.

    ``attributes``: the names of the tools' attributes with these functions, such as "func". ``name_of``:
    returns the name of a tool. ``arguments_of``: returns those arguments of a call that the model gives.
    """

    attributes: frozenset[str]
    name_of: Callable[[Any], str]
    arguments_of: Callable[[Any, Mapping[str, Any]], Any]

    def getting(self, _: str, get: Any) -> Any:
        """Returns the replacement of the method ``__getattribute__`` of tools. If the user's code reads
        one of ``attributes`` during a run, the code gets a function whose calls are recorded. Reading the
        attribute by ``vars(tool)`` or ``tool.model_dump()`` has the same result. The framework's code,
        and code inside the running tool, get the function itself."""

        @wraps(get)
        def got(tool: Any, name: str) -> Any:
            run = run_begun()
            if run is not None and run.guards is not None:
                run.guards.guard(tool)
            found = get(tool, name)
            if (name not in self.attributes and name != _ALL) or not takes_part():
                return found
            if name == _ALL:
                functions = {each: found[each] for each in self.attributes.intersection(found)}
                own = self._called_by_users(tool, _caller()) if functions else None
                return found if own is None else _Shown(found, self._recorded(tool, own, functions))
            own = self._called_by_users(tool, _caller()) if callable(found) else None
            return found if own is None else self._recorded(tool, own, {name: found})[name]

        return got

    def calling(self, name: str, method: Any) -> Any:
        """Returns the replacement of a method that does the work of tools. If this method is called
        outside of the running tool, as by ``StructuredTool._run(tool)``, the call is recorded."""

        def function_of(tool: Any) -> Any:
            function = method.__get__(tool, type(tool))
            own = self._not_in_use(tool) if takes_part() else None
            return function if own is None else self._recorded(tool, own, {name: function})[name]

        @wraps(method)
        def called(tool: Any, *args: Any, **kwargs: Any) -> Any:
            return function_of(tool)(*args, **kwargs)

        @wraps(method)
        async def acalled(tool: Any, *args: Any, **kwargs: Any) -> Any:
            return await function_of(tool)(*args, **kwargs)

        return acalled if inspect.iscoroutinefunction(method) else called

    def _called_by_users(self, tool: Any, frame: Any) -> str | None:
        """Returns the name of the tool if a call was made by the user's code; returns None if it was made
        by the tool itself. ``frame``: the stack frame of the code that made the call."""
        while frame is not None and frame.f_code.co_name in _LISTING and _is_pydantics(frame):
            frame = frame.f_back
        if frame is None or not is_users(str(frame.f_globals.get("__name__"))):
            return None
        return self._not_in_use(tool)

    def _not_in_use(self, tool: Any) -> str | None:
        own = self.name_of(tool)
        return None if tools_in_use.get()[-1:] == (own,) else own

    def _recorded(self, tool: Any, own: str, functions: Mapping[str, Any]) -> dict[str, Any]:
        arguments_of = partial(self.arguments_of, tool)
        return {
            name: recording_calls(each, own, arguments_of, name, tool)
            for name, each in functions.items()
            if callable(each)
        }


class _Shown(dict[str, Any]):
    """A ``_Shown`` is a dict of a tool's attributes in which some functions are replaced. Setting or
    deleting an entry sets or deletes the tool's attribute too."""

    def __init__(self, own: dict[str, Any], functions: Mapping[str, Any]) -> None:
        super().__init__({**own, **functions})
        self._own = own

    @override
    def __setitem__(self, name: str, value: Any) -> None:
        super().__setitem__(name, value)
        self._own[name] = value

    @override
    def __delitem__(self, name: str) -> None:
        super().__delitem__(name)
        del self._own[name]

    @override
    def update(self, *args: Any, **kwargs: Any) -> None:
        super().update(*args, **kwargs)
        self._own.update(*args, **kwargs)


def _caller() -> Any:
    """Returns the stack frame of the code that called the caller of this function."""
    return sys._getframe(2)  # pyright: ignore[reportPrivateUsage] -- there is no public function


def _is_pydantics(frame: Any) -> bool:
    return str(frame.f_globals.get("__name__")).startswith("pydantic.")
