"""This module finds the results of tools that were shown although it was no model's request that showed
them first: a model inside the tool wrote the result, or the application returned it as its answer."""

from collections.abc import Iterator, Sequence

from ...sources import Source
from ...verdicts import Answer
from ..recording.serving import SOURCE_KIND
from ..requests.source_recognition import reading_of, readings
from ..run_record import Participation


def shown_results(sources: Sequence[Source], first: Participation, answer: Answer) -> Iterator[str]:
    """Yields the ids of the sources that are results of tools, and whose whole text is in a request to a
    model or in the answer. ``first``: the first run; ``answer``: its answer.

    A text is also found in a request if a model wrote it before. A model may have written it inside the
    tool, as that of a query engine does, so that the text is the tool's result.
    """
    shown = [request.text for request in first.watch.requests] + [answer.text]
    lines = [reading_of(text).line for each in shown for text in readings(each)]
    for source in sources:
        line = reading_of(source.text).line
        if source.metadata.get(SOURCE_KIND) == "tools" and line.strip():
            yield from [source.id] if any(line in each for each in lines) else ()


def is_given_by_tool(sources: Sequence[Source], first: Participation, answer: Answer) -> bool:
    """Returns True iff the answer of a first run is a source that is the result of a tool, and the tool
    ran after the last reply of a model, as one with ``return_direct=True`` does."""
    if first.tool_sources is None or not first.watch.said:
        return False
    noted = [each for each in first.tool_record.noted if each.replies >= len(first.watch.said)]
    last = {identity for each in noted for identity in first.tool_sources.ids_in(each)}
    text = answer.text.strip()
    return any(each.id in last and each.text.strip() == text for each in sources)


def ends_with_tool(run: Participation) -> bool:
    """Returns True iff no model replied after the last tool call of a run."""
    executed = run.executed[-1:]
    return bool(executed) and executed[0].before >= len(run.watch.said)
