"""This module collects the notes of answers for the reader of an explanation."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator

from ..explanation.wording import phrase
from ..printable import encodable, plain_id
from ..probing.prober import Probe
from ..sources import SourceSet

_MOST_NAMED = 3
"""The largest number of sources that one note names."""


def notes_on_answers(probes: Collection[Probe], sources: SourceSet) -> Iterator[str]:
    """Yields each different ``Answer.note``, with the number of probes whose answers have this note.

    In these probes, the retriever may have returned only some of the retained sources. The text then also
    names the sources that were missing most often, unless the note itself names them.
    """
    noted, missing = Counter[str](), defaultdict[str, Counter[str]](Counter)
    some_came = set[str]()
    for probe in probes:
        answer = probe.reply.answer
        if answer is None or not answer.note:
            continue
        noted[answer.note] += 1
        if answer.delivered is not None:
            some_came.update([answer.note] if answer.delivered else ())
            lacking = set(probe.arrangement.ids).difference(sources.pinned, answer.delivered)
            missing[answer.note].update(each for each in lacking if plain_id(each) not in answer.note)
    for note, count in noted.items():
        of_probes = f"{count} of {len(probes)} probes"
        named = _most_frequent(missing[note]) if note in some_came else ""
        yield f"{encodable(note)} ({of_probes}{named})"


def _most_frequent(counts: Counter[str]) -> str:
    if not counts:
        return ""
    ranked = sorted(counts, key=lambda each: (-counts[each], each))
    named = [f"{plain_id(each)} in {counts[each]}" for each in ranked[:_MOST_NAMED]]
    if len(ranked) > _MOST_NAMED:
        named.append(f"{len(ranked) - _MOST_NAMED} more")
    return f": {phrase(named)}"
