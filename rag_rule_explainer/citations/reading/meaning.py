"""This module defines what a citation means: a source, several, none, or one of several."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from ...explanation.wording import joined
from .citing_text import ReadCitation

NO_SUCH = "there is no such source"
ORDER_OPEN = (
    "requests to the model show the sources in several orders, or not all of them are recognised there, "
    "so it is not known which one this number means"
)
"""The reason why a number means no source, if the order is not known."""
FROM_NOUGHT = (
    "the answer cites a source 0, so its numbers may begin with 0 (then pass numbers_from=0), and it is "
    "not known which source this one means"
)
"""The reason why no number means a source if one of them is 0."""
OTHERS_NAMED = "its number means another source than its name or its address"
"""The reason why a mark means no source if it holds a number and the name of another source."""
ALIKE = "several sources have the same text, so it is not known which of them has this number"


@dataclass(frozen=True, slots=True)
class Meaning:
    """A ``Meaning`` says which sources a citation means. ``sources``: their ids; it cites all of them.
    ``why``: the reason if there are none. ``is_open``: True if it is not known which source is meant.
    ``among``: the ids of sources with the same text, of which it means one."""

    sources: tuple[str, ...] = ()
    why: str = NO_SUCH
    is_open: bool = False
    among: tuple[str, ...] = ()

    @classmethod
    def one_of(cls, ids: Iterable[str]) -> "Meaning":
        """Returns what a citation means that fits exactly these sources: the source if it is only one;
        else it is not known which."""
        found = tuple(dict.fromkeys(ids))
        if len(found) > 1:
            return cls(why=f"it fits {joined(found)}, so it is not known which is meant", is_open=True)
        return cls(found)

    def citations(
        self, written: str, start: int | None = None, end: int | None = None, quote: str = ""
    ) -> Iterator[ReadCitation]:
        """Yields a citation of each source, or one that says why there is none."""
        for source in self.sources:
            yield ReadCitation(written, source, start, end, quote)
        if not self.sources:
            yield ReadCitation(written, None, start, end, quote, self.why, self.is_open, among=self.among)


def with_all_copies(citations: Sequence[ReadCitation]) -> Iterator[ReadCitation]:
    """Yields the citations. If they cite all sources that have the same text, it does not matter which of
    them has which number."""
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
