"""Applications that leave something where only a bound method leads, or in code that no import knows."""

import decimal
import os
import sys
from collections.abc import Callable, Generator
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from tests.integrations.leaving.parts import HELD_OPEN, Answer, Ask, Search, answering, mode_of, written


def behind_a_method_of_a_dict(search: Search, ask: Ask) -> Answer:
    first: Any = dict[str, str]().setdefault

    def answer(question: str) -> str:
        found = search(question)
        return written(ask, first("mode", mode_of(found)), found)

    return answer


def behind_two_methods_of_a_set(search: Search, ask: Ask) -> Answer:
    known = set[str]()
    add, noted = known.add, known.__contains__
    return answering(search, ask, lambda: add("two"), lambda: noted("two"))


def behind_a_method_of_a_generator(search: Search, ask: Ask) -> Answer:
    def modes() -> Generator[str, str, None]:
        first = ""
        said = yield ""
        while True:
            first = first or said
            said = yield first

    going = modes()
    next(going)
    first = going.send

    def answer(question: str) -> str:
        found = search(question)
        return written(ask, first(mode_of(found)), found)

    return answer


_PLUGIN = """
class Application:
    mode = None

    def __call__(self, question):
        found = search(question)
        self.mode = self.mode or mode_of(found)
        return written(ask, self.mode, found)

shared = None

def answer(question):
    global shared
    found = search(question)
    shared = shared or mode_of(found)
    return written(ask, shared, found)
"""


def in_a_class_of_a_module_that_no_import_knows(search: Search, ask: Ask) -> Answer:
    """As a loader of plugins makes it: the module is executed, and not registered."""
    plugin = ModuleType("rag_rule_plugin_of_a_test")
    vars(plugin).update(search=search, ask=ask, mode_of=mode_of, written=written)
    exec(_PLUGIN, vars(plugin))  # noqa: S102 -- this is how plugins are loaded
    return plugin.Application()


def in_a_global_of_code_that_was_executed(search: Search, ask: Ask) -> Answer:
    held: dict[str, Any] = {"search": search, "ask": ask, "mode_of": mode_of, "written": written}
    exec(_PLUGIN, held)  # noqa: S102 -- this is how snippets are run
    return held["answer"]


def in_a_pipe_that_was_there_before(search: Search, ask: Ask) -> Answer:
    """Only what is in the pipe tells, and no object of the application has changed."""
    there, here = os.pipe()
    os.set_blocking(there, False)
    HELD_OPEN.callback(os.close, there)
    HELD_OPEN.callback(os.close, here)

    def answer(question: str) -> str:
        found = search(question)
        try:
            mode = os.read(there, 9).decode()
        except BlockingIOError:
            mode = mode_of(found)
        os.write(here, mode.encode())
        return written(ask, mode, found)

    return answer


def in_the_precision_of_a_context(search: Search, ask: Ask) -> Answer:
    context = decimal.Context(prec=28)

    def note() -> None:
        context.prec = 5

    return answering(search, ask, note, lambda: len(str(context.divide(1, 3))) < 10)


def by_a_function_in_a_field(search: Search, ask: Ask) -> Answer:
    alarms = list[str]()

    def style(found: list[str]) -> str:
        if len(found) > 1:
            alarms.append("Warn")
        return "Warn" if alarms else "Calm"

    @dataclass
    class Bot:
        mode: Callable[[list[str]], str]

        def answer(self, question: str) -> str:
            found = search(question)
            return written(ask, self.mode(found), found)

    bot = Bot(style)
    return lambda question: bot.answer(question)


def by_a_method_with_two_names(search: Search, ask: Ask) -> Answer:
    alarms = list[str]()

    class Bot:
        def _style(self, found: list[str]) -> str:
            if len(found) > 1:
                alarms.append("Warn")
            return "Warn" if alarms else "Calm"

        mode = _style

        def answer(self, question: str) -> str:
            found = search(question)
            return written(ask, self.mode(found), found)

    bot = Bot()
    return lambda question: bot.answer(question)


_ALARMS: list[str] = []


def mode_computed(found: list[str]) -> str:
    if len(found) > 1:
        _ALARMS.append("Warn")
    return "Warn" if _ALARMS else "Calm"


def by_a_function_of_a_computed_name(search: Search, ask: Ask) -> Answer:
    HELD_OPEN.callback(_ALARMS.clear)
    kind = "computed"

    def answer(question: str) -> str:
        found = search(question)
        return written(ask, globals()[f"mode_{kind}"](found), found)

    return answer


def by_an_attribute_of_a_module(search: Search, ask: Ask) -> Answer:
    HELD_OPEN.callback(_ALARMS.clear)
    here, kind = sys.modules[__name__], "computed"

    def answer(question: str) -> str:
        found = search(question)
        return written(ask, getattr(here, f"mode_{kind}")(found), found)

    return answer


SET_BEHIND = (
    behind_a_method_of_a_dict,
    behind_two_methods_of_a_set,
    behind_a_method_of_a_generator,
    in_a_class_of_a_module_that_no_import_knows,
    in_a_global_of_code_that_was_executed,
    in_a_pipe_that_was_there_before,
    in_the_precision_of_a_context,
    by_a_function_in_a_field,
    by_a_method_with_two_names,
    by_a_function_of_a_computed_name,
    by_an_attribute_of_a_module,
)


def with_distinct_texts(search: Search, ask: Ask) -> Answer:
    """The usual way to leave out what comes twice, by a method of a set of this run's own."""

    def answer(question: str) -> str:
        seen = set[str]()
        add = seen.add
        found = [each for each in search(question) if each not in seen and not add(each)]
        return written(ask, mode_of(found), found)

    return answer


HARMLESS = (with_distinct_texts,)
