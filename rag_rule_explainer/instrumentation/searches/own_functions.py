"""This module records direct calls of a function that does the work of a framework's tool. The
application makes them by ``tool.func(...)``, for example, and not by calling the tool. In replays, such
calls get recorded results, like calls of the tool, so that the function does not run."""

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial, wraps
from typing import Any

from ...probing.whose import is_users
from ..late_calls import takes_part
from ..requests.tools_in_use import tools_in_use
from .tools import recording_calls


@dataclass(frozen=True, slots=True)
class OwnFunctions:
    """An ``OwnFunctions`` knows in which attributes a framework's tools hold the functions that do their
    work.

    ``attributes``: the names of these attributes, such as "func". ``name_of``: returns the name of a
    tool. ``arguments_of``: returns those of a call's arguments that the model gives.
    """

    attributes: frozenset[str]
    name_of: Callable[[Any], str]
    arguments_of: Callable[[Any, Mapping[str, Any]], Any]

    def getting(self, _: str, get: Any) -> Any:
        """Returns the replacement of the method ``__getattribute__`` of tools. If the user's code reads
        one of ``attributes`` during a run, it gets a function whose calls are recorded. The framework's
        code, and code inside the running tool, get the function itself."""

        @wraps(get)
        def got(tool: Any, name: str) -> Any:
            found = get(tool, name)
            if name not in self.attributes or not takes_part() or not callable(found):
                return found
            caller = sys._getframe(1).f_globals.get("__name__")  # pyright: ignore[reportPrivateUsage] -- no public way to the caller
            own = self.name_of(tool)
            if not is_users(str(caller)) or tools_in_use.get()[-1:] == (own,):
                return found
            return recording_calls(found, own, partial(self.arguments_of, tool), name, tool)

        return got
