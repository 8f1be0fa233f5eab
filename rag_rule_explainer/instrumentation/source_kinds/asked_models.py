"""This module describes the model to which a request is sent, and the parts of a request that are not
texts of messages, such as tool calls. It also checks whether two requests were sent to the same model."""

from collections.abc import Sequence
from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True)
class ComparedModel:
    """A ``ComparedModel`` is the model of a request, described so that it can be compared with other
    models. ``parts``: the parts of the model when the request was sent; None if they were not stored."""

    model: object = None
    parts: ToolParts | None = None

    @classmethod
    def of(cls, model: object) -> "ComparedModel":
        """Returns a ``ComparedModel`` with the parts of this model."""
        return cls(model, None if model is None else ToolParts.of(model))

    def is_same(self, model: object) -> bool | None:
        """Returns True if ``model`` is the same model, or a new model that the application has made in
        the same way. Returns False if it is a different model, and None if this is unknown. Two models of
        a library count as the same if no difference is found, because the clients inside them cannot be
        compared."""
        if self.model is None or model is None or self.model is model:
            return True
        kind = cast("type[Any]", type(model))
        if type(self.model) is not kind or self.parts is None:
            return False
        parts = ToolParts.of(model)
        if self.parts.differ_from(parts):
            return False
        is_known = not is_users(kind.__module__) or self.parts.does_the_same_as(parts)
        return True if is_known else None


class SentRequest(NamedTuple):
    """A ``SentRequest`` is a request of a baseline. ``at``: the moment just before it was sent (see
    ``moment``). ``whole`` and ``more``: see ``BesideTexts``."""

    at: int
    messages: tuple[PromptMessage, ...]
    whole: tuple[WholeMessage, ...] = ()
    asked: ComparedModel = ComparedModel()
    more: str = ""
