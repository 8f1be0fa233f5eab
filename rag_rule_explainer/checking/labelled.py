"""A case of which somebody says whether the condition holds on it."""

from dataclasses import dataclass

from ..allowed import brief, checked_list
from ..errors import InvalidInput
from ..sources import Source
from ..verdicts import Answer, Case


@dataclass(frozen=True, slots=True)
class LabelledCase:
    """This class represents an answer, and a label: True where the condition holds on it, False where it
    does not.

    ``truth``: the answer that is known to be right, and ``reference``: what a criterion refers to, where
    each case has its own. ``baseline``: what ``same_answer`` compares with. ``sources``, and ``kept``,
    those of them that were shown (by default all): what ``cites`` and ``mentions_source`` look at.
    ``id``: what the case is called; by default "case" and its number.

    Raises InvalidInput for a question that is empty, for a label that is neither True nor False, and for
    what is no text, or no list of sources.
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
        # Users pass more than is declared: the string "false" would be taken for a yes.
        if type(self.label) is not bool:
            raise InvalidInput(f"the label is {self.label!r}; give True or False")
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
        """Returns what a predicate judges."""
        baseline = Answer.of("" if self.baseline is None else self.baseline)
        kept = self.sources if self.kept is None else self.kept
        return Case(self.question, baseline, Answer.of(self.answer), kept, self.sources)


def _listed(name: str, given: object) -> tuple[Source, ...]:
    listed = checked_list(f"{name} of a case", given, "Source(id, text)")
    if not all(isinstance(each, Source) for each in listed):
        raise InvalidInput(f"{name} of a case is {brief(given)}; give a list of Source(id, text)")
    return listed
