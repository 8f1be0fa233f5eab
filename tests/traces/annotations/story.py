"""A traced answer of a story of the demo, whose rules are known, for the tools themselves."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from rag_rule_explainer import Explanation, contains
from rag_rule_explainer.cli.stories import STORIES
from rag_rule_explainer.traces import Incident

KNEE = STORIES[1]
PAIR = ("programme-1998", "leaflet-9")
"""The two documents that bring the bad answer about together."""


def application() -> Any:
    from langchain_core.documents import Document
    from langchain_rag_rule_explainer import lexical_chain

    corpus = [
        Document(id=each.id, page_content=each.text, metadata={"title": each.title})
        for each in KNEE.corpus
    ]
    return lexical_chain(corpus, k=len(KNEE.documents))


def explained_story_of(trace: Path) -> tuple[Incident, Explanation]:
    """The incident in the trace, and its explanation."""
    from langchain_rag_rule_explainer import RuleExplainer

    incident = Incident.from_trace(trace)
    explainer = RuleExplainer(application(), predicate=contains(KNEE.symptom), trace_replays=False)
    documents = list(incident.documents or ())
    return incident, explainer.explain(incident.question, documents=documents, baseline=incident.answer)


def labels() -> dict[str, str]:
    """The label of each retrieved document."""
    first, second = PAIR
    said = {each.id: "not named (proved)" for each in KNEE.documents}
    return said | {first: f"needs {second} (proved)", second: f"needs {first} (proved)"}


Traced = Callable[[], Path]
"""Asks the application's question once, and returns the file with its trace."""
