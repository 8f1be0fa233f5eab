"""Explanations of functions that fail, vary, cost, or are stopped."""

import asyncio
import time
from collections import Counter
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from random import Random
from typing import Any
from unittest.mock import patch

from rag_rule_explainer import (
    Answer,
    Explainer,
    Explanation,
    Limits,
    Noise,
    Retries,
    Sampled,
    Source,
    contains,
)
from tests.golden.goldens import PAIR, QUESTION, Explanations, Make, Script, explaining, needs, numbered
from tests.golden.plain import PRICES, USAGE

AT_ONCE = Retries(most=2, first_wait=0.0, longest_wait=0.0)
RARE = Sampled(max_violation=0.2, confidence=0.9)


def varying(script: Script, every: int) -> Script:
    """The script, whose answer to one subset is another one each ``every``-th time it is asked."""
    asked = Counter[frozenset[str]]()

    def vary(ids: frozenset[str]) -> Answer | str | Exception:
        asked[ids] += 1
        said = script(ids)
        if (asked[ids] + Random(repr(sorted(ids))).randrange(every)) % every:
            return said
        return "no" if said == "yes" else "yes"

    return vary


def noisy(count: int, every: int, script: Script = PAIR, **settings: Any) -> Make:
    return lambda: explaining(varying(script, every), count, check_repeatable=False, **settings)()


def failing(*subsets: Sequence[str], error: Exception | None = None) -> Script:
    broken = {frozenset(subset) for subset in subsets}
    why = error or ValueError("the index is being rebuilt")
    return lambda ids: why if ids in broken else PAIR(ids)


def failing_once(ids_of_all: int) -> Make:
    """Every subset fails the first time it is asked, in a way that may pass."""

    def make() -> Explanation:
        asked = Counter[frozenset[str]]()

        def script(ids: frozenset[str]) -> Answer | str | Exception:
            asked[ids] += 1
            return ConnectionError("reset") if asked[ids] == 1 else PAIR(ids)

        return explaining(script, ids_of_all, retries=AT_ONCE)()

    return make


def ended(reason: str) -> Script:
    """Says PAIR's yes with this word for why it stopped, where D3 is shown."""

    def said(ids: frozenset[str]) -> Answer:
        is_ended = "D3" in ids and len(ids) < 3
        return Answer(str(PAIR(ids)), finish_reason=reason if is_ended else None)

    return said


def empty_once(ids: frozenset[str]) -> Answer | str | Exception:
    return "" if ids == frozenset({"D1", "D3"}) else PAIR(ids)


def priced(ids: frozenset[str]) -> Answer:
    return Answer("yes" if {"D1", "D2"} <= ids else "no", usage=USAGE)


@contextmanager
def a_clock() -> Generator[list[float], None, None]:
    """The clock of this process, which goes ahead by what is added to the one number."""
    ahead, real = [0.0], time.monotonic
    with patch.object(time, "monotonic", lambda: real() + ahead[0]):
        yield ahead


def out_of_time() -> Explanation:
    """Ten seconds a replay, and 45 in all."""
    with a_clock() as ahead:

        async def replay(question: str, sources: Sequence[Source]) -> str:
            ahead[0] += 10
            return "yes" if {"D1", "D2"} <= {source.id for source in sources} else "no"

        limits = Limits(seconds=45)
        explainer = Explainer(replay, contains("yes"), concurrency=1, timeout=None, limits=limits)
        return asyncio.run(explainer.aexplain(QUESTION, numbered(4)))


EXPLANATIONS: Explanations = {
    "limit-of-replays": explaining(PAIR, 4, limits=7),
    "limit-of-replays-retention": explaining(PAIR, 4, limits=6, rules="retention"),
    "limit-of-replays-omission": explaining(PAIR, 4, limits=6, rules="omission"),
    "limit-of-replays-exhaustive": explaining(PAIR, 3, limits=6, miner="exhaustive"),
    "limit-of-replays-sampled": explaining(PAIR, 9, limits=20, miner=RARE),
    "limit-of-replays-grouped": explaining(PAIR, 9, limits=12, miner="grouped"),
    "limit-of-replays-partition": explaining(PAIR, 8, limits=10, partition=4),
    "limit-of-two-replays": explaining(PAIR, 3, limits=2),
    "limit-of-tokens": explaining(priced, 4, limits=Limits(tokens=800)),
    "limit-of-cost": explaining(priced, 4, limits=Limits(cost=0.0015), prices=PRICES),
    "limit-of-seconds": out_of_time,
    "limit-of-failures": explaining(
        lambda ids: PAIR(ids) if len(ids) > 3 else ValueError("no"),
        5,
        limits=Limits(failures=2),
        retries=0,
    ),
    "one-replay-fails": explaining(failing(("D1", "D2")), 3, retries=0),
    "empty-subset-fails": explaining(failing(()), 3, retries=0),
    "pairs-fail": explaining(failing(("D1", "D3"), ("D2", "D3"), ("D3",)), 4, retries=0),
    "fails-for-good-after-retries": explaining(
        failing(("D1", "D3"), error=ConnectionError("reset")), 3, retries=AT_ONCE
    ),
    "fails-once": failing_once(3),
    "sampled-with-failures": explaining(
        failing(("D1",), ("D1", "D2"), ("D3",)), 6, retries=0, miner=RARE, rules="retention"
    ),
    "grouped-with-failures": explaining(failing(("D1", "D2")), 8, retries=0, miner="grouped"),
    "cut-off": explaining(ended("length"), 3, retries=0),
    "cut-off-accepted": explaining(ended("length"), 3, accept_finish_reasons=("length",)),
    "filtered": explaining(ended("content_filter"), 3, retries=0),
    "unknown-word-accepted": explaining(ended("eos_found"), 3, accept_finish_reasons=("eos_found",)),
    "empty-answers": explaining(
        lambda ids: "" if ids == frozenset({"D1", "D3"}) else PAIR(ids), 3, retries=0
    ),
    "secrets-in-errors": explaining(
        failing(("D1", "D3"), error=ValueError("bad key sk-abcdefghijklmnop123456\x1b[2J")), 3, retries=0
    ),
    "votes-at-the-border": noisy(3, 4, noise=5),
    "votes-on-every-subset": noisy(3, 4, noise=Noise(samples=3, vote="every")),
    "votes-by-sequential-test": noisy(
        3, 5, noise=Noise(samples=9, vote="sequential", false_holds=0.05, false_breaks=0.05)
    ),
    "votes-undecided": noisy(
        2, 2, noise=Noise(samples=6, vote="sequential", false_holds=0.1, false_breaks=0.1)
    ),
    "votes-with-recheck": noisy(4, 4, rules="retention", noise=Noise(samples=3, recheck=2)),
    "votes-sampled": noisy(8, 9, needs(("D1",)), rules="retention", noise=3, miner=RARE),
    "votes-grouped": noisy(8, 9, needs(("D1",)), rules="retention", noise=3, miner="grouped"),
    "votes-and-a-limit": noisy(4, 4, noise=5, limits=25),
    "votes-and-failures": explaining(failing(("D1", "D2")), 3, retries=0, noise=3),
    "confidence": noisy(4, 5, noise=Noise(min_confidence=0.6)),
    "confidence-by-votes": noisy(3, 4, noise=Noise(samples=3, min_confidence=0.8)),
    "confidence-stopped": noisy(3, 3, noise=Noise(min_confidence=0.7), limits=5),
    "exact-without-votes-under-noise": noisy(4, 7),
}
