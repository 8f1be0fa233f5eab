"""Every shape of agent, asked in every way: the rules that trying everything finds, or a refusal."""

import asyncio
import ssl
from collections import Counter
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from openai import AsyncOpenAI, OpenAI

from rag_rule_explainer import Explanation, Verdict
from tests.agents.zoo.scripts import Way
from tests.agents.zoo.shapes import Built, Clients, Mode, Shape, known, served
from tests.agents.zoo.table import EXPLAINERS, SHAPES
from tests.integrations.known import omission, retention
from tests.support.openai_server import OpenAIServer

pytestmark = [pytest.mark.waits, pytest.mark.filterwarnings("ignore")]


@pytest.fixture(scope="module")
def clients() -> Iterator[Clients]:
    """Real clients of OpenAI's, and a server on this machine."""
    none = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    # A connection that is kept would belong to the loop that it was opened in.
    once = httpx.Limits(max_keepalive_connections=0)
    with OpenAIServer(served) as server, httpx.Client(verify=none) as http:
        options: Any = {"base_url": server.base_url, "api_key": "none", "max_retries": 0}
        ahttp = httpx.AsyncClient(limits=once, verify=none)
        yield Clients(
            OpenAI(**options, http_client=http),
            AsyncOpenAI(**options, http_client=ahttp),
            server.base_url,
        )


def explained(built: Built, framework: str, shape: Shape, mode: Mode, way: Way) -> Explanation:
    options: Any = {"source_kinds": list(shape.kinds), "replay_of": way, **built.options}
    explainer = EXPLAINERS[framework](built.application, shape.predicate, miner="exact", **options)
    given = (built.given,) if built.config is None else (built.given, built.config)
    if mode == "sync":
        return explainer.explain(*given)
    return asyncio.run(explainer.aexplain(*given))


CASES = [
    pytest.param(framework, shape, mode, way, id=f"{shape.name}-{mode}-{way}")
    for framework, shapes in SHAPES.items()
    for shape in shapes
    for mode in shape.modes
    for way in shape.ways
]


@pytest.mark.slow
@pytest.mark.parametrize(("framework", "shape", "mode", "way"), CASES)
def test_the_rules_of_every_shape(
    clients: Clients, framework: str, shape: Shape, mode: Mode, way: Way
) -> None:
    built = shape.build(clients)
    refusal = shape.refused.get(way) or shape.refused.get(mode)
    if refusal is not None:
        with pytest.raises(refusal[0], match=f"(?s){refusal[1]}"):
            explained(built, framework, shape, mode, way)
        return
    explanation = explained(built, framework, shape, mode, way)
    assert (retention(explanation), omission(explanation)) == shape.world.rules(
        shape.script, shape.wanted, way
    )
    assert explanation.ended
    ran = Counter(built.ran)
    assert {name: count for name, count in ran.items() if name not in shape.again} == dict.fromkeys(
        shape.once, 1
    )
    without = [each for each in explanation.probes if Verdict.UNKNOWN in each.verdicts.values()]
    print(f"{len(without)} of {len(explanation.probes)} probes UNKNOWN")
    assert len(without) <= shape.unknown
    for probe in explanation.probes if way == "whole_run" else ():
        (answer,) = probe.answers
        assert set(answer.delivered or ()) == known(shape, probe.kept)
