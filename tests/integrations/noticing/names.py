"""Marks under names that code computes: in namespaces of modules, of classes and of the interpreter."""

import builtins
import importlib
import inspect
import json
import operator
import sys
from types import ModuleType
from typing import Any

from tests.integrations.leaving.parts import HELD_OPEN
from tests.integrations.noticing.modes import Mark

_PARTS = ("ever", "two")
_PLACE = "tests.integrations.noticing.place"


def _name() -> str:
    return "_".join(_PARTS)


def _undone(*spaces: Any) -> None:
    for space in spaces:
        space.pop(_name(), None)
        HELD_OPEN.callback(space.pop, _name(), None)


def in_globals() -> tuple[Mark, Mark]:
    _undone(globals())

    def mark() -> None:
        globals()[_name()] = True

    return mark, lambda: globals().get(_name())


def in_globals_by_update() -> tuple[Mark, Mark]:
    _undone(globals())
    return lambda: globals().update({_name(): True}), lambda: _name() in globals()


def in_globals_by_default() -> tuple[Mark, Mark]:
    _undone(globals())
    return lambda: globals().setdefault(_name(), True), lambda: _name() in globals()


def in_globals_by_operator() -> tuple[Mark, Mark]:
    _undone(globals())
    return lambda: operator.setitem(globals(), _name(), True), lambda: _name() in globals()


def in_globals_of_a_function() -> tuple[Mark, Mark]:
    _undone(globals())

    def mark() -> None:
        _name.__globals__[_name()] = True

    return mark, lambda: _name.__globals__.get(_name())


def in_globals_of_a_frame() -> tuple[Mark, Mark]:
    _undone(globals())

    def mark() -> None:
        inspect.stack()[0].frame.f_globals[_name()] = True

    return mark, lambda: vars(sys)["_getframe"]().f_globals.get(_name())


def by_code_that_is_executed() -> tuple[Mark, Mark]:
    _undone(globals())
    return (
        lambda: exec(f"{_name()} = True", globals()),  # noqa: S102 -- the case at hand
        lambda: eval(f"{_name()!r} in globals()"),  # noqa: S307 -- the case at hand
    )


def on_its_module() -> tuple[Mark, Mark]:
    _undone(globals())
    own = sys.modules[__name__]
    return lambda: setattr(own, _name(), True), lambda: getattr(own, _name(), False)


def on_its_module_by_name() -> tuple[Mark, Mark]:
    _undone(globals())
    return (
        lambda: setattr(sys.modules[__name__], _name(), True),
        lambda: hasattr(sys.modules[__name__], _name()),
    )


def in_the_dict_of_a_module() -> tuple[Mark, Mark]:
    place: Any = importlib.import_module(_PLACE)
    _undone(vars(place))

    def mark() -> None:
        sys.modules[_PLACE].__dict__[_name()] = True

    return mark, lambda: _name() in sys.modules[_PLACE].__dict__


def in_the_names_of_a_module() -> tuple[Mark, Mark]:
    place = importlib.import_module(_PLACE)
    _undone(vars(place))

    def mark() -> None:
        vars(place)[_name()] = True

    return mark, lambda: vars(place).get(_name())


def by_a_getter() -> tuple[Mark, Mark]:
    place: Any = importlib.import_module(_PLACE)
    setattr(place, _name(), False)
    HELD_OPEN.callback(setattr, place, _name(), False)
    return lambda: setattr(place, _name(), True), lambda: operator.attrgetter(_name())(place)


def in_an_imported_module() -> tuple[Mark, Mark]:
    _undone(vars(importlib.import_module(_PLACE)))

    def mark() -> None:
        setattr(importlib.import_module(_PLACE), _name(), True)

    return mark, lambda: hasattr(__import__(_PLACE, fromlist=["x"]), _name())


def in_a_librarys_module() -> tuple[Mark, Mark]:
    _undone(vars(json))
    return lambda: setattr(json, _name(), True), lambda: getattr(json, _name(), False)


def in_the_dict_of_a_librarys_module() -> tuple[Mark, Mark]:
    _undone(vars(json))

    def mark() -> None:
        json.__dict__[_name()] = True

    return mark, lambda: json.__dict__.get(_name())


def among_builtins() -> tuple[Mark, Mark]:
    _undone(vars(builtins))
    return lambda: setattr(builtins, _name(), True), lambda: hasattr(builtins, _name())


def on_the_interpreter() -> tuple[Mark, Mark]:
    _undone(vars(sys))
    return lambda: setattr(sys, _name(), True), lambda: getattr(sys, _name(), False)


def among_modules() -> tuple[Mark, Mark]:
    _undone(sys.modules)

    def mark() -> None:
        sys.modules[_name()] = ModuleType(_name())

    return mark, lambda: _name() in sys.modules


class Holder:
    """Has whatever code sets on it."""


def on_a_class() -> tuple[Mark, Mark]:
    def undo() -> None:
        if _name() in vars(Holder):
            delattr(Holder, _name())

    undo()
    HELD_OPEN.callback(undo)
    return lambda: setattr(Holder, _name(), True), lambda: _name() in Holder.__dict__


def on_an_object_past_its_class() -> tuple[Mark, Mark]:
    holder = Holder()
    return lambda: object.__setattr__(holder, _name(), True), lambda: _name() in holder.__dict__


def on_a_function() -> tuple[Mark, Mark]:
    def holder() -> None:
        pass

    return lambda: setattr(holder, _name(), True), lambda: getattr(holder, _name(), False)


def in_a_namespace_of_code() -> tuple[Mark, Mark]:
    space = dict[str, Any]()
    return (
        lambda: exec(f"{_name()} = 1", space),  # noqa: S102 -- the case at hand
        lambda: eval(f"{_name()!r} in globals()", space),  # noqa: S307 -- the case at hand
    )


NAMES = (
    in_globals,
    in_globals_by_update,
    in_globals_by_default,
    in_globals_by_operator,
    in_globals_of_a_function,
    in_globals_of_a_frame,
    by_code_that_is_executed,
    on_its_module,
    on_its_module_by_name,
    in_the_dict_of_a_module,
    in_the_names_of_a_module,
    by_a_getter,
    in_an_imported_module,
    in_a_librarys_module,
    in_the_dict_of_a_librarys_module,
    among_builtins,
    on_the_interpreter,
    among_modules,
    on_a_class,
    on_an_object_past_its_class,
    on_a_function,
    in_a_namespace_of_code,
)
