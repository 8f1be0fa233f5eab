"""Applications whose first run sets something that stays: all later runs agree with it, and are wrong."""

import collections
import concurrent.futures
import enum
import functools
import heapq
import io
import logging
import sqlite3
import sys
import threading
from array import array
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache, singledispatch
from types import ModuleType, SimpleNamespace
from typing import ClassVar
from weakref import WeakKeyDictionary

from tests.integrations.leaving.parts import HELD_OPEN, Answer, Ask, Search, written


class Tone(enum.Enum):
    CALM = "Calm"
    WARN = "Warn"


def _is_alarming(found: list[str]) -> bool:
    return len(found) > 1


def _told(ask: Ask, found: list[str], *, alarmed: bool) -> str:
    return written(ask, "Warn" if alarmed else "Calm", found)


def an_enumeration(search: Search, ask: Ask) -> Answer:
    class Bot:
        tone = Tone.CALM

        def learn(self, found: list[str]) -> None:
            if not _is_alarming(found):
                return
            self.tone = Tone.WARN

    bot = Bot()

    def answer(question: str) -> str:
        found = search(question)
        bot.learn(found)
        return written(ask, bot.tone.value, found)

    return answer


def a_function(search: Search, ask: Ask) -> Answer:
    def calm(found: list[str]) -> str:
        return written(ask, "Calm", found)

    def warn(found: list[str]) -> str:
        return written(ask, "Warn", found)

    state = SimpleNamespace(tell=calm)

    def answer(question: str) -> str:
        found = search(question)
        with suppress(ValueError):
            if _is_alarming(found):
                state.tell = warn
        return state.tell(found)

    return answer


@dataclass(frozen=True)
class Profile:
    alarmed: bool = False


def a_frozen_record(search: Search, ask: Ask) -> Answer:
    class Bot:
        profile = Profile()

        def note(self, *, alarmed: bool) -> None:
            self.profile = Profile(alarmed) if alarmed else self.profile

    bot = Bot()

    def answer(question: str) -> str:
        found = search(question)
        bot.note(alarmed=_is_alarming(found))
        return _told(ask, found, alarmed=bot.profile.alarmed)

    return answer


def the_last_long_result(search: Search, ask: Ask) -> Answer:
    class Bot:
        last: list[str] | None = None

    bot = Bot()

    def answer(question: str) -> str:
        found = search(question)
        _ = _is_alarming(found) and setattr(bot, "last", found)
        return _told(ask, found, alarmed=bot.last is not None)

    return answer


@dataclass
class Settings:
    alarmed: bool = False


def behind_a_getter(search: Search, ask: Ask) -> Answer:
    @cache
    def settings() -> Settings:
        return Settings()

    def answer(question: str) -> str:
        found = search(question)
        if _is_alarming(found):
            settings().alarmed = True
        return _told(ask, found, alarmed=settings().alarmed)

    return answer


def in_a_registry(search: Search, ask: Ask) -> Answer:
    sessions: dict[str, Settings] = {}

    def session(user: str) -> Settings:
        return sessions.setdefault(user, Settings())

    def answer(question: str) -> str:
        found = search(question)
        session("u").alarmed |= _is_alarming(found)
        return _told(ask, found, alarmed=session("u").alarmed)

    return answer


def in_a_context_manager(search: Search, ask: Ask) -> Answer:
    kept = dict[str, bool]()

    @contextmanager
    def opened() -> Generator[dict[str, bool], None, None]:
        yield kept

    def answer(question: str) -> str:
        found = search(question)
        with opened() as store:
            if _is_alarming(found):
                store["alarmed"] = True
            return _told(ask, found, alarmed=store.get("alarmed", False))

    return answer


class One:
    _one: "One | None" = None
    alarmed: bool

    def __new__(cls) -> "One":
        if cls._one is None:
            cls._one = super().__new__(cls)
            cls._one.alarmed = False
        return cls._one


def in_a_singleton(search: Search, ask: Ask) -> Answer:
    One._one = None  # pyright: ignore[reportPrivateUsage] -- each application begins anew

    def answer(question: str) -> str:
        found = search(question)
        if _is_alarming(found):
            One().alarmed = True
        return _told(ask, found, alarmed=One().alarmed)

    return answer


