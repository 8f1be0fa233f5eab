"""This module defines the parts of an explanation."""

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
"""The ``stop_reason`` of a finished search whose verdicts cannot be trusted."""

DROPPED = "sources that no rule over groups named were dropped, so rules that name them may be missing"
"""The ``stop_reason`` of a finished grouped search that dropped sources."""

JUDGED_TOGETHER = (
    "the judge saw several answers at once (batch), and one of them can have told it what to say of the "
    "others, so no rule is called proved; leave batch out, and it is asked about one answer a request"
)
"""The warning for a search with a verdict from a batch of answers."""
TOGETHER = "the judge saw several answers at once"
"""The same warning in short, as the reason why a rule is undecided."""
_MOST_NAMED = 8
"""The most sources that a relative claim lists; of more, only the first and the last are named."""

Relation = Literal["absolute", "relative"]


@dataclass(frozen=True, slots=True)
class SourceRecord:
    """A ``SourceRecord`` holds a retrieved source. ``metadata``: the metadata in JSON's types.
    ``pinned``: True iff every replay retained the source, so that no rule names it."""

    id: str
    text: str
    metadata: dict[str, JsonValue] = field(default_factory=dict[str, JsonValue])
    pinned: bool = False


@dataclass(frozen=True, slots=True)
class Votes:
    """A ``Votes`` holds the numbers of samples of one arrangement on which the condition held and
    broke."""

    holds: int
    breaks: int


@dataclass(frozen=True, slots=True)
class ProbeRecord:
    """A ``ProbeRecord`` holds one distinct arrangement that was replayed and judged.

    ``kept``: the ids of the sources shown, in order. ``answers``: one answer per sample; empty if the
    replay failed (``error`` says why), or if answers are not kept. ``verdicts``: the judgement, by the
    kind of rule. ``votes``: the votes on the samples, by the kind of rule; empty without votes.
    ``latency``: the seconds of the replay; for a stored answer, those of its original replay. None if the
    application did not run.
    """

    kept: tuple[str, ...]
    answers: tuple[Answer, ...] = ()
    verdicts: dict[RuleKind, Judgement] = field(default_factory=dict[RuleKind, Judgement])
    votes: dict[RuleKind, Votes] = field(default_factory=dict[RuleKind, Votes])
    latency: float | None = None
    error: str = ""


@dataclass(frozen=True, slots=True)
class Finding:
    """A ``Finding`` holds one rule with its evidence.

    ``observed``, ``broken``: the numbers of applicable subsets that were seen to hold and to break, of
    ``applicable`` in all. ``breaking``: the ids kept in each breaking subset, if the rule may break on a
    share of subsets; at most a hundred. ``minimal``: True if every rule with one source fewer was seen to
    break; False if one of them is valid itself; None if the search ended before this was known.
    ``relation``: "absolute" if the same sources are implicated in both kinds under one condition,
    "relative" if in this kind only; None if the kinds have different conditions or only one kind was
    mined.

    ``kept``: the sources that a relative claim is about; other sources were always omitted for retention
    rules, and always retained for omission rules. Empty if the claim is relative to undivided groups.
    ``with_others``: if True, all sources outside ``kept`` belong to the antecedent without being named:
    they were retained for a retention rule and omitted for an omission rule. ``tied``: the groups of
    near-duplicates among ``sources``; the rule says nothing about a part of a group. ``tied_beside``: the
    number of groups of other near-duplicates that were retained or omitted as a whole in all counted
    subsets.
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
        """Returns True iff the rule was seen to hold on every applicable subset."""
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
        """Returns the first half of the rule: "whenever D2 and D4 are retained"."""
        named = named_units(self.sources, self.tied)
        if self.with_others:
            named.append("all sources of other batches")
        if not named:
            return "always, whatever is retrieved"
        verb = "is" if len(named) == 1 and not self.with_others else "are"
        return f"whenever {phrase(named)} {verb} {past_tense(self.kind)}"

    @property
    def evidence(self) -> str:
        """Returns the evidence of the rule in words."""
        return evidence_of(self)

    def __str__(self) -> str:
        return f"{self.rule} [{self.evidence}]"

    def __repr__(self) -> str:
        return f"<Finding: {shortened(str(self), 400)}>"


@dataclass(frozen=True, slots=True)
class Witness:
    """A ``Witness`` is a probe that breaks a possible rule with the antecedent ``sources``."""

    kind: RuleKind
    sources: tuple[str, ...]
    kept: tuple[str, ...]
    answer: str | None


@dataclass(frozen=True, slots=True)
class Counterfactual:
    """A ``Counterfactual`` is a minimal set of sources whose removal or addition flips the outcome.

    A removal starts from all sources, an addition from none; no smaller subset of the change flips the
    outcome. ``answer``: the answer after the change. ``tied``: the groups in ``sources`` that were only
    changed together.
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
    """An ``Importance`` holds a source's Banzhaf and Shapley index for the reported rules of one kind.

    The game is that of the valid antecedents, so the indices are as certain as the rules. ``error``: 0 if
    they are exact; else the largest error of the estimates, with 95 % confidence. ``tied``: the source's
    near-duplicates, for which the index stands as well.
    """

    kind: RuleKind
    source: str
    banzhaf: float
    shapley: float
    error: float = 0.0
    tied: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Unresolved:
    """An ``Unresolved`` is a needed subset without a verdict: rules that depend on it are neither
    reported nor denied."""

    kind: RuleKind
    kept: tuple[str, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class Counts:
    """A ``Counts`` holds what one call used.

    ``probes``: distinct arrangements judged. ``replays``: runs of the application; ``baseline``,
    ``repeat_check``, ``samples`` and ``retries`` say for which purpose. ``reused``: answers taken from
    memory. ``stored``: answers taken from the store. ``wasted``: speculative probes that were not needed.
    ``judge_requests``: requests sent to a judge.
    """

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
    """A ``Spent`` holds the tokens that the models reported, and their cost; replays and judge
    separately. The kinds of tokens are ``input_tokens``, of which ``cached_input_tokens`` came from
    the provider's cache, ``output_tokens`` and ``total_tokens``. A cost is None if a price is missing."""

    replays: dict[str, int] = field(default_factory=dict[str, int])
    judge: dict[str, int] = field(default_factory=dict[str, int])
    replays_cost: float | None = None
    judge_cost: float | None = None


@dataclass(frozen=True, slots=True)
class MinerRecord:
    """A ``MinerRecord`` holds the name of the miner that searched, and the reason for its choice."""

    name: str
    reason: str


def past_tense(kind: RuleKind) -> str:
    """Returns the participle for the sources of a rule of this kind: "retained" or "omitted"."""
    return "retained" if kind is RuleKind.RETENTION else "omitted"


def _kept(finding: Finding) -> str:
    """Returns the sources to which a claim is relative, as a phrase; of many, the first and the last."""
    if not finding.kept:
        return "groups kept whole"
    if len(finding.kept) <= _MOST_NAMED:
        return joined(finding.kept)
    first, last = (plain_id(finding.kept[place]) for place in (0, -1))
    return f"the {len(finding.kept)} sources {first}, …, {last}"


def _percent(finding: Finding) -> str:
    """Returns the confidence in per cent, rounded down: 255 of 256 subsets are not 100 %."""
    return f"{floor(finding.confidence * 1000) / 10:g} %"


def evidence_of(finding: Finding) -> str:
    """Returns the evidence of a finding in words; each kind of claim has its own wording."""
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
