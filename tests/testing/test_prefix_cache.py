"""The simulated prefix cache: against its definition, its cost, and what it makes of two orders."""

import random
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_rule_explainer.errors import InvalidInput
from rag_rule_explainer.lattice import Mask
from tests.support.prefix_cache import PrefixCache

PROMPTS = st.lists(st.lists(st.integers(0, 2), max_size=9), max_size=40)


class Naive:
    """Every prefix by itself, with its last use; the oldest that nothing continues goes first."""

    def __init__(self, room: int) -> None:
        self.room = room
        self.used: dict[tuple[int, ...], int] = {}

    def ask(self, tokens: Sequence[int], now: int) -> int:
        prefixes = [tuple(tokens[:length]) for length in range(1, len(tokens) + 1)]
        known = sum(prefix in self.used for prefix in prefixes)
        self.used |= dict.fromkeys(prefixes, now)
        while len(self.used) > self.room:
            continued = {prefix[:-1] for prefix in self.used}
            del self.used[min(self.used.keys() - continued, key=self.used.__getitem__)]
        return known


@given(PROMPTS, st.integers(0, 25))
def test_it_holds_what_the_definition_holds(prompts: list[list[int]], room: int) -> None:
    cache, naive = PrefixCache(room), Naive(room)
    for now, prompt in enumerate(prompts):
        assert cache.ask(prompt) == naive.ask(prompt, now)
        assert cache.held == len(naive.used)


@given(PROMPTS)
def test_with_room_for_all_of_them_every_distinct_prefix_is_computed_once(
    prompts: list[list[int]],
) -> None:
    cache = PrefixCache(1000)
    computed = sum(len(prompt) - cache.ask(prompt) for prompt in prompts)
    assert computed == cache.held == len({tuple(p[: k + 1]) for p in prompts for k in range(len(p))})


def test_the_continuation_unused_the_longest_goes_first_from_its_end() -> None:
    cache = PrefixCache(5)
    assert [cache.ask(prompt) for prompt in ("abc", "abd", "ab", "xy")] == [0, 2, 2, 0]
    # Of a-b-c, a-b-d and x-y, the c went, and nothing else.
    assert [cache.ask(prompt) for prompt in ("abd", "xy", "abc")] == [3, 2, 2]


def test_of_a_prompt_longer_than_the_room_its_head_stays() -> None:
    cache = PrefixCache(3)
    assert [cache.ask("abcdef"), cache.ask("abcdef"), cache.held] == [0, 3, 3]


def test_without_room_nothing_is_held() -> None:
    cache = PrefixCache(0)
    assert [cache.ask("ab"), cache.ask("ab"), cache.ask(""), cache.held] == [0, 0, 0, 0]


def test_room_cannot_be_negative() -> None:
    with pytest.raises(InvalidInput, match="at least 0"):
        PrefixCache(-1)


N = 10


def recomputed(masks: Iterable[Mask]) -> float:
    """Sources computed per distinct prefix of the prompts; the last source is the lowest bit."""
    cache = PrefixCache(2 * N)
    prompts = [[n for n in range(N) if mask >> (N - 1 - n) & 1] for mask in masks]
    distinct = {tuple(prompt[: k + 1]) for prompt in prompts for k in range(len(prompt))}
    return sum(len(prompt) - cache.ask(prompt) for prompt in prompts) / len(distinct)


def test_counting_order_computes_every_prefix_once_and_level_order_twice() -> None:
    masks = range(2**N)
    assert recomputed(masks) <= 1.02
    assert recomputed(reversed(masks)) <= 1.02
    assert 1.9 < recomputed(sorted(masks, key=int.bit_count)) < 2.1


def test_thousands_of_long_prompts_take_seconds_at_most() -> None:
    draw = random.Random(0)
    pages = [[f"{page} {word}" for word in range(500)] for page in range(12)]
    prompts = [[*chain(*(page for page in pages if draw.random() < 0.85))] for _ in range(1000)]
    cache = PrefixCache(100_000)
    started = time.thread_time()
    known = sum(map(cache.ask, prompts))
    # A thousand prompts of 5,000 tokens take a twentieth of a second where nobody else is at work.
    assert time.thread_time() - started < 5
    assert known > 0.5 * sum(map(len, prompts))
    assert cache.held <= 100_000


@pytest.mark.waits
def test_many_threads_find_it_whole() -> None:
    cache = PrefixCache(50)
    prompts = [random.Random(seed).choices("abc", k=12) for seed in range(2000)]
    with ThreadPoolExecutor(8) as pool:
        known = list(pool.map(cache.ask, prompts))
    assert all(0 <= each <= 12 for each in known)
    assert cache.held == 50
