"""A program that explains again and again, for another to interrupt: ``python -m ... KIND WAY TIMES``.

Before each explanation it writes BEGIN, and after it how that ended, as JSON. Its application writes a
line into the file of the environment variable ``ASKED`` whenever it is asked.
"""

import asyncio
import json
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rag_rule_explainer import Explanation, contains
from tests.integrations.known import TEXTS, shown_in
from tests.interrupting import say

ASKED = "ASKED"
"""The environment variable that names the file."""


def model(prompt: str) -> str:
    shown = shown_in(prompt)
    with Path(os.environ[ASKED]).open("a") as file:
        file.write(f"{shown}\n")
    time.sleep(0.01)
    return "bad news" if {"b", "d"} <= set(shown) else "good news"


def plain_explainer() -> Any:
    from plain_rag_rule_explainer import RuleExplainer, gate

    find = gate(lambda _: list(TEXTS.values()))
    return RuleExplainer(lambda q: model("\n".join(find(q))), predicate=contains("bad"), concurrency=2)


def engine_explainer() -> Any:
    from llama_index_rag_rule_explainer import RuleExplainer

    from tests.integrations.llama_index.engines import engine_of, retriever_of
    from tests.integrations.llama_index.models import Telling

    engine = engine_of(retriever_of("abcd"), Telling(says=model))
    return RuleExplainer(
        engine, predicate=contains("bad"), concurrency=2, answer_without_sources="good news"
    )


KINDS: dict[str, Callable[[], Any]] = {"plain": plain_explainer, "llama_index": engine_explainer}
WAYS: dict[str, Callable[[Any], Explanation]] = {
    "sync": lambda explainer: explainer.explain("why?"),
    "async": lambda explainer: asyncio.run(explainer.aexplain("why?")),
}


def asked() -> int:
    file = Path(os.environ[ASKED])
    return len(file.read_text().splitlines()) if file.exists() else 0


def ended(explainer: Any, way: str) -> dict[str, Any]:
    """How it ended, once the Ctrl-C has come."""
    found: Explanation | None = None
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        say("BEGIN")
        found = WAYS[way](explainer)
        if found.stop_reason != "interrupted":  # it comes later, or is dropped as there is a result
            time.sleep(1)
    except KeyboardInterrupt:
        pass
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    until_now = asked()
    time.sleep(0.1)
    read = None if found is None else Explanation.model_validate_json(found.model_dump_json()) == found
    return {"asked": until_now, "later": asked() - until_now, "read_back": read}


def main(kind: str, way: str, times: str) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for _ in range(int(times)):
        Path(os.environ[ASKED]).unlink(missing_ok=True)
        say(json.dumps(ended(KINDS[kind](), way)))


if __name__ == "__main__":
    main(*sys.argv[1:])
