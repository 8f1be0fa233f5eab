"""This module defines the result of an audit."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from ..checking.figures import Share, share
from ..errors import InvalidInput
from ..printable import cut_in_the_middle, plain_id, printable, shortened
from .blame import BlameList
from .documents import DocumentNames
from .questions import AnswerOutcome, AuditedQuestion
from .removal import Removal, smallest_removal
from .tables import DocumentRow, document_rows

_MOST_NAMED = 10
_NO_VERDICT = "no answer has a verdict"


@dataclass(frozen=True)
class Audit:
    """An ``Audit`` says which answers to the questions of a log are bad, and which documents rules name
    as a cause.

    ``questions``: the result of each question, in the order in which the questions were given.
    ``condition``, ``good``: the bad and the good outcome in words; ``good`` is empty if there is no such
    condition. ``total``: the number of questions that were given; after an interrupt, it is larger than
    the number of ``questions``.

    ``interrupted``: True iff the user stopped the audit. ``folder``: the folder with the report; None if
    there is none. ``blame``: the documents to blame under a false discovery rate; None if no rate was
    set, or if the audit was interrupted. ``notes``: remarks for the reader on how the questions were
    asked, such as that earlier questions were explained with other settings.
    """

    questions: tuple[AuditedQuestion, ...]
    condition: str
    good: str = ""
    total: int = 0
    interrupted: bool = False
    folder: Path | None = None
    texts: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    blame: BlameList | None = None
    notes: tuple[str, ...] = ()

    @cached_property
    def names(self) -> DocumentNames:
        """Returns the documents of the log, and their names."""
        return DocumentNames(self.questions)

    @cached_property
    def documents(self) -> tuple[DocumentRow, ...]:
        """Returns a row for each document, those implicated most often first."""
        return document_rows(self.names)

    @cached_property
    def removal(self) -> Removal:
        """Returns the smallest set of documents whose removal ends the bad answers."""
        return smallest_removal(self.names)

    @property
    def counts(self) -> Mapping[AnswerOutcome, int]:
        """Returns, for each outcome, the number of questions with this outcome."""
        return Counter(each.outcome for each in self.questions)

    @property
    def bad_share(self) -> Share:
        """Returns the share of bad answers among those with a verdict."""
        bad, fine = self.counts.get("bad", 0), self.counts.get("not bad", 0)
        return share(bad, bad + fine, _NO_VERDICT)

    def document(self, name: str) -> DocumentRow:
        """Returns the row of a document: in how many answers rules name it, and whether they make it a
        cause of bad answers. ``name``: the document's name, or its id in an explanation. Raises
        InvalidInput if no document has this name or id, or if several have this id."""
        for row in self.documents:
            if row.name == name:
                return row
        found = [row for row in self.documents if name in row.ids]
        if len(found) != 1:
            what = "several documents have" if found else "no document has"
            raise InvalidInput(f"{what} the name {name!r}; see the names of audit.documents")
        return found[0]

    @property
    def summary(self) -> str:
        """Returns in one line how many questions have which outcome, such as "3 of 3 questions, 1 bad, 1
        not bad, 1 failed"."""
        counts = self.counts
        parts = [f"{len(self.questions):,} of {max(self.total, len(self.questions)):,} questions"]
        parts += [f"{counts.get(each, 0):,} {each}" for each in ("bad", "not bad")]
        for outcome in ("undecided", "failed", "stopped"):
            if counts.get(outcome, 0):
                parts.append(f"{counts[outcome]:,} {outcome}")
        return ", ".join([*parts, *(["interrupted"] if self.interrupted else [])])

    @property
    def exit_code(self) -> int:
        """Returns 0 if every answer is known not to be bad, 1 if an answer is bad, 3 if none is bad but
        some have no verdict, and 130 after an interrupt."""
        if self.interrupted:
            return 130
        counts = self.counts
        if counts.get("bad", 0):
            return 1
        return 0 if counts.get("not bad", 0) == len(self.questions) else 3

    def __str__(self) -> str:
        lines = [self.summary, f"bad answers: {self.bad_share}", str(self.removal)]
        lines += [f"  {_name(name)}" for name in self.removal.documents[:_MOST_NAMED]]
        left = len(self.removal.documents) - _MOST_NAMED
        lines += [f"  … and {left:,} more"] if left > 0 else []
        lines += [f"note: {_note(each)}" for each in self.notes]
        implicated = [row for row in self.documents if row.implicated]
        if implicated:
            lines.append("implicated most often:")
        for row in implicated[:_MOST_NAMED]:
            lines.append(f"  {_name(row.name)}: {row.implicated_share}")
        if self.blame is not None:
            lines += [f"to blame, with a false discovery rate of {self.blame.plan.fdr:g}:"]
            lines += [f"  {each}" for each in str(self.blame).splitlines()]
        without = [each for each in self.questions if not each.is_explained]
        lines += [
            f"{each.outcome}: {_line(each.id)}: {_line(each.reason)}" for each in without[:_MOST_NAMED]
        ]
        if len(without) > _MOST_NAMED:
            lines.append(f"… and {len(without) - _MOST_NAMED:,} more questions without a result")
        return "\n".join(lines)


def _name(text: str) -> str:
    return cut_in_the_middle(plain_id(text), 200)


def _note(text: str) -> str:
    return shortened(printable(text), 600)


def _line(text: str) -> str:
    return shortened(printable(text), 200)
