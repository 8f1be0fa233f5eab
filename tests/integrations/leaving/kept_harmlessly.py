"""Usual ways to keep something over runs (sessions, limits of rates, measurements, caches on disk), by
which no run goes; and the twins of each, in which what is kept decides."""

import hashlib
import json
import logging
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from functools import cached_property, wraps
from pathlib import Path
from typing import Any
from uuid import uuid4

from tests.integrations.leaving.parts import HELD_OPEN, Answer, Ask, Search, mode_of, written

_LOG = logging.getLogger("rag_rule_measurements")


class Session:
    def __init__(self) -> None:
        self.modes = list[str]()


def a_session_of_each_run(search: Search, ask: Ask) -> Answer:
    sessions = dict[Any, Session]()

    def answer(question: str) -> str:
        session = sessions.setdefault(uuid4(), Session())
        found = search(question)
        session.modes.append(mode_of(found))
        return written(ask, session.modes[-1], found)

    return answer


def a_session_by_its_key(search: Search, ask: Ask) -> Answer:
    sessions = dict[str, Session]()

    def answer(question: str) -> str:
        key = str(uuid4())
        sessions.setdefault(key, Session())
        found = search(question)
        sessions[key].modes.append(mode_of(found))
        return written(ask, sessions[key].modes[-1], found)

    return answer


def a_session_of_each_question(search: Search, ask: Ask) -> Answer:
    """All runs ask the same, so they have one session."""
    sessions = dict[Any, Session]()

    def answer(question: str) -> str:
        session = sessions.setdefault(question, Session())
        found = search(question)
        session.modes.append(mode_of(found))
        return written(ask, max(session.modes), found)

    return answer


def a_session_of_each_run_that_all_read(search: Search, ask: Ask) -> Answer:
    sessions = dict[Any, Session]()

    def answer(question: str) -> str:
        session = sessions.setdefault(uuid4(), Session())
        found = search(question)
        session.modes.append(mode_of(found))
        return written(ask, max(each.modes[0] for each in sessions.values() if each.modes), found)

    return answer


class Splitter:
    """An application makes this object when it first needs it."""

    def __init__(self, longest: int) -> None:
        self.longest = longest

    def parts(self, found: list[str]) -> list[str]:
        return [each[: self.longest] for each in found]


def a_property_that_is_made_once(search: Search, ask: Ask) -> Answer:
    class Service:
        @cached_property
        def splitter(self) -> Splitter:
            return Splitter(1000)

        def answer(self, question: str) -> str:
            found = search(question)
            return written(ask, mode_of(self.splitter.parts(found)), found)

    return Service().answer


def a_property_of_what_is_made_once(search: Search, ask: Ask) -> Answer:
    class Service:
        @cached_property
        def splitter(self) -> Splitter:
            return Splitter(1000)

        def answer(self, question: str) -> str:
            found = search(question)
            return written(ask, mode_of(self.splitter.parts(found)), found)

    made = dict[str, Service]()

    def service() -> Service:
        if "service" not in made:
            made["service"] = Service()
        return made["service"]

    return lambda question: service().answer(question)


def a_property_of_the_first_run(search: Search, ask: Ask) -> Answer:
    class Service:
        def __init__(self) -> None:
            self.found = list[str]()

        @cached_property
        def mode(self) -> str:
            return mode_of(self.found)

        def answer(self, question: str) -> str:
            self.found = search(question)
            return written(ask, self.mode, self.found)

    return Service().answer


def a_property_of_the_first_run_of_what_is_made_once(search: Search, ask: Ask) -> Answer:
    class Service:
        def __init__(self, found: list[str]) -> None:
            self.found = found

        @cached_property
        def mode(self) -> str:
            return mode_of(self.found)

    made = dict[str, Service]()

    def answer(question: str) -> str:
        found = search(question)
        if "service" not in made:
            made["service"] = Service(found)
        return written(ask, made["service"].mode, found)

    return answer


class Bucket:
    """Lets so many calls through in a second, and waits otherwise."""

    def __init__(self, most: float, rate: float) -> None:
        self.most, self.rate = most, rate
        self.tokens, self.last = most, time.monotonic()

    def wait(self) -> None:
        now = time.monotonic()
        self.tokens = min(self.most, self.tokens + (now - self.last) * self.rate)
        self.last = now
        if self.tokens < 1:
            time.sleep((1 - self.tokens) / self.rate)
            self.tokens = 1
        self.tokens -= 1

    def take(self) -> bool:
        now = time.monotonic()
        self.tokens = min(self.most, self.tokens + (now - self.last) * self.rate)
        self.last = now
        if self.tokens < 1:
            return False
        self.tokens -= 1
        return True


