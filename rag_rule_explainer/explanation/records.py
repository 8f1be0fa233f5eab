"""This module defines the parts of an explanation."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated, Literal

from pydantic import Field, JsonValue

from ..printable import cut_in_the_middle, plain_id, printable, shortened
from ..rules import ClaimStatus, RuleKind
from ..verdicts import Answer, Judgement
from .evidence import evidence_of
from .in_notebooks import InNotebooks
from .origin import content_hash
from .wording import named_units, phrase_within

DOUBTED = "what replays show may not be the doing of their sources alone, as the first warning says"
"""The ``stop_reason`` of a search that finished, but whose verdicts cannot be trusted. Something other
than the sources may have changed the answers of the replays."""

DROPPED = "sources that no rule over groups named were dropped, so rules that name them may be missing"
"""The ``stop_reason`` of a grouped search that finished, but dropped sources. Such a search first looks
for rules over groups of sources, and drops the sources of groups that no rule names."""

Relation = Literal["absolute", "relative"]


@dataclass(frozen=True, slots=True)
class SourceRecord:
    """A ``SourceRecord`` holds a retrieved source. ``metadata``: the metadata in JSON's types.
    ``pinned``: True iff every replay retained the source, so that no rule names it. ``sha256``: the hash
    of the text in UTF-8 at the time of the explanation; empty in explanations of schema version 1."""

    id: str
    text: str
    metadata: dict[str, JsonValue] = field(default_factory=dict[str, JsonValue])
    pinned: bool = False
    sha256: Annotated[str, Field(pattern=r"^([0-9a-f]{64})?$")] = ""

    @property
    def sha256_now(self) -> str:
        """Returns the hash of the text that this record contains now."""
        return content_hash(self.text)

    @property
    def is_unchanged(self) -> bool:
        """Returns False iff the text was changed after the explanation, so that ``sha256`` is no longer
        its hash."""
        return not self.sha256 or self.sha256 == self.sha256_now


@dataclass(frozen=True, slots=True)
class Votes:
    """A ``Votes`` holds the votes on one probe: the numbers of its samples on which the condition held
    and broke."""

    holds: int
    breaks: int


@dataclass(frozen=True, slots=True)
class ProbeRecord:
    """A ``ProbeRecord`` holds one list of retained sources, in order, that was replayed and judged.

    ``kept``: the ids of the sources shown. ``answers``: the answer of each sample. If samples vote, the
    first answer is one whose own verdict equals the result of the vote. ``answers`` is empty if the
    replay failed (``error`` then gives the reason), or if the explanation keeps no answers. ``verdicts``:
    the judgement, by the kind of rule. ``votes``: the votes on the samples, by the kind of rule; empty
    without votes. ``latency``: the seconds of the run that made the answer; for an answer from the store,
    this run was earlier. None if no run made an answer.
    """

    kept: tuple[str, ...]
    answers: tuple[Answer, ...] = ()
    verdicts: dict[RuleKind, Judgement] = field(default_factory=dict[RuleKind, Judgement])
    votes: dict[RuleKind, Votes] = field(default_factory=dict[RuleKind, Votes])
    latency: float | None = None
    error: str = ""


@dataclass(frozen=True, slots=True)
class Finding(InNotebooks):
    """A ``Finding`` holds one rule with its evidence.

    ``applicable``: the number of subsets to which the rule applies. ``observed``, ``broken``: on how
    many of them the condition was seen to hold, and to break. ``breaking``: the ids retained in each
    breaking subset, at most a hundred, if rules need to hold only on a share of subsets. ``draws``: for
    a tested rule, the number of random subsets of its test. ``sampling``: the test or the votes, in
    words.

    ``minimal``: True if every rule with one source fewer was seen to break; False if one of them is
    valid itself; None if the search ended before this was known. ``relation``: "absolute" if the sources
    also form a rule of the other kind for the same condition, "relative" if they do not; None if this is
    not known, if the kinds have different conditions, or if only one kind was searched for.

    ``kept``: the sources that a relative claim is about; other sources were always omitted for retention
    rules, and always retained for omission rules. Empty if the claim holds only while whole groups of
    sources are retained or omitted. ``with_others``: if True, all sources outside ``kept`` belong to the
    antecedent without being named: they were retained for a retention rule and omitted for an omission
    rule. ``tied``: the groups of near-duplicates among ``sources``; the rule says nothing about only
    some sources of a group. ``tied_beside``: the number of groups of other near-duplicates. In all
    counted subsets, such a group was retained or omitted as a whole. ``pinned``: the pinned sources,
    which all subsets retained, in words; empty if there are none.
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
    pinned: str = ""

    def __post_init__(self) -> None:
        if self.proved and (self.broken or self.observed != self.applicable):
            raise ValueError("a finding marked proved was not seen to hold on all its subsets")

    @property
    def proved(self) -> bool:
        """Returns True iff the rule was seen to hold on every applicable subset."""
        return self.claim == "proved"

    @property
    def confidence(self) -> float:
        """Returns the share of the applicable subsets on which the condition was seen to hold. The paper
        defines the confidence of a rule in this way."""
        return self.observed / self.applicable

    @property
    def rule(self) -> str:
        """Returns the rule as a sentence: "whenever D2 and D4 are retained, the answer …"."""
        return f"{self.antecedent}, {printable(self.condition)}"

    @property
    def antecedent(self) -> str:
        """Returns the first half of the rule: "whenever D2 and D4 are retained"."""
        return self.antecedent_naming(plain_id)

    def antecedent_naming(self, named: Callable[[str], str], limit: int | None = None) -> str:
        """Returns the first half of the rule, such as "whenever D2 and D4 are retained", with other names
        of the sources. ``named``: a function that returns the printable name of an id. ``limit``: about
        the largest number of characters of all names; names beyond it are only counted. None for no
        limit."""
        units = named_units(self.sources, self.tied, named)
        if self.with_others:
            units.append("all sources of other batches")
        if not units:
            return "always, whichever of these sources are retained"
        verb = "is" if len(units) == 1 and not self.with_others else "are"
        return f"whenever {phrase_within(units, limit)} {verb} {past_tense(self.kind)}"

    def brief(self, limit: int = 400) -> str:
        """Returns the rule as a sentence of about ``limit`` characters. If the whole sentence would be
        longer, some of the names are only counted, long names are cut in the middle, and the condition is
        cut at its end."""
        most = max(limit // 4, 40)
        antecedent = self.antecedent_naming(
            lambda identity: cut_in_the_middle(plain_id(identity), most), limit // 2
        )
        condition = printable(self.condition)
        return f"{antecedent}, {shortened(condition, max(limit - len(antecedent), limit // 4))}"

    def brief_with_evidence(self, limit: int = 400) -> str:
        """Returns the rule as a sentence of about ``limit`` characters, followed by the evidence."""
        return f"{self.brief(limit)} [{shortened(self.evidence, max(limit, 400))}]"

    @property
    def evidence(self) -> str:
        """Returns the evidence of the rule in words."""
        return evidence_of(self)

    def __str__(self) -> str:
        return f"{self.rule} [{self.evidence}]"

    def __repr__(self) -> str:
        return self.brief_with_evidence()


@dataclass(frozen=True, slots=True)
class Witness:
    """A ``Witness`` is a probe that shows that ``sources`` are no rule: such a rule would apply to the
    probe, and the condition breaks on it. ``kept``: the retained sources of the probe."""

    kind: RuleKind
    sources: tuple[str, ...]
    kept: tuple[str, ...]
    answer: str | None


@dataclass(frozen=True, slots=True)
class Counterfactual:
    """A ``Counterfactual`` is a minimal set of sources whose removal or addition flips the outcome.

    A removal starts from all sources, and an addition from none but the pinned ones. The set is minimal:
    removing (or adding) only some of its sources does not flip the outcome. ``answer``: the answer after
    the change. ``tied``: the groups in ``sources`` that were only removed or added as a whole.
    """

    kind: RuleKind
    change: Literal["removal", "addition"]
    sources: tuple[str, ...]
    answer: str | None
    tied: tuple[tuple[str, ...], ...] = ()

    def __str__(self) -> str:
        # A ``Counterfactual`` does not know whether there are pinned sources, so its text must be true
        # with and without them.
        return self.naming(plain_id, fewest="no sources but pinned ones")

    def naming(
        self, named: Callable[[str], str], limit: int | None = None, fewest: str = "no sources"
    ) -> str:
        """Returns the change as a sentence. ``named``: a function that returns the printable name of an
        id. ``limit``: about how many characters all the names may have together; None for no limit.
        ``fewest``: words for the smallest set of sources, to which an addition adds the others."""
        listed = phrase_within(named_units(self.sources, self.tied, named), limit)
        removed = self.change == "removal"
        change = f"from all sources, removing {listed}" if removed else f"from {fewest}, adding {listed}"
        then = "" if self.answer is None else f": the answer becomes {shortened(self.answer, 160)!r}"
        return f"{change} flips the outcome{then}"


@dataclass(frozen=True, slots=True)
class Importance:
    """An ``Importance`` holds a source's Banzhaf and Shapley index for the reported rules of one kind.

    The indices are those of the cooperative game in which a set of sources wins iff it contains the
    sources of a rule. So they are as certain as the rules. ``error``: 0 if the indices are exact;
    otherwise the largest error of the estimates, with 95 % confidence. ``tied``: the source's
    near-duplicates; both indices are then those of the whole group. Empty if there are none.
    """

    kind: RuleKind
    source: str
    banzhaf: float
    shapley: float
    error: float = 0.0
    tied: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Unresolved:
    """An ``Unresolved`` is a subset that the search needed, but that has no verdict. It is not known
    whether rules that depend on this verdict are valid, so they are not reported."""

    kind: RuleKind
    kept: tuple[str, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class Counts:
    """A ``Counts`` counts the probes, replays and other things that one call used.

    ``probes``: different lists of retained sources that were judged. ``replays``: runs of the
    application, which is the sum of ``baseline``, ``repeat_check``, ``samples`` and ``retries``, the runs
    for each purpose. ``reused``: answers that this process still had from an earlier run. ``stored``:
    answers taken from the store. ``wasted``: probes that were made early, in case the search would need
    them, and were not needed. ``judge_requests``: requests sent to a judge.
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
    """A ``Spent`` holds the tokens that the models reported, and their cost, separately for replays and
    for the judge. The kinds of tokens are ``input_tokens``, of which ``cached_input_tokens`` came from
    the provider's cache, ``output_tokens`` and ``total_tokens``. A cost is None if a price is missing."""

    replays: dict[str, int] = field(default_factory=dict[str, int])
    judge: dict[str, int] = field(default_factory=dict[str, int])
    replays_cost: float | None = None
    judge_cost: float | None = None


def past_tense(kind: RuleKind) -> str:
    """Returns the participle for the sources of a rule of this kind: "retained" or "omitted"."""
    return "retained" if kind is RuleKind.RETENTION else "omitted"
