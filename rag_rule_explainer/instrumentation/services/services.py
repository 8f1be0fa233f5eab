"""This module records the calls of all runs to services, and finds the services that may carry data from
one run to the next."""

import threading
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

from ..shared_state.files import Left
from .calls import Effects, ServiceCall, begins_a_request, influencing_call
from .wording import phrases_of

_MOST_WAITING = 50
"""The maximum number of calls that are stored whole. If there are more, only the effects of the oldest
are stored."""
_MOST_NAMED = 3


@dataclass(slots=True, eq=False)
class Services:
    """A ``Services`` records the calls that runs make to services. Thread-safe.

    A service is harmless if it only answers requests about the run's own texts, as a search, a reranker
    or a server of embeddings does. A service causes a doubt if runs send it data to store and later read
    from it.
    """

    _phrases: frozenset[str] | None = None
    _open: WeakKeyDictionary[Any, tuple[Hashable, ServiceCall]] = field(
        default_factory=WeakKeyDictionary[Any, tuple[Hashable, ServiceCall]]
    )
    _encrypted: WeakKeyDictionary[Any, bool] = field(default_factory=WeakKeyDictionary[Any, bool])
    _calls: list[ServiceCall] = field(default_factory=list[ServiceCall])
    _models: set[str] = field(default_factory=set[str])
    _effects: dict[str, dict[Effects, None]] = field(default_factory=dict[str, dict[Effects, None]])
    _guard: threading.RLock = field(default_factory=threading.RLock)

    def begin(self, texts: Iterable[str]) -> None:
        """Stores the texts that all runs may ask services about: the input and the sources."""
        with self._guard:
            self._phrases = phrases_of(texts)

    def sent(self, connection: Any, run: Hashable, call: ServiceCall, data: bytes) -> None:
        """Records bytes that a run sends over a connection. The bytes begin a new call, or belong to the
        last call of the same run over this connection.

        ``run``: identifies the run. ``call``: the object for a new call; ignored if the bytes begin none.
        """
        with self._guard:
            if connection in self._encrypted:
                return
            sender, known = self._open.get(connection, (None, None))
            if known is None or sender != run or begins_a_request(data):
                self._open[connection] = (run, call)
                self._calls.append(call)
                known = call
                while len(self._calls) > _MOST_WAITING and self._phrases is not None:
                    self._settle(self._calls.pop(0), self._models, self._effects)
            known.add(data)
            if known.is_encrypted:
                self._encrypted[connection] = True
                self._calls = [each for each in self._calls if each is not known]

    def left(self) -> Iterator[Left]:
        """Yields each service by which one run may influence another."""
        for service, effects in self._all().items():
            name = influencing_call(effects)
            if name:
                clause = f"runs send {name!r} to {service}, a service that may keep it"
                yield Left(service, clause)

    def asked(self, is_ignored: Callable[[str], bool]) -> str:
        """Returns the names of the services that runs call, but by which no run may influence another, as
        a list in words; empty if there are none. ``is_ignored``: returns True for the name of a service
        that is left out of the list."""
        known = self._all().items()
        asked = [
            name for name, effects in known if not influencing_call(effects) and not is_ignored(name)
        ]
        more = len(asked) - _MOST_NAMED
        return ", ".join(asked[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")

    def _all(self) -> dict[str, list[Effects]]:
        with self._guard:
            # The latest calls may still get more bytes. So the effects of these calls are not stored, but
            # computed each time this method is called.
            models, found = set(self._models), {name: dict(each) for name, each in self._effects.items()}
            for call in self._calls:
                self._settle(call, models, found)
            return {name: list(effects) for name, effects in found.items() if name not in models}

    def _settle(self, call: ServiceCall, models: set[str], found: dict[str, dict[Effects, None]]) -> None:
        if call.is_a_models:
            models.add(call.service)
            return
        effects = call.effects(self._phrases or frozenset())
        if effects.reads or effects.writes:
            found.setdefault(call.service, {})[effects] = None
