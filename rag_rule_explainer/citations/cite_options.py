"""This module defines the options of a check of all citations of an answer."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from typing_extensions import TypedDict

from ..allowed import brief, checked_flag, showing
from ..errors import InvalidInput
from ..predicates import PredicateLike, as_predicate, contains, judged
from ..predicates.without_marks import IgnoringCitations, check_pattern, ignoring_citations
from .reading import CitationReading, check_reading
from .statements import CitedStatement, SplitText, said_by, sentences

ConditionOf: TypeAlias = Callable[[str], PredicateLike]
"""A function that gets a statement and returns the condition that is true of an answer iff the answer
makes this statement."""


class CiteFields(TypedDict, total=False):
    """A ``CiteFields`` is a TypedDict that gives the keywords ``**fields`` their types: those of the
    fields of ``CiteOptions``."""

    condition: ConditionOf | None
    judge: Any
    split: SplitText | None
    language: str
    reading: CitationReading
    numbers_from: int
    every_statement: bool
    marks: str | None


@dataclass(frozen=True, slots=True)
class CiteOptions:
    """A ``CiteOptions`` says how the citations of an answer are checked.

    ``condition``: a function that gets a statement and returns the condition that an answer makes this
    statement; by default, that the answer contains its words. ``judge``: a model, or a function of a
    ``JudgeRequest``, that decides this instead of ``condition``. ``split``: a function that divides the
    answer into statements; by default sentences in ``language``.

    ``reading``: how citations are read: None for all known forms, a regular expression, or a function.
    ``numbers_from``: the number that the application gives to its first source, 1 or 0.
    ``every_statement``: True to check statements without citations as well. ``marks``: if ``reading`` is
    a function, a regular expression for the citations that it reads. They are removed from answers before
    a condition judges them.
    """

    condition: ConditionOf | None = None
    judge: Any = None
    split: SplitText | None = None
    language: str = "en"
    reading: CitationReading = None
    numbers_from: int = 1
    every_statement: bool = False
    marks: str | None = None

    def __post_init__(self) -> None:
        checked_flag("every_statement", self.every_statement)
        check_reading(self.reading)
        if self.marks is not None:
            check_pattern("marks", self.marks)
            if not callable(self.reading):
                raise InvalidInput("marks goes with a function as reading only; leave it out")
        if self.condition is not None and self.judge is not None:
            raise InvalidInput("condition and judge both say when a statement is made; give one of them")
        for name in ("condition", "split"):
            given = getattr(self, name)
            if given is not None and not callable(given):
                raise InvalidInput(f"{name} is {brief(given)}; give a function of a text")

    @property
    def pattern(self) -> str | None:
        """Returns the user's regular expression for citations of an unusual form; None without one."""
        return self.reading if isinstance(self.reading, str) else self.marks

    def divided(self, text: str) -> list[str]:
        """Returns the pieces into which the text is divided: by ``split`` if it is set, else its
        sentences."""
        return list(sentences(text, self.language) if self.split is None else self.split(text))

    def condition_of(self, statement: CitedStatement) -> IgnoringCitations:
        """Returns the condition that an answer makes this statement. The condition judges answers without
        their citations."""
        said = said_by(statement)
        if self.condition is not None:
            condition = as_predicate(self.condition(said))
        elif self.judge is not None:
            condition = judged(
                f"The answer states this, or something that implies it: {said}", self.judge
            )
        else:
            condition = contains(said, whole_words=True)
        return ignoring_citations(condition, pattern=self.pattern)


showing_cite_fields = showing(CiteOptions, CiteFields)
"""A decorator for functions that take these options as ``**fields``. It makes their signature list the
options one by one."""
