"""This module describes the model to which a request is sent, and the parts of a request that are not
texts of messages, such as tool calls. It also checks whether two requests were sent to the same model."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, cast

from ...probing.whose import is_users
from ..tool_parts import ToolParts
from .prompt_sections import PromptMessage
from .whole_messages import WholeMessage


class BesideTexts(NamedTuple):
    """A ``BesideTexts`` is what a request has besides the texts of its messages. ``model``: the object
    that sends the request, a model or a client; None if it is not known. ``whole``: each message with all
    that it has; empty if that is not known. ``more``: the description of all that the request has besides
    its messages, as far as it is known."""

    model: object = None
    whole: Sequence[WholeMessage] = ()
    more: str = ""


NOTHING_BESIDE = BesideTexts()


class _Use(NamedTuple):
    """A ``_Use`` is a model that a run has asked. ``made``: its parts at its first request; None if the
    application has changed them since. ``last``: its parts after the last event of the run."""

    model: object
    made: ToolParts | None
    last: ToolParts


@dataclass(slots=True, eq=False)
class ModelsInUse:
    """A ``ModelsInUse`` records the parts of the models that one run asks. A library's client changes
    itself when it is asked: it opens connections and takes up cookies. It is not asked if a replay gets
    recorded replies, so the clients of two runs are compared as they were before their first requests.
    Thread-safe."""

    _used: dict[int, _Use] = field(default_factory=dict[int, _Use])
    _guard: threading.Lock = field(default_factory=threading.Lock)

    def asked(self, model: object) -> tuple[ToolParts, ToolParts | None]:
        """Records that this model is asked. Returns its parts, and its parts at its first request; None
        for the latter if the application has changed the model since, or if this cannot be told from a
        change by another request of the same time."""
        now = ToolParts.of(model)
        with self._guard:
            used = self._used.get(id(model))
            made = now if used is None else used.made
            if used is not None and made is not None and used.last.differ_from(now):
                made = None
            self._used[id(model)] = _Use(model, made, now)
        return now, made

    def note_reply(self) -> None:
        """Records that a model has replied. Must be called before the application gets the reply, because
        the application may change the model afterwards."""
        with self._guard:
            for key, used in self._used.items():
                self._used[key] = used._replace(last=ToolParts.of(used.model))


@dataclass(frozen=True, slots=True)
class ComparedModel:
    """A ``ComparedModel`` is the model of a request, described so that it can be compared with other
    models. ``parts``: the parts of the model when the request was sent; None if they were not stored.
    ``made``: its parts at its first request; None if the application has changed the model since."""

    model: object = None
    parts: ToolParts | None = None
    made: ToolParts | None = None

    @classmethod
    def of(cls, model: object, used: ModelsInUse) -> "ComparedModel":
        """Returns a ``ComparedModel`` of the model that is asked now. ``used``: the models of its
        run."""
        return cls() if model is None else cls(model, *used.asked(model))

    def is_same(self, other: "ComparedModel") -> bool | None:
        """Returns True if ``other`` is the same model, or a new model that the application has made in
        the same way. Returns False if it is a different model, and None if this is unknown. Two models of
        a library count as the same if no difference is found, because the clients inside them cannot be
        compared."""
        if self.model is None or other.model is None or self.model is other.model:
            return True
        kind = cast("type[Any]", type(other.model))
        if type(self.model) is not kind or self.parts is None or other.parts is None:
            return False
        is_of_library = not is_users(kind.__module__)
        if self.parts.differ_from(other.parts):
            return is_of_library and _are_made_alike(self.made, other.made)
        return True if is_of_library or self.parts.does_the_same_as(other.parts) else None


def _are_made_alike(one: ToolParts | None, other: ToolParts | None) -> bool:
    return one is not None and other is not None and not one.differ_from(other)


class SentRequest(NamedTuple):
    """A ``SentRequest`` is a request of a baseline. ``at``: the moment just before it was sent (see
    ``moment``). ``whole`` and ``more``: see ``BesideTexts``."""

    at: int
    messages: tuple[PromptMessage, ...]
    whole: tuple[WholeMessage, ...] = ()
    asked: ComparedModel = ComparedModel()
    more: str = ""
