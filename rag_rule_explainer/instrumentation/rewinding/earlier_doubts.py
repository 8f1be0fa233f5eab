"""This module remembers, while the process lives, which applications depend on state of earlier runs.

When such an application is explained again, its state is as the first explanation left it. All runs then
agree with each other, so nothing would show the influence of that state.
"""

import threading
from collections.abc import Callable, Collection
from pathlib import Path
from types import MethodType
from typing import Any, NamedTuple, cast
from weakref import ref

_lock = threading.Lock()


class _Doubted(NamedTuple):
    """A ``_Doubted`` is one doubted application. ``place``: the name of the state."""

    application: Callable[[], Any]
    place: str


_known: dict[int, _Doubted] = {}
_files: set[str] = set()
"""The places that are files: other applications, such as one that was defined anew, may read them too."""


def note_doubt(application: object, place: str) -> None:
    """Remembers that the runs of this application depend on the state at ``place``."""
    lasting = _lasting(application)
    key = id(lasting)

    def forget(reference: "ref[Any]") -> None:
        # The garbage collector may call this at any point, so no lock can be taken.
        found = _known.get(key)
        if found is not None and found.application is reference:
            _known.pop(key, None)

    try:
        holder = ref(lasting, forget)
    except TypeError:  # some objects allow no weak reference
        return
    with _lock:
        if Path(place).is_absolute():
            _files.add(place)
        _known[key] = _Doubted(holder, place)


class EarlierDoubts:
    """This class holds what was known of an application when its explanation began."""

    def __init__(self, application: object) -> None:
        lasting = _lasting(application)
        found = _known.get(id(lasting))
        is_known = found is not None and found.application() is lasting
        self._place = found.place if found is not None and is_known else ""
        self._files = frozenset(_files)

    def place(self, read: Collection[str]) -> str:
        """Returns the place of the state that an earlier explanation found: of this application, or in
        one of the files that its runs ``read``. Returns an empty text if there is none."""
        return self._place or next((each for each in read if each in self._files), "")


def _lasting(application: object) -> Any:
    """Returns the object by which an application is recognised: the application itself, or the object
    whose method it is, since a bound method is made anew whenever it is read."""
    if isinstance(application, list):  # the application, with objects of its input
        return _lasting(cast("list[Any]", application)[0])
    return application.__self__ if isinstance(application, MethodType) else application
