"""Records in both published forms, and files of them."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from rag_rule_explainer import Source
from rag_rule_explainer.experiments.examples import Example


def line(
    identity: str = "q1", necessary: Iterable[int] = (2, 4), count: int = 5, **more: Any
) -> dict[str, Any]:
    """A line of JSONL; ``necessary``: places, from 1 on."""
    places = set(necessary)
    return {
        "id": identity,
        "question": "Where was the founder born?",
        "answer": "Lima",
        "type": "bridge",
        "level": "easy",
        "sources": [
            {"title": f"Title {place}", "text": f"Text {place}.", "necessary": place in places}
            for place in range(1, count + 1)
        ],
        **more,
    }


def published(identity: str = "q1", **more: Any) -> dict[str, Any]:
    """The same as ``line``, as HotpotQA publishes it."""
    return {
        "_id": identity,
        "question": "Where was the founder born?",
        "answer": "Lima",
        "type": "bridge",
        "level": "easy",
        "supporting_facts": [["Title 4", 0], ["Title 2", 0], ["Title 4", 1]],
        "context": [[f"Title {place}", [f"Text {place}."]] for place in range(1, 6)],
        **more,
    }


def jsonl(path: Path, *records: Mapping[str, Any]) -> Path:
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records), encoding="utf-8")
    return path


def example(identity: str = "q1", necessary: int = 2, sources: int = 10, **more: Any) -> Example:
    """The necessary sources are the last ones."""
    named = tuple(Source(f"D{place}", f"Text {place}.") for place in range(1, sources + 1))
    ids = tuple(source.id for source in named[sources - necessary :])
    given: dict[str, Any] = {"question": "Who?", "answer": "Lima", "hops": necessary, **more}
    return Example(identity, sources=named, necessary=ids, **given)
