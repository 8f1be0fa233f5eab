"""This module replays the request to a model that a trace recorded, with the texts of sources cut out."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..errors import NotInTrace
from ..sources import Source
from .asked import TracedQuestion
from .cutting import Cut, cuts_of
from .finding import FoundDocuments
from .spans import TracedMessage, TracedRequest


@dataclass(frozen=True, slots=True)
class RecordedRequest:
    """A ``RecordedRequest`` is a request that was sent to a model, with the places of the sources in it.

    ``is_chat``: False if the model completed a text. ``refusal``: why the request cannot be replayed;
    empty if it can. ``hidden``: the ids of the sources that are not in the request, so the model was not
    shown them.
    """

    messages: tuple[TracedMessage, ...] = ()
    is_chat: bool = True
    cuts: tuple[Cut, ...] = ()
    hidden: tuple[str, ...] = ()
    refusal: str = ""

    def written(self, question: str, sources: Sequence[Source]) -> list[TracedMessage]:
        """Returns the messages of the request, with the texts of ``sources`` and without those of all
        other sources. ``question`` is not used, because the messages contain it."""
        del question
        kept = {each.id for each in sources}
        return [(role, self._text(place, text, kept)) for place, (role, text) in enumerate(self.messages)]

    def shown(self, sources: Sequence[Source]) -> tuple[Source, ...]:
        """Returns the sources whose texts are in the request.

        Raises NotInTrace if the request cannot be replayed.
        """
        if self.refusal:
            raise NotInTrace(f"{self.refusal}; replay the application with --app")
        return tuple(each for each in sources if each.id not in self.hidden)

    def _text(self, place: int, text: str, kept: set[str]) -> str:
        own = [each for each in self.cuts if each.message == place]
        parts, at = list[str](), 0
        for run in _runs(own, text):
            parts.append(text[at : run[0].begin])
            separator = text[run[0].end : run[1].begin] if len(run) > 1 else ""
            parts.append(separator.join(text[e.begin : e.end] for e in run if e.source in kept))
            at = run[-1].end
        return "".join([*parts, text[at:]])


def _runs(cuts: Sequence[Cut], text: str) -> Iterator[list[Cut]]:
    """Yields the cuts in groups. The sources of a group have equal separators between them, such as blank
    lines. So if a source is omitted, a separator can be left out, too."""
    run = list[Cut]()
    for cut in cuts:
        gap = text[run[-1].end : cut.begin] if run else ""
        known = text[run[0].end : run[1].begin] if len(run) > 1 else gap
        if run and (gap != known or gap.strip("-=#*_ \n\r\t|")):
            yield run
            run = []
        run.append(cut)
    if run:
        yield run


def request_of(
    question: TracedQuestion, asked: str, answer: str, documents: FoundDocuments
) -> RecordedRequest:
    """Returns the request from which the answer came. ``asked``: the user's question. If the request
    cannot be replayed, the ``refusal`` of the result gives the reason."""
    models = question.models
    if len(models) != 1:
        count = (
            f"{len(models)} requests to models" if models else "no request to a model that can be read"
        )
        return RecordedRequest(refusal=f"the trace {question.id} has {count}, where one is needed")
    (model,) = models
    request = model.request
    if request is None or any(role == "tool" for role, _ in request.messages):
        return RecordedRequest(refusal=f"the request in the trace {question.id} holds results of tools")
    if request.unread:
        return RecordedRequest(refusal=f"the request in the trace {question.id} holds {request.unread}")
    if (model.reply or "").split() != answer.split():
        return RecordedRequest(
            refusal=f"the answer in the trace {question.id} is not the reply of the model, but made of "
            "it by the application"
        )
    return _cut(question.id, asked, request, documents)


def _cut(trace: str, asked: str, request: TracedRequest, documents: FoundDocuments) -> RecordedRequest:
    sources = documents.sources
    times = {source: len(places) for source, places in documents.places.items()}
    try:
        cuts = cuts_of(request.messages, sources, asked, times)
    except NotInTrace as uncertain:
        return RecordedRequest(
            refusal=f"what to cut out of the request in the trace {trace} is not certain: "
            f"{uncertain.args[0]}"
        )
    shown = {each.source for each in cuts}
    if not shown:
        return RecordedRequest(
            refusal=f"no text of a document stands in the request in the trace {trace} as a whole"
        )
    hidden = tuple(each.id for each in sources if each.id not in shown)
    return RecordedRequest(request.messages, request.is_chat, cuts, hidden)
