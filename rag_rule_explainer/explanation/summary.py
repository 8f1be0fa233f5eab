"""What an explanation says, without what it rests on: small enough to be answered by an API."""

from pydantic import BaseModel, ConfigDict

from ..printable import printable
from ..rules import ClaimStatus, RuleKind
from .records import Finding, Spent

_MODEL = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)


class RuleSummary(BaseModel):
    """One rule: what it names, as a sentence, and what it rests on.

    ``claim`` and ``evidence`` say how sure it is; a ``rule`` alone does not.
    """

    model_config = _MODEL

    kind: RuleKind
    sources: tuple[str, ...]
    rule: str
    claim: ClaimStatus
    evidence: str

    @classmethod
    def of(cls, finding: Finding) -> "RuleSummary":
        """Returns what a finding says."""
        return cls(
            kind=finding.kind,
            sources=finding.sources,
            rule=finding.rule,
            claim=finding.claim,
            evidence=finding.evidence,
        )


class Summary(BaseModel):
    """The answer and its rules; of the sources, their ids only, and no probes.

    ``predicates``: the conditions that rules were looked for, by kind. ``warnings`` are to be read before
    any rule. Where it is not ``complete``, ``why_incomplete`` says why, and there may be more rules.
    """

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
        """Warnings, then rules with what each rests on, a line each."""
        warnings = [f"WARNING: {printable(warning)}" for warning in self.warnings]
        rules = [printable(f"{each.rule} [{each.evidence}]") for each in self.rules] or [
            "no rule was found"
        ]
        unknown = f"(not complete: {printable(self.why_incomplete)}; more rules may exist)"
        more = [] if self.complete else [unknown]
        return "\n".join([*warnings, *rules, *more])
