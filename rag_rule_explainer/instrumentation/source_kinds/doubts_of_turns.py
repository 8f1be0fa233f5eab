"""This module holds the texts for doubts about omitted turns and sections that the application has as
data: in its input or in its memory."""

from ...printable import printable, shortened
from .kinds import SourceKind

_HELD: dict[SourceKind, str] = {
    "turns": (
        "{source!r} could not be taken out of the application's input, only be left out of requests. "
        "The application may go by it in other ways. Give the turns, and instructions, as a list of "
        "messages in the input"
    ),
    "memory": (
        "{source!r} could not be taken out of the application's memory, only be left out of requests. "
        "The application may go by it in other ways. Keep the conversation as a list of messages in a "
        "class of the framework, such as a checkpointer, a chat history or a memory. Examples that never "
        "change are no memory in a prompt template or in a variable of the module"
    ),
}
_COPIED = (
    "{source!r} was taken out of the messages, but the application's input or memory has its text a "
    "second time ({text}), so the application may go by it. Leave the second one out"
)


def still_held(identity: str, kind: SourceKind) -> str:
    """Returns the note that an omitted source could only be left out of requests, because the application
    still has it. ``kind``: "turns" if it is in the input, "memory" if the application remembers it."""
    return _HELD[kind].format(source=identity)


def copied_beside(identity: str, text: str) -> str:
    """Returns the note that an omitted turn was taken out of the messages, but the application has its
    text a second time. ``text``: the second text."""
    return _COPIED.format(source=identity, text=shortened(printable(text), 80))
