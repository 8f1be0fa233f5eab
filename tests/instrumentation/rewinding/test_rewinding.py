"""What an application held is put back for a while, and what it holds now is there again afterwards."""

import functools
import queue
import socket
import sys
import threading
from collections import deque
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from rag_rule_explainer.instrumentation.rewinding.rewinding import Rewinding


class Bot:
    mode = "calm"

    def __init__(self) -> None:
        self.seen: set[str] = set()
        self.calls: list[str] = []
        self.session = SimpleNamespace(user=None)

    def learn(self, text: str) -> None:
        self.calls.append(text)
        self.seen.add(text)

    def told(self) -> str:
        return f"{self.mode} {len(self.seen)} {self.session.user}" if self.seen else Bot.mode


def rewinding(application: Any, *harmless: str) -> Rewinding:
    return Rewinding(application, harmless.__contains__, tuple)


def test_an_object_holds_what_it_held_and_then_what_it_holds() -> None:
    bot = Bot()
    kept = rewinding(bot.told)
    bot.learn("a")
    Bot.mode, bot.session.user = "warn", "u"
    try:
        now = bot.told()
        assert kept.is_useful()
        with kept.earlier():
            assert (Bot.mode, bot.seen, bot.session.user) == ("calm", set(), None)
            bot.learn("b")
        # What has come meanwhile stays: it may be another thread's.
        assert (now, bot.told()) == ("warn 1 u", "warn 2 u")
        assert bot.seen == {"a", "b"}
        # What code only adds to, and never asks, is left alone: nothing there is lost.
        assert bot.calls == ["a", "b"]
    finally:
        Bot.mode = "calm"


def test_what_holds_the_same_is_not_useful_to_put_back() -> None:
    bot = Bot()
    kept = rewinding(bot.told)
    bot.told()
    assert not kept.is_useful()


def test_what_the_caller_calls_harmless_is_left_alone() -> None:
    bot = Bot()
    kept = rewinding(bot.told, "Bot.seen")
    bot.learn("a")
    assert not kept.is_useful()


def test_what_is_kept_apart_already_is_left_alone() -> None:
    from rag_rule_explainer.instrumentation.copies.state import Same

    bot = Bot()
    kept = Rewinding(bot.told, lambda _: False, lambda: [("history", Same(bot.seen))])
    bot.learn("a")
    assert not kept.is_useful()


def test_a_cache_is_empty_for_a_while_and_full_afterwards() -> None:
    made: list[str] = []

    @functools.cache
    def settings(name: str) -> SimpleNamespace:
        made.append(name)
        return SimpleNamespace(name=name, alarmed=False)

    def answer() -> bool:
        return settings("a").alarmed

    kept = rewinding(answer)
    settings("a").alarmed = True
    assert kept.is_useful()
    with kept.earlier():
        assert not answer()
    assert answer()
    assert made == ["a", "a"]
    assert settings.cache_info().currsize == 1


def test_a_module_that_was_made_meanwhile_is_away_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    name = "rag_rule_test_made_meanwhile"

    def answer() -> bool:
        return name in sys.modules

    kept = rewinding(answer)
    monkeypatch.setitem(sys.modules, name, ModuleType(name))
    assert kept.is_useful()
    with kept.earlier():
        assert not answer()
    assert answer()


def test_a_client_that_is_made_once_is_not_made_again() -> None:
    class Chat:
        client: Any = None

        def ask(self) -> Any:
            if self.client is None:
                self.client = threading.Event()
            return self.client

    chat = Chat()
    kept = rewinding(chat.ask)
    client = chat.ask()
    with kept.earlier():
        assert chat.ask() is client


def test_what_fails_to_be_written_does_no_harm() -> None:
    class Strict:
        def __init__(self) -> None:
            self.held = {"a": 1}

        def __setattr__(self, name: str, value: object) -> None:
            if hasattr(self, name):
                raise AttributeError(name)
            object.__setattr__(self, name, value)

        def ask(self) -> int:
            return self.held["a"]

    strict = Strict()
    kept = rewinding(strict.ask)
    strict.held["a"] = 2

    def replay() -> None:
        with kept.earlier():
            assert strict.ask() == 1
            strict.held["b"] = 3
            raise RuntimeError("raised in a replay")

    with pytest.raises(RuntimeError, match="raised in a replay"):
        replay()
    assert strict.held == {"a": 2, "b": 3}


