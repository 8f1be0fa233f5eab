"""Explains a function that asks through OpenAI's client, with spans exported into memory, and prints
them. Run as a program: a process has one provider of spans for all its life.

Its argument: ``global``; or ``own``, for a provider that only OpenInference knows.
"""

import asyncio
import json
import sys
from typing import Any

from openinference.instrumentation.openai import OpenAIInstrumentor
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from plain_rag_rule_explainer import RuleExplainer, gate

from tests.integrations.known import BAD, TEXTS
from tests.integrations.plain.models import Models, served


def applications(models: Models) -> dict[str, Any]:
    """Sync and async ones. Both find two documents, and are bad with both."""

    @gate
    def search(_: str) -> list[dict[str, str]]:
        return [{"id": name, "text": TEXTS[name]} for name in "bd"]

    def asked(question: str) -> dict[str, Any]:
        told = "\n\n".join(each["text"] for each in search(question))
        return {"model": "m", "messages": [{"role": "user", "content": f"{told}\n\n{question}"}]}

    def answer(question: str) -> str:
        reply = models.client.chat.completions.create(**asked(question))
        return str(reply.choices[0].message.content)

    async def aanswer(question: str) -> str:
        reply = await models.aclient.chat.completions.create(**asked(question))
        return str(reply.choices[0].message.content)

    return {"sync": answer, "async": aanswer}


def main(way: str) -> dict[str, Any]:
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    if way == "global":
        trace.set_tracer_provider(provider)
    OpenAIInstrumentor().instrument(tracer_provider=provider)
    told: dict[str, Any] = {}
    with served() as models:
        for name, application in applications(models).items():
            for traces in (True, False):
                explainer = RuleExplainer(application, BAD, trace_replays=traces)
                explanation = (
                    explainer.explain("why?")
                    if name == "sync"
                    else asyncio.run(explainer.aexplain("why?"))
                )
                told[name if traces else f"{name}, silent"] = {
                    "id": explanation.id,
                    "replays": explanation.counts.replays,
                    "spans": printed(exporter),
                }
    return told


def printed(exporter: InMemorySpanExporter) -> list[dict[str, Any]]:
    found = exporter.get_finished_spans()
    names = {each.context.span_id: each.name for each in found if each.context is not None}
    exporter.clear()
    return [
        {
            "name": each.name,
            "inside": None if each.parent is None else names[each.parent.span_id],
            "id": f"{each.context.span_id:016x}" if each.context is not None else "",
            **dict(each.attributes or {}),
        }
        for each in found
    ]


if __name__ == "__main__":
    json.dump(main(sys.argv[1]), sys.stdout)
