"""Code that decides by chance leaves claims unverified; code that only names or waits does not."""

import logging
import random
import secrets
import time
import uuid
from collections.abc import Callable
from datetime import datetime, timezone
from random import randint
from typing import Any

import numpy
import pytest
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnableLambda
from langchain_rag_rule_explainer import RuleExplainer
from typing_extensions import override

from rag_rule_explainer import Explanation
from rag_rule_explainer.instrumentation.chance.finding import BY_CHANCE, doubt_about_chance
from rag_rule_explainer.instrumentation.shared_state.holdings import Holdings
from tests.integrations.known import BAD
from tests.integrations.langchain.models import Telling, facts

log = logging.getLogger(__name__)
SYSTEM = random.SystemRandom()
# A lambda is what is tested.
AT_RANDOM: Callable[[list[Any]], Any] = lambda given: given if random.random() < 0.5 else None  # noqa: E731


def below(given: list[Any]) -> Any:
    return given if secrets.randbelow(10) < 3 else None


def by_a_variable(given: list[Any]) -> Any:
    share = random.random() * 100
    is_b = share < 30
    return given[:1] if is_b else given


def by_bits(given: list[Any]) -> Any:
    if len(given) < 3 and random.getrandbits(1):
        return given[:1]
    return given


def by_an_index(given: list[Any]) -> Any:
    return given[randint(0, len(given) - 1)]


def by_the_system(given: list[Any]) -> Any:
    return given if SYSTEM.random() < 0.3 else None


def by_a_new_generator(given: list[Any]) -> Any:
    rng = random.Random()
    return given if rng.random() < 0.3 else None


def by_numpy(given: list[Any]) -> Any:
    return given if numpy.random.default_rng().random() < 0.3 else None


def by_numpys_own(given: list[Any]) -> Any:
    return given if numpy.random.rand() < 0.3 else None


def by_an_id(given: list[Any]) -> Any:
    return given if uuid.uuid4().int % 10 < 3 else None


def by_a_digit(given: list[Any]) -> Any:
    return given if uuid.uuid4().hex[0] in "01234" else None


def by_the_clock(given: list[Any]) -> Any:
    return given if time.time_ns() // 1000 % 10 < 3 else None


def by_a_choice(given: list[Any]) -> Any:
    return random.choice([sorted, list])(given)


def by_a_case(given: list[Any]) -> Any:
    match secrets.randbelow(2):
        case 0:
            return given
        case _:
            return None


def drawn() -> float:
    return random.random()


def by_another_function(given: list[Any]) -> Any:
    return given if drawn() < 0.5 else None


def by_a_local_import(given: list[Any]) -> Any:
    from random import uniform

    while uniform(0, 1) > 0.5:
        given = given[:-1]
    return given


async def awaiting(given: list[Any]) -> Any:
    return [each for each in given if random.random() < 0.5]


class Variant:
    """An application that is an object with a generator of the system."""

    def __init__(self) -> None:
        self.rng = random.SystemRandom()

    def __call__(self, given: list[Any]) -> Any:
        return given if self.rng.random() < 0.5 else None


DECIDING: list[Any] = [
    *(below, by_a_variable, by_bits, by_an_index, by_the_system, by_a_new_generator, by_numpy),
    *(by_numpys_own, by_an_id, by_a_digit, by_the_clock, by_a_choice, by_a_case, by_another_function),
    *(by_a_local_import, awaiting, Variant(), AT_RANDOM),
]


def logging_ids(given: list[Any]) -> Any:
    request = uuid.uuid4().hex[:8]
    log.info("request %s of %s", request, secrets.token_hex(4))
    if random.random() < 0.01:
        log.info("sampled %s", request)
    return given


def retrying(given: list[Any]) -> Any:
    delay, longest = 0.1, 2.0
    for attempt in range(3):
        if attempt < 1:
            return given
        delay = delay * 2 + random.uniform(0, 0.1)
        delay = min(delay, longest)
        time.sleep(min(delay, random.random()))
    return None


def sending(given: list[Any], session: str | None = None) -> Any:
    session = session or str(uuid.uuid4())
    seed = None or random.randint(0, 2**31)
    headers = {"x-request-id": str(uuid.uuid4()), "x-key": random.choice(["a", "b"])}
    if session:
        return given, headers, {"configurable": {"thread_id": session}}, seed
    return None


