"""This module words the notes on an answer, and on each of its documents, from an explanation.

The result of a note on a document, such as *decisive* or *one of several*, is the class that a citation
of this document would have if it were the answer's only citation. Two classes have other names here:
*needs D4* for a citation that needs a partner, and *not named* for a decorative citation.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from ...citations.causes import Causes, weakest
from ...citations.checking import checked_citations
from ...citations.classes import CitationClass
from ...citations.reading.citing_text import CitingText, ReadCitation
from ...citations.records import CitationVerdict
from ...explanation.explanation import Explanation
from ...explanation.records import Finding, SourceRecord
from ...explanation.wording import few_of
from ...report import caveats
from ...rules import ClaimStatus, RuleKind
from .plain import plain_text_within

_MOST_RULES = 5
"""The maximum number of rules that a note on a document lists."""
_MOST_OF_ANSWER = 10
"""The maximum number of rules that the note on an answer lists."""
_LONGEST_RULE = 300
_LONGEST_NAMES = 60
_MOST_WARNINGS = 3

UNDECIDED = CitationClass.UNDECIDED.value


@dataclass(frozen=True, slots=True)
class TraceNote:
    """A ``TraceNote`` says what the rules mean for an answer, or for one document.

    ``word``: the result in a few words, such as "decisive" or "needs D4". ``claim``: the status of the
    rules on which ``word`` rests, such as "proved"; None if there are none. ``text``: the rules with
    their evidence, each on its line, or the reason why nothing is decided. ``source``: the id of the
    document in rules; None for the answer. All texts are short, and have no control characters and no
    markup, so they can be shown anywhere.
    """

    word: str
    claim: ClaimStatus | None
    text: str
    source: str | None = None

    @property
    def label(self) -> str:
        """Returns the word with its claim, such as "decisive (proved)", so that a proved result never
        looks like a tested one."""
        return self.word if self.claim is None else f"{self.word} ({self.claim})"

    @property
    def is_undecided(self) -> bool:
        """Returns True iff ``word`` says that the explanation decides nothing about this answer or
        document."""
        return self.word == UNDECIDED


def note_on_answer(explanation: Explanation) -> TraceNote:
    """Returns the note on the answer, which lists the warnings and then the rules."""
    rules = explanation.rules
    counts = [
        f"{len(found)} {kind} rule{'s' * (len(found) != 1)}"
        for kind, found in (
            ("retention", explanation.retention_rules),
            ("omission", explanation.omission_rules),
        )
        if found
    ]
    nothing = f"no {_searched(explanation)}" if explanation.complete else UNDECIDED
    summary = " and ".join(counts) or nothing
    *warnings, completeness = [each.text for each in caveats(explanation)]
    others = [
        f"{each.value} rules were not searched" for each in RuleKind if each not in explanation.predicates
    ]
    lines = [*warnings[:_MOST_WARNINGS], *_listed(rules, _MOST_OF_ANSWER), *others, completeness]
    claim = weakest(each.claim for each in rules) if rules else None
    return TraceNote(summary, claim, _text(lines))


def notes_on_documents(explanation: Explanation) -> Iterator[TraceNote]:
    """Yields the note on each source, also on those that were retrieved and not shown to the model."""
    causes, answer = Causes(explanation), explanation.baseline.text
    for source in (*explanation.sources, *explanation.held_out):
        alone = CitingText(answer, (ReadCitation(source.id, source.id),))
        (verdict,) = checked_citations(causes, alone, "").verdicts
        yield _note_on(explanation, source, verdict)


def _note_on(explanation: Explanation, source: SourceRecord, verdict: CitationVerdict) -> TraceNote:
    naming = [each for each in explanation.rules if source.id in each.sources]
    word, claim = _word(source, verdict, naming), verdict.claim
    if word == _NOT_NAMED and len(explanation.predicates) == 1:
        word = f"in no {_searched(explanation)}"
    if word == _OMISSION_ALONE:
        claim = weakest(each.claim for each in naming)
    lines = [plain_text_within(verdict.why, 500)] if verdict.why else []
    nothing = f"no {_searched(explanation)} names it; condition: {condition_of(explanation)}"
    lines += _listed(naming, _MOST_RULES) or [nothing]
    return TraceNote(plain_text_within(word, 100), claim, _text(lines), source.id)


_OMISSION_ALONE = "in omission rules alone"
_NOT_NAMED = "not named"


def _searched(explanation: Explanation) -> str:
    """Returns the kind of rules that were searched for, such as "omission rule"; "rule" if both kinds
    were."""
    kinds = list(explanation.predicates)
    return f"{kinds[0].value} rule" if len(kinds) == 1 else "rule"


def _word(source: SourceRecord, verdict: CitationVerdict, naming: list[Finding]) -> str:
    found = verdict.citation_class
    is_in_omission_alone = bool(naming) and all(each.kind is RuleKind.OMISSION for each in naming)
    if found is CitationClass.DECORATIVE:
        return _OMISSION_ALONE if is_in_omission_alone else _NOT_NAMED
    if found is CitationClass.NEEDS_A_PARTNER:
        return f"needs {_partners(verdict.uncited_partners)}"
    if found is CitationClass.UNRESOLVABLE:
        return "pinned" if source.pinned else UNDECIDED if verdict.shown else "not shown"
    return found.value


def _partners(several: tuple[tuple[str, ...], ...]) -> str:
    """Returns a phrase that names the sets in ``several``, such as "D4, or D5 and D6". A document is
    decisive only together with one of these sets of other documents. If there are more than two sets, the
    phrase does not name them."""
    if len(several) > 2:
        return "others, in several ways"
    limit = _LONGEST_NAMES // max(len(several), 1)
    return ", or ".join(few_of(each, limit) for each in several)


def _listed(rules: tuple[Finding, ...] | list[Finding], most: int) -> list[str]:
    listed = [each.brief_with_evidence(_LONGEST_RULE) for each in rules[:most]]
    more = len(rules) - most
    return [*listed, f"… and {more} more rule{'s' * (more != 1)}"] if more > 0 else listed


def condition_of(explanation: Explanation) -> str:
    """Returns the subject of the rules in words: the condition of retention rules, and that of omission
    rules unless it is the opposite."""
    conditions = list(dict.fromkeys(explanation.predicates.values()))
    several = conditions[:1] if explanation.conditions_are_opposite else conditions
    return plain_text_within("; ".join(several), 500)


def _text(lines: list[str]) -> str:
    return "\n".join(plain_text_within(each, 1500) for each in lines)
