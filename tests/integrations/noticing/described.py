"""Marks in what describes functions, classes, properties and modules."""

import dataclasses
import functools
import importlib
import inspect
import types
from collections.abc import Callable, Iterator
from typing import Any

from tests.integrations.leaving.parts import HELD_OPEN
from tests.integrations.noticing.modes import Mark

Both = tuple[Mark, Mark]


def in_the_annotations_of_a_function() -> Both:
    def tell(text: str) -> str:
        return text

    return (
        lambda: tell.__annotations__.update(seen=int),
        lambda: "seen" in tell.__annotations__,
    )


def in_the_annotations_that_a_library_reads() -> Both:
    def tell(text: str) -> str:
        return text

    def mark() -> None:
        tell.__annotations__["text"] = bytes

    return mark, lambda: inspect.signature(tell).parameters["text"].annotation is bytes


def in_the_signature_of_a_function() -> Both:
    def tell(text: str) -> str:
        return text

    held: Any = tell

    def mark() -> None:
        held.__signature__ = inspect.Signature()

    return mark, lambda: not inspect.signature(held).parameters


def in_the_words_of_a_property() -> Both:
    class Box:
        @property
        def size(self) -> int:
            """Says one."""
            return 1

    held: Any = Box.size

    def mark() -> None:
        held.__doc__ = "two"

    return mark, lambda: held.__doc__ == "two"


def in_the_words_of_a_class() -> Both:
    class Box:
        """Says one."""

    def mark() -> None:
        Box.__doc__ = "two"

    return mark, lambda: inspect.getdoc(Box) == "two"


def in_the_parameters_of_a_generic() -> Both:
    class Box:
        def __class_getitem__(cls, item: Any) -> str:
            return "one"

    kind: Any = Box

    def mark() -> None:
        kind.__class_getitem__ = classmethod(lambda cls, item: "two")

    return mark, lambda: kind[int] == "two"


def _place() -> Any:
    return types.ModuleType("rag_rule_place")


def in_the_class_of_a_module() -> Both:
    class Place(types.ModuleType):
        seen_two = True

    place = importlib.import_module("tests.integrations.noticing.place")
    HELD_OPEN.callback(setattr, place, "__class__", types.ModuleType)

    def mark() -> None:
        place.__class__ = Place

    return mark, lambda: getattr(place, "seen_two", False)


def in_how_a_module_finds_names() -> Both:
    place: Any = importlib.import_module("tests.integrations.noticing.place")
    HELD_OPEN.callback(lambda: vars(place).pop("__getattr__", None))

    def mark() -> None:
        place.__getattr__ = lambda name: name == "seen_two"

    return mark, lambda: getattr(place, "seen_two", False)


def in_the_class_of_a_made_module() -> Both:
    class Place(types.ModuleType):
        seen_two = True

    place = _place()

    def mark() -> None:
        place.__class__ = Place

    return mark, lambda: getattr(place, "seen_two", False)


def in_how_a_made_module_finds_names() -> Both:
    place = _place()

    def mark() -> None:
        place.__getattr__ = lambda name: name == "seen_two"

    return mark, lambda: getattr(place, "seen_two", False)


def in_how_a_class_finds_names() -> Both:
    class Box:
        pass

    held: Any = Box()

    def mark() -> None:
        kind: Any = Box
        kind.__getattr__ = lambda self, name: name == "seen_two"

    return mark, lambda: getattr(held, "seen_two", False)


def in_the_fields_of_a_record() -> Both:
    @dataclasses.dataclass
    class Box:
        size: int = 1

    kind: Any = Box

    def mark() -> None:
        kind.__dataclass_fields__.pop("size", None)

    return mark, lambda: not dataclasses.fields(Box)


def on_a_static_method() -> Both:
    class Box:
        @staticmethod
        def tell() -> int:
            return 1

    held: Any = vars(Box)["tell"]

    def mark() -> None:
        held.seen_two = True

    return mark, lambda: getattr(held, "seen_two", False)


def on_the_function_of_a_method() -> Both:
    class Box:
        def tell(self) -> int:
            return 1

    held: Any = Box().tell

    def mark() -> None:
        held.__func__.seen_two = True

    return mark, lambda: getattr(held, "seen_two", False)


def on_a_partial() -> Both:
    held: Any = functools.partial(print)

    def mark() -> None:
        held.seen_two = True

    return mark, lambda: getattr(held, "seen_two", False)


def in_the_state_of_a_partial() -> Both:
    held: Any = functools.partial(int, "7")

    def mark() -> None:
        held.__setstate__((int, ("9",), {}, {}))

    return mark, lambda: held() == 9


def in_a_caller_of_an_iterator() -> Both:
    held = types.SimpleNamespace(turns=iter([0, 1, 1, 1, 1] * 99))

    def turns() -> Iterator[int]:
        yield from held.turns

    kept = turns()
    state = [next(kept)]

    def mark() -> None:
        state[:] = [next(kept) or 1]

    return mark, lambda: state[0]


DESCRIBED: tuple[Callable[[], Both], ...] = tuple(
    each
    for name, each in list(globals().items())
    if isinstance(each, types.FunctionType) and not name.startswith("_") and each.__module__ == __name__
)
