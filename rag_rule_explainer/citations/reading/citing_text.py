"""This module defines the text of an answer with its citations, and the sources that can be cited."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol


class Citable(Protocol):
    """A ``Citable`` is a source that can be cited. The sources of explanations and of applications have
    this form."""

    @property
    def id(self) -> str:
        """Returns the id of the source."""
        ...

    @property
    def text(self) -> str:
        """Returns the text of the source."""
        ...

    @property
    def metadata(self) -> Mapping[str, Any]:
        """Returns the metadata of the source, which may hold a title, a file name or an address."""
        ...


@dataclass(frozen=True, slots=True)
class ReadCitation:
    """A ``ReadCitation`` is one citation of one source in an answer.

    ``written``: its text in the answer, such as "[2]". ``source``: the id of the cited source; None if
    there is no such source, or if it is not certain which one is meant. ``start`` and ``end``: the
    position in the text to which it belongs; None if this is not known.

    ``quote``: the text that the answer claims to quote from the source. ``why``: if ``source`` is None,
    the reason. ``is_open``: True if ``source`` is None because it is not certain which source is meant.

    ``scope``: for a citation in a list, or at the end of several sentences, the part of the text that it
    supports (all of it, or some of its statements); otherwise None. ``among``: the ids of the sources
    with the same text if the citation means one of them and it is not known which; otherwise empty.
    ``is_said``: True if it may be a part of the answer itself, such as the index in "list[1]".
    ``of_part``: True if it is inside a sentence with several statements, and so may support only one of
    them.
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
