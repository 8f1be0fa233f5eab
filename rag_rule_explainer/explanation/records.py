"""The parts of an explanation, in the user's terms."""

from dataclasses import dataclass, field
from math import floor
from typing import Literal

from pydantic import JsonValue

from ..lattice import subset_count
from ..printable import plain_id, printable, shortened
from ..rules import ClaimStatus, RuleKind
from ..verdicts import Answer, Judgement
from .wording import joined, named_units, phrase

DOUBTED = "what replays show may not be the doing of their sources alone, as the first warning says"
"""Why a search that has come to its end is not complete: nothing shows that its verdicts are true."""

DROPPED = "sources that no rule over groups named were dropped, so rules that name them may be missing"
"""Why a grouped search that has come to its end is not complete."""

JUDGED_TOGETHER = (
    "the judge saw several answers at once (batch), and one of them can have told it what to say of the "
    "others, so no rule is called proved; leave batch out, and it is asked about one answer a request"
)
"""The warning where a verdict of a search was made so."""
TOGETHER = "the judge saw several answers at once"
"""The same on a rule."""
_MOST_NAMED = 8
"""Sources that a claim is relative to; of more, two."""

Relation = Literal["absolute", "relative"]


@dataclass(frozen=True, slots=True)
class SourceRecord:
    """This class represents a source as it was retrieved. ``metadata``: what of it JSON can say.

    ``pinned``: every replay retained it, so no rule names it.
    """

    id: str
    text: str
    metadata: dict[str, JsonValue] = field(default_factory=dict[str, JsonValue])
    pinned: bool = False


@dataclass(frozen=True, slots=True)
class Votes:
    """Samples of one arrangement on which the condition held, and on which it did not."""

    holds: int
    breaks: int


@dataclass(frozen=True, slots=True)
class ProbeRecord:
    """One distinct arrangement that was judged.

    ``kept``: ids in the order shown. ``answers``: one per sample; empty where the replay failed
    (``error`` says how) or answers are not kept. ``verdicts``: by the kind of rule that asked.
    ``votes``: of the samples, where they were put to the vote, by the kind of rule as well.
    ``latency``: seconds of the replay; of an answer out of the store, those of the replay that it was
    paid for with. None where the application did not run for it.
    """

    kept: tuple[str, ...]
    answers: tuple[Answer, ...] = ()
    verdicts: dict[RuleKind, Judgement] = field(default_factory=dict[RuleKind, Judgement])
    votes: dict[RuleKind, Votes] = field(default_factory=dict[RuleKind, Votes])
    latency: float | None = None
    error: str = ""


@dataclass(frozen=True, slots=True)
class Finding:
    """This class represents a rule in the user's terms, with what it rests on.

    ``observed`` and ``broken``: applicable subsets seen to hold and seen to break, of ``applicable`` in
    all. ``breaking``: the latter, by the ids kept, where a share of them is put up with, a hundred at the
    most. ``minimal``: True where every rule with one source fewer was seen to break, False where one of
    them is a rule itself, None where the search ended before it was known. ``relation``: for conditions
    shared by both kinds, whether the same sources are implicated in both (absolute) or in this kind
    only (relative); None where the kinds use different conditions or only one was mined. ``kept``: of a
    claim relative to some sources, these; retention rules were tried with all others left out, omission
    rules with all others retained. Empty where it is relative to groups, of which none was divided.
    ``with_others``: all other sources than ``kept`` belong to the rule as well, though it does not name
    them: it was tried with them retained for a retention rule, omitted for an omission rule.
    ``tied``: of ``sources``, those that are near-duplicates, each group retained or left out as a whole:
    the rule says nothing of one of them without the others. ``tied_beside``: so many groups of others
    were retained or left out as a whole as well, in all subsets that are counted here.
    """

    kind: RuleKind
    sources: tuple[str, ...]
    condition: str
    claim: ClaimStatus
    observed: int
    broken: int
    applicable: int
    draws: int = 0
    sampling: str = ""
    minimal: bool | None = True
    relation: Relation | None = None
    breaking: tuple[tuple[str, ...], ...] = ()
    kept: tuple[str, ...] = ()
    with_others: bool = False
    tied: tuple[tuple[str, ...], ...] = ()
    tied_beside: int = 0

    def __post_init__(self) -> None:
        if self.proved and (self.broken or self.observed != self.applicable):
            raise ValueError("a finding marked proved was not seen to hold on all its subsets")

    @property
    def proved(self) -> bool:
        """Returns True iff every applicable subset was seen to hold."""
        return self.claim == "proved"

    @property
    def confidence(self) -> float:
        """Returns the share of the applicable subsets that were seen to hold (paper, rule
        definitions)."""
        return self.observed / self.applicable

    @property
    def rule(self) -> str:
        """Returns the rule as a sentence: "whenever D2 and D4 are retained, the answer …"."""
        return f"{self.antecedent}, {printable(self.condition)}"

    @property
    def antecedent(self) -> str:
        """Returns what the rule begins with: "whenever D2 and D4 are retained"."""
        named = named_units(self.sources, self.tied)
        if self.with_others:
            named.append("all sources of other batches")
        if not named:
            return "always, whatever is retrieved"
        verb = "is" if len(named) == 1 and not self.with_others else "are"
        return f"whenever {phrase(named)} {verb} {past_tense(self.kind)}"

    @property
    def evidence(self) -> str:
        """Returns what the rule rests on, in words."""
        return evidence_of(self)

    def __str__(self) -> str:
        return f"{self.rule} [{self.evidence}]"

    def __repr__(self) -> str:
        return f"<Finding: {shortened(str(self), 400)}>"


