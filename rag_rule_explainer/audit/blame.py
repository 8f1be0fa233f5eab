"""This module lists the documents to blame over a log, under a false discovery rate that the user sets.

The list claims of each of its documents: in at least one question of the log, there is a subset of the
other documents on which the answer is bad with this document. Without it, the answer on this subset is
not bad, or is bad less often.

There are two kinds of evidence. A document that a *proved* rule of a deterministic application names
needs no test: the outcome was seen on every subset that the rule covers. If the rule is minimal, one of
these subsets has the other outcome without the document. Every other document that a rule names is tested
by fresh replays of *pivot pairs*, at most one pair in each of up to three questions. A pair is a subset
on which the search saw the bad outcome, and the same subset without the document. The search's own
replays are not counted, because they were used to choose the pair.

The null hypothesis is that the document changes no answer in any of its pairs. A random draw decides
which of the fresh replays are made with the document. Under the null hypothesis, the number of bad
replays among these is therefore hypergeometric, given the number of all bad replays of the pair: R. A.
Fisher's randomization test, added up over pairs as by M. Zelen, which the module ``randomization``
computes. The test is exact at any rate of noise, and also if replays depend on each other in time: if the
model is worse for an hour, replays with and without the document are affected alike.

The procedure of Benjamini and Yekutieli is used for this reason. Documents are tested in the same
questions, against the same model and at the same time, so nothing is known of the dependence among their
p-values. The procedure of Benjamini and Hochberg needs independent or positively dependent p-values; that
of Benjamini and Yekutieli (2001) bounds the false discovery rate under any dependence. Its price is that
p-values must be smaller by the factor 1 + 1/2 + ... + 1/m, which is 7 for 700 documents. One more replay
with and one more without the document make the smallest possible p-value about four times smaller, so the
price is one or two replays more of each.

Near-duplicates that the search only retained or omitted together are tested one by one, each without the
others, because the search did not see what each of them does.

Documents listed as proved are no false discoveries, so adding them to the list does not raise its rate.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias, overload

from ..printable import cut_in_the_middle, plain_id
from ..verdicts import Verdict
from .blame_plan import BlamePlan, PivotPair, Suspect, Trial
from .randomization import PairTable, benjamini_yekutieli, stratified_p_value

Basis: TypeAlias = Literal["proved", "tested"]
_LONGEST_NAME = 200


@dataclass(frozen=True, slots=True)
class BlamedDocument:
    """A ``BlamedDocument`` is a document of a log with the evidence against it.

    ``basis``: "proved" if a proved rule of a deterministic application names it; "tested" if fresh
    replays were compared. ``tables``: for each pair of subsets with and without the document, how many
    of the fresh replays are bad.

    ``p_value``: the exact probability that the fresh replays with and without the document differ at
    least as much as they did, if the document changes nothing; None if ``basis`` is "proved".
    """

    suspect: Suspect
    basis: Basis
    p_value: Fraction | None = None
    tables: tuple[PairTable, ...] = ()

    @property
    def document(self) -> str:
        """Returns the id of the document."""
        return self.suspect.document

    @property
    def undecided(self) -> int:
        """Returns the number of fresh replays of this document that have no verdict."""
        return sum(each.unknown_with + each.unknown_without for each in self.tables)

    @property
    def evidence(self) -> str:
        """Returns one sentence with the evidence against the document: the bad answers in which a rule
        names it, and the outcomes of the fresh replays with it and without it."""
        named, shown = len(self.suspect.implicated), self.suspect.shown
        seen = f"named by rules in {named:,} of the {shown:,} bad answers"
        if self.p_value is None:
            return f"{seen} that it was shown for [proved; no test needed]"
        with_it = _said((each.bad_with, each.of_with) for each in self.tables)
        without = _said((each.bad_without, each.of_without) for each in self.tables)
        undecided = f"; {self.undecided:,} undecided" if self.undecided else ""
        replays = f"bad in {with_it} fresh replays with it, in {without} without it{undecided}"
        return f"{seen} that it was shown for [{replays}; p = {float(self.p_value):.2g}]"

    def __str__(self) -> str:
        return f"{cut_in_the_middle(plain_id(self.document), _LONGEST_NAME)}: {self.evidence}"


@dataclass(frozen=True, slots=True)
class BlameList(Sequence[BlamedDocument]):
    """A ``BlameList`` is the sequence of the documents to blame: proved ones first, then those with the
    smallest p-values.

    ``not_shown``: documents whose test did not show that they are to blame, which does not prove that
    they are innocent. ``plan``: the plan of the replays of all tests.
    """

    plan: BlamePlan
    found: tuple[BlamedDocument, ...]
    not_shown: tuple[BlamedDocument, ...] = ()

    def __len__(self) -> int:
        return len(self.found)

    @overload
    def __getitem__(self, place: int) -> BlamedDocument: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[BlamedDocument, ...]: ...
    def __getitem__(self, place: int | slice) -> BlamedDocument | tuple[BlamedDocument, ...]:
        return self.found[place]

    @property
    def documents(self) -> tuple[str, ...]:
        """Returns the ids of the documents to blame."""
        return tuple(each.document for each in self.found)

    def __str__(self) -> str:
        lines = [f"{number}. {each}" for number, each in enumerate(self.found, start=1)]
        tested = sum(each.basis == "tested" for each in self.found)
        if tested:
            expected = f"at most {self.plan.fdr:.3g} of those listed are innocent"
            lines.append(f"(on average over such audits, {expected})")
        left = f"{len(self.not_shown):,} of those tested not shown to be to blame"
        if undecided := sum(each.undecided for each in (*self.found, *self.not_shown)):
            left += f"; {undecided:,} of their replays have no verdict"
        lines.append(f"({self.plan}{f'; {left}' if self.plan.tested else ''})")
        return "\n".join(lines)


def blame_list(plan: BlamePlan, outcomes: Mapping[Trial, Verdict]) -> BlameList:
    """Returns the documents to blame.

    ``outcomes``: for each replay of the plan, HOLDS iff the bad outcome was seen, and UNKNOWN if it is
    not known whether it was. A replay that is missing counts as UNKNOWN. An UNKNOWN never helps to blame
    a document: the document's p-value is the largest one over all outcomes that the replay could have
    had.
    """
    tables = tables_of(plan, outcomes)
    tested = [
        BlamedDocument(suspect, "tested", stratified_p_value(own), own)
        for suspect, _ in plan.tested
        for own in [tuple(tables[pair] for pair in suspect.pairs)]
    ]
    rejected = benjamini_yekutieli([each.p_value or Fraction(0) for each in tested], plan.fdr)
    ordered = sorted(
        zip(tested, rejected, strict=True),
        key=lambda each: (each[0].p_value, -len(each[0].suspect.implicated), each[0].document),
    )
    proved = [BlamedDocument(each, "proved") for each in plan.proved]
    found = (*proved, *(each for each, is_found in ordered if is_found))
    return BlameList(plan, found, tuple(each for each, is_found in ordered if not is_found))


def tables_of(plan: BlamePlan, outcomes: Mapping[Trial, Verdict]) -> dict[PivotPair, PairTable]:
    """Returns for each pair (two subsets that differ by one document) how many of its replays are bad,
    with the document and without it. A replay without an outcome counts as UNKNOWN."""
    counts = defaultdict[tuple[PivotPair, bool, Verdict], int](int)
    pairs = dict.fromkeys(pair for suspect, _ in plan.tested for pair in suspect.pairs)
    for trial in plan.trials():
        counts[trial.pair, trial.with_document, outcomes.get(trial, Verdict.UNKNOWN)] += 1

    def decided(pair: PivotPair, with_it: bool) -> int:
        return counts[pair, with_it, Verdict.HOLDS] + counts[pair, with_it, Verdict.BREAKS]

    return {
        pair: PairTable(
            counts[pair, True, Verdict.HOLDS],
            decided(pair, True),
            counts[pair, False, Verdict.HOLDS],
            decided(pair, False),
            counts[pair, True, Verdict.UNKNOWN],
            counts[pair, False, Verdict.UNKNOWN],
        )
        for pair in pairs
    }


def _said(counts: Iterable[tuple[int, int]]) -> str:
    listed = list(counts)
    return f"{sum(each for each, _ in listed):,} of {sum(of for _, of in listed):,}"
