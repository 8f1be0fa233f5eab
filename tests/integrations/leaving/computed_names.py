"""Applications whose code computes the name of a method or an attribute by which it goes."""

import operator
from collections.abc import Callable
from typing import Any

from tests.integrations.leaving.parts import Answer, Ask, Search, mode_of, written


class Warned:
    """Has ever found two documents, or not; what reads it is called by a name that code computes."""

    def __init__(self) -> None:
        self.ever_two = False
        self._commands: dict[str, Callable[[], bool]] = {}

    def note(self, found: list[str]) -> None:
        if len(found) > 1:
            self.ever_two = True

    def _tell(self) -> bool:
        return self.ever_two

    def tell_now(self) -> bool:
        return self.ever_two


def _answering(search: Search, ask: Ask, warned: Warned, told: Callable[[], object]) -> Answer:
    def answer(question: str) -> str:
        found = search(question)
        warned.note(found)
        return written(ask, "Warn" if told() else "Calm", found)

    return answer


def by_a_name_with_a_prefix(search: Search, ask: Ask) -> Answer:
    class Dispatching(Warned):
        def told(self, command: str) -> bool:
            return getattr(self, "_" + command)()

    warned = Dispatching()
    return _answering(search, ask, warned, lambda: warned.told("tell"))


def by_a_name_in_a_template(search: Search, ask: Ask) -> Answer:
    class Dispatching(Warned):
        def told(self, command: str) -> bool:
            return getattr(self, f"{command}_now")()

    warned = Dispatching()
    return _answering(search, ask, warned, lambda: warned.told("tell"))


def by_a_name_that_is_handed_in(search: Search, ask: Ask) -> Answer:
    warned = Warned()

    def told(name: str) -> bool:
        return getattr(warned, name)()

    return _answering(search, ask, warned, lambda: told("_".join(["tell", "now"])))


def by_a_caller_of_a_method(search: Search, ask: Ask) -> Answer:
    warned = Warned()

    def told(when: str) -> bool:
        return operator.methodcaller(f"tell_{when}")(warned)

    return _answering(search, ask, warned, lambda: told("now"))


def by_the_class_of_an_object(search: Search, ask: Ask) -> Answer:
    warned = Warned()

    def told(when: str) -> bool:
        return type(warned).__dict__[f"tell_{when}"](warned)

    return _answering(search, ask, warned, lambda: told("now"))


def by_the_names_of_a_class(search: Search, ask: Ask) -> Answer:
    warned = Warned()

    def told() -> bool:
        return any(getattr(warned, each)() for each in dir(warned) if each.endswith("_now"))

    return _answering(search, ask, warned, told)


def by_a_computed_attribute(search: Search, ask: Ask) -> Answer:
    warned = Warned()

    def told(first: str) -> bool:
        return getattr(warned, first + "_two")

    return _answering(search, ask, warned, lambda: told("ever"))


def by_an_attribute_of_a_dict(search: Search, ask: Ask) -> Answer:
    warned = Warned()

    def told(first: str) -> bool:
        return vars(warned)[first + "_two"]

    return _answering(search, ask, warned, lambda: told("ever"))


def by_all_attributes(search: Search, ask: Ask) -> Answer:
    warned = Warned()
    return _answering(search, ask, warned, lambda: True in vars(warned).values())


def by_a_computed_attribute_asked_of_the_object(search: Search, ask: Ask) -> Answer:
    warned = Warned()

    def told(first: str) -> bool:
        return warned.__getattribute__(first + "_two")

    return _answering(search, ask, warned, lambda: told("ever"))


def by_a_getter_of_an_attribute(search: Search, ask: Ask) -> Answer:
    warned = Warned()

    def told(first: str) -> bool:
        return operator.attrgetter(f"{first}_two")(warned)

    return _answering(search, ask, warned, lambda: told("ever"))


def by_getattr_under_another_name(search: Search, ask: Ask) -> Answer:
    warned, taken = Warned(), getattr

    def told(first: str) -> bool:
        return taken(warned, f"{first}_two")

    return _answering(search, ask, warned, lambda: told("ever"))


def by_a_text_that_is_evaluated(search: Search, ask: Ask) -> Answer:
    warned = Warned()

    def told(first: str) -> bool:
        return eval(f"held.{first}_two", {"held": warned})  # noqa: S307 -- the case at hand

    return _answering(search, ask, warned, lambda: told("ever"))


def by_a_method_that_a_class_makes_up(search: Search, ask: Ask) -> Answer:
    class Forwarding:
        def __init__(self, warned: Warned) -> None:
            self.warned = warned

        def __getattr__(self, name: str) -> Any:
            return getattr(self.warned, name.removeprefix("ask_"))

    warned = Warned()
    forwarding = Forwarding(warned)
    return _answering(search, ask, warned, lambda: forwarding.ask_tell_now())


def a_format_of_a_computed_name(search: Search, ask: Ask) -> Answer:
    """Nothing goes by what is kept: the names only choose how a text is written."""

    class Formats:
        def __init__(self) -> None:
            self.runs = 0

        def as_plain(self, text: str) -> str:
            return text

        def as_loud(self, text: str) -> str:
            return text.upper()

        def written(self, how: str, text: str) -> str:
            self.runs += 1
            return getattr(self, f"as_{how}")(text)

    formats = Formats()

    def answer(question: str) -> str:
        found = search(question)
        return written(ask, formats.written("plain", mode_of(found)), found)

    return answer


COMPUTED_NAMES = (
    by_a_name_with_a_prefix,
    by_a_name_in_a_template,
    by_a_name_that_is_handed_in,
    by_a_caller_of_a_method,
    by_the_class_of_an_object,
    by_the_names_of_a_class,
    by_a_computed_attribute,
    by_an_attribute_of_a_dict,
    by_all_attributes,
    by_a_computed_attribute_asked_of_the_object,
    by_a_getter_of_an_attribute,
    by_getattr_under_another_name,
    by_a_text_that_is_evaluated,
    by_a_method_that_a_class_makes_up,
)
HARMLESS = (a_format_of_a_computed_name,)
