"""This module defines a case with a label, which says whether the condition holds."""

from dataclasses import dataclass

from ..allowed import brief, called_as, checked_list
from ..errors import InvalidInput
from ..sources import Source
from ..verdicts import Answer, Case


@called_as("LabelledCase")
@dataclass(frozen=True, slots=True)
class LabelledCase:
    """A ``LabelledCase`` is an answer with a label.

    ``label``: True if the condition holds for the answer, else False. ``truth``: the answer that is known
    to be right. ``reference``: the text that a criterion refers to. If the truth or the reference is the
    same for all cases, give it to the condition instead. ``baseline``: the answer with which
    ``same_answer`` compares. ``sources``, ``kept``: all sources, and the sources that were shown (None:
    all). ``cites`` and ``mentions_source`` use them. ``id``: the name of the case; by default "case" and
    its number. Raises InvalidInput for an empty question, a label that is neither True nor False, and
    values of a wrong type.
    """

    question: str
    answer: Answer | str
    label: bool
    truth: str | None = None
    reference: str | None = None
    baseline: Answer | str | None = None
    sources: tuple[Source, ...] = ()
    kept: tuple[Source, ...] | None = None
    id: str = ""

    def __post_init__(self) -> None:
        # Users may pass other types than declared. The text "false", for example, would be treated as
        # true.
        if type(self.label) is not bool:
            raise InvalidInput(f"the label is {brief(self.label)}; give True or False")
        for name in ("question", "id"):
            if not isinstance(getattr(self, name), str):
                raise InvalidInput(f"the {name} of a case is {getattr(self, name)!r}; give a str")
        if not self.question.strip():
            raise InvalidInput("a case has an empty question; give the one that was answered")
        object.__setattr__(self, "answer", Answer.of(self.answer))
        if self.baseline is not None:
            Answer.of(self.baseline)
        for name in ("truth", "reference"):
            if not isinstance(getattr(self, name), (str, type(None))):
                raise InvalidInput(
                    f"the {name} of a case is {brief(getattr(self, name))}; give a str, or leave it out"
                )
        object.__setattr__(self, "sources", _listed("sources", self.sources))
        if self.kept is not None:
            object.__setattr__(self, "kept", _listed("kept", self.kept))

    @property
    def case(self) -> Case:
        """Returns the case as a ``Case``, which predicates can judge."""
        baseline = Answer.of("" if self.baseline is None else self.baseline)
        kept = self.sources if self.kept is None else self.kept
        return Case(self.question, baseline, Answer.of(self.answer), kept, self.sources)


def _listed(name: str, given: object) -> tuple[Source, ...]:
    listed = checked_list(f"{name} of a case", given, "Source(id, text)")
    if not all(isinstance(each, Source) for each in listed):
        raise InvalidInput(f"{name} of a case is {brief(given)}; give a list of Source(id, text)")
    return listed
