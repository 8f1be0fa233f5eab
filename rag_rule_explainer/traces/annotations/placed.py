"""This module finds, for each note on an answer and on its documents, the step of the trace that gets
the note."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from uuid import NAMESPACE_URL, UUID, uuid5

from ...errors import InvalidInput
from ...explanation.explanation import Explanation
from ...printable import cut_in_the_middle, plain_id
from ...version import __version__
from ..incident import Incident
from ..places import DocumentPlace, TracedPlaces
from .notes import TraceNote, condition_of, note_on_answer, notes_on_documents
from .plain import plain_text_within

ANNOTATION_NAME = "rag_rules"
"""The name of all annotations in all tools. Only in Phoenix, annotations on documents have longer names,
which begin with this name."""
_LONGEST_ID, _LONGEST_NAME = 1000, 60
_NOT_SHOWN = TraceNote("not shown", None, "it was not shown to the model, so it is in no rule")


@dataclass(frozen=True, slots=True)
class PlacedNote:
    """A ``PlacedNote`` is a note with its place in a trace.

    ``step``: the id of the trace's step (span) that gets the note. ``document``: the position of the
    document in this step's output. ``document`` is None for the note on the answer, and for a document
    that no step of the trace returned; the step of the answer then gets the note.
    """

    note: TraceNote
    step: str
    document: DocumentPlace | None = None


@dataclass(frozen=True, slots=True)
class PlacedNotes:
    """A ``PlacedNotes`` holds the notes on one traced answer: a note on the answer itself, and a note for
    each place of each document in the trace.

    ``condition``: the subject of the rules, in words. ``about``: the explanation's id, its time and the
    version of this package, by name. ``project``: the id of the trace's project in its tool; None if the
    trace does not name it.
    """

    trace: str
    answer: PlacedNote
    documents: tuple[PlacedNote, ...]
    condition: str
    about: Mapping[str, str] = field(default_factory=dict[str, str])
    project: str | None = None

    @classmethod
    def of(cls, explanation: Explanation, incident: Incident) -> "PlacedNotes":
        """Returns the notes on the answer of an incident. Raises InvalidInput if the incident was not
        read from a trace, or if the explanation is about another answer or about other documents."""
        traced = incident.traced
        if traced is None:
            raise InvalidInput("the incident was not read from a trace; use Incident.from_trace")
        _check_same(explanation, incident)
        about = {
            "explanation": plain_text_within(explanation.id, 100),
            "made_at": explanation.made_at,
            "made_by": f"rag-rule-explainer {__version__}",
        }
        return cls(
            traced.trace,
            PlacedNote(note_on_answer(explanation), traced.step),
            tuple(_placed(explanation, traced)),
            condition_of(explanation),
            {key: value for key, value in about.items() if value},
            traced.project,
        )

    @property
    def key(self) -> str:
        """Returns a text by which conditions are told apart: equal for the same condition, and different
        for any other. A new note replaces an older one about the same condition, and leaves notes about
        other conditions unchanged."""
        return sha256(self.condition.encode("utf-8", "replace")).hexdigest()[:12]

    @property
    def name_of_condition(self) -> str:
        """Returns a name for the condition, for tools that keep one note per name. Different conditions
        have different names. A name consists of letters, digits and "_", so that it can be written in
        every filter."""
        words = re.findall(r"[a-z0-9]+", self.condition.lower().removeprefix("the answer "))
        said = "_".join(words)[:_LONGEST_NAME].strip("_")
        return "_".join(each for each in (ANNOTATION_NAME, said, self.key[:8]) if each)

    @property
    def each(self) -> tuple[PlacedNote, ...]:
        """Returns all notes: the one on the answer, and then those on documents."""
        return (self.answer, *self.documents)

    def identity(self, placed: PlacedNote) -> UUID:
        """Returns the id of a note, which is always the same for this place and this condition."""
        position = "" if placed.document is None else placed.document.position
        place = f"{self.trace}/{placed.step}/{position}/{placed.note.source or ''}/{self.key}"
        return uuid5(NAMESPACE_URL, f"{ANNOTATION_NAME}:{place}")

    def metadata(self, placed: PlacedNote) -> dict[str, str]:
        """Returns the data of a note for programs: its document, word, claim and condition, and the data
        about its explanation (``about``)."""
        note = placed.note
        own = {
            "document": None if note.source is None else plain_text_within(note.source, 200),
            "word": note.word,
            "claim": note.claim,
            "condition": self.condition,
        }
        return {**{key: value for key, value in own.items() if value is not None}, **self.about}

    def label(self, placed: PlacedNote) -> str:
        """Returns the label of a note, such as "D1: needs D4 (proved)". The label begins with the name of
        the document, because some tools cannot attach a note to a document."""
        note = placed.note
        if note.source is None:
            return note.label
        named = cut_in_the_middle(plain_id(note.source[:_LONGEST_ID]), _LONGEST_NAME)
        return f"{plain_text_within(named, _LONGEST_NAME)}: {note.label}"


def _check_same(explanation: Explanation, incident: Incident) -> None:
    if explanation.baseline.text != incident.answer:
        raise InvalidInput(
            f"{incident.place} has another answer than the explanation; name the trace that was explained"
        )
    asked = (explanation.question.split(), (incident.question or "").split())
    if all(asked) and asked[0] != asked[1]:
        raise InvalidInput(
            f"{incident.place} has another question than the explanation; name the trace that was "
            "explained"
        )
    logged = {each.id: each.text for each in incident.documents or ()}
    for source in (*explanation.sources, *explanation.held_out):
        if source.text != logged.get(source.id, source.text):
            raise InvalidInput(
                f"{incident.place} has another text of {plain_id(source.id)} than the explanation; name "
                "the trace that was explained"
            )
    _check_documents(explanation, incident, set(logged))


def _check_documents(explanation: Explanation, incident: Incident, logged: set[str]) -> None:
    """Raises InvalidInput if the explanation is about other documents than those of the trace. A rule
    that was proved for other documents may be false for these. ``logged``: the ids of the trace's
    documents."""
    known = {each.id for each in (*explanation.sources, *explanation.held_out)}
    hidden = set(incident.request.hidden) if incident.request is not None else set[str]()
    if logged and not known & logged:
        what = "none of the documents of the explanation"
    elif lacking := sorted(logged - known - hidden):
        what = f"a document that the explanation lacks, {plain_id(lacking[0])}"
    else:
        return
    raise InvalidInput(f"{incident.place} has {what}; name the trace that was explained")


def _placed(explanation: Explanation, traced: TracedPlaces) -> Iterator[PlacedNote]:
    notes = {str(each.source): each for each in notes_on_documents(explanation)}
    for source, places in traced.documents.items():
        note = notes.get(source) or TraceNote(_NOT_SHOWN.word, None, _NOT_SHOWN.text, source)
        for place in places:
            yield PlacedNote(note, place.step, place)
    for source, note in notes.items():
        if source not in traced.documents:
            yield PlacedNote(note, traced.step)
