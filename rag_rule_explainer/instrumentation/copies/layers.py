"""This module replaces methods of classes for several users (such as two integrations) at once, and
restores the original methods.

Two integrations may replace the same method, such as the one that starts a thread. The second replacement
then calls the first one. The explanations of the two integrations may end in any order.
"""

import threading
from dataclasses import dataclass
from typing import Any

_lock = threading.RLock()


@dataclass(slots=True, eq=False)
class _Layer:
    """A ``_Layer`` is one replacement of a method.

    ``user``: the object that replaced the method. ``method``: the replaced method, which may be an
    earlier replacement; None if the class itself did not define the method. ``is_used``: False if the
    user no longer needs the replacement. It then stays only because a later replacement calls it.
    """

    user: object
    method: Any
    replacement: Any
    is_used: bool = True


_layers: dict[tuple[type, str], list[_Layer]] = {}
"""The replacements of each method, by the class and the name of the method. The last one is called
first."""


def put_on(user: object, owner: type, name: str, method: Any, replacement: Any) -> None:
    """Replaces the method ``name`` of the class ``owner`` by ``replacement``. ``user``: the object that
    needs the replacement. ``method``: the present method; None if the class itself does not define it."""
    with _lock:
        _layers.setdefault((owner, name), []).append(_Layer(user, method, replacement))
        setattr(owner, name, replacement)


def is_put_on_again(user: object, owner: type, name: str) -> bool:
    """Returns True iff the user's replacement is still in place, because it was taken off while another
    layer called it. From now on, the user needs it again."""
    if (owner, name) not in _layers:  # a fast path for nearly all methods
        return False
    with _lock:
        layers = _layers.get((owner, name), [])
        # Other code may have set a method of its own, which need not call the replacements.
        if not layers or vars(owner).get(name) is not layers[-1].replacement:
            return False
        found = [each for each in layers if each.user is user]
        for each in found:
            each.is_used = True
        return bool(found)


def take_off(user: object, owner: type, name: str) -> None:
    """Records that a user no longer needs a replacement. The replacement is removed as soon as no later
    replacement calls it. After the last replacement, the class has its original method again."""
    with _lock:
        layers = _layers.get((owner, name), [])
        for each in layers:
            each.is_used = each.is_used and each.user is not user
        while layers and not layers[-1].is_used:
            _restore(owner, name, layers.pop())
        if not layers:
            _layers.pop((owner, name), None)


def _restore(owner: type, name: str, layer: _Layer) -> None:
    # Another library may have replaced the method afterwards with a method that calls this replacement.
    # The replacement then cannot be removed. It does no harm, because outside of a run it only calls the
    # original method.
    if vars(owner).get(name) is not layer.replacement:
        return
    if layer.method is None:
        delattr(owner, name)
    else:
        setattr(owner, name, layer.method)
