"""This module defines the explanation, a pydantic model with a JSON round trip and a schema version.
An Explanation that is read from JSON is untrusted: sizes and types are checked, and nothing in it is
executed or fetched."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

from pydantic import BaseModel, ConfigDict, Field, JsonValue, model_validator
from typing_extensions import Self

from ..duplicates import Tie, by_source
from ..printable import printable, shortened
from ..probing.replaying import Scope
from ..rules import RuleKind
from ..sources import MOST_SOURCES
from ..verdicts import Answer
from .coherence import complaints
from .records import (
    DOUBTED,
    DROPPED,
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
from .summary import RuleSummary, Summary

SCHEMA_VERSION = 1
_MOST_PRINTED = 50
"""The most rules that ``str(explanation)`` lists; further rules are counted."""


_ALTERNATIVES = {
    "answer": "explanation.baseline.text, or explanation.summary().answer",
    "text": "str(explanation), or rag_rule_explainer.report.as_text(explanation)",
    "to_json": "explanation.model_dump_json()",
    "to_dict": "explanation.model_dump(mode='json')",
    "from_json": "Explanation.model_validate_json(text)",
    "as_text": "rag_rule_explainer.report.as_text(explanation)",
    "save": "Path(...).write_text(explanation.model_dump_json())",
    "rule": "explanation.rules",
    "retention": "explanation.retention_rules",
    "omission": "explanation.omission_rules",
    "report": "rag_rule_explainer.report.as_text(explanation)",
    "findings": "explanation.rules",
    "predicate": "explanation.predicates",
}
"""Names that users try on an explanation, with the right expression for each."""
_OF_FORMS = ("to_", "as_")
"""The beginnings of names by which users look for a form of the report."""


class Explanation(BaseModel):
    """An ``Explanation`` holds every rule found for one question, with all evidence.

    ``complete``: the searches ended, and every subset that they needed has a verdict. The rules are then
    all rules that the miner can find, or all rules that passed the tests. Otherwise ``stop_reason`` and
    ``unresolved`` say what is missing; the reported rules are valid all the same. ``scope``: whether
    ``sources`` were given by the caller, returned by the retriever, or shown to the model. ``held_out``:
    the retrieved sources that the model was not shown. ``ties``: the sources that were retained or
    omitted together. ``warnings``: sentences to be read before any rule. ``id``: the identifier in the
    traces of the replays.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)

    schema_version: Annotated[int, Field(ge=1, le=SCHEMA_VERSION)] = SCHEMA_VERSION
    id: Annotated[str, Field(max_length=100)] = ""
    question: str
    raw_input: JsonValue = None
    baseline: Answer
    scope: Scope = "given"
    sources: Annotated[tuple[SourceRecord, ...], Field(max_length=MOST_SOURCES)]
    ties: tuple[Tie, ...] = ()
    held_out: tuple[SourceRecord, ...] = ()
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
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    versions: dict[str, str] = {}

    @property
    def rules(self) -> tuple[Finding, ...]:
        """Returns all findings: retention rules, then omission rules."""
        return (*self.retention_rules, *self.omission_rules)

    def summary(self) -> Summary:
        """Returns the answer, the rules and the warnings without texts of sources and probes, for an
        API."""
        return Summary(
            question=self.question,
            answer=self.baseline.text,
            sources=tuple(source.id for source in self.sources),
            predicates=self.predicates,
            rules=tuple(map(RuleSummary.of, self.rules)),
            complete=self.complete,
            why_incomplete=self.why_incomplete,
            warnings=self.warnings,
            notes=self.notes,
            probes=self.counts.probes,
            replays=self.counts.replays,
            spent=self.spent,
        )

    @model_validator(mode="after")
    def _is_coherent(self) -> Self:
        """Raises ValueError if the explanation contradicts itself."""
        for complaint in complaints(self):
            raise ValueError(complaint)
        return self

    def __iter__(self) -> Iterator[Finding]:  # type: ignore[override] -- pydantic's gives the fields
        """Returns an iterator over ``rules``."""
        return iter(self.rules)

    def __hash__(self) -> int:
        return hash(self.id)

    if not TYPE_CHECKING:  # type checkers must report unknown names

        def __getattr__(self, name: str) -> object:
            if name in _ALTERNATIVES:
                raise AttributeError(f"an Explanation has no {name!r}; use {_ALTERNATIVES[name]}")
            if name.startswith(_OF_FORMS):
                form = "rag_rule_explainer.report.FORMS[name].written(explanation)"
                raise AttributeError(f"an Explanation has no {name!r}; use {form} for a name in FORMS")
            return super().__getattr__(name)

    def __repr__(self) -> str:
        # The repr is short, because asyncio.run() computes the repr of its task's result.
        return (
            f"<Explanation of {shortened(self.question, 60)!r}: "
            f"{len(self.retention_rules)} retention and {len(self.omission_rules)} omission rules>"
        )

    def __str__(self) -> str:
        found = [f"WARNING: {shortened(printable(warning), 1000)}" for warning in self.warnings]
        found += [str(finding) for finding in self.rules[:_MOST_PRINTED]] or ["no rule was found"]
        if len(self.rules) > _MOST_PRINTED:
            found.append(f"… and {len(self.rules) - _MOST_PRINTED} more")
        if not self.complete:
            found.append(f"(not complete: {printable(self.why_incomplete)}; more rules may exist)")
        return "\n".join(found)

    @property
    def units(self) -> tuple[tuple[str, ...], ...]:
        """Returns the units of rules, in order: each is one source's id, or the ids of tied sources."""
        tied = by_source(self.ties)
        free = (source.id for source in self.sources if not source.pinned)
        return tuple(dict.fromkeys(tied[each].sources if each in tied else (each,) for each in free))

    @property
    def voted(self) -> bool:
        """Returns True iff verdicts are majority votes, so that no rule is proved."""
        samples = self._noise.get("samples")
        return isinstance(samples, int) and samples > 1

    @property
    def min_confidence(self) -> float:
        """Returns the share of applicable subsets on which a rule had to hold; 1 means all of them."""
        share = self._noise.get("min_confidence")
        return share if isinstance(share, float) else 1.0

    @property
    def _noise(self) -> dict[str, JsonValue]:
        noise = self.settings.get("noise")
        return noise if isinstance(noise, dict) else {}

    @property
    def ended(self) -> bool:
        """Returns True iff the search ended by itself and every needed subset has a verdict."""
        why = {DROPPED, DOUBTED}
        return self.complete or (self.stop_reason in why and not self.unresolved)

    @property
    def why_incomplete(self) -> str:
        """Returns the reason why the explanation is not complete; empty if it is complete."""
        if self.complete or self.stop_reason or not self.unresolved:
            return self.stop_reason
        count, reason = len({each.kept for each in self.unresolved}), self.unresolved[0].reason
        return f"{count} subset{'s have' if count > 1 else ' has'} no verdict: {reason}"
