"""This module defines the result of a check of questions. The check finds out for each question whether
there is a rule that the user forbids: a few sources that bring about the forbidden condition."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from ..rules import RuleKind
from ..verdicts import Verdict
from .deciding import Decision
from .explanation import Explanation
from .records import Finding

CheckOutcome: TypeAlias = Literal["clean", "finding", "undecided"]


@dataclass(frozen=True, slots=True)
class FilePlace:
    """A ``FilePlace`` is a line in a file. ``path``: the path of the file, relative to the folder in
    which the command runs. ``line``: the number of the line, counted from 1."""

    path: str
    line: int = 1


@dataclass(frozen=True, slots=True)
class CheckedQuestion:
    """A ``CheckedQuestion`` is one question with the result of its check.

    ``place``: the line of the questions file. ``explanation``: the explanation of the answer. If it is
    None, ``error`` says why. ``decisions``: by kind of rule, the decision whether there is a rule that
    the user forbids. ``documents``: the files of the sources by source id, as far as they are known.
    ``seconds``: the duration of the check.
    """

    id: str
    question: str
    place: FilePlace
    explanation: Explanation | None = None
    decisions: Mapping[RuleKind, Decision] = field(default_factory=dict[RuleKind, Decision])
    error: str = ""
    documents: Mapping[str, FilePlace] = field(default_factory=dict[str, FilePlace])
    seconds: float = 0.0

    @property
    def outcome(self) -> CheckOutcome:
        """Returns *finding* if there is a forbidden rule, *clean* if it is certain that there is none,
        and *undecided* otherwise."""
        decided = [each.holds for each in self.decisions.values()]
        if any(decided):
            return "finding"
        return "clean" if decided and all(each is False for each in decided) else "undecided"

    @property
    def rules(self) -> tuple[Finding, ...]:
        """Returns the rules that make the outcome a *finding*; empty for any other outcome."""
        return tuple(rule for each in self.decisions.values() if each.holds for rule in each.rules)

    @property
    def open_rules(self) -> tuple[Finding, ...]:
        """Returns the reported rules that are forbidden, but not certain enough for a finding."""
        undecided = (each for each in self.decisions.values() if each.holds is None)
        return tuple(rule for each in undecided for rule in each.rules)

    @property
    def why_undecided(self) -> str:
        """Returns the reasons why the question is undecided; empty if it is decided."""
        reasons = (each.why for each in self.decisions.values() if each.holds is None)
        return "; ".join(dict.fromkeys(filter(None, (self.error, *reasons))))

    @property
    def wrong(self) -> float:
        """Returns an upper bound of the chance that the outcome is wrong. It is above 0 if answers were
        voted on, or if rules were tested on random subsets."""
        return min(1.0, sum(each.error for each in self.decisions.values() if each.holds is not None))

    @property
    def is_shown(self) -> bool | None:
        """Returns whether the ordinary answer, for which all sources are retained, meets the forbidden
        condition; None if that is not known."""
        every = len(self.explanation.sources) if self.explanation else -1
        for probe in self.explanation.probes if self.explanation else ():
            for judged in probe.verdicts.values():
                if len(probe.kept) == every and judged.verdict is not Verdict.UNKNOWN:
                    return judged.verdict is Verdict.HOLDS
        return None


@dataclass(frozen=True, slots=True)
class QuestionCheck:
    """A ``QuestionCheck`` is the result of checking a file of questions. It holds the questions that were
    asked, and what was forbidden.

    ``condition``: the forbidden condition as text. ``max_size``: the largest number of sources in a
    forbidden rule; None for any number. ``total``: the number of questions in the file, including those
    that were not asked. ``interrupted``: True if the user ended the check before all were asked.
    """

    condition: str
    max_size: int | None
    questions: tuple[CheckedQuestion, ...]
    total: int
    interrupted: bool = False

    @property
    def exit_code(self) -> int:
        """Returns 130 after an interrupt, 1 if there is a finding, 3 if anything is undecided, else 0."""
        outcomes = {each.outcome for each in self.questions}
        if self.interrupted:
            return 130
        if "finding" in outcomes:
            return 1
        return 3 if "undecided" in outcomes or len(self.questions) < self.total else 0

    def count(self, outcome: CheckOutcome) -> int:
        """Returns the number of questions with this outcome."""
        return sum(each.outcome == outcome for each in self.questions)

    @property
    def summary(self) -> str:
        """Returns the numbers of questions with each outcome, in words."""
        counts = [f"{self.count(each)} {said}" for each, said in _SAID.items()]
        left = self.total - len(self.questions)
        counts += [f"{left} not asked"] if left else []
        plural = "s" * (self.total != 1)
        return f"{self.total} question{plural}: {', '.join(counts)}"


_SAID: Mapping[CheckOutcome, str] = {
    "finding": "with a finding",
    "undecided": "undecided",
    "clean": "clean",
}