def a_bucket_of_tokens(search: Search, ask: Ask) -> Answer:
    bucket = Bucket(1000, 100_000)

    def answer(question: str) -> str:
        found = search(question)
        bucket.wait()
        return written(ask, mode_of(found), found)

    return answer


def the_moment_of_the_last_call(search: Search, ask: Ask) -> Answer:
    class Limiter:
        def __init__(self) -> None:
            self.last = 0.0

        def wait(self) -> None:
            left = self.last + 1e-6 - time.monotonic()
            if left > 0:
                time.sleep(left)
            self.last = time.monotonic()

    limiter = Limiter()

    def answer(question: str) -> str:
        limiter.wait()
        found = search(question)
        return written(ask, mode_of(found), found)

    return answer


def a_bucket_that_decides(search: Search, ask: Ask) -> Answer:
    """Once it is empty, all are warned."""
    bucket = Bucket(3, 0)

    def answer(question: str) -> str:
        found = search(question)
        return written(ask, mode_of(found) if bucket.take() else "Warn", found)

    return answer


def a_bucket_that_only_thin_runs_empty(search: Search, ask: Ask) -> Answer:
    bucket = Bucket(1, 0)

    def answer(question: str) -> str:
        found = search(question)
        enough = len(found) > 1 or bucket.take()
        return written(ask, "Calm" if enough else "Warn", found)

    return answer


class Telling(Bucket):
    """Says how it went beside waiting."""

    def __init__(self) -> None:
        super().__init__(1, 1_000_000)
        self.has_waited = False

    def wait_and_tell(self) -> None:
        if self.tokens < 1:
            time.sleep(0)
            self.has_waited = True
        self.tokens = 0.0

    def wait_and_note(self, notes: list[str]) -> None:
        if self.tokens < 1:
            time.sleep(0)
            notes.append("waited")
        self.tokens = 0.0


def a_bucket_that_says_that_it_was_empty(search: Search, ask: Ask) -> Answer:
    bucket = Telling()

    def answer(question: str) -> str:
        found = search(question)
        bucket.wait_and_tell()
        return written(ask, "Warn" if bucket.has_waited else mode_of(found), found)

    return answer


def a_bucket_that_notes_that_it_was_empty(search: Search, ask: Ask) -> Answer:
    bucket = Telling()

    def answer(question: str) -> str:
        found, notes = search(question), list[str]()
        bucket.wait_and_note(notes)
        return written(ask, "Warn" if notes else mode_of(found), found)

    return answer


