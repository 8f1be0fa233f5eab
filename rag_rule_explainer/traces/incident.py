"""This module defines an incident, an answer that was logged, and reads incidents from traces."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from ..allowed import brief
from ..errors import InvalidInput, NotInTrace
from ..printable import printable_within
from ..sources import Source, SourceSet
from .asked import TracedQuestion, questions_in
from .conversations import Conversations
from .corpora import Corpus, CorpusLike, corpus_of
from .finding import documents_of
from .places import TracedPlaces
from .reading import traces_in
from .recorded_request import RecordedRequest, request_of
from .spans import TracedMessage

_MOST_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Incident:
    """An ``Incident`` is a logged answer that is to be explained, with its question, its documents and
    other logged data.

    ``answer``: the logged answer. ``question``: None if the log does not have it. ``documents``: the
    documents that the application retrieved, in order; None if the log has none. ``pinned``: ids of
    documents that are always retained. ``given``: the application's whole input, as the trace has it.
    ``history``: the earlier messages of its conversation, as (role, text). ``model``: the name of the
    model. ``session``: the id of the conversation.

    ``place``: the name of the trace in messages. ``notes``: remarks on how the incident was read from
    the trace, such as where the question was found. ``request``: the recorded request to the model, if
    the application sent exactly one. ``traced``: the places of the answer and the documents in the
    trace; None if there is no trace.
    """

    answer: str
    question: str | None = None
    documents: tuple[Source, ...] | None = None
    pinned: tuple[str, ...] = ()
    given: Any = None
    history: tuple[TracedMessage, ...] = ()
    model: str | None = None
    session: str | None = None
    place: str = ""
    notes: tuple[str, ...] = ()
    request: RecordedRequest | None = None
    traced: TracedPlaces | None = None

    @classmethod
    def from_trace(
        cls, path: "str | Path", *, trace_id: str | None = None, corpus: "CorpusLike | None" = None
    ) -> "Incident":
        """Returns the incident in a trace: question, answer, documents, model and conversation.

        ``path``: a file, or a folder of files, of OpenInference (OTLP JSON, or as Phoenix exports it),
        MLflow, LangSmith, Langfuse, OpenTelemetry GenAI, or events of LlamaIndex. ``trace_id``: names one
        question if there are several: by the id of its trace, or of the step with the question.
        ``corpus``: the texts of documents that the trace only names: a file, a folder, a dict from ids to
        texts, documents, or a function from an id to a text.

        No network is used, and one trace at a time is in memory. Raises InvalidInput if the path cannot
        be read, or holds several questions and ``trace_id`` does not name one; NotInTrace, a kind of
        InvalidInput, if the question, the answer or the documents are not in the trace.
        """
        source = _place(path)
        if trace_id is not None and not isinstance(trace_id, str):  # pyright: ignore[reportUnnecessaryIsInstance] -- users may pass other types
            raise InvalidInput(f"trace_id is {brief(trace_id)}; give the id of a trace as a str")
        question = _only_question(source, trace_id)
        return _incident(question, corpus_of(corpus), source, Conversations(source, question.session))

    @classmethod
    def each_in_trace(
        cls,
        path: "str | Path",
        *,
        corpus: "CorpusLike | None" = None,
        on_unread: "Callable[[NotInTrace], object] | None" = None,
    ) -> "Iterator[Incident]":
        """Yields the incident of each question in a file or a folder.

        ``on_unread``: called with the error of each question that cannot be read, which is then left out;
        if None, the error is raised. ``path``: a file, or a folder of files. ``corpus``: the texts of
        documents that the traces only name; both are as for ``from_trace``.
        """
        source, texts = _place(path), corpus_of(corpus)
        talks = Conversations(source)
        for trace in traces_in(source):
            for question in questions_in(trace):
                try:
                    found = _incident(question, texts, source, talks)
                except NotInTrace as error:
                    if on_unread is None:
                        raise
                    on_unread(error)
                else:
                    yield found

    def sources(self) -> SourceSet | None:
        """Returns the logged documents as sources; None if none were logged."""
        return None if self.documents is None else SourceSet.of(self.documents)


def _place(path: "str | Path") -> Path:
    if not isinstance(path, (str, Path)):  # pyright: ignore[reportUnnecessaryIsInstance] -- users may pass other types
        raise InvalidInput(f"a trace is {brief(path)}; give the path of a file or of a folder")
    return Path(path)


def _incident(
    question: TracedQuestion, corpus: Corpus | None, path: Path, talks: Conversations
) -> Incident:
    asked, where_asked = question.question()
    answer, where_answered = question.answer()
    documents = documents_of(question, corpus)
    models = question.models
    history = question.history() or talks.before(question)
    notes = (where_asked, where_answered, documents.note, question.gaps())
    return Incident(
        answer,
        asked,
        documents.sources,
        given=None if question.top is None else question.top.input,
        history=history,
        model=next((each.model for each in reversed(models) if each.model), None),
        session=question.session,
        place=f"the trace {question.id} in {path}",
        notes=tuple(each for each in notes if each),
        request=request_of(question, asked, answer, documents),
        traced=question.places(documents.places),
    )


def _only_question(path: Path, trace_id: str | None) -> TracedQuestion:
    """Returns the question that ``trace_id`` names, or the only one there is.

    Raises InvalidInput if there is no such question, or if several could be meant.
    """
    shown, count, found = list[str](), 0, list[TracedQuestion]()
    for trace in traces_in(path):
        questions = questions_in(trace)
        wanted = questions if trace_id is None else _meant(questions, trace_id)
        count += len(questions)
        shown.extend(each.shown() for each in islice(questions, max(0, _MOST_SHOWN - len(shown))))
        # At most two questions are collected, because two already show that the choice is not unique.
        found.extend(wanted[: 2 - len(found)])
        if trace_id is not None and len(found) > 1:
            break
    if len(found) == 1:
        return found[0]
    listed = ", ".join(shown) + ", …" * (count > len(shown))
    if found or trace_id is None:
        raise InvalidInput(f"{path} holds {count} questions; name one with --trace-id: {listed}")
    named = printable_within(trace_id, 100)
    others = f"{count} questions are" if count > 1 else "only question is"
    raise InvalidInput(f"{path} holds no trace {named!r}; its {others} {listed}")


def _meant(questions: list[TracedQuestion], trace_id: str) -> list[TracedQuestion]:
    plain = trace_id.removeprefix("0x")
    return [
        each
        for each in questions
        if plain in {each.id, each.trace} or (each.top is not None and each.top.id == plain)
    ]