def in_an_imported_module(search: Search, ask: Ask) -> Answer:
    sys.modules.pop("rag_rule_test_plugin", None)

    def answer(question: str) -> str:
        found = search(question)
        if _is_alarming(found):
            sys.modules["rag_rule_test_plugin"] = ModuleType("rag_rule_test_plugin")
        return _told(ask, found, alarmed="rag_rule_test_plugin" in sys.modules)

    return answer


def by_a_parameter(search: Search, ask: Ask) -> Answer:
    state = {"seen": set[str]()}

    def learn(into: set[str], found: list[str]) -> None:
        into |= set(found)

    def answer(question: str) -> str:
        found = search(question)
        learn(state["seen"], found)
        return _told(ask, found, alarmed=len(state["seen"]) > 1)

    return answer


def on_a_heap(search: Search, ask: Ask) -> Answer:
    counts = [0]

    def answer(question: str) -> str:
        found = search(question)
        heapq.heappush(counts, -len(found))
        return _told(ask, found, alarmed=counts[0] < -1)

    return answer


def in_an_array(search: Search, ask: Ask) -> Answer:
    most = array("i", [0])

    def answer(question: str) -> str:
        found = search(question)
        memoryview(most)[0] = max(most[0], len(found))
        return _told(ask, found, alarmed=most[0] > 1)

    return answer


def in_the_order_of_a_list(search: Search, ask: Ask) -> Answer:
    tones = ["Calm", "Warn"]

    def answer(question: str) -> str:
        found = search(question)
        if _is_alarming(found):
            tones.sort(reverse=True)
        return written(ask, tones[0], found)

    return answer


class Sticky:
    def __set_name__(self, owner: type, name: str) -> None:
        self.name = "_" + name

    def __get__(self, thing: object, kind: type) -> bool:
        return getattr(thing, self.name, False)

    def __set__(self, thing: object, value: bool) -> None:
        setattr(thing, self.name, value)


def by_a_descriptor(search: Search, ask: Ask) -> Answer:
    class Bot:
        alarmed = Sticky()

    bot = Bot()

    def answer(question: str) -> str:
        found = search(question)
        if _is_alarming(found):
            bot.alarmed = True
        return _told(ask, found, alarmed=bot.alarmed)

    return answer


class Weak:
    known: ClassVar[WeakKeyDictionary[object, bool]] = WeakKeyDictionary()


def beside_an_object(search: Search, ask: Ask) -> Answer:
    class Bot:
        pass

    bot = Bot()

    def answer(question: str) -> str:
        found = search(question)
        if _is_alarming(found):
            Weak.known[bot] = True
        return _told(ask, found, alarmed=Weak.known.get(bot, False))

    return answer


def in_slots(search: Search, ask: Ask) -> Answer:
    class Bot:
        __slots__ = ("alarm",)

        def __init__(self) -> None:
            self.alarm: list[str] | None = None

        def learn(self, found: list[str]) -> bool:
            self.alarm = found if _is_alarming(found) else self.alarm
            return self.alarm is not None

    bot = Bot()

    def answer(question: str) -> str:
        found = search(question)
        return _told(ask, found, alarmed=bot.learn(found))

    return answer


def in_a_stream(search: Search, ask: Ask) -> Answer:
    log = io.StringIO()

    def answer(question: str) -> str:
        found = search(question)
        log.write("!" if _is_alarming(found) else "")
        return _told(ask, found, alarmed="!" in log.getvalue())

    return answer


def in_a_generator_that_is_told(search: Search, ask: Ask) -> Answer:
    def tracker() -> Generator[bool, list[str], None]:
        seen = set[str]()
        while True:
            seen.update((yield len(seen) > 1))

    told = tracker()
    next(told)

    def answer(question: str) -> str:
        found = search(question)
        return _told(ask, found, alarmed=told.send(found))

    return answer


def in_a_future(search: Search, ask: Ask) -> Answer:
    first = concurrent.futures.Future[bool]()

    def answer(question: str) -> str:
        found = search(question)
        if not first.done():
            first.set_result(_is_alarming(found))
        return _told(ask, found, alarmed=first.result())

    return answer