def test_a_file_that_was_open_before_and_has_changed_is_told_of(tmp_path: Any) -> None:
    path = tmp_path / "notes.txt"
    with path.open("w+") as file:

        def answer() -> str:
            file.seek(0)
            return file.read()

        kept = rewinding(answer)
        assert kept.left() is None
        file.write("careful")
        file.flush()
        left = kept.left()
    assert left is not None
    assert "TextIOWrapper" in left.clause


def test_what_was_found_to_stay_is_remembered_as_long_as_it_is_there() -> None:
    bot = Bot()
    first = rewinding(bot.told)
    bot.learn("a")
    first.remember("", None)
    # Whichever function comes by the same object, which holds by then what the replays have left.
    second = rewinding(lambda: bot.told())
    left = second.left()
    assert left is not None
    assert left.clause == "an earlier explanation found that runs go by Bot.seen, and has left that set"
    assert rewinding(Bot().told).left() is None
    assert rewinding(bot.told, "Bot.seen").left() is None


def test_what_other_threads_add_meanwhile_is_not_lost() -> None:
    alerts, sessions, seen, last = ["a"], {"a": 1}, {"a"}, deque(["a"])

    def answer() -> str:
        return f"{alerts[-1]} {sessions['a']} {len(seen)} {last[-1]}"

    kept = rewinding(answer)
    alerts.append("b")
    sessions["a"], sessions["b"] = 2, 2
    seen.add("b")
    last.append("b")
    with kept.earlier():
        assert (alerts, sessions, seen, list(last)) == (["a"], {"a": 1}, {"a"}, ["a"])
        alerts.append("c")
        sessions["c"] = 3
        seen.add("c")
        last.append("c")
    assert alerts == ["a", "b", "c"]
    assert sessions == {"a": 2, "b": 2, "c": 3}
    assert (seen, list(last)) == ({"a", "b", "c"}, ["a", "b", "c"])


def test_locks_and_queues_are_left_to_their_threads() -> None:
    lock, jobs = threading.Lock(), queue.Queue[int]()

    def answer() -> bool:
        return lock.locked() or jobs.qsize() > 0

    kept = rewinding(answer)
    lock.acquire()
    jobs.put(1)
    with kept.earlier():
        assert lock.locked()
        assert jobs.qsize() == 1
    left = kept.left()
    assert left is not None
    assert "there before it" in left.clause


def test_names_that_python_mangles_and_limits_are_read() -> None:
    class Breaker:
        def __init__(self) -> None:
            self.__alert = False
            self.failures = 0

        def fail(self) -> None:
            self.__alert = True
            self.failures += 1

        def ask(self) -> str:
            try:
                self.check()
            except RuntimeError:
                return "open"
            return "alert" if self.__alert else "calm"

        def check(self) -> None:
            if self.failures > 0:
                raise RuntimeError("open")

    breaker = Breaker()
    kept = rewinding(breaker.ask)
    breaker.fail()
    with kept.earlier():
        assert breaker.ask() == "calm"
    assert breaker.ask() == "open"


class Waiting:
    """Counts its requests, and goes by more than that."""

    def __init__(self) -> None:
        self.asked, self.mode = 0, "calm"
        self.by_word: dict[str, int] = {}

    def ask(self, word: str) -> str:
        self.asked += 1
        self.by_word[word] = self.by_word.get(word, 0) + 1
        return f"{self.mode} {self.asked} {self.by_word}"


@pytest.mark.parametrize("named", ["Waiting.by_word.two", "Waiting.two"])
def test_what_is_ignored_is_left_alone_beside_what_is_put_back(named: str) -> None:
    model = Waiting()
    kept = rewinding(model.ask, "Waiting.asked", named)
    model.ask("two")
    model.ask("one")
    model.mode = "warn"
    with kept.earlier():
        assert (model.asked, model.mode, model.by_word) == (2, "calm", {"two": 1})
        model.ask("two")
    assert (model.asked, model.mode, model.by_word) == (3, "warn", {"two": 2, "one": 1})


def test_nothing_is_useful_to_put_back_where_all_is_ignored() -> None:
    model = Waiting()
    kept = rewinding(model.ask, "Waiting.asked", "Waiting.by_word.two")
    model.ask("two")
    assert not kept.is_useful()


def test_what_one_change_is_ignored_for_hides_no_other() -> None:
    with Path(__file__).open(encoding="utf-8") as first, socket.socket() as second:
        kept = rewinding(lambda: (first.readline(), second.settimeout(5)), "TextIOWrapper")
        first.readline()
        assert kept.left() is None
        second.settimeout(5)
        left = kept.left()
        assert left is not None
        assert left.place == "socket"
