"""This module says in which questions of a log a document was shown, and in which of them rules speak for
it or against it. It uses only rules that are known to be minimal, and that are sure: a sure rule is
proved, or has passed the votes or the test that the user asked for."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import TypeAlias

from ..checking.figures import Share, share
from ..rules import RuleKind
from .documents import DocumentKey, DocumentNames
from .questions import AuditedQuestion, RuleOutcome

_RETENTION, _OMISSION = RuleKind.RETENTION, RuleKind.OMISSION
_Way: TypeAlias = tuple[RuleKind, RuleOutcome]
_Pair: TypeAlias = tuple[DocumentKey, DocumentKey]
_IMPLICATING: frozenset[_Way] = frozenset(
    {(_RETENTION, "bad"), (_OMISSION, "not bad"), (_OMISSION, "good")}
)
TOWARDS_BAD: frozenset[_Way] = frozenset({*_IMPLICATING, (_RETENTION, "not good")})
"""The kinds and outcomes of rules that speak against a document. Such a retention rule says that answers
with the document are bad (or not good). Such an omission rule says that answers without it are not bad
(or good)."""
AWAY_FROM_BAD: frozenset[_Way] = frozenset(
    {(_RETENTION, "not bad"), (_RETENTION, "good"), (_OMISSION, "bad"), (_OMISSION, "not good")}
)
"""The kinds and outcomes of rules that speak for a document, such as a retention rule that says that
answers with the document are good."""
_NEVER_SHOWN = "no question decides it"


@dataclass(slots=True)
class DocumentRow:
    """A ``DocumentRow`` says in which questions one document was shown, and in which of them rules name
    it. Except the first three fields and ``named``, each field holds ids of questions, in their order.

    ``shown``: the document was shown. ``bad``, ``not_bad``: it was shown, and the answer is bad, or not
    bad. ``retained``: a rule that names the document says that answers are bad while all documents of the
    rule are retained. ``omitted``: a rule that names the document says that answers are not bad while all
    documents of the rule are omitted. ``omitted_good``: as ``omitted``, and the answers are good.
    ``implicated``: the question is in at least one of the last three fields. ``unsure``: only a rule that
    is not sure, or perhaps not minimal, implicates it.

    ``clear``: no rule implicates the document, and all rules are known. ``unneeded``: no rule of any
    outcome names it, and all rules are known. ``decisive``: the answer is bad, but never bad without this
    document, whichever other documents are shown (pinned ones always are, and tied near-duplicates are
    shown together). ``single_point``: the answer is not bad (or is good, if there is such a condition),
    and never so without this document.

    ``redundant``: by the name of another document, the questions in which that document is enough in
    place of this one. ``conflicts``: by the name of another document, the questions in which one of the
    two makes the answer bad, and the other one makes it better. ``named``: True iff a sure, minimal rule
    of any outcome names it.
    """

    key: DocumentKey
    name: str
    ids: tuple[str, ...]
    shown: list[str] = field(default_factory=list[str])
    bad: list[str] = field(default_factory=list[str])
    not_bad: list[str] = field(default_factory=list[str])
    retained: list[str] = field(default_factory=list[str])
    omitted: list[str] = field(default_factory=list[str])
    omitted_good: list[str] = field(default_factory=list[str])
    implicated: list[str] = field(default_factory=list[str])
    unsure: list[str] = field(default_factory=list[str])
    clear: list[str] = field(default_factory=list[str])
    unneeded: list[str] = field(default_factory=list[str])
    decisive: list[str] = field(default_factory=list[str])
    single_point: list[str] = field(default_factory=list[str])
    redundant: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    conflicts: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    named: bool = False

    @property
    def implicated_share(self) -> Share:
        """Returns the number of questions in which the document is ``implicated``, divided by the number
        of questions in which it is ``implicated`` or ``clear``. Other questions that show the document
        are not counted."""
        return share(len(self.implicated), len(self.implicated) + len(self.clear), _NEVER_SHOWN)

    @property
    def bad_share(self) -> Share:
        """Returns the share of bad answers among the bad and the not bad answers to questions that show
        the document."""
        return share(len(self.bad), len(self.bad) + len(self.not_bad), _NEVER_SHOWN)

    @property
    def open(self) -> int:
        """Returns the number of questions that show the document, and in which it is neither
        ``implicated`` nor ``clear``."""
        return len(self.shown) - len(self.implicated) - len(self.clear)

    @property
    def never_needed(self) -> bool | None:
        """Returns True iff no rule names the document in any question that shows it, and the searches of
        these questions found all rules; False if a sure rule names it; None if this is not decided."""
        if self.named:
            return False
        return True if self.shown and len(self.unneeded) == len(self.shown) else None


def document_rows(names: DocumentNames) -> tuple[DocumentRow, ...]:
    """Returns a row for each document that was shown with an explained question: those implicated most
    often first, and then those shown most often."""
    rows = dict[DocumentKey, DocumentRow]()
    ids = _ids(names)
    for question in names.questions:
        if not question.is_explained:
            continue
        keys = names.keys(question)
        for key in keys.values():
            if key not in rows:
                rows[key] = DocumentRow(key, names.names[key], ids[key])
        _Reading.of(question, keys, rows).note()
    order = sorted(
        rows.values(), key=lambda row: (-len(row.implicated), -len(row.bad), -len(row.shown), row.name)
    )
    return tuple(order)


def _ids(names: DocumentNames) -> Mapping[DocumentKey, tuple[str, ...]]:
    found = dict[DocumentKey, dict[str, None]]()
    for question in names.questions:
        for identity, key in names.keys(question).items():
            found.setdefault(key, {})[identity] = None
    return {key: tuple(each) for key, each in found.items()}


@dataclass(frozen=True, slots=True)
class _Rule:
    """A ``_Rule`` is a rule with the documents that it names. ``counts``: True iff the rule is sure and
    minimal."""

    kind: RuleKind
    outcome: RuleOutcome
    documents: frozenset[DocumentKey]
    counts: bool
    is_always_so: bool

    @property
    def way(self) -> _Way:
        return self.kind, self.outcome

    def is_within(self, other: "_Rule") -> bool:
        """Returns True iff this rule shows that the other rule is not minimal: both claim the same
        outcome, and the documents of this rule are a part of the other's."""
        return self.counts and self.way == other.way and self.documents < other.documents


