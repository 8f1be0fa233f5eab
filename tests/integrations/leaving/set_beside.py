"""Applications whose first run sets something beside their own objects: in Python, in a library, in a
pool. All later runs agree with it, and are wrong."""

import calendar
import concurrent.futures
import importlib
import multiprocessing
import random
import ssl
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any
from xml.etree import ElementTree

import httpx
import numpy as np

from tests.integrations.leaving.parts import HELD_OPEN, Answer, Ask, Search, written

_WITHOUT_CERTIFICATES = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
_FLAGS = "rag_rule_test_flags"


def _is_alarming(found: list[str]) -> bool:
    return len(found) > 1


def _told(ask: Ask, found: list[str], *, alarmed: bool) -> str:
    return written(ask, "Warn" if alarmed else "Calm", found)


def a_pool_that_is_shut(search: Search, ask: Ask) -> Answer:
    pool = HELD_OPEN.enter_context(concurrent.futures.ThreadPoolExecutor(1))

    def answer(question: str) -> str:
        found = search(question)
        if _is_alarming(found):
            pool.shutdown()
        try:
            pool.submit(len, found).result()
        except RuntimeError:
            return _told(ask, found, alarmed=True)
        return _told(ask, found, alarmed=False)

    return answer


def a_client_that_is_closed(search: Search, ask: Ask) -> Answer:
    client = httpx.Client(verify=_WITHOUT_CERTIFICATES)

    def answer(question: str) -> str:
        found = search(question)
        if _is_alarming(found):
            client.close()
        return _told(ask, found, alarmed=client.is_closed)

    return answer


def a_cookie(search: Search, ask: Ask) -> Answer:
    client = HELD_OPEN.enter_context(httpx.Client(verify=_WITHOUT_CERTIFICATES))

    def answer(question: str) -> str:
        found = search(question)
        if _is_alarming(found):
            client.cookies.set("tone", "warn")
        return _told(ask, found, alarmed="tone" in client.cookies)

    return answer


def the_first_weekday(search: Search, ask: Ask) -> Answer:
    HELD_OPEN.callback(calendar.setfirstweekday, calendar.firstweekday())

    def answer(question: str) -> str:
        found = search(question)
        if _is_alarming(found):
            calendar.setfirstweekday(calendar.SUNDAY)
        return _told(ask, found, alarmed=calendar.firstweekday() == calendar.SUNDAY)

    return answer


def what_is_drawn(search: Search, ask: Ask) -> Answer:
    HELD_OPEN.callback(random.setstate, random.getstate())
    random.seed(1)

    def answer(question: str) -> str:
        found = search(question)
        if _is_alarming(found):
            random.seed(2)
        state, drawn = random.getstate(), random.random()
        random.setstate(state)
        return _told(ask, found, alarmed=drawn > 0.5)

    return answer


def drawn_after_one_seed(search: Search, ask: Ask) -> Answer:
    """The first draw after the seed is the first run's."""
    HELD_OPEN.callback(random.setstate, random.getstate())
    random.seed(1)
    first = random.Random(1).random()

    def answer(question: str) -> str:
        found = search(question)
        return _told(ask, found, alarmed=random.random() == first or _is_alarming(found))

    return answer


def drawn_by_numpy(search: Search, ask: Ask) -> Answer:
    """The first draw of a generator with a seed is the first run's."""
    drawing, first = np.random.default_rng(3), np.random.default_rng(3).random()

    def answer(question: str) -> str:
        found = search(question)
        return _told(ask, found, alarmed=drawing.random() == first or _is_alarming(found))

    return answer


def in_a_parsed_file(search: Search, ask: Ask) -> Answer:
    settings = ElementTree.Element("settings")
    ElementTree.SubElement(settings, "tone").text = "calm"

    def answer(question: str) -> str:
        found = search(question)
        tone = settings.find("tone")
        if tone is not None and _is_alarming(found):
            tone.text = "warn"
        return _told(ask, found, alarmed=settings.findtext("tone") == "warn")

    return answer


def in_a_module_by_its_name(search: Search, ask: Ask) -> Answer:
    flags = ModuleType(_FLAGS)
    vars(flags)["alarmed"] = False
    sys.modules[_FLAGS] = flags
    HELD_OPEN.callback(sys.modules.pop, _FLAGS, None)

    def answer(question: str) -> str:
        found = search(question)
        known: Any = importlib.import_module("rag_rule_test_" + "flags")
        if _is_alarming(found):
            known.alarmed = True
        return _told(ask, found, alarmed=known.alarmed)

    return answer


def shared_by_processes(search: Search, ask: Ask) -> Answer:
    alarmed = multiprocessing.Value("b", 0)

    def answer(question: str) -> str:
        found = search(question)
        if _is_alarming(found):
            alarmed.value = 1
        return _told(ask, found, alarmed=alarmed.value == 1)

    return answer


def harmless_draws(search: Search, ask: Ask) -> Answer:
    """What every run begins anew is nobody's doing."""
    HELD_OPEN.callback(random.setstate, random.getstate())

    def answer(question: str) -> str:
        found = search(question)
        random.seed(1)
        return _told(ask, found, alarmed=_is_alarming(found) and random.random() < 1)

    return answer


def harmless_pool(search: Search, ask: Ask) -> Answer:
    """A pool and a client that all runs use, and leave open."""
    pool = HELD_OPEN.enter_context(concurrent.futures.ThreadPoolExecutor(1))
    client = HELD_OPEN.enter_context(httpx.Client(verify=_WITHOUT_CERTIFICATES))

    def answer(question: str) -> str:
        found = search(question)
        count = pool.submit(len, found).result()
        return _told(ask, found, alarmed=count > 1 and not client.is_closed)

    return answer


SET_BESIDE: tuple[Callable[[Search, Ask], Answer], ...] = (
    a_pool_that_is_shut,
    a_client_that_is_closed,
    a_cookie,
    the_first_weekday,
    what_is_drawn,
    drawn_after_one_seed,
    drawn_by_numpy,
    in_a_parsed_file,
    in_a_module_by_its_name,
    shared_by_processes,
)
HARMLESS: tuple[Callable[[Search, Ask], Answer], ...] = (harmless_draws, harmless_pool)