@dataclass(frozen=True, slots=True)
class Witness:
    """This class represents a probe that breaks a would-be rule with the antecedent ``sources``."""

    kind: RuleKind
    sources: tuple[str, ...]
    kept: tuple[str, ...]
    answer: str | None


@dataclass(frozen=True, slots=True)
class Counterfactual:
    """This class represents a minimal change that flips the outcome: sources removed from all, or added
    to none.

    No smaller change inside it flips the outcome. ``answer``: what is answered then. ``tied``: of
    ``sources``, those that were only ever changed together.
    """

    kind: RuleKind
    change: Literal["removal", "addition"]
    sources: tuple[str, ...]
    answer: str | None
    tied: tuple[tuple[str, ...], ...] = ()

    def __str__(self) -> str:
        named = phrase(named_units(self.sources, self.tied))
        removed = self.change == "removal"
        change = f"from all sources, removing {named}" if removed else f"from no sources, adding {named}"
        then = "" if self.answer is None else f": the answer becomes {shortened(self.answer, 80)!r}"
        return f"{change} flips the outcome{then}"


@dataclass(frozen=True, slots=True)
class Importance:
    """This class represents a source's Banzhaf and Shapley index in the game of valid antecedents of one
    kind, which the reported rules make: as sure as these are.

    ``error``: 0 where they are exact; else they are estimates, each off by at most so much with 95 %
    confidence. ``tied``: its near-duplicates; the index is of all of them together.
    """

    kind: RuleKind
    source: str
    banzhaf: float
    shapley: float
    error: float = 0.0
    tied: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Unresolved:
    """This class represents a subset that was needed and has no verdict: what rests on it is neither
    reported nor denied."""

    kind: RuleKind
    kept: tuple[str, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class Counts:
    """``probes``: distinct arrangements judged. ``replays``: runs of the application in this call, by
    purpose. ``reused``: answers taken from memory; ``stored``: from the store. ``wasted``: speculative
    probes that turned out not to be needed. ``judge_requests``: sent to a judge."""

    probes: int = 0
    replays: int = 0
    reused: int = 0
    baseline: int = 0
    repeat_check: int = 0
    samples: int = 0
    retries: int = 0
    stored: int = 0
    wasted: int = 0
    judge_requests: int = 0


@dataclass(frozen=True, slots=True)
class Spent:
    """Tokens by kind, as the models reported them, and what they cost; the judge's apart.

    Kinds: ``input_tokens``, of which ``cached_input_tokens`` came out of the provider's cache,
    ``output_tokens``, ``total_tokens``. Costs are None where a price is missing.
    """

    replays: dict[str, int] = field(default_factory=dict[str, int])
    judge: dict[str, int] = field(default_factory=dict[str, int])
    replays_cost: float | None = None
    judge_cost: float | None = None


@dataclass(frozen=True, slots=True)
class MinerRecord:
    """Which miner searched, and why it was chosen."""

    name: str
    reason: str


def past_tense(kind: RuleKind) -> str:
    """Returns what a rule of this kind says happened to its sources: "retained" or "omitted"."""
    return "retained" if kind is RuleKind.RETENTION else "omitted"


def _kept(finding: Finding) -> str:
    """Returns what a relative claim is relative to; of many the first and the last are named."""
    if not finding.kept:
        return "groups kept whole"
    if len(finding.kept) <= _MOST_NAMED:
        return joined(finding.kept)
    first, last = (plain_id(finding.kept[place]) for place in (0, -1))
    return f"the {len(finding.kept)} sources {first}, …, {last}"


def _percent(finding: Finding) -> str:
    """Rounded down: 255 of 256 subsets are not 100 %."""
    return f"{floor(finding.confidence * 1000) / 10:g} %"


def evidence_of(finding: Finding) -> str:
    """Returns what a finding rests on; the kinds of claim never read alike."""
    seen = f"{finding.observed} of {subset_count(finding.applicable)} subsets"
    sampling = printable(finding.sampling)
    by_votes = f", {sampling}" if sampling else ""
    remarks = "; perhaps not minimal" if finding.minimal is None else ""
    if beside := finding.tied_beside:
        groups = "1 group" if beside == 1 else f"{beside} groups"
        remarks += f"; {groups} of other near-duplicates kept or left out as a whole"
    wording = {
        "proved": f"proved on all {subset_count(finding.applicable)} subsets"
        if finding.applicable > 1
        else "proved on the only subset",
        "confident": f"confidence {_percent(finding)}: held on {seen}{by_votes}",
        "tested": f"tested: {sampling or seen}",
        "voted": f"voted: {sampling or seen}",
        "relative": f"relative to {_kept(finding)}: {sampling or f'held on {seen}'}",
        "unverified": f"UNVERIFIED: held where tried, on {seen}{by_votes}",
    }
    return wording[finding.claim] + remarks
