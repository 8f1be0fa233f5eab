"""The cells: which tracing tool, of which framework, of which shape of application, and what its trace
holds.

Every cell has a file in ``fixtures``, made by the real packages: ``make traces`` makes them anew. There
is no other cell: LangSmith, Langfuse and OpenTelemetry's GenAI instrumentation record LangChain, and
LlamaIndex's events LlamaIndex, alone.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

FIXTURES = Path(__file__).parent / "fixtures"
SHAPES = (
    *("retriever", "direct", "agent", "reranker", "two-retrievers", "chat", "workflow", "streaming"),
)
TRACERS = {
    "openinference": ("langchain", "llama_index"),
    "phoenix": ("langchain", "llama_index"),
    "mlflow": ("langchain", "llama_index"),
    "langsmith": ("langchain",),
    "runs": ("langchain",),
    "langfuse": ("langchain",),
    "langfuse-otel": ("langchain",),
    "opentelemetry": ("langchain",),
    "events": ("llama_index",),
}
"""Each with the frameworks that it records."""
Holds = Literal["texts", "no texts", "no documents", "no question"]
"""What a trace holds. Without texts or documents it is refused by name, and they are found with the
texts in a corpus; without a question it is always refused."""


@dataclass(frozen=True)
class Cell:
    tracer: str
    framework: str
    shape: str
    holds: Holds

    @property
    def file(self) -> Path:
        (found,) = (FIXTURES / self.tracer).glob(f"{self.framework}-{self.shape}.json*")
        return found

    @property
    def truth(self) -> dict[str, Any]:
        """What a recording of the live run has: question, answer, sources, and rules."""
        whole = json.loads((FIXTURES / f"truth-{self.framework}.json").read_text())
        return whole[self.shape]

    @property
    def asks_once(self) -> bool:
        """Whether the application asks its model once."""
        return self.shape != "agent"

    def __str__(self) -> str:
        return f"{self.tracer}-{self.framework}-{self.shape}"


def _held(tracer: str, shape: str) -> Holds:
    if (tracer, shape) == ("events", "direct"):
        # A query engine of the user's own sends no events, so its question is in the prompt alone.
        return "no question"
    # A direct search of a store is no step that a tracer knows, and is in no trace.
    if shape == "direct":
        return "no documents"
    if tracer == "opentelemetry":
        # It writes ids and scores of what retrievers found, and of tools the text alone.
        return "no documents" if shape == "agent" else "no texts"
    return "texts"


CELLS = [
    Cell(tracer, framework, shape, _held(tracer, shape))
    for tracer, frameworks in TRACERS.items()
    for framework in frameworks
    for shape in SHAPES
]


def corpus_of(cell: Cell) -> list[dict[str, Any]]:
    """The documents that the application could find, as its index has them."""
    from tests.integrations.known import TEXTS

    if cell.framework == "llama_index":
        ids = {"amber": "a", "basalt": "b", "copper": "c", "dunes": "d"}
        return [{"id": name, "text": TEXTS[key]} for name, key in ids.items()]
    # A store gives ids to those that have none.
    named = cell.shape in {"direct", "agent"}
    return [
        {"id": "amber", "text": TEXTS["a"], "metadata": {"source": "stones.txt", "page": 3}},
        {"id": "n1" if named else None, "text": TEXTS["b"], "metadata": {"source": "basalt.md"}},
        {"id": "copper", "text": TEXTS["c"]},
        {"id": "n2" if named else None, "text": TEXTS["d"], "metadata": {"score": 0.25}},
    ]
