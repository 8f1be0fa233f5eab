"""What an explanation is. Pydantic, because it leaves the process: JSON round trip, schema version.

An Explanation read back from JSON is untrusted text like any other: sizes and types are checked, and
nothing in it is executed or fetched.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from math import isfinite
from typing import Annotated, Any, Literal, cast

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from .printable import printable, shortened
from .probing.replaying import Scope
from .rules import ClaimStatus, RuleKind
from .verdicts import Answer, Judgement

SCHEMA_VERSION = 1

Relation = Literal["absolute", "relative"]


@dataclass(frozen=True, slots=True)
class SourceRecord:
    """A source as it was retrieved. ``metadata``: what of it JSON can say."""

    id: str
    text: str
    metadata: dict[str, JsonValue] = field(default_factory=dict[str, JsonValue])


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
    ``latency``: seconds of the replay, None where the answer came from memory.
    """

    kept: tuple[str, ...]
    answers: tuple[Answer, ...] = ()
    verdicts: dict[RuleKind, Judgement] = field(default_factory=dict[RuleKind, Judgement])
    votes: Votes | None = None
    latency: float | None = None
    error: str = ""


@dataclass(frozen=True, slots=True)
class Finding:
    """A rule in the user's terms, with what it rests on.

    ``observed`` and ``broken``: applicable subsets seen to hold and seen to break, of ``applicable`` in
    all. ``minimal``: True where every rule with one source fewer was seen to break, False where one of
    them is a rule itself, None where the search ended before it was known. ``relation``: for conditions
    shared by both kinds, whether the same sources are implicated in both (absolute) or in this kind
    only (relative); None where the kinds use different conditions or only one was mined.
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

    def __post_init__(self) -> None:
        if self.proved and (self.broken or self.observed != self.applicable):
            raise ValueError("a finding marked proved was not seen to hold on all its subsets")

    @property
    def proved(self) -> bool:
        """True iff every applicable subset was seen to hold."""
        return self.claim == "proved"

    @property
    def rule(self) -> str:
        """The rule as a sentence: "whenever D2 and D4 are retained, the answer …"."""
        condition = printable(self.condition)
        if not self.sources:
            return f"always, whatever is retrieved, {condition}"
        verb = "is" if len(self.sources) == 1 else "are"
        return f"whenever {joined(self.sources)} {verb} {past_tense(self.kind)}, {condition}"

    @property
    def evidence(self) -> str:
        """What the rule rests on, in words."""
        return evidence_of(self)

    def __str__(self) -> str:
        return f"{self.rule} [{self.evidence}]"


@dataclass(frozen=True, slots=True)
class Witness:
    """A probe that breaks a would-be rule with the antecedent ``sources``."""

    kind: RuleKind
    sources: tuple[str, ...]
    kept: tuple[str, ...]
    answer: str | None


@dataclass(frozen=True, slots=True)
class Counterfactual:
    """A minimal change that flips the outcome: sources removed from all, or added to none.

    No smaller change inside it flips the outcome. ``answer``: what is answered then.
    """

    kind: RuleKind
    change: Literal["removal", "addition"]
    sources: tuple[str, ...]
    answer: str | None

    def __str__(self) -> str:
        named = joined(self.sources)
        change = f"removing {named}" if self.change == "removal" else f"retaining {named} alone"
        then = "" if self.answer is None else f": the answer becomes {shortened(self.answer, 80)!r}"
        return f"{change} flips the outcome{then}"


@dataclass(frozen=True, slots=True)
class Importance:
    """A source's Banzhaf and Shapley index in the game of valid antecedents of one kind."""

    kind: RuleKind
    source: str
    banzhaf: float
    shapley: float


