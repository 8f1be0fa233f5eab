"""This module replaces methods of classes during explanations, and restores the original methods
afterwards.

Each method is replaced on one class, the *root class*, and on every loaded subclass of it that defines
the method. Outside of a run, a replacement only calls the original method, so that other users of the
class are not affected.
"""

import re
import sys
import threading
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from typing import Any, TypeAlias

from .layers import is_put_on_again, put_on, take_off

Wrapping: TypeAlias = Callable[[str, Any], Any]
"""A function that takes a method's name and the method, and returns the replacement of the method."""
Root: TypeAlias = tuple[str, str]
"""The name of the module that defines a root class, and the name of the class. Methods are replaced on a
root class and on its subclasses."""


@dataclass(frozen=True, slots=True)
class Interception:
    """An ``Interception`` says which methods of a class are replaced as soon as the class is imported.
    This class is called the *root class*; the methods are replaced on its subclasses too.

    ``module``, ``owner``: the module and the name of the root class. ``names``: the pattern that the
    methods' names match. ``wrapping``: makes the replacements. Usually, a class gets a replacement only
    if it defines the method itself. ``inherited``: methods that are replaced even on a class that does
    not define them, such as ``__init__``, which it may have from ``object``. ``added``: methods that are
    replaced only on the root class, whether or not it defines them itself.
    """

    module: str
    owner: str
    names: re.Pattern[str]
    wrapping: Wrapping
    inherited: tuple[str, ...] = ()
    added: tuple[str, ...] = ()

    @property
    def place(self) -> Root:
        """Returns the module and the name of the root class, on which methods are replaced."""
        return self.module, self.owner

    def root(self) -> type | None:
        """Returns the root class, on which methods are replaced; None if its module is not loaded yet."""
        return _root_at(self.place)


def _root_at(place: Root) -> type | None:
    module, owner = place
    found: object = getattr(sys.modules.get(module), owner, None)
    return found if isinstance(found, type) else None


_HOOK = "__init_subclass__"


def _with_subclasses(root: type) -> dict[type, None]:
    """Returns a class and all its loaded subclasses as the keys of a dict."""
    found: dict[type, None] = {root: None}
    waiting = [root]
    while waiting:
        for each in type.__subclasses__(waiting.pop()):
            if each not in found:
                found[each] = None
                waiting.append(each)
    return found


def _has_new_at(place: Root, known: dict[type, None]) -> bool:
    """Returns True iff the root class or one of its subclasses was loaded after ``known`` was made.
    ``known``: the classes that were found so far."""
    if place[0] not in sys.modules:
        return False
    root = _root_at(place)
    if root is not None and root not in known:
        return True
    for owner in known:
        for each in type.__subclasses__(owner):
            if each not in known:
                return True
    return False


def _is_held(owner: type) -> bool:
    """Returns True iff the class's module is loaded and refers to the class by the class's own name."""
    return getattr(sys.modules.get(owner.__module__), owner.__name__, None) is owner


def _inherited(owner: type, name: str, found: Any) -> Any:
    """Returns a method ``name`` for a class that only inherits it. This method calls the inherited one
    (``found``), as ``super()`` would."""

    @wraps(found)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        return getattr(super(owner, self), name)(*args, **kwargs)  # pyright: ignore[reportUnknownArgumentType] -- the attribute may be of any type

    return call