@dataclass(frozen=True, slots=True)
class _Reading:
    """A ``_Reading`` adds one question to the rows of the documents that it shows. ``rows``: these rows.
    ``rules``: the rules of the question. ``pinned``: the documents that were never omitted."""

    question: AuditedQuestion
    rows: Mapping[DocumentKey, DocumentRow]
    rules: list[_Rule]
    pinned: frozenset[DocumentKey]

    @classmethod
    def of(
        cls,
        question: AuditedQuestion,
        keys: Mapping[str, DocumentKey],
        rows: Mapping[DocumentKey, DocumentRow],
    ) -> "_Reading":
        """Returns a ``_Reading`` of one question of the audited log. ``keys``: the document for each id
        in the question. ``rows``: the row of each document in the whole log."""
        rules = [
            _Rule(
                each.kind,
                each.outcome,
                frozenset(keys[name] for name in each.documents),
                each.needs_each and not question.doubted,
                each.is_always_so,
            )
            for each in question.rules
        ]
        own = dict.fromkeys(keys.values())
        if len(own) < len(keys):
            # If a question shows two copies of a document, one rule may name one copy, and another rule
            # both. The other rule is then not minimal, so it is dropped.
            rules = [each for each in rules if not any(other.is_within(each) for other in rules)]
        pinned = frozenset(keys[each.id] for each in question.shown if each.pinned)
        return cls(question, {key: rows[key] for key in own}, rules, pinned)

    def note(self) -> None:
        """Adds the id of the question to the rows of the documents that it shows, in those fields that
        are true of it. If its answer is bad, for example, the id is added to ``bad`` of each of these
        rows."""
        for key, row in self.rows.items():
            self._note_each(key, row)
        self._note_single()
        for one, other in sorted(self._redundant_pairs()):
            self._note_pair("redundant", one, other)
        for one, other in sorted(self._conflicting_pairs()):
            self._note_pair("conflicts", one, other)

    def _note_each(self, key: DocumentKey, row: DocumentRow) -> None:
        question, naming = self.question, [each for each in self.rules if key in each.documents]
        row.shown.append(question.id)
        row.named = row.named or any(each.counts for each in naming)
        if question.outcome in {"bad", "not bad"}:
            (row.bad if question.outcome == "bad" else row.not_bad).append(question.id)
        ways = {each.way for each in naming if each.counts}
        for way, noted in (
            ((_RETENTION, "bad"), row.retained),
            ((_OMISSION, "not bad"), row.omitted),
            ((_OMISSION, "good"), row.omitted_good),
        ):
            if way in ways:
                noted.append(question.id)
        is_whole = question.exhaustive and key not in self.pinned
        if ways & _IMPLICATING:
            row.implicated.append(question.id)
        elif _IMPLICATING.intersection(each.way for each in naming):
            row.unsure.append(question.id)
        elif is_whole:
            row.clear.append(question.id)
        if is_whole and not naming:
            row.unneeded.append(question.id)

    def _note_single(self) -> None:
        question = self.question
        spoilt: RuleOutcome = "bad" if question.is_good is None else "not good"
        is_fine = question.outcome == "not bad" if question.is_good is None else question.is_good
        for rule in self._sure:
            if rule.kind is not _OMISSION or len(rule.documents) != 1 or not rule.is_always_so:
                continue
            row = self.rows[next(iter(rule.documents))]
            if rule.outcome == "not bad" and question.outcome == "bad":
                row.decisive.append(question.id)
            if rule.outcome == spoilt and is_fine:
                row.single_point.append(question.id)

    def _redundant_pairs(self) -> set[_Pair]:
        alike = dict[tuple[RuleOutcome, frozenset[DocumentKey]], set[DocumentKey]]()
        for rule in self._sure:
            for key in rule.documents if rule.kind is _RETENTION else ():
                alike.setdefault((rule.outcome, rule.documents - {key}), set()).add(key)
        pairs = (pair for found in alike.values() for pair in combinations(found, 2))
        return {(min(pair), max(pair)) for pair in pairs}

    def _conflicting_pairs(self) -> set[_Pair]:
        towards, away = set(self._naming(TOWARDS_BAD)), set(self._naming(AWAY_FROM_BAD))
        return {(min(one, other), max(one, other)) for one in towards for other in away if one != other}

    def _naming(self, ways: Iterable[_Way]) -> Iterator[DocumentKey]:
        wanted = set(ways)
        return (key for each in self._sure if each.way in wanted for key in each.documents)

    def _note_pair(self, field_name: str, one: DocumentKey, other: DocumentKey) -> None:
        for row, beside in ((self.rows[one], self.rows[other]), (self.rows[other], self.rows[one])):
            noted: dict[str, list[str]] = getattr(row, field_name)
            noted.setdefault(beside.name, []).append(self.question.id)

    @property
    def _sure(self) -> list[_Rule]:
        return [each for each in self.rules if each.counts]