def by_a_lock(search: Search, ask: Ask) -> Answer:
    tripped = threading.Lock()

    def answer(question: str) -> str:
        found = search(question)
        if _is_alarming(found):
            tripped.acquire(blocking=False)
        return _told(ask, found, alarmed=tripped.locked())

    return answer


def by_the_level_of_a_logger(search: Search, ask: Ask) -> Answer:
    log = logging.getLogger("rag_rule_test_level")
    log.setLevel(logging.WARNING)

    def answer(question: str) -> str:
        found = search(question)
        if _is_alarming(found):
            log.setLevel(logging.DEBUG)
        return _told(ask, found, alarmed=log.isEnabledFor(logging.DEBUG))

    return answer


def by_a_registered_function(search: Search, ask: Ask) -> Answer:
    @singledispatch
    def tone(_: object) -> str:
        return "Calm"

    def answer(question: str) -> str:
        found = search(question)
        if _is_alarming(found):
            tone.register(str, lambda _: "Warn")
        return written(ask, tone("x"), found)

    return answer


@dataclass
class Turn:
    tones: collections.deque[str] = field(default_factory=lambda: collections.deque(["Calm", "Warn"]))

    def now(self, found: list[str]) -> str:
        if _is_alarming(found) and self.tones[0] == "Calm":
            self.tones.rotate(1)
        return self.tones[0]


def by_a_turn(search: Search, ask: Ask) -> Answer:
    tone = functools.partial(Turn.now, Turn())

    def answer(question: str) -> str:
        found = search(question)
        return written(ask, tone(found), found)

    return answer


def in_a_database_that_is_open(search: Search, ask: Ask) -> Answer:
    """It cannot be put back."""
    rows = HELD_OPEN.enter_context(_closing(sqlite3.connect(":memory:", check_same_thread=False)))
    rows.execute("create table seen (k primary key)")
    table = "seen"

    def answer(question: str) -> str:
        found = search(question)
        for each in found:
            rows.execute(f"insert or ignore into {table} values (?)", (each,))  # noqa: S608 -- as users write it
        # The names are the test's own.
        (seen,) = rows.execute("select count(*) from " + table).fetchone()  # noqa: S608
        return _told(ask, found, alarmed=seen > 1)

    return answer


@contextmanager
def _closing(connection: sqlite3.Connection) -> Generator[sqlite3.Connection, None, None]:
    try:
        yield connection
    finally:
        connection.close()


def harmless_memo(search: Search, ask: Ask) -> Answer:
    """What is kept by its text is the same in every run."""
    lengths = dict[str, int]()

    def length(text: str) -> int:
        if text not in lengths:
            lengths[text] = len(text)
        return lengths[text]

    def answer(question: str) -> str:
        found = sorted(search(question), key=length)
        return _told(ask, found, alarmed=_is_alarming(found))

    return answer


def harmless_words(search: Search, ask: Ask) -> Answer:
    """What every run makes the same is nobody's doing."""

    class Bot:
        known: set[str] | None = None

        def words(self) -> set[str]:
            if self.known is None:
                self.known = {"bad", "good"}
            return self.known

    bot = Bot()

    def answer(question: str) -> str:
        found, words = search(question), bot.words()
        return _told(ask, found, alarmed=_is_alarming(found) and bool(words))

    return answer


SET_ONCE: tuple[Callable[[Search, Ask], Answer], ...] = (
    an_enumeration,
    a_function,
    a_frozen_record,
    the_last_long_result,
    behind_a_getter,
    in_a_registry,
    in_a_context_manager,
    in_a_singleton,
    in_an_imported_module,
    by_a_parameter,
    on_a_heap,
    in_an_array,
    in_the_order_of_a_list,
    by_a_descriptor,
    beside_an_object,
    in_slots,
    in_a_stream,
    in_a_generator_that_is_told,
    in_a_future,
    by_a_lock,
    by_the_level_of_a_logger,
    by_a_registered_function,
    by_a_turn,
    in_a_database_that_is_open,
)
HARMLESS: tuple[Callable[[Search, Ask], Answer], ...] = (harmless_memo, harmless_words)
