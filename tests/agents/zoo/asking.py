"""Asks a shape of agent for its rules, and compares them with trying everything."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable
from importlib.metadata import version
from typing import Any

import pytest

from rag_rule_explainer import Explanation, Verdict
from rag_rule_explainer.errors import InvalidInput
from tests.agents.zoo.scripts import Way
from tests.agents.zoo.shapes import Built, Clients, Mode, Shape, known
from tests.integrations.known import omission, retention


def runs_end_early() -> bool:
    """Tells whether the installed workflows of LlamaIndex are new enough for the next action. The
    environment of ``make agents`` has none, so they are looked at only where they are needed."""
    return tuple(map(int, version("llama-index-workflows").split(".")[:2])) >= (2, 26)


def cases(shapes: Iterable[Shape], *before: Any) -> list[Any]:
    """Each shape, asked in each mode and way."""
    return [
        pytest.param(*before, shape, mode, way, id=f"{shape.name}-{mode}-{way}")
        for shape in shapes
        for mode in shape.modes
        for way in shape.ways
    ]


def explained(built: Built, make: Callable[..., Any], shape: Shape, mode: Mode, way: Way) -> Explanation:
    options: Any = {"source_kinds": list(shape.kinds), "replay_of": way, **built.options}
    explainer = make(built.application, shape.predicate, miner="exact", **options)
    given = (built.given,) if built.config is None else (built.given, built.config)
    if mode == "sync":
        return explainer.explain(*given)
    return asyncio.run(explainer.aexplain(*given))


def check(
    clients: Clients, make: Callable[..., Any], shape: Shape, mode: Mode, way: Way
) -> tuple[int, int]:
    """Checks that the rules are the true ones, or that the shape is refused as it says. Returns how many
    probes have no verdict, and how many there are.

    ``make``: the framework's ``RuleExplainer``.
    """
    built = shape.build(clients)
    if way == "next_action" and "llama_index" in make.__module__ and not runs_end_early():
        with pytest.raises(InvalidInput, match=r"needs llama-index-workflows 2\.26 or newer"):
            explained(built, make, shape, mode, way)
        return 0, 0
    refusal = shape.refused.get(way) or shape.refused.get(mode)
    if refusal is not None:
        with pytest.raises(refusal[0], match=f"(?s){refusal[1]}"):
            explained(built, make, shape, mode, way)
        return 0, 0
    explanation = explained(built, make, shape, mode, way)
    truth = shape.world.rules(shape.script, shape.wanted, way)
    assert (retention(explanation), omission(explanation)) == truth
    assert explanation.ended
    assert all("as its next action" in str(each) for each in explanation.rules) == (way == "next_action")
    assert Counter(built.ran) == dict.fromkeys(shape.once, 1), "no tool runs again"
    for probe in explanation.probes if way == "whole_run" else ():
        (answer,) = probe.answers
        assert set(answer.delivered or ()) == known(shape, probe.kept)
    without = [each for each in explanation.probes if Verdict.UNKNOWN in each.verdicts.values()]
    return len(without), len(explanation.probes)
