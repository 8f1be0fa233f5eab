"""This module checks that events of LlamaIndex that are read as one question do not belong to several.

Events do not name their question. If an application answers several questions at the same time, or if a
question failed before its end, its documents may be among the events of another question.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from ..errors import InvalidInput
from .spans import TracedDocument

_ADVICE = (
    "events do not say which documents belong to which; write the events of each question into a file of "
    "its own, or record spans (OpenInference, MLflow)"
)


@dataclass(slots=True)
class EventsOfQuestion:
    """An ``EventsOfQuestion`` holds data about one question from the events that were read so far.
    ``found``: the query and the texts of each search. ``used``: the texts that a reranker or a
    synthesizer (which writes the answer) was given. ``is_synthesized``: True if a synthesizer was given
    any texts.
    """

    found: list[tuple[str, list[str]]] = field(default_factory=list[tuple[str, list[str]]])
    used: list[str] = field(default_factory=list[str])
    is_synthesized: bool = False

    def search(self, query: str, documents: Iterable[TracedDocument] | None) -> None:
        """Stores the query of a search, and the texts of the documents that the search found.
        ``documents``: None if the search found no documents."""
        texts = ((each.text or "").strip() for each in documents or ())
        self.found.append((query, [each for each in texts if each]))

    def use(self, texts: Iterable[str | None]) -> None:
        """Stores texts that a reranker or a synthesizer was given."""
        self.used.extend(each for each in texts if each)

    def synthesize(self, record: Mapping[str, Any]) -> None:
        """Stores the texts that a synthesizer was given, from the event in ``record``."""
        chunks = record.get("text_chunks")
        if isinstance(chunks, list) and chunks:
            self.is_synthesized = True
            self.use(each for each in cast("list[Any]", chunks) if isinstance(each, str))

    def check(self, place: str) -> None:
        """Raises InvalidInput if a search may belong to another question. This is possible if no document
        that the search found was used for the answer. It is also possible if some of its documents were
        not used, and the searches had different queries."""
        if not self.is_synthesized:
            return
        has_one_query = len({query for query, _ in self.found}) < 2
        for query, texts in self.found:
            unused = [each for each in texts if not any(each in used for used in self.used)]
            if unused and (len(unused) == len(texts) or not has_one_query):
                raise InvalidInput(
                    f"{place}: the answer was made without documents that were found for "
                    f"{query[:100]!r}, so they may be those of another question; {_ADVICE}"
                )


def check_nesting(place: str, opened: Iterable[str], now: str) -> None:
    """Raises InvalidInput if a question begins inside of other ones. ``opened``: the texts of the
    questions that have not ended. ``now``: the text of the question that begins."""
    asked = {each for each in opened if each}
    if asked and now not in asked:
        raise InvalidInput(f"{place}: a query begins inside of another one, and {_ADVICE}")
