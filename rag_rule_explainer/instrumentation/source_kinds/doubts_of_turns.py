"""This module holds the texts for doubts about turns and sections that are data of the application."""

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
    """Returns the note that an omitted source was only left out of requests. ``kind``: "turns" if the
    input has it, "memory" if the application remembers it."""
    return _HELD[kind].format(source=identity)


def copied_beside(identity: str, text: str) -> str:
    """Returns the note that an omitted turn was taken out of the messages alone. ``text``: the text that
    has the turn a second time."""
    return _COPIED.format(source=identity, text=shortened(printable(text), 80))
