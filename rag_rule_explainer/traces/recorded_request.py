"""This module replays the request to a model that a trace recorded, with the texts of sources cut out."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..errors import NotInTrace
from ..sources import Source
from .asked import TracedQuestion
from .spans import TracedMessage

_SHORTEST = 12
"""The minimum number of characters of a text that is cut out: a shorter one may occur there by chance."""


@dataclass(frozen=True, slots=True)
class Cut:
    """A ``Cut`` is a place in a message where a source stands. ``message``: the number of the message.
    ``begin`` and ``end``: the place in its text, with the metadata that stand right before the text.
    """

    message: int
    begin: int
    end: int
    source: str


@dataclass(frozen=True, slots=True)
class RecordedRequest:
    """A ``RecordedRequest`` is what a model was sent once, with the places of the sources in it.

    ``is_chat``: False if the model completed a text. ``refusal``: why it cannot be replayed; empty if it
    can. ``hidden``: the ids of the sources that do not stand in it, so the model was not shown them.
    """

    messages: tuple[TracedMessage, ...] = ()
    is_chat: bool = True
    cuts: tuple[Cut, ...] = ()
    hidden: tuple[str, ...] = ()
    refusal: str = ""

    def written(self, question: str, sources: Sequence[Source]) -> list[TracedMessage]:
        """Returns the messages with these sources alone. ``question`` is in the messages already."""
        del question
        kept = {each.id for each in sources}
        return [(role, self._text(place, text, kept)) for place, (role, text) in enumerate(self.messages)]

    def shown(self, sources: Sequence[Source]) -> tuple[Source, ...]:
        """Returns the sources that stand in the request.

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
    """Yields the cuts in runs that are joined by the same separator, as ``str.join`` makes them. The
    separators of omitted sources are then left out with them."""
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


def request_of(question: TracedQuestion, answer: str, sources: Sequence[Source]) -> RecordedRequest:
    """Returns the request from which the answer came. If it cannot be replayed, it says why."""
    models = question.models
    if len(models) != 1:
        count = (
            f"{len(models)} requests to models" if models else "no request to a model that can be read"
        )
        return RecordedRequest(refusal=f"the trace {question.id} has {count}, where one is needed")
    (model,) = models
    if model.request is None or any(role == "tool" for role, _ in model.request.messages):
        return RecordedRequest(refusal=f"the request in the trace {question.id} holds results of tools")
    if (model.reply or "").split() != answer.split():
        return RecordedRequest(
            refusal=f"the answer in the trace {question.id} is not the reply of the model, but made of "
            "it by the application"
        )
    messages = model.request.messages
    cuts = _cuts(messages, sources)
    shown = {each.source for each in cuts}
    if not shown:
        return RecordedRequest(
            refusal=f"no text of a document stands in the request in the trace {question.id} as a whole"
        )
    hidden = tuple(each.id for each in sources if each.id not in shown)
    return RecordedRequest(messages, model.request.is_chat, cuts, hidden)


def _cuts(messages: Sequence[TracedMessage], sources: Sequence[Source]) -> tuple[Cut, ...]:
    found = [
        Cut(place, _with_metadata(text, at, source), at + len(own), source.id)
        for place, (role, text) in enumerate(messages)
        if role != "assistant"
        for source in sources
        if len(own := source.text.strip()) >= _SHORTEST
        for at in _places(text, own)
    ]
    kept = list[Cut]()
    # A text that stands inside of a longer one belongs to the longer one.
    for cut in sorted(found, key=lambda each: (each.message, each.begin, -each.end)):
        if not kept or (kept[-1].message, kept[-1].end) <= (cut.message, cut.begin):
            kept.append(cut)
    return tuple(kept)


def _places(text: str, part: str) -> Iterator[int]:
    at = text.find(part)
    while at >= 0:
        yield at
        at = text.find(part, at + len(part))


def _with_metadata(text: str, at: int, source: Source) -> int:
    """Returns where the lines "key: value" of the source's metadata begin that stand right before its
    text, as LlamaIndex writes them; ``at`` if there are none."""
    lines = {f"{key}: {value}" for key, value in source.metadata.items() if key != "score"}
    begin = at
    while lines:
        before = text[:begin].rstrip("\n")
        start = before.rfind("\n") + 1
        if before[start:] not in lines:
            break
        lines.discard(before[start:])
        begin = start
    return begin
