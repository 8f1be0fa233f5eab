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
        "template or in a variable of the module{file}"
    ),
}
_FILE = "; or, if the file that has them never changes, name it: ignore=[{pattern!r}]"
_COPIED = (
    "{source!r} was taken out of the messages, but {where} has its text a second time ({text}), so the "
    "application may go by it. Leave the second one out, or, if it has nothing to do with the "
    "conversation, name it: ignore=[{pattern}]"
)
_DOUBTED = (
    "{source!r} was taken out of the messages, but nothing shows that {where} has nothing of it "
    "({text}), and the application may go by it. Leave it out, or, if it has nothing to do with the "
    "conversation, name it: ignore=[{pattern}]"
)
_UNREADABLE = (
    "{source!r} was taken out of the messages, but {where} may have something of it: it cannot be "
    "read, or was computed of the messages. Leave it out, or, if it has nothing to do with the "
    "conversation, name it: ignore=[{pattern}]"
)


def still_held(identity: str, kind: SourceKind, path: str = "") -> str:
    """Returns a note that an omitted source was removed only from the requests, and that the application
    still has it. ``kind``: "turns" if the source is in the input, "memory" if it is in the application's
    memory, "examples" if the application reads it elsewhere, such as from a file (``path``)."""
    file = _FILE.format(pattern=re.escape(path)) if path else ""
    return _HELD[kind].format(source=identity, file=file)


def copied_beside(identity: str, copy: Copy) -> str:
    """Returns the note that an omitted turn was taken out of the messages alone. ``copy``: the place that
    has, or may have, the turn a second time."""
    paths = (copy.path, *copy.others)
    told = {
        "source": identity,
        "where": " or ".join(repr(printable(each)) for each in paths),
        "pattern": ", ".join(repr(re.escape(each)) for each in paths),
    }
    if not copy.text:
        return _UNREADABLE.format(**told)
    said = _COPIED if copy.is_like else _DOUBTED
    return said.format(text=shortened(printable(copy.text), 80), **told)
