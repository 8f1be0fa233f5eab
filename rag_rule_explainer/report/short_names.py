"""This module gives sources short names. Two sources of an explanation never have the same short name,
whatever their titles and ids are."""

from collections import Counter
from collections.abc import Sequence

from ..explanation.explanation import Explanation
from ..explanation.records import SourceRecord
from ..printable import cut_in_the_middle, plain_id, printable, shortened

_LONGEST = 90
"""The maximum number of characters of a title, or of the id of a source without a title."""
LONGEST_LIST = 240
"""The maximum number of characters of a list of names in a sentence."""


class ShortNames(dict[str, str]):
    """A ``ShortNames`` has a printable name for each id of an explanation. Any other id, which a saved
    file may contain, is shown as it is, in printable form."""

    def __missing__(self, identity: str) -> str:
        return cut_in_the_middle(plain_id(identity), _LONGEST)


def short_ids(ids: Sequence[str], limit: int = _LONGEST) -> ShortNames:
    """Returns a printable name for each id. Ids that are longer than ``limit`` characters are cut in the
    middle, because ids such as web addresses often begin alike. If several names still read the same,
    each is followed by the place of its id, counted from 1."""
    cut = {identity: cut_in_the_middle(plain_id(identity), limit) for identity in ids}
    count = Counter(cut.values())
    # An id that contains brackets is quoted, so that it cannot be confused with a name followed by its
    # place.
    return ShortNames(
        (identity, name if count[name] == 1 else f"{name} [{place}]")
        for place, (identity, name) in enumerate(cut.items(), 1)
    )


def short_names(explanation: Explanation, limit: int = _LONGEST) -> ShortNames:
    """Returns a name for each source, by its id: its title, or its id if it has no title. If several
    sources have the same title, as chunks of one document do, the id follows the title. Titles and ids
    are cut to ``limit`` characters."""
    ids = short_ids([source.id for source in explanation.sources], limit)
    titles = {source.id: cut_in_the_middle(title_of(source), limit) for source in explanation.sources}
    names = {each: title or ids[each] for each, title in titles.items()}
    # A title may read like the id of another source. After ids were added, it may also read like another
    # title with its id. So names that read the same are looked for twice.
    for _ in range(2):
        count = Counter(names.values())
        names = {
            each: f"{titles[each]} ({ids[each]})" if titles[each] and count[name] > 1 else name
            for each, name in names.items()
        }
    return ShortNames(names)


def title_of(source: SourceRecord) -> str:
    """Returns the printable title of a source; empty if it has no title, or if the title is its id."""
    title = source.metadata.get("title")
    if not isinstance(title, str) or not title.strip() or title == source.id:
        return ""
    return shortened(printable(" ".join(title.split())), _LONGEST)
