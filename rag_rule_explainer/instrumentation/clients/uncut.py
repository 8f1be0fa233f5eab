"""This module keeps a replay from reading parts of a response that were computed from omitted documents
too, such as counts. A replay that reads such a part is refused."""

from typing import Any, NoReturn

from ...errors import UntrueReplay
from ..run_context import refused


class Uncut(dict[str, Any]):
    """An ``Uncut`` replaces a part of a response that was computed from documents which the replay omits.
    Every access to it raises UntrueReplay.

    ``name``: the name of the part, for the message.
    """

    def __init__(self, name: str) -> None:
        # The dict gets an entry, because JSON encoders do not access an empty dict.
        super().__init__({name: None})
        self.name = name

    def __deepcopy__(self, _: object) -> "Uncut":
        return self  # this package makes copies itself, so a copy is no access by the application


def _refuse(part: Uncut, *_: object) -> NoReturn:
    raise refused(
        UntrueReplay(
            f"the application reads {part.name!r} of a search engine's response, which also counts the "
            "documents that a replay leaves out. Compute it from the hits; or gate a function of your "
            "own that makes a document of it"
        )
    )


_READING = """__bool__ __contains__ __eq__ __getitem__ __iter__ __len__ __ne__ __or__ __repr__ __ror__
copy get items keys values"""
for _name in _READING.split():
    setattr(Uncut, _name, _refuse)
