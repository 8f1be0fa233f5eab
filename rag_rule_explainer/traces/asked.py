"""This module finds the questions in a trace, each with its answer and the steps that led to it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from ..errors import InvalidInput, NotInTrace
from ..printable import printable_within
from .places import DocumentPlace, TracedPlaces, usual_id
from .questions import history_in, several_inputs, traced_answer, traced_question
from .reading import SpansOfTrace
from .spans import TracedMessage, TracedSpan


@dataclass(frozen=True, slots=True)
class TracedQuestion:
    """A ``TracedQuestion`` is one question to the application, with all steps of its answer.

    ``id``: the id of the trace or, if the trace has several questions, of the step ``top``. ``top``: the
    step that got the user's input, and that contains all other steps; None if there is no such step.
    ``spans``: the steps, in the order in which they began. ``session``: the id of the conversation; None
    if the trace names none.
    """

    id: str
    trace: str
    top: TracedSpan | None
    spans: tuple[TracedSpan, ...]
    session: str | None

    @property
    def models(self) -> tuple[TracedSpan, ...]:
        """Returns the requests to models. Some tracers record the step around a request as a second
        request; such outer steps are left out."""
        asked = [each for each in self.spans if each.kind == "model" and each.request is not None]
        around = {each.parent for each in asked}
        return tuple(each for each in asked if each.id not in around)

    def question(self) -> tuple[str, str]:
        """Returns the question, and a note for the user that says where the question was read. The note
        is empty if this is the application's input.

        Raises NotInTrace if no question can be read.
        """
        own = None if self.top is None else traced_question(self.top.input)
        if own is not None:
            return own, ""
        if self.top is not None and several_inputs(self.top.input):
            raise NotInTrace(
                f"the trace {self.id} is of several inputs at once: {_named(self.top)} has a list of "
                "them, and none has a step of its own"
            )
        texts = [each.text for span in self.spans for each in span.documents or () if each.text]
        for model in self.models[:1]:
            request = model.request
            said = [] if request is None else [text for role, text in request.messages if role == "user"]
            if request is not None and request.is_chat and said and not any(t in said[-1] for t in texts):
                return said[-1], "the question was read in the first request to the model"
        queries = {traced_question(each.input) for each in self.spans if each.kind == "retrieval"}
        if len(queries) == 1 and (query := queries.pop()):
            return query, "the question was read in the query of the retriever"
        raise NotInTrace(
            f"the trace {self.id} holds no question that can be read: looked at the input of "
            f"{_named(self.top)}, at the first request to a model, and at the queries of its retrievers"
        )

    def answer(self) -> tuple[str, str]:
        """Returns the answer, and a note for the user that says where the answer was read. The note is
        empty if this is the application's output.

        Raises NotInTrace if no answer can be read.
        """
        own = None if self.top is None else traced_answer(self.top.output)
        if own is not None:
            return own, ""
        replies = [each.reply for each in self.models]
        if replies and replies[-1] and replies[-1].strip():
            return replies[-1], "the answer was read in the last reply of the model"
        raise NotInTrace(
            f"the trace {self.id} holds no answer that can be read: looked at the output of "
            f"{_named(self.top)} and at the last reply of a model; does the tracer record inputs and "
            "outputs?"
        )

    def gaps(self) -> str:
        """Returns a note for the user if the trace lacks a step of which other steps are parts; else an
        empty text.

        A missing parent of the outermost step is no gap, because tracers often do not record it.
        """
        ids, top = {each.id for each in self.spans}, self.top
        lost = {each.parent for each in self.spans if each is not top and each.parent is not None} - ids
        if len(lost) <= 1 if top is None else not lost - {top.parent}:
            return ""
        return (
            "steps are missing in the trace that others are part of, so it may lack documents, or have "
            "those of another question"
        )

    def history(self) -> tuple[TracedMessage, ...]:
        """Returns the earlier messages of the conversation; none if the application's input does not
        contain them."""
        return () if self.top is None else history_in(self.top.input)

    def places(self, documents: Mapping[str, tuple[DocumentPlace, ...]]) -> TracedPlaces:
        """Returns the places of the answer and the documents in the trace. If no step contains all
        others, the first step is taken as the place of the answer. ``documents``: the places of each
        document, by its id in rules."""
        top = self.top or self.spans[0]
        project = next((each.project for each in self.spans if each.project), None)
        return TracedPlaces(usual_id(self.trace), usual_id(top.id), documents, project)

    def shown(self) -> str:
        """Returns the id and the beginning of the question, for a list of questions."""
        try:
            asked = repr(printable_within(self.question()[0], 60))
        except NotInTrace:
            asked = "no question that can be read"
        said = f", of the conversation {printable_within(self.session, 60)}" if self.session else ""
        return f"{printable_within(self.id, 80)} ({asked}{said})"


def questions_in(trace: SpansOfTrace) -> list[TracedQuestion]:
    """Returns the questions of a trace, in their order.

    Raises InvalidInput if two different spans have one id, or if spans are parents of each other.
    """
    spans = _distinct(trace)
    below = dict[str | None, list[TracedSpan]]()
    for each in spans.values():
        parent = each.parent if each.parent in spans else None
        below.setdefault(parent, []).append(each)
    for each in below.values():
        each.sort(key=lambda span: span.start)
    roots = below.get(None, [])
    reached = {each.id for root in roots for each in _under(root, below)}
    circle = next((each for each in spans.values() if each.id not in reached), None)
    if circle is not None:
        raise InvalidInput(
            f"{circle.place}: the span {circle.id} is its own ancestor, so {trace.id} is no tree of spans"
        )
    tops = [top for root in roots for top in _tops(root, below)]
    session = trace.session
    if len(tops) < 2:
        everything = tuple(sorted(spans.values(), key=lambda span: span.start))
        return [
            TracedQuestion(trace.id, trace.id, tops[0] if tops else _lone(roots), everything, session)
        ]
    return [
        TracedQuestion(
            top.id,
            trace.id,
            top,
            tuple(sorted(_under(top, below), key=lambda span: span.start)),
            next((each.session for each in _under(top, below) if each.session), session),
        )
        for top in tops
    ]


def _lone(roots: list[TracedSpan]) -> TracedSpan | None:
    return roots[0] if len(roots) == 1 and roots[0].kind == "other" else None


def _distinct(trace: SpansOfTrace) -> dict[str, TracedSpan]:
    spans = dict[str, TracedSpan]()
    for each in trace.spans:
        known = spans.setdefault(each.id, each)
        # An exporter that retries may send a span twice; both copies are then equal.
        if known is not each and replace(known, place=each.place) != each:
            raise InvalidInput(
                f"{each.place}: the id {each.id} is that of another span in {known.place}, too; ids of "
                "spans must be unique in a trace: of one that was exported twice, keep one file"
            )
    return spans


def _under(top: TracedSpan, below: dict[str | None, list[TracedSpan]]) -> Iterator[TracedSpan]:
    # A span has one parent, so no span is visited twice. Spans that are parents of each other are not
    # below any root.
    stack = [top]
    while stack:
        span = stack.pop()
        yield span
        stack.extend(reversed(below.get(span.id, [])))


def _tops(root: TracedSpan, below: dict[str | None, list[TracedSpan]]) -> list[TracedSpan]:
    """Returns the outermost steps with both a question and an answer: the root of the trace, or else
    steps below it. ``below``: the steps directly below each step, by its id."""
    found, stack = list[TracedSpan](), [root]
    while stack:
        span = stack.pop()
        is_step = span.kind == "other"
        if is_step and traced_question(span.input) and traced_answer(span.output):
            found.append(span)
        elif is_step and ((span.input is None and span.output is None) or several_inputs(span.input)):
            # If this step has neither input nor output, or several inputs, the questions may be inside of
            # the step. Inside of any other step, everything belongs to one question.
            stack.extend(reversed(below.get(span.id, [])))
    return found


def _named(top: TracedSpan | None) -> str:
    return "the outermost steps" if top is None else f"the outermost step {top.name or top.id!r}"
