"""This module defines the summary of an explanation without its evidence, small enough for an API's
reply."""

from pydantic import BaseModel, ConfigDict

from ..printable import printable
from ..rules import ClaimStatus, RuleKind
from .records import Finding, Spent

_MODEL = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)


class RuleSummary(BaseModel):
    """A ``RuleSummary`` holds one rule: the sources that it names, its sentence, and its evidence.
    Only ``claim`` and ``evidence`` say how certain it is; ``rule`` does not."""

    model_config = _MODEL

    kind: RuleKind
    sources: tuple[str, ...]
    rule: str
    claim: ClaimStatus
    evidence: str

    @classmethod
    def of(cls, finding: Finding) -> "RuleSummary":
        """Returns the summary of a finding."""
        return cls(
            kind=finding.kind,
            sources=finding.sources,
            rule=finding.rule,
            claim=finding.claim,
            evidence=finding.evidence,
        )


class Summary(BaseModel):
    """A ``Summary`` holds the answer and its rules, with the ids of the sources, but no texts and no
    probes. ``predicates``: the condition of rules, by kind. ``warnings``: sentences to be read before
    any rule. Unless ``complete``, more rules may exist, and ``why_incomplete`` gives the reason."""

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

    def __str__(self) -> str:
        """Returns the warnings, then the rules with their evidence, one per line."""
        warnings = [f"WARNING: {printable(warning)}" for warning in self.warnings]
        rules = [printable(f"{each.rule} [{each.evidence}]") for each in self.rules] or [
            "no rule was found"
        ]
        unknown = f"(not complete: {printable(self.why_incomplete)}; more rules may exist)"
        more = [] if self.complete else [unknown]
        return "\n".join([*warnings, *rules, *more])
