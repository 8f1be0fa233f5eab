"""How long answers take."""

import json
import math
import statistics
import time
from contextlib import closing

import pytest

from rag_rule_explainer.errors import InvalidInput
from tests.support.latency import LogNormal
from tests.support.openai_server import OpenAIServer
from tests.testing.test_openai_server import PATH, asked, asking, connected


def test_the_mean_is_that_of_the_seconds_and_sigma_that_of_their_logarithm() -> None:
    seconds = [LogNormal(2.0, 0.8, seed=5)(asking(number)) for number in range(20_000)]
    assert statistics.fmean(seconds) == pytest.approx(2.0, rel=0.03)
    assert statistics.stdev(map(math.log, seconds)) == pytest.approx(0.8, rel=0.03)


def test_the_messages_and_the_seed_determine_it_and_nothing_else_does() -> None:
    latency = LogNormal(1.0)
    first = latency(asking("one"))
    assert latency(asking("two")) != first
    assert latency({**asking("one"), "stream": True}) == LogNormal(1.0)(asking("one")) == first
    assert LogNormal(1.0, seed=1)(asking("one")) != first


def test_without_deviation_all_take_the_mean() -> None:
    assert LogNormal(0.3, sigma=0)(asking("?")) == pytest.approx(0.3)


@pytest.mark.parametrize(("mean", "sigma"), [(0, 1), (-1, 1), (math.nan, 1), (1, -1), (1, math.inf)])
def test_a_distribution_that_is_none_is_refused(mean: float, sigma: float) -> None:
    with pytest.raises(InvalidInput, match="give"):
        LogNormal(mean, sigma)


@pytest.mark.waits
def test_each_request_takes_its_time() -> None:
    def latency(body: dict[str, object]) -> float:
        return 60 if "slow" in json.dumps(body) else 0.2

    with OpenAIServer(lambda _: "yes", latency=latency) as server, closing(connected(server)) as slow:
        slow.request("POST", PATH, json.dumps(asking("slow")))
        started = time.monotonic()
        asked(server, asking("quick"))
        assert time.monotonic() - started >= 0.2
        assert server.outcomes == [200]


@pytest.mark.waits
def test_a_latency_that_cannot_be_told_is_an_error_of_the_server() -> None:
    def latency(body: dict[str, object]) -> float:
        raise LookupError("no clock")

    with OpenAIServer(lambda _: "yes", latency=latency) as server:
        assert asked(server, asking("?"))[0] == 500
