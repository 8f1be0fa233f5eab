"""This module has the texts of notes about omitted turns and sections that the application still has: in
its input, in its memory, or in a file."""

import re

from ...printable import printable, shortened
from .kinds import SourceKind
from .turn_remains import Copy

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
    "examples": (
        "{source!r} stands neither in the input, nor in a memory, nor in code, so the application has "
        "read it somewhere, and it may be a conversation. It was only left out of requests, and the "
        "application may go by it in other ways. Keep a conversation in a class of the framework, such "
        "as a checkpointer, a chat history or a memory, and examples that never change in a prompt "
        "template or in a variable of the module; or, if the file that has them never changes, name it: "
        "ignore=['examples.json']"
    ),
}
_COPIED = (
    "{source!r} was taken out of the messages, but {where} has its text a second time ({text}), so the "
    "application may go by it. Leave the second one out, or, if it has nothing to do with the "
    "conversation, name it: ignore=[{pattern!r}]"
)
_UNREADABLE = (
    "{source!r} was taken out of the messages, but {where} may have something of it: it cannot be "
    "read, or was computed of the messages. Leave it out, or, if it has nothing to do with the "
    "conversation, name it: ignore=[{pattern!r}]"
)


def still_held(identity: str, kind: SourceKind) -> str:
    """Returns a note that an omitted source was removed only from the requests, and that the application
    still has it. ``kind``: "turns" if the source is in the input, "memory" if it is in the application's
    memory, "examples" if the application reads it elsewhere, such as from a file."""
    return _HELD[kind].format(source=identity)


def copied_beside(identity: str, copy: Copy) -> str:
    """Returns a note that an omitted turn was removed only from the messages, and that a copy of the turn
    may remain. ``copy``: describes this copy, and where it was found."""
    told = {"source": identity, "where": repr(printable(copy.path)), "pattern": re.escape(copy.path)}
    if not copy.text:
        return _UNREADABLE.format(**told)
    return _COPIED.format(text=shortened(printable(copy.text), 80), **told)
