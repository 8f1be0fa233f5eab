"""Spans of OpenTelemetry as they are exported, kept in memory."""

import json
from collections.abc import Sequence
from typing import Any

from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import ALWAYS_ON

from rag_rule_explainer import Explanation
from rag_rule_explainer.rules import RuleKind

REPLAY_TAG = "rag-rule-replay"


class Exported:
    """What a provider of its own has exported so far."""

    def __init__(self) -> None:
        self._exporter = InMemorySpanExporter()
        # Takes all spans there are, whatever those around them say.
        self.provider = TracerProvider(sampler=ALWAYS_ON)
        self.provider.add_span_processor(SimpleSpanProcessor(self._exporter))

    @property
    def spans(self) -> Sequence[ReadableSpan]:
        return self._exporter.get_finished_spans()

    @property
    def roots(self) -> list[str]:
        return sorted(each.name for each in self.spans if each.parent is None)

    def named(self, name: str) -> list[ReadableSpan]:
        return [each for each in self.spans if each.name == name]

    @property
    def tagged(self) -> list[ReadableSpan]:
        return [each for each in self.spans if REPLAY_TAG in (attributes(each).get("tag.tags") or ())]

    def inside_replays(self) -> list[ReadableSpan]:
        """By their parents, whatever is written on them."""
        by_id = {each.context.span_id: each for each in self.spans if each.context is not None}

        def is_inside(span: ReadableSpan | None) -> bool:
            while span is not None:
                if span.name == "rag_rule_replay":
                    return True
                span = None if span.parent is None else by_id.get(span.parent.span_id)
            return False

        return [each for each in self.spans if is_inside(each)]


def attributes(span: ReadableSpan) -> dict[str, Any]:
    return dict(span.attributes or {})


def metadata(span: ReadableSpan) -> dict[str, Any]:
    return json.loads(str(attributes(span).get("metadata", "{}")))


def check_marked(exported: Exported, explanation: Explanation, explained_run: str | None = None) -> None:
    """Every span of every replay says whose it is, and the replay's own span what was found."""
    inside = exported.inside_replays()
    assert inside
    assert {id(each) for each in inside} == {id(each) for each in exported.tagged}
    told = [metadata(each) for each in inside]
    assert {each["rag_rule_explanation"] for each in told} == {explanation.id}
    runs = {each["rag_rule_explained_run"] for each in told}
    assert len(runs) == 1
    assert explained_run in {None, *runs}
    own = exported.named("rag_rule_replay")
    assert len(own) == explanation.counts.replays - explanation.counts.baseline
    known = {
        ",".join(probe.kept): probe.verdicts[RuleKind.RETENTION].verdict.value
        for probe in explanation.probes
        if RuleKind.RETENTION in probe.verdicts
    }
    for span in own:
        said = attributes(span)
        assert said["rag_rule_verdict"] == metadata(span)["rag_rule_verdict"]
        assert said["rag_rule_verdict"] == known.get(
            metadata(span)["rag_rule_kept"], said["rag_rule_verdict"]
        )
    assert {attributes(span)["rag_rule_verdict"] for span in own} == {"holds", "breaks"}