def timing(given: list[Any]) -> Any:
    began, deadline = time.perf_counter(), time.monotonic() + 5 + random.random()
    while time.monotonic() > deadline:
        return None
    if time.perf_counter() - began > 60:
        raise TimeoutError
    return given


def dating(given: list[Any]) -> Any:
    now = datetime.now(timezone.utc)
    fresh = [each for each in given if now.year >= 2000]
    return fresh, f"Today is {now:%Y-%m-%d}, {datetime.now().isoformat()}"


def seeded(given: list[Any]) -> Any:
    rng = random.Random(7)
    other = numpy.random.default_rng(seed=7)
    return given if rng.random() < 0.5 and other.random() < 0.5 else given[:1]


def seeding(given: list[Any]) -> Any:
    random.seed(7)
    return given if random.random() < 0.5 else given[:1]


def finding(given: list[Any]) -> Any:
    name = uuid.uuid4().hex
    while name in given or name == "none":
        name = str(uuid.uuid4())
    found: Any = name
    return given if found is not None else None


class Named:
    """An object with an id of its own."""

    def __init__(self) -> None:
        self.id = uuid.uuid4()
        self.random = [0.5]

    def __call__(self, given: list[Any]) -> Any:
        return given if self.random[0] < 0.6 else self.id


class Unreadable:
    """An object that raises an error when it is read, as a proxy outside of its request does."""

    def __getattr__(self, name: str) -> Any:
        raise LookupError(name)

    def __call__(self) -> float:
        return 0.5


UNREADABLE = Unreadable()


def reading(given: list[Any]) -> Any:
    return given if UNREADABLE() < 0.5 and UNREADABLE.random() < 0.5 else None


HARMLESS: list[Any] = [
    reading,
    logging_ids,
    retrying,
    sending,
    timing,
    dating,
    seeded,
    seeding,
    finding,
    Named(),
]


def doubt_of(step: Any, ignored: str = "") -> str:
    return doubt_about_chance(Holdings(step), lambda place: place == ignored)


@pytest.mark.parametrize("step", DECIDING, ids=lambda step: getattr(step, "__name__", "object"))
def test_code_that_decides_by_chance_is_named(step: Any) -> None:
    doubt = doubt_of(step)
    name = getattr(step, "__name__", "__call__")
    assert doubt.startswith(f"{BY_CHANCE}: {'a lambda' if name == '<lambda>' else name + '()'} of")
    assert "noise=9" in doubt
    called = doubt.partition("by what ")[2].partition("()")[0]
    assert called
    assert f"ignore=[{called.replace('.', chr(92) + '.')!r}]" in doubt or "()." in doubt
    assert not doubt_of(step, name)


@pytest.mark.parametrize("step", HARMLESS, ids=lambda step: getattr(step, "__name__", "object"))
def test_code_that_only_names_times_or_waits_by_chance_is_not(step: Any) -> None:
    assert not doubt_of(step)


class Finding(BaseRetriever):
    """Finds three facts."""

    @override
    def _get_relevant_documents(self, query: str, **_: Any) -> list[Document]:
        return facts("abd")


def explained(**parameters: Any) -> Explanation:
    def shown(documents: list[Document]) -> str:
        kept = documents[:-1] if len(documents) < 3 and secrets.randbelow(10**15) < 1 else documents
        return "\n".join(each.page_content for each in kept)

    chain: Runnable[Any, Any] = Finding() | RunnableLambda(shown) | Telling()
    return RuleExplainer(chain, predicate=BAD, **parameters).explain("why?")


def test_what_may_hang_on_chance_is_unverified_and_says_so() -> None:
    explanation = explained()
    assert explanation.rules
    assert all(rule.claim == "unverified" for rule in explanation.rules)
    assert explanation.warnings[0].startswith(f"{BY_CHANCE}: shown() of the application decides by what ")


@pytest.mark.parametrize("ignored", [r"secrets\.randbelow", "shown"])
def test_chance_that_the_user_calls_harmless_leaves_rules_proved(ignored: str) -> None:
    explanation = explained(ignore=[ignored])
    assert all(rule.claim == "proved" for rule in explanation.rules)
    assert not explanation.warnings


def test_votes_decide_in_spite_of_chance() -> None:
    explanation = explained(noise=9)
    assert {rule.claim for rule in explanation.rules} == {"voted"}
    assert not any(BY_CHANCE in each for each in explanation.warnings)