@dataclass(frozen=True, slots=True)
class Unresolved:
    """A subset that was needed and has no verdict: what rests on it is neither reported nor denied."""

    kind: RuleKind
    kept: tuple[str, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class Counts:
    """``probes``: distinct arrangements judged. ``replays``: runs of the application in this call, by
    purpose. ``reused``: answers taken from memory or store."""

    probes: int = 0
    replays: int = 0
    reused: int = 0
    baseline: int = 0
    repeat_check: int = 0
    samples: int = 0
    retries: int = 0


@dataclass(frozen=True, slots=True)
class Spent:
    """Tokens by kind, as the models reported them; the judge's apart."""

    replays: dict[str, int] = field(default_factory=dict[str, int])
    judge: dict[str, int] = field(default_factory=dict[str, int])


@dataclass(frozen=True, slots=True)
class MinerRecord:
    """Which miner searched, and why it was chosen."""

    name: str
    reason: str


class Explanation(BaseModel):
    """Every rule found for one question, with everything it rests on.

    ``complete``: the searches ran to their end and no subset they needed is without a verdict; then the
    rules are all there are. Otherwise ``stop_reason`` and ``unresolved`` say what is missing, and what
    is reported is still true. ``scope``: whether the sources are the caller's, what retrieval returned,
    or what the model was shown.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)

    schema_version: Annotated[int, Field(ge=1, le=SCHEMA_VERSION)] = SCHEMA_VERSION
    question: str
    raw_input: JsonValue = None
    baseline: Answer
    scope: Scope = "given"
    sources: tuple[SourceRecord, ...]
    predicates: dict[RuleKind, str]
    settings: dict[str, JsonValue]
    miner: MinerRecord
    seed: int
    retention_rules: tuple[Finding, ...] = ()
    omission_rules: tuple[Finding, ...] = ()
    witnesses: tuple[Witness, ...] = ()
    counterfactuals: tuple[Counterfactual, ...] = ()
    importance: tuple[Importance, ...] = ()
    probes: tuple[ProbeRecord, ...] = ()
    counts: Counts
    spent: Spent = Spent()
    complete: bool
    stop_reason: str = ""
    unresolved: tuple[Unresolved, ...] = ()
    notes: tuple[str, ...] = ()
    versions: dict[str, str] = {}

    @property
    def rules(self) -> tuple[Finding, ...]:
        """All findings: retention rules, then omission rules."""
        return (*self.retention_rules, *self.omission_rules)

    def __repr__(self) -> str:
        # Short on purpose: asyncio.run() takes the repr of its task's result, probes and all.
        return (
            f"<Explanation of {shortened(self.question, 60)!r}: "
            f"{len(self.retention_rules)} retention and {len(self.omission_rules)} omission rules>"
        )

    def __str__(self) -> str:
        return "\n".join(str(finding) for finding in self.rules) or "no rule was found"


def joined(ids: Iterable[str]) -> str:
    """Ids as a phrase: "D2", "D2 and D4", "D1, D2 and D4"."""
    shown = [printable(identity) for identity in ids]
    return " and ".join(([", ".join(shown[:-1])] if len(shown) > 1 else []) + shown[-1:])


def past_tense(kind: RuleKind) -> str:
    """What a rule of this kind says happened to its sources: "retained" or "omitted"."""
    return "retained" if kind is RuleKind.RETENTION else "omitted"


def evidence_of(finding: Finding) -> str:
    """What a finding rests on; the kinds of claim never read alike."""
    seen = f"{finding.observed} of {finding.applicable} subsets"
    not_minimal = "; perhaps not minimal" if finding.minimal is None else ""
    wording = {
        "proved": f"proved on all {finding.applicable} subsets"
        if finding.applicable > 1
        else "proved on the only subset",
        "tested": f"tested: {finding.sampling or seen}",
        "voted": f"voted: {finding.sampling or seen}",
        "relative": f"relative to the kept sources: held on {seen}",
        "unverified": f"UNVERIFIED: held where tried, on {seen}",
    }
    return wording[finding.claim] + not_minimal


def as_json(value: Any, depth: int = 32) -> JsonValue:
    """The value as JSON can say it; anything else by its type's name, never by running its code."""
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, str):
        return encodable(value)
    if isinstance(value, float):
        return value if isfinite(value) else str(value)
    if depth and isinstance(value, Mapping):
        return json_object(cast("Mapping[Any, Any]", value), depth)
    if depth and isinstance(value, (list, tuple, set, frozenset)):
        return [as_json(item, depth - 1) for item in cast("Iterable[Any]", value)]
    return f"<{type(value).__name__}>"


def json_object(mapping: Mapping[Any, Any], depth: int = 32) -> dict[str, JsonValue]:
    """The mapping as JSON can say it; see ``as_json``."""
    return {encodable(str(key)): as_json(item, depth - 1) for key, item in mapping.items()}


def encodable(text: str) -> str:
    """The text with lone surrogates, which no encoding can write, as replacement characters."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def recorded(answer: Answer) -> Answer:
    """The answer as an explanation keeps it: what JSON can say."""
    if answer.value is None and answer.usage is None and answer.text.isascii():
        return answer
    return replace(
        answer,
        text=encodable(answer.text),
        value=as_json(answer.value),
        usage=None if answer.usage is None else dict(answer.usage),
    )


def recorded_judgement(judgement: Judgement) -> Judgement:
    """The judgement with a reason that JSON can say."""
    if judgement.reason.isascii():
        return judgement
    return replace(judgement, reason=encodable(judgement.reason))
