"""This module detects an application that still remembers its baseline in a replay on all sources."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ..errors import UntrueReplay
from ..printable import shortened
from ..sources import Source
from .doubts import BASELINE
from .refusals import Refusals
from .requests.answering import Changed
from .requests.carrying import Carried
from .requests.courses import Difference
from .requests.source_recognition import reading_of
from .requests.volatile import Steady, years_in
from .run_record import Participation

_WORD = re.compile(r"[^\W\d_]{2}")


@dataclass(slots=True, eq=False)
class BaselineMemory:
    """A ``BaselineMemory`` stores the texts of the baseline, and searches a replay's queries and
    requests for them.

    ``steady``: replaces the parts of texts that change in every run, such as dates and ids.
    ``refusals``: makes the errors. ``made``: the texts that the baseline's models and tools made;
    ``sources``: the texts of its sources; ``labels``: the lines in which frameworks show the metadata of
    a source beside its text, such as "page: 3".
    """

    steady: Steady
    refusals: Refusals
    made: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    _queries: tuple[str, ...] = ()
    _requests: tuple[str, ...] = ()
    _first: Participation | None = None

    def begin(self, run: Participation, made: Sequence[str], sources: Sequence[Source]) -> None:
        """Stores the baseline's queries and requests, the texts that it made, and the texts of its
        sources."""
        self._first = run
        self.made, self.sources = tuple(made), tuple(source.text for source in sources)
        self.labels = tuple(
            f"{key}: {value}"
            for source in sources
            for key, value in source.metadata.items()
            if isinstance(value, (str, int, float))
        )
        self._queries = self._queries_of(run)
        self._requests = tuple(each.request.text for each in run.watch.exchanges)

    def check_queries(self, run: Participation) -> None:
        """Raises StateShared if the replay makes a query that the baseline did not make, and the query
        holds a text that was made during the baseline, such as a model's reply."""
        new = (query for query in self._queries_of(run) if query not in self._queries)
        remembered = next((query for query in new if self._holds(query)), None)
        if remembered is not None:
            raise self.refusals.asks(remembered, self._queries)

    def check_times(self, run: Participation) -> None:
        """Raises StateShared if a request of the replay holds a date or an id from the baseline.

        There are two cases. In the first, one of the baseline's models or tools made the date or the id.
        In the second, the replay and the baseline sent a request with the same text, but with dates of
        different years. Both runs take place within a short time, so the application must have stored
        one of the dates.
        """
        frames = {self.steady(text): years_in(self.steady.volatile_in(text)) for text in self._requests}
        for exchange in run.watch.exchanges:
            text = exchange.request.text
            times = self.steady.volatile_in(text)
            for time in times:
                is_made = any(time in each for each in self.made)
                if is_made and not any(time in each for each in self._requests):
                    raise self.refusals.holds(Carried(BASELINE, time), ())
            years = frames.get(self.steady(text))
            if years is not None and years != years_in(times):
                raise self.refusals.is_of_another_year(years_in(times), years)

    def refusal_of(self, found: Difference, run: Participation | None) -> UntrueReplay:
        """Returns the error for a replay on all sources whose request differs from the baseline's. If the
        request lacks words, and tools that no replay runs had run before it in the baseline, the error
        names these tools: what they wrote, other than their results, is missing in the replay.

        ``run``: the replay; None if an earlier replay on all sources did not differ.
        """
        cut = "" if run is None or run.tool_replay is None else run.tool_replay.cut
        if found.came is None and cut:
            return self.refusals.was_ended(found, cut)
        tools = [] if run is None or self.is_in(found) else self._at_rest_before(found, run)
        if tools and any(_WORD.search(each) for each in _missing(found)):
            is_one_action = self._first is not None and self._first.action is not None
            return self.refusals.lacks(found, tools, is_one_action=is_one_action)
        return self.refusals.differs(found, self.origin_of(found))

    def check_answer(self, changed: Changed, run: Participation) -> None:
        """Raises UntrueReplay if an answer to the same replies of models as in the baseline may differ
        because tools that wrote something in the baseline do not run in the replay ``run``."""
        replay, first = run.tool_replay, self._first
        if replay is None or first is None or not changed.alike:
            return
        writing = first.tool_record.writing - {*replay.retrieving, *replay.again, *run.stubs}
        if writing:
            raise self.refusals.lacks_in_answer(changed, sorted(writing))

    def _at_rest_before(self, found: Difference, run: Participation) -> list[str]:
        """Returns the names of the tools that ran in the baseline before the request that differs, and
        that the replay ``run`` does not run; first the one that most likely wrote what is missing."""
        replay, first = run.tool_replay, self._first
        if replay is None or first is None or replay.on_new == "live":
            return []
        asked = [each.at for each in first.watch.exchanges][: found.number]
        until = asked[-1] if asked else 0
        # Where only the next action is explained, no tool before it runs, whichever is named safe.
        safe = replay.safe if first.action is None else ()
        idle = {*replay.retrieving, *safe, *run.stubs}
        ran = [each.call for each in first.tool_record.executed if each.at < until]
        missing = set(re.findall(r"\w+", " ".join(_missing(found))))
        writing = first.tool_record.writing
        # A tool that was given a missing word has most likely written it, and among equals the last one.
        ran.sort(
            key=lambda call: (
                call.name in writing,
                not missing.isdisjoint(re.findall(r"\w+", str(call.arguments))),
            )
        )
        return list(dict.fromkeys(each.name for each in reversed(ran) if each.name not in idle))

    def origin_of(self, found: Difference) -> str:
        """Returns the end of an error message, which names the text of the baseline that a replay's
        request contains, such as an answer. The application can only have remembered this text. Returns
        an empty text if the request contains none. ``found``: the difference between this request and the
        baseline's."""
        added = " ".join(found.added)
        texts = (text.strip() for text in self.made)
        first = next((text for text in texts if text and text in added), None)
        return "" if first is None else f"; it holds what {BASELINE} made: {shortened(first, 100)!r}"

    def is_in(self, found: Difference) -> bool:
        """Returns True iff the words that a replay added to a request contain a text that the baseline
        made. ``found``: the difference between this request and the baseline's. The text must have at
        least two words, because a single word may be equal by chance."""
        added = reading_of(" ".join(found.added)).line
        sources = [reading_of(text).line for text in self.sources]
        lines = (reading_of(text).line for text in self.made)
        return any(
            len(line.split()) > 1 and line in added and not any(line in each for each in sources)
            for line in lines
        )

    def _queries_of(self, run: Participation) -> tuple[str, ...]:
        return tuple(map(self.steady, run.gate.queries))

    def _holds(self, query: str) -> bool:
        lines = [line for line in (reading_of(text).line for text in self.made) if line.strip()]
        known = [reading_of(each).line for each in self._queries]
        line = reading_of(query).line
        return any(text in line and not any(text in each for each in known) for text in lines)


def _missing(found: Difference) -> tuple[str, ...]:
    """Returns the parts of the baseline's request that the replay's lacks; nothing if one of them made no
    such request."""
    is_both = found.was is not None and found.came is not None
    return found._replace(was=found.came, came=found.was).added if is_both else ()
