"""Applications that leave something in a register, a class or a setting that the whole process has."""

import json
import logging
import sys
import threading
import urllib.request
from collections.abc import Callable
from typing import Any

from tests.integrations.leaving.parts import HELD_OPEN, Answer, Ask, Search, answering, mode_of, written

_LEVEL = 77
_INTERVAL = 0.004


def among_the_names_of_levels(search: Search, ask: Ask) -> Answer:
    levels: dict[int, str] = vars(logging)["_levelToName"]
    names: dict[str, int] = vars(logging)["_nameToLevel"]
    _undone(lambda: (levels.pop(_LEVEL, None), names.pop("TWO", None)))
    return answering(
        search,
        ask,
        lambda: logging.addLevelName(_LEVEL, "TWO"),
        lambda: logging.getLevelName(_LEVEL) == "TWO",
    )


def as_the_opener_of_addresses(search: Search, ask: Ask) -> Answer:
    opener: Any = urllib.request
    known: Callable[[], bool] = lambda: opener._opener is not None  # noqa: E731 -- it is handed over
    _undone(lambda: setattr(opener, "_opener", None))
    return answering(search, ask, lambda: opener.install_opener(urllib.request.OpenerDirector()), known)


def by_a_function_of_the_interpreter(search: Search, ask: Ask) -> Answer:
    before = 0.005
    _undone(lambda: sys.setswitchinterval(before))
    return answering(
        search,
        ask,
        lambda: sys.setswitchinterval(_INTERVAL),
        lambda: abs(sys.getswitchinterval() - _INTERVAL) < _INTERVAL / 100,
    )


def over_an_attribute_of_a_librarys_class(search: Search, ask: Ask) -> Answer:
    encoder: Any = json.JSONEncoder
    _undone(lambda: setattr(json.JSONEncoder, "item_separator", ", "))

    def note() -> None:
        json.JSONEncoder.item_separator = "; "

    return answering(search, ask, note, lambda: encoder.item_separator == "; ")


def on_a_librarys_function(search: Search, ask: Ask) -> Answer:
    dumps: Any = json.dumps
    _undone(lambda: vars(dumps).pop("ever_two", None))

    def note() -> None:
        setattr(json.dumps, "ever_two", True)  # noqa: B010 -- a function declares no attributes

    return answering(search, ask, note, lambda: hasattr(json.dumps, "ever_two"))


def among_the_bases_of_a_class(search: Search, ask: Ask) -> Answer:
    class Calm:
        noted = False

    class Warned:
        noted = True

    class Mood(Calm):
        pass

    def note() -> None:
        Mood.__bases__ = (Warned,)

    return answering(search, ask, note, lambda: Mood().noted)


def in_the_annotations_of_a_class(search: Search, ask: Ask) -> Answer:
    class Mood:
        pass

    def note() -> None:
        Mood.__annotations__ = {"two": int}

    return answering(search, ask, note, lambda: "two" in getattr(Mood, "__annotations__", {}))


def _undone(undo: Callable[[], object]) -> None:
    """Undoes now what an earlier application set, and, after the test, what this one sets."""
    undo()
    HELD_OPEN.callback(undo)


def a_name_of_the_thread_for_each_run(search: Search, ask: Ask) -> Answer:
    """Every run names its thread anew, before anything reads the name."""

    def answer(question: str) -> str:
        found = search(question)
        thread = threading.current_thread()
        before = thread.name
        thread.name = f"found {len(found)}"
        try:
            return written(ask, mode_of(found), found)
        finally:
            thread.name = before

    return answer


SET_IN_PROCESS = (
    among_the_names_of_levels,
    as_the_opener_of_addresses,
    by_a_function_of_the_interpreter,
    over_an_attribute_of_a_librarys_class,
    on_a_librarys_function,
    among_the_bases_of_a_class,
    in_the_annotations_of_a_class,
)
