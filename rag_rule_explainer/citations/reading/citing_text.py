"""This module defines the text of an answer together with its citations, and what can be cited."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol


class Citable(Protocol):
    """A ``Citable`` is a source as explanations and applications hold it."""

    @property
    def id(self) -> str:
        """The id of the source."""
        ...

    @property
    def text(self) -> str:
        """The text of the source."""
        ...

    @property
    def metadata(self) -> Mapping[str, Any]:
        """The metadata of the source, which may hold a title, a file name or an address."""
        ...


@dataclass(frozen=True, slots=True)
class ReadCitation:
    """A ``ReadCitation`` is one citation in an answer, of one source.

    ``written``: how the answer writes it, such as "[2]". ``source``: the id of the cited source; None if
    there is no such source, or if it is not known which one is meant. ``start`` and ``end``: the place in
    the text to which it belongs; None if this is not known. ``quote``: the text that the answer says it
    cites. ``why``: if ``source`` is None, the reason. ``is_open``: True if ``source`` is None because it
    is not known which source is meant. ``scope``: the part of the text that it is for if it stands in a
    list or at the end of it: it is for all of this part, or for some of its statements; None otherwise.
    ``among``: the ids of the sources with the same text, of which it cites one; empty if it is known
    which.
    ``is_said``: True if it may be a part of what the answer says, such as the index in "list[1]".
    ``of_part``: True if it stands within a sentence that says more, so it may be for a part of it.
    """

    written: str
    source: str | None
    start: int | None = None
    end: int | None = None
    quote: str = ""
    why: str = ""
    is_open: bool = False
    scope: tuple[int, int] | None = None
    among: tuple[str, ...] = ()
    is_said: bool = False
    of_part: bool = False


@dataclass(frozen=True, slots=True)
class CitingText:
    """A ``CitingText`` is the text of an answer, and its citations in their order. ``pattern``: a regular
    expression for citations in the text, in addition to the usual forms; None for none."""

    text: str
    citations: tuple[ReadCitation, ...] = ()
    pattern: str | None = None