def _measured(seconds: dict[str, list[float]]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def measuring(function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def measured(*given: Any) -> Any:
            began = time.perf_counter()
            try:
                return function(*given)
            finally:
                seconds.setdefault(function.__name__, []).append(time.perf_counter() - began)

        return measured

    return measuring


def seconds_of_each_function(search: Search, ask: Ask) -> Answer:
    seconds = dict[str, list[float]]()

    @_measured(seconds)
    def mode(found: list[str]) -> str:
        return mode_of(found)

    def answer(question: str) -> str:
        found = search(question)
        return written(ask, mode(found), found)

    return answer


def seconds_of_each_step(search: Search, ask: Ask) -> Answer:
    seconds = defaultdict[str, list[float]](list)

    def answer(question: str) -> str:
        began = time.perf_counter()
        found = search(question)
        seconds["search"].append(time.perf_counter() - began)
        return written(ask, mode_of(found), found)

    return answer


def the_median_of_seconds(search: Search, ask: Ask) -> Answer:
    seconds = list[float]()

    def answer(question: str) -> str:
        began = time.perf_counter()
        found = search(question)
        said = written(ask, mode_of(found), found)
        seconds.append(time.perf_counter() - began)
        if len(seconds) % 100 == 0:
            _LOG.info("the median is %.3f s", statistics.median(seconds))
        return said

    return answer


def a_line_for_every_hundred(search: Search, ask: Ask) -> Answer:
    class Counter:
        def __init__(self) -> None:
            self.runs = 0

        def count(self) -> None:
            self.runs += 1
            if self.runs % 100 == 0:
                _LOG.info("%d runs", self.runs)

    counter = Counter()

    def answer(question: str) -> str:
        counter.count()
        found = search(question)
        return written(ask, mode_of(found), found)

    return answer


def how_many_were_measured_decides(search: Search, ask: Ask) -> Answer:
    lengths = dict[str, list[int]]()

    def answer(question: str) -> str:
        found = search(question)
        lengths.setdefault("found", []).append(len(found))
        return written(ask, "Warn" if max(lengths["found"]) > 1 else "Calm", found)

    return answer


def the_median_that_was_measured_decides(search: Search, ask: Ask) -> Answer:
    lengths = list[int]()

    def answer(question: str) -> str:
        found = search(question)
        lengths.append(len(found))
        middle = statistics.median(lengths)
        if len(lengths) % 100 == 0:
            _LOG.info("the median is %.3f", middle)
        return written(ask, "Warn" if middle > 1 else "Calm", found)

    return answer


def every_third_is_warned(search: Search, ask: Ask) -> Answer:
    class Counter:
        def __init__(self) -> None:
            self.runs = 0

        def count(self) -> bool:
            self.runs += 1
            if self.runs % 100 == 0:
                _LOG.info("%d runs", self.runs)
            return self.runs % 3 == 0

    counter = Counter()

    def answer(question: str) -> str:
        found = search(question)
        return written(ask, "Warn" if counter.count() else mode_of(found), found)

    return answer


def seen_within_a_run(search: Search, ask: Ask) -> Answer:
    class Once:
        def __init__(self) -> None:
            self.seen = dict[str, bool]()

        def distinct(self, found: list[str]) -> list[str]:
            self.seen.clear()
            kept = list[str]()
            for each in found:
                if each not in self.seen:
                    self.seen[each] = True
                    kept.append(each)
            return kept

    once = Once()

    def answer(question: str) -> str:
        found = search(question)
        return written(ask, mode_of(once.distinct(found)), found)

    return answer


def seen_until_the_end_of_a_run(search: Search, ask: Ask) -> Answer:
    seen = dict[str, bool]()

    def answer(question: str) -> str:
        found = search(question)
        try:
            kept = [each for each in found if not seen.setdefault(each, False)]
            return written(ask, mode_of(kept), found)
        finally:
            seen.clear()

    return answer


def seen_until_a_full_run_ends(search: Search, ask: Ask) -> Answer:
    """It is only cleared after a run that found everything, as the first did."""
    seen = dict[str, bool]()

    def answer(question: str) -> str:
        found = search(question)
        kept = [each for each in found if each not in seen]
        seen.update(dict.fromkeys(kept, True))
        if len(found) > 2:
            seen.clear()
        return written(ask, mode_of(kept), found)

    return answer


def _folder() -> Path:
    return Path(HELD_OPEN.enter_context(tempfile.TemporaryDirectory()))


def _name_of(given: object) -> str:
    return hashlib.sha256(repr(given).encode()).hexdigest()


def a_folder_of_results_by_the_question(search: Search, ask: Ask) -> Answer:
    folder = _folder()

    def mode(question: str, found: list[str]) -> str:
        path = folder / f"{_name_of(question)}.json"
        if path.exists():
            return json.loads(path.read_bytes())
        path.write_text(json.dumps(mode_of(found)))
        return mode_of(found)

    def answer(question: str) -> str:
        found = search(question)
        return written(ask, mode(question, found), found)

    return answer


def a_folder_of_results_by_the_first_text(search: Search, ask: Ask) -> Answer:
    """The key is a text that was found, and the result is made of all of them."""
    folder = _folder()

    def mode(found: list[str]) -> str:
        path = folder / f"{_name_of(found[-1:])}.json"
        if path.exists():
            return json.loads(path.read_bytes())
        path.write_text(json.dumps(mode_of(found)))
        return mode_of(found)

    def answer(question: str) -> str:
        found = search(question)
        return written(ask, mode(found), found)

    return answer


KEPT_HARMLESSLY = (
    a_session_of_each_run,
    a_session_by_its_key,
    a_property_that_is_made_once,
    a_property_of_what_is_made_once,
    a_bucket_of_tokens,
    the_moment_of_the_last_call,
    seconds_of_each_function,
    seconds_of_each_step,
    the_median_of_seconds,
    a_line_for_every_hundred,
    seen_within_a_run,
    seen_until_the_end_of_a_run,
)
KEPT_AND_DECIDING = (
    a_session_of_each_question,
    a_session_of_each_run_that_all_read,
    a_property_of_the_first_run,
    a_property_of_the_first_run_of_what_is_made_once,
    a_bucket_that_decides,
    a_bucket_that_only_thin_runs_empty,
    a_bucket_that_says_that_it_was_empty,
    a_bucket_that_notes_that_it_was_empty,
    how_many_were_measured_decides,
    the_median_that_was_measured_decides,
    every_third_is_warned,
    seen_until_a_full_run_ends,
    a_folder_of_results_by_the_question,
    a_folder_of_results_by_the_first_text,
)
