"""Every shape of agent, asked in every way: the rules that trying everything finds, or a refusal."""

import ssl
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from openai import AsyncOpenAI, OpenAI

# The environment of AgentDojo has no other framework than LangChain.
pytest.importorskip("llama_index.core")

from tests.agents.zoo.asking import cases, check
from tests.agents.zoo.scripts import LED_ON, ONE_BY_ONE, Way
from tests.agents.zoo.shapes import INBOX, Clients, Mode, Shape, served
from tests.agents.zoo.table import EXPLAINERS, SHAPES, outcome_table
from tests.documentation.making import tables
from tests.support.openai_server import OpenAIServer

pytestmark = [pytest.mark.waits, pytest.mark.filterwarnings("ignore")]
MOST = 0.05
"""The largest share of probes that may have no verdict."""


@pytest.fixture(scope="module")
def clients() -> Iterator[Clients]:
    """Real clients of OpenAI's, and a server on this machine."""
    none = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    # A connection that is kept would belong to the loop that it was opened in.
    once = httpx.Limits(max_keepalive_connections=0)
    with OpenAIServer(served) as server, httpx.Client(verify=none) as http:
        options: Any = {"base_url": server.base_url, "api_key": "none", "max_retries": 0}
        ahttp = httpx.AsyncClient(limits=once, verify=none)
        yield Clients(OpenAI(**options, http_client=http), AsyncOpenAI(**options, http_client=ahttp))


@pytest.fixture(scope="module")
def share() -> Iterator[list[tuple[int, int]]]:
    """Of each explanation, the probes without a verdict, and all of them."""
    counted = list[tuple[int, int]]()
    yield counted
    unknown, probes = (sum(each) for each in zip(*counted, strict=True)) if counted else (0, 0)
    print(f"\n{len(counted)} explanations of agents: {unknown} of {probes} probes UNKNOWN")
    assert unknown <= MOST * probes


@pytest.mark.slow
@pytest.mark.parametrize(
    ("framework", "shape", "mode", "way"),
    [each for framework, shapes in SHAPES.items() for each in cases(shapes, framework)],
)
def test_the_rules_of_every_shape(
    clients: Clients, share: list[tuple[int, int]], framework: str, shape: Shape, mode: Mode, way: Way
) -> None:
    unknown, probes = check(clients, EXPLAINERS[framework], shape, mode, way)
    share.append((unknown, probes))
    # Each on its own as well, as no process has to have them all.
    assert unknown <= MOST * probes


@pytest.mark.parametrize("framework", SHAPES)
def test_the_next_action_of_one_agent_of_each_framework(clients: Clients, framework: str) -> None:
    shape = SHAPES[framework][0]
    assert check(clients, EXPLAINERS[framework], shape, "sync", "next_action")[0] == 0


def test_there_are_enough_shapes_and_each_has_its_own_name() -> None:
    names = [each.name for shapes in SHAPES.values() for each in shapes]
    assert len(set(names)) == len(names) >= 24
    kinds = {kind for shapes in SHAPES.values() for each in shapes for kind in each.kinds}
    assert kinds == {"documents", "tools", "turns", "memory", "instructions", "examples"}


def test_the_documentation_has_the_table() -> None:
    assert outcome_table() in tables.PAGE.read_text(encoding="utf-8"), "write it: see tables"


def test_what_trying_everything_says() -> None:
    both, results = frozenset({"search_inbox #1, item 2", "calendar #1"}), INBOX.results
    assert INBOX.rules(ONE_BY_ONE, "pay", "whole_run") == ({both}, {frozenset({each}) for each in both})
    assert INBOX.rules(LED_ON, "pay", "whole_run")[0] == {both}
    assert INBOX.rules(LED_ON, "pay", "next_action") == ({frozenset(results["calendar"])},) * 2
