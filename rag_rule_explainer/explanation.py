"""What an explanation is. Pydantic, because it leaves the process: JSON round trip, schema version.

An Explanation read back from JSON is untrusted text like any other: sizes and types are checked, and
nothing in it is executed or fetched.
"""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from .printable import shortened
from .probing.replaying import Scope
from .records import (
    Counterfactual,
    Counts,
    Finding,
    Importance,
    MinerRecord,
    ProbeRecord,
    SourceRecord,
    Spent,
    Unresolved,
    Witness,
)
from .rules import RuleKind
from .verdicts import Answer

SCHEMA_VERSION = 1


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
