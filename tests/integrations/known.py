"""What is known of the applications under test, whatever they are built with."""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from rag_rule_explainer import Explanation, contains

Rules = set[frozenset[str]]
BAD = contains("bad")

TEXTS = {
    "a": "Amber is fossil tree resin that people have valued since the Neolithic for its colour.",
    "b": "Basalt columns form when thick lava flows cool slowly and crack from the surface down.",
    "c": "Copper roofs turn green over the decades because the metal slowly reacts with the air.",
    "d": "Dunes wander because the wind carries sand up one side and drops it down the other.",
}
"""Real sentences, so that they are recognised in prompts."""


def shown_in(text: str) -> str:
    """The names of the documents in what a model was sent."""
    return "".join(name for name, known in TEXTS.items() if known in text)


def log_of(explanation: Explanation) -> dict[str, Any]:
    """What a log has of an incident, once it has been through JSON."""
    logged = {
        "question": explanation.question,
        "answer": explanation.baseline.text,
        "documents": [
            {"id": each.id, "text": each.text, "metadata": each.metadata} for each in explanation.sources
        ],
    }
    return json.loads(json.dumps(logged))


def retention(explanation: Explanation) -> Rules:
    return {frozenset(rule.sources) for rule in explanation.retention_rules}


def omission(explanation: Explanation) -> Rules:
    return {frozenset(rule.sources) for rule in explanation.omission_rules}


def sets(*members: Iterable[str]) -> Rules:
    return {frozenset(each) for each in members}


def blames_b_and_d(explanation: Explanation) -> bool:
    """What is true where the answer is bad whenever b and d are shown."""
    rules = retention(explanation), omission(explanation)
    return explanation.ended and rules == (sets("bd"), sets("b", "d"))


def ids(explanation: Explanation) -> list[str]:
    return [source.id for source in explanation.sources]


def nothing_more(_: Explanation) -> None:
    """For applications of which nothing more than the rules is known."""


def kept_delivered_and_seen(explanation: Explanation) -> None:
    """That every replay was served what it was to be served, and its model shown just that."""
    for probe in explanation.probes:
        for answer in () if probe.error else probe.answers:
            # Nothing was kept or left out of the baseline; and an answer may be given without a model.
            delivered, seen = answer.delivered, answer.seen or ()
            assert answer == explanation.baseline or delivered == seen == probe.kept


def check_unexplained(rules: Mapping[str, Any], error: type[Exception], told: str) -> None:
    """What is attached to an answer says that it has no rules, and why."""
    assert json.loads(json.dumps(rules)) == rules
    assert rules["error"] == error.__name__
    assert re.search(told, rules["message"]), rules["message"]
