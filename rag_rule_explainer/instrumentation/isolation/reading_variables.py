"""This module notes, while a tool of the baseline runs, which environment variables are read. Python has
no audit event for that."""

import os
import re
from functools import wraps
from typing import Any

from ..copies.patching import Interception
from ..reads_and_writes.environment_reads import ALL_NAMES
from ..reads_and_writes.noted_reads import reads_in_use
from ..run_context import inside_retrieval, participation
from .unheard import is_unheard


def _noting(name: str, method: Any) -> Any:
    @wraps(method)
    def called(self: Any, *args: Any, **kwargs: Any) -> Any:
        noted = None if is_unheard() else reads_in_use.get()
        if noted is not None and participation() is not None and not inside_retrieval.get():
            if name == "__repr__":
                noted.variables.note_all()
            elif name != "__getitem__":
                noted.variables.note(ALL_NAMES, reads=True)
            elif args and isinstance(args[0], (str, bytes)):
                noted.variables.note(os.fsdecode(args[0]), reads=True)
        return method(self, *args, **kwargs)

    return called


INTERCEPTIONS = [Interception("os", "_Environ", re.compile("__(getitem|iter|len|repr)__"), _noting)]
"""The methods that are replaced during an explanation. Code reads environment variables by them."""
