"""This module defines the summary of an explanation. The summary contains no probes, so it is small
enough for an API's reply."""

from pydantic import BaseModel, ConfigDict, JsonValue

from ..printable import printable
from ..rules import ClaimStatus, RuleKind
from .records import Finding, Spent

_MODEL = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)


class RuleSummary(BaseModel):
    """A ``RuleSummary`` holds one rule. ``sources``: the ids that it names. ``rule``: the rule as a
    sentence, which does not say how certain the rule is. ``claim``: in one word, how certain it is, such
    as "proved". ``evidence``: the same in a phrase, such as "proved on all 4 subsets"."""

    model_config = _MODEL

    kind: RuleKind
    sources: tuple[str, ...]
    rule: str
    claim: ClaimStatus
    evidence: str

    @classmethod
    def of(cls, finding: Finding) -> "RuleSummary":
        """Returns the summary of a finding. It leaves out, for example, the numbers of subsets, and the
        relation to the rules of the other kind."""
        return cls(
            kind=finding.kind,
            sources=finding.sources,
            rule=finding.rule,
            claim=finding.claim,
            evidence=finding.evidence,
        )


class Summary(BaseModel):
    """A ``Summary`` holds the answer and its rules, with the ids of the sources, but no texts of sources
    and no probes. ``predicates``: the condition of the rules, by kind. ``warnings``: sentences to be read
    before any rule. ``complete``: False if more rules may exist; ``why_incomplete`` then gives the
    reason. ``made_at``: the time at which the explanation was made, in UTC."""

    model_config = _MODEL

    question: str
    answer: str
    sources: tuple[str, ...]
    predicates: dict[RuleKind, str]
    rules: tuple[RuleSummary, ...]
    complete: bool
    why_incomplete: str = ""
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    probes: int
    replays: int
    spent: Spent = Spent()
    made_at: str = ""

    def to_dict(self) -> dict[str, JsonValue]:
        """Returns the summary in the types of JSON, for an API that returns a dict."""
        return self.model_dump(mode="json")

    def __str__(self) -> str:
        """Returns the warnings, then the rules with their evidence, one per line."""
        warnings = [f"WARNING: {printable(warning)}" for warning in self.warnings]
        rules = [printable(f"{each.rule} [{each.evidence}]") for each in self.rules] or [
            "no rule was found"
        ]
        unknown = f"(not complete: {printable(self.why_incomplete)}; more rules may exist)"
        more = [] if self.complete else [unknown]
        return "\n".join([*warnings, *rules, *more])
