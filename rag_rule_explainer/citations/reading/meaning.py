"""This module defines the meaning of a citation. It cites one source, several sources, no source, or one
of several sources if it is not known which."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from ...explanation.wording import joined
from .citing_text import ReadCitation

NO_SUCH = "there is no such source"
ORDER_OPEN = (
    "requests to the model show the sources in several orders, or not all of them are recognised there, "
    "so it is not known which one this number means"
)
"""The reason why it is not certain which source a number means, if the order in which sources were shown
is unknown."""
FROM_NOUGHT = (
    "the answer cites a source 0, so its numbers may begin with 0 (then pass numbers_from=0), and it is "
    "not known which source this one means"
)
"""The reason why it is not certain which source any number means, if one of the numbers is 0."""
OTHERS_NAMED = "its number means another source than its name or its address"
"""The reason why it is not certain which source a citation means, if its number and its name belong to
different sources."""
ALIKE = "several sources have the same text, so it is not known which of them has this number"


@dataclass(frozen=True, slots=True)
class Meaning:
    """A ``Meaning`` holds the sources to which a citation refers.

    ``sources``: their ids; the citation cites all of them. ``why``: the reason if there are none.
    ``is_open``: True if it is not certain which source is meant. ``among``: the ids of sources with the
    same text, if one of them is meant and it is not known which.
    """

    sources: tuple[str, ...] = ()
    why: str = NO_SUCH
    is_open: bool = False
    among: tuple[str, ...] = ()

    @classmethod
    def one_of(cls, ids: Iterable[str]) -> "Meaning":
        """Returns the meaning of a citation that could refer to any of these sources: the source if there
        is only one; otherwise the meaning is open (``is_open``)."""
        found = tuple(dict.fromkeys(ids))
        if len(found) > 1:
            return cls(why=f"it fits {joined(found)}, so it is not known which is meant", is_open=True)
        return cls(found)

    def citations(
        self, written: str, start: int | None = None, end: int | None = None, quote: str = ""
    ) -> Iterator[ReadCitation]:
        """Yields a citation for each source; if there is no source, yields one citation with the reason.
        The parameters become the fields of ``ReadCitation`` with the same names."""
        for source in self.sources:
            yield ReadCitation(written, source, start, end, quote)
        if not self.sources:
            yield ReadCitation(written, None, start, end, quote, self.why, self.is_open, among=self.among)


def with_all_copies(citations: Sequence[ReadCitation]) -> Iterator[ReadCitation]:
    """Yields the citations, such that each of several numbers cites one of several sources with the same
    text.

    Example: two sources have the same text (``among``), and the answer cites [2] and [5] for it. Then
    [2] gets one of these sources and [5] the other. It does not matter which, because the texts are the
    same.
    """
    numbers = dict[tuple[str, ...], dict[str, None]]()
    for each in citations:
        if each.among:
            numbers.setdefault(each.among, {})[_number(each.written)] = None
    for each in citations:
        written = [*numbers.get(each.among, ())]
        if each.among and len(written) == len(each.among):
            source = each.among[written.index(_number(each.written))]
            yield replace(each, source=source, why="", is_open=False)
        else:
            yield each


def _number(written: str) -> str:
    return "".join(filter(str.isdecimal, written))
