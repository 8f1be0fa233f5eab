"""This module defines the check of all citations of an answer, statement by statement."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..explanation.explanation import Explanation
from ..predicates import PredicateLike, as_predicate
from ..predicates.next_action import OfNextAction
from ..printable import printable, shortened
from ..verdicts import Answer
from .causes import Causes
from .checking import checked_citations
from .cite_options import CiteOptions
from .places import placed_once, with_places
from .reading import CitableSources, CitingText, read_citations
from .records import CitationCheck
from .statements import CitedStatement, statements_in

_MOST_SHOWN = 20


@dataclass(frozen=True, slots=True)
class CitedAnswer:
    """A ``CitedAnswer`` says which citations of an answer are real, for each of its statements.

    ``text``: the answer. ``checks``: one for each statement that was checked. ``unchecked``: the
    statements without citations that were not checked. ``output``: the output of the application; None if
    it is only the text. ``unstated``: the texts of the citations of an answer that contains no statement.
    """

    text: str
    checks: tuple[CitationCheck, ...]
    unchecked: tuple[str, ...] = ()
    output: Any = field(default=None, repr=False)
    unstated: tuple[str, ...] = ()

    @property
    def replays(self) -> int:
        """Returns the number of runs of the application for all statements together."""
        return sum(each.explanation.counts.replays for each in self.checks)

    @property
    def faithful(self) -> bool | None:
        """Returns True iff every citation of every statement is faithful. Returns False if a citation is
        not faithful. Returns None if no citation is unfaithful, but a citation is undecided or nothing is
        cited."""
        found = {each.faithful for each in self.checks if each.verdicts}
        if self.unstated:
            found.add(None)
        return False if False in found else None if None in found or not found else True

    def __iter__(self) -> Iterator[CitationCheck]:
        return iter(self.checks)

    def __str__(self) -> str:
        said = [str(each) for each in self.checks]
        if self.unstated:
            marks = ", ".join(shortened(printable(each), 60) for each in self.unstated[:_MOST_SHOWN])
            said.append(f"the answer cites {marks}, and states nothing")
        said = said or ["nothing is cited"]
        if self.unchecked:
            count = len(self.unchecked)
            said.append(f"{count} statement{'s' if count > 1 else ''} without citations, not checked")
        return "\n".join(said)


@dataclass(slots=True)
class StatementChecks:
    """A ``StatementChecks`` divides an answer into statements, and checks the citations of each by the
    explanation of its condition. ``of_next_action``: True if only a model's last reply is replayed."""

    options: CiteOptions
    shown: CitableSources
    output: Any = None
    of_next_action: bool = False
    reading: CitingText = field(init=False, default_factory=lambda: CitingText(""))
    statements: tuple[CitedStatement, ...] = field(init=False, default=())
    unchecked: tuple[CitedStatement, ...] = field(init=False, default=())

    def conditions(self, answer: Answer) -> Sequence[PredicateLike]:
        """Returns one condition for each statement that is to be checked. The condition holds iff an
        answer makes this statement. ``answer``: the answer to divide into statements."""
        self.reading = self._read(answer)
        found = statements_in(self.reading, self.shown, self.options.divided)
        wanted = [each for each in found if each.citations or self.options.every_statement]
        self.statements = tuple(wanted)
        self.unchecked = tuple(each for each in found if each not in wanted)
        wanted_of = [as_predicate(self.options.condition_of(each)) for each in self.statements]
        return list(map(OfNextAction.of, wanted_of)) if self.of_next_action else wanted_of

    def _read(self, answer: Answer) -> CitingText:
        """Returns the answer's text with all citations of the output. If the text of the output does not
        contain the answer's text, citations that only the output has get no position."""
        output = self.output
        if output is None:
            output = answer.text if answer.value is None else answer.value
        reading = placed_once(read_citations(output, self.shown, self.options.reading))
        reading = replace(reading, pattern=self.options.pattern)
        offset = reading.text.find(answer.text)
        if offset < 0:
            own = read_citations(answer.text, self.shown, self.options.reading)
            cited = {each.source for each in own.citations}
            beside = (each for each in reading.citations if each.source not in cited)
            more = tuple(replace(each, start=None, end=None) for each in beside)
            return CitingText(answer.text, (*own.citations, *more), reading.pattern)
        moved = tuple(
            each
            if each.start is None or each.end is None
            else replace(each, start=max(0, each.start - offset), end=max(0, each.end - offset))
            for each in reading.citations
        )
        return CitingText(answer.text, moved, reading.pattern)

    def cited_answer(self, explanations: Sequence[Explanation]) -> CitedAnswer:
        """Returns the answer with the checks of its statements. ``explanations``: the explanation of each
        condition that ``conditions`` returned, in the same order."""
        checks = tuple(
            checked_citations(
                Causes(explanation),
                CitingText(self.reading.text, statement.citations, self.reading.pattern),
                statement.text,
                statement.doubt,
            )
            for statement, explanation in zip(self.statements, explanations, strict=True)
        )
        unchecked = tuple(each.text for each in self.unchecked)
        is_empty = not self.statements and not self.unchecked
        unstated = tuple(each.written for each in self.reading.citations) if is_empty else ()
        return CitedAnswer(self.reading.text, with_places(checks), unchecked, self.output, unstated)
