"""This module defines the explanation, a pydantic model with a JSON round trip and a schema version.
An Explanation that is read from JSON is untrusted: sizes and types are checked, and nothing in it is
executed or fetched."""

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, JsonValue, model_validator
from typing_extensions import Self

from ..duplicates import Tie, Tied
from ..printable import printable, shortened
from ..probing.replaying import Scope
from ..rules import RuleKind
from ..sources import MOST_SOURCES
from ..verdicts import Answer
from .coherence import complaints
from .in_notebooks import InNotebooks
from .laid_out import LaidOut
from .origin import ApplicationRecord, MinerRecord, ModelRecord
from .records import (
    DOUBTED,
    DROPPED,
    Counterfactual,
    Counts,
    Finding,
    Importance,
    ProbeRecord,
    SourceRecord,
    Spent,
    Unresolved,
    Witness,
)
from .summary import RuleSummary, Summary
from .wording import pinned_in_words

SCHEMA_VERSION = 2
_TIME = r"^([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z)?$"
_MOST_PRINTED = 50
"""The maximum number of rules that ``str(explanation)`` lists. For all other rules, it gives only their
number."""


_ALTERNATIVES = {
    "answer": "explanation.baseline.text, or explanation.summary().answer",
    "text": "explanation.report()",
    "to_dict": "explanation.model_dump(mode='json')",
    "from_json": "rag_rule_explainer.load(path), or Explanation.model_validate_json(text)",
    "load": "rag_rule_explainer.load(path)",
    "as_text": "explanation.report()",
    "rule": "explanation.rules",
    "retention": "explanation.retention_rules",
    "omission": "explanation.omission_rules",
    "findings": "explanation.rules",
    "predicate": "explanation.predicates",
}
"""Attributes that an explanation does not have, but that users try. For each attribute, the error message
names the expression to use instead."""
_OF_FORMS = ("to_", "as_")
"""The prefixes of attribute names with which users look for a form of the report, such as ``to_pdf``."""


class Explanation(LaidOut, InNotebooks, BaseModel):
    """An ``Explanation`` holds every rule found for one question, with all evidence.

    ``complete``: the searches ended, and every subset that they needed has a verdict. The rules are then
    all rules that the miner can find, or all rules that passed the tests. Otherwise ``stop_reason`` and
    ``unresolved`` say what is missing; the reported rules are still valid. ``doubted``: True iff
    something other than the sources may have changed the answers of the replays; the first warning says
    what. No rule then counts as decided or as refuted. None in explanations of schema version 1, which
    do not contain this.

    ``scope``: whether ``sources`` were given by the caller, returned by the retriever, or shown to the
    model. ``held_out``: the retrieved sources that the model was not shown. ``ties``: the sources that
    were retained or omitted together. ``conditions_are_opposite``: each of the two conditions in
    ``predicates`` is the other's negation; False if they are not, and in explanations of schema version
    1.

    ``warnings``: sentences to be read before any rule. ``id``: the identifier in the traces of the
    replays. ``made_at``: the time at which it was made, in UTC, such as "2026-02-28T09:30:00Z";
    explanations that differ only in ``made_at`` are equal. ``models``: the models that were asked.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)

    schema_version: Annotated[
        # An explanation that is read from an older file is written again in the current version.
        int, Field(ge=1, le=SCHEMA_VERSION), AfterValidator(lambda _: SCHEMA_VERSION)
    ] = SCHEMA_VERSION
    id: Annotated[str, Field(max_length=100)] = ""
    question: str
    raw_input: JsonValue = None
    baseline: Answer
    scope: Scope = "given"
    sources: Annotated[tuple[SourceRecord, ...], Field(max_length=MOST_SOURCES)]
    ties: tuple[Tie, ...] = ()
    held_out: tuple[SourceRecord, ...] = ()
    predicates: dict[RuleKind, str]
    conditions_are_opposite: bool = False
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
    doubted: bool | None = None
    unresolved: tuple[Unresolved, ...] = ()
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    versions: dict[str, str] = {}
    made_at: Annotated[str, Field(pattern=_TIME)] = ""
    application: ApplicationRecord = ApplicationRecord()
    models: tuple[ModelRecord, ...] = ()

    @property
    def rules(self) -> tuple[Finding, ...]:
        """Returns all findings: retention rules, then omission rules."""
        return (*self.retention_rules, *self.omission_rules)

    def summary(self) -> Summary:
        """Returns the answer, the rules and the warnings, but no texts of sources and no probes. This is
        small enough for an API's reply."""
        return Summary(
            question=self.question,
            answer=self.baseline.shown,
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
            made_at=self.made_at,
        )

    @model_validator(mode="after")
    def _is_coherent(self) -> Self:
        """Raises ValueError if the explanation contradicts itself."""
        for complaint in complaints(self):
            raise ValueError(complaint)
        self._name_pinned()
        return self

    def _name_pinned(self) -> None:
        """Adds the pinned sources to the rules of an explanation of an earlier version, in which the
        rules do not name them."""
        pinned = pinned_in_words([source.id for source in self.sources if source.pinned])
        for name in ("retention_rules", "omission_rules") if pinned else ():
            rules: tuple[Finding, ...] = getattr(self, name)
            # This pydantic model is frozen, so its own ``__setattr__`` would raise an error.
            object.__setattr__(self, name, tuple([replace(rule, pinned=pinned) for rule in rules]))

    def __iter__(self) -> Iterator[Finding]:  # type: ignore[override] -- pydantic's own method yields the fields
        """Returns an iterator over ``rules``."""
        return iter(self.rules)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Explanation) and other.made_at != self.made_at:
            other = other.model_copy(update={"made_at": self.made_at})
        return super().__eq__(other)

    def __hash__(self) -> int:
        return hash(self.id)

    if not TYPE_CHECKING:  # type checkers must report unknown names

        def __getattr__(self, name: str) -> object:
            if name in _ALTERNATIVES:
                raise AttributeError(f"an Explanation has no {name!r}; use {_ALTERNATIVES[name]}")
            if name.startswith(_OF_FORMS):
                form = "explanation.report(form)"
                raise AttributeError(f"an Explanation has no {name!r}; use {form}, such as 'csv'")
            return super().__getattr__(name)

    def __repr__(self) -> str:
        # The repr is short, because asyncio.run() computes it for its task's result, and each explanation
        # may be large.
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
        """Returns the units that rules name, in the order of the sources.

        A unit is one source's id, or the ids of tied sources, which were always retained or omitted
        together. Pinned sources are in no unit.
        """
        free = [source.id for source in self.sources if not source.pinned]
        if not self.ties:
            return tuple(zip(free, strict=True))
        # There may be thousands of ids in one unit. So each unit is looked up only once.
        tied = Tied(self.ties)
        first = dict.fromkeys(map(tied.first_of.get, free, free))
        return tuple(tied.by_first.get(each, (each,)) for each in first)

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