class Patches:
    """This class replaces the methods that its interceptions name, from the first call of ``start`` to
    the last call of ``stop``. It is thread-safe. ``guards``: the ``ToolGuards`` that this last call
    restores; None if there are none."""

    def __init__(self, interceptions: Iterable[Interception], guards: Any = None) -> None:
        self.guards = guards
        self._interceptions = tuple(interceptions)
        self._at_root: dict[Root, list[Interception]] = {}
        for each in self._interceptions:
            self._at_root.setdefault(each.place, []).append(each)
        # The names of methods that match no pattern. They are stored because most classes have many
        # method names in common, and these names need not be matched again.
        self._left_alone: dict[Root, set[str]] = {place: set() for place in self._at_root}
        # For the ``id()`` of each interception: the names of methods that its pattern matches, and those
        # that it does not match.
        self._matching: dict[int, dict[str, bool]] = {id(each): {} for each in self._interceptions}
        self._lock = threading.RLock()
        self._users = 0
        self._known: dict[Root, dict[type, None]] = {place: {} for place in self._at_root}
        self._wrapped: set[tuple[type, str]] = set()
        # The replacements that were made so far, each with the method that it replaces. They are kept,
        # because each further explanation of the application needs the same hundreds of them.
        self._made: dict[tuple[type, str], tuple[Any, Any]] = {}

    @property
    def active(self) -> bool:
        """Returns True between the first ``start`` and the last ``stop``."""
        return self._users > 0

    @contextmanager
    def intercepting(self) -> Generator[None, None, None]:
        """Replaces the methods for the duration of the block. Blocks may nest and overlap."""
        self.start()
        try:
            yield
        finally:
            self.stop()

    def start(self) -> None:
        """Replaces the methods. Each call of ``start`` needs one call of ``stop`` later, which any
        thread may make."""
        with self._lock:
            self._users += 1
        self.wrap_loaded_classes()

    def stop(self) -> None:
        """Ends the effect of one call of ``start``. The last call restores the original methods of all
        classes."""
        with self._lock:
            self._users -= 1
            if not self._users:
                if self.guards is not None:
                    self.guards.restore()
                self._unwrap()

    def wrap_loaded_classes(self) -> None:
        """Replaces the methods of classes that were loaded since the last call. Does nothing if no
        explanation is active: each ``start`` was ended by a ``stop``."""
        with self._lock:
            # A replay may still run after its explanation was aborted. Methods that are replaced then
            # would never be restored, so none is replaced.
            if not self._users:
                return
            # Usually there is no new class. This quick check comes first, because this method runs before
            # each replay.
            places = [place for place, known in self._known.items() if _has_new_at(place, known)]
            new = {place: self._new_at(place) for place in places}
            for interception in self._interceptions if new else ():
                for owner, names in new.get(interception.place, ()):
                    self._wrap(owner, names, interception)

    def _new_at(self, place: Root) -> list[tuple[type, list[str]]]:
        """Returns the classes that were loaded since the last call, each with the names of those of its
        methods that match a pattern."""
        interceptions, known, root = self._at_root[place], self._known[place], _root_at(place)
        loaded = {} if root is None else _with_subclasses(root)
        left_alone = self._left_alone[place]
        new: list[tuple[type, list[str]]] = []
        for owner in [each for each in loaded if each not in known]:
            names = [name for name in vars(owner).copy() if name not in left_alone]
            mattering = [
                name for name in names if any(self._is_named(each, name) for each in interceptions)
            ]
            left_alone.update(set(names) - set(mattering))
            new.append((owner, mattering))
        known.update(loaded)
        return new

    def _is_named(self, interception: Interception, name: str) -> bool:
        known = self._matching[id(interception)]
        found = known.get(name)
        if found is None:
            found = known[name] = interception.names.fullmatch(name) is not None
        return found

    def _wrap(self, owner: type, names: list[str], interception: Interception) -> None:
        if owner.__name__ == interception.owner and (owner, _HOOK) not in self._wrapped:
            self._hook(owner)
        for name in names:
            if (owner, name) in self._wrapped or not self._is_named(interception, name):
                continue
            method = vars(owner).get(name)
            if callable(method):
                self._replace(owner, name, method, interception.wrapping)
        for name in interception.inherited:
            definer = next(each for each in owner.__mro__ if name in vars(each))
            if (definer, name) not in self._wrapped:
                self._replace(owner, name, vars(definer)[name], interception.wrapping, is_own=False)
        for name in interception.added:
            if owner is interception.root() and (owner, name) not in self._wrapped:
                self._add(owner, name, interception.wrapping)

    def _add(self, root: type, name: str, wrapping: Wrapping) -> None:
        own = vars(root).get(name)
        found = getattr(root, name) if own is None else own
        self._replace(root, name, found, wrapping, is_own=own is not None)

    def _replace(
        self, owner: type, name: str, found: Any, wrapping: Wrapping, *, is_own: bool = True
    ) -> None:
        """Replaces the method ``name`` of the class ``owner`` by what ``wrapping`` makes of ``found``.
        ``found``: the method itself, or the inherited method if ``is_own`` is False."""
        self._wrapped.add((owner, name))
        if is_put_on_again(self, owner, name):
            return
        method, replacement = self._made.get((owner, name), (None, None))
        if method is not found:
            replacement = wrapping(name, found if is_own else _inherited(owner, name, found))
            self._made[owner, name] = (found, replacement)
        put_on(self, owner, name, found if is_own else None, replacement)

    def _hook(self, root: type) -> None:
        """Makes the root class patch new subclasses as soon as they are defined, for example by an import
        during a run."""
        self._wrapped.add((root, _HOOK))
        if is_put_on_again(self, root, _HOOK):
            return
        original = vars(root).get(_HOOK)

        def init_subclass(cls: type, **kwargs: Any) -> None:
            if original is None:
                super(root, cls).__init_subclass__(**kwargs)
            else:
                original.__func__(cls, **kwargs)
            self.wrap_loaded_classes()

        # The parameters have no known types, because the parameters of the replaced method have none.
        hook: Any = classmethod(init_subclass)  # pyright: ignore[reportUnknownVariableType]
        put_on(self, root, _HOOK, original, hook)

    def _unwrap(self) -> None:
        for owner, name in self._wrapped:
            take_off(self, owner, name)
        # Only the replacements for classes in loaded modules are kept. A class that no module refers to
        # may soon be garbage-collected, and keeping its replacements would prevent that.
        lasting = {owner for owner in {owner for owner, _ in self._wrapped} if _is_held(owner)}
        self._made = {
            (owner, name): self._made[owner, name]
            for owner, name in self._wrapped & self._made.keys()
            if owner in lasting
        }
        self._wrapped.clear()
        for known in self._known.values():
            known.clear()
