"""This module remembers, as long as the process lives, which applications depend on state that earlier
runs left.

If such an application is explained again, it begins with the state that the first explanation left. All
runs of the new explanation find the same state and agree with each other. So these runs alone would not
show that the state influences them.
"""

import threading
from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from types import MethodType
from typing import Any, NamedTuple, cast
from weakref import ref

from ..shared_state.files import Left
from .outlasting import LeftFiles

_lock = threading.Lock()


class _Doubted(NamedTuple):
    """A ``_Doubted`` is an application whose runs depend on state of earlier runs. ``place``: the name of
    this state, such as an attribute or a file."""

    application: Callable[[], Any]
    place: str


_known: dict[int, _Doubted] = {}
_files: set[str] = set()
"""The paths of files that influenced runs of an application. Other applications may read these files too,
such as the same application defined again."""


def note_doubt(application: object, place: str) -> None:
    """Remembers that the runs of this application depend on the state named ``place``."""
    lasting = _lasting(application)
    key = id(lasting)

    def forget(reference: "ref[Any]") -> None:
        # The garbage collector may call this function while the same thread holds the lock, so this
        # function must not wait for the lock.
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
    """An ``EarlierDoubts`` is created when an explanation begins. It stores the names of the state that,
    according to earlier explanations, influences the application's runs."""

    def __init__(self, application: object) -> None:
        lasting = _lasting(application)
        found = _known.get(id(lasting))
        is_known = found is not None and found.application() is lasting
        self._place = found.place if found is not None and is_known else ""
        self._files = frozenset(_files)
        self._left = LeftFiles.now()

    def found(
        self,
        read: Collection[str],
        texts: Callable[[], Iterable[str]],
        is_harmless: Callable[[str], bool],
    ) -> Left | None:
        """Returns state because of which the rules are in doubt even before the first run; None if there
        is none. This state influenced runs of this application in an earlier explanation, or is a file
        that runs of an earlier explanation changed and that this application may read.

        ``read``: the files that runs read. ``texts``: returns the texts by which the application may name
        files, if its code asks whether files exist. ``is_harmless``: returns True iff the user ignores
        the state with this name.
        """
        place = self._place or next((each for each in read if each in self._files), "")
        if place and not is_harmless(place):
            clause = (
                f"an earlier explanation found that runs go by {place!r}, and has left that as it was"
            )
            return Left(place, clause)
        place = self._left.read(each for each in read if not is_harmless(each))
        if place:
            return Left(place, f"runs of an earlier explanation wrote {place!r}, and a run reads it")
        place = self._left.named(texts()) if self._left.made else ""
        if place and not is_harmless(place):
            clause = (
                f"{place!r} is left by an earlier explanation, and the code asks which files are there"
            )
            return Left(place, clause)
        return None


def _lasting(application: object) -> Any:
    """Returns the object by which an application is recognised later. For a bound method, this is the
    method's object, because Python makes a new bound method at each access. Otherwise it is the
    application itself."""
    # ``application`` may be a list. Its first entry is the application; the others are objects of its
    # input.
    if isinstance(application, list):
        return _lasting(cast("list[Any]", application)[0])
    return application.__self__ if isinstance(application, MethodType) else application
