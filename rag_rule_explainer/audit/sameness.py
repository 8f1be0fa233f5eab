"""This module recognises whether two runs of an audit have the same conditions, application and
settings.

It compares the code of conditions, too, because two functions may have the same description in words.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from datetime import date, time, timedelta
from decimal import Decimal
from dis import get_instructions
from enum import Enum
from functools import lru_cache, partial
from hashlib import sha256
from pathlib import PurePath
from types import BuiltinMethodType, CodeType, FunctionType, MethodType
from typing import Any, cast

from ..allowed import brief
from ..explainer import Explainer
from ..instrumentation.copies.copying import is_filled
from ..predicates import Predicate
from ..predicates.combine import Function
from ..settings import Settings
from .engine import AuditJob
from .objects import codes_in, made_of, members_of, module_of, stored_by

_DEEPEST = 8
_OWN = f"{__name__.partition('.')[0]}."
"""The prefix of the names of this package's modules. The conditions that they define are dataclasses."""
_CACHED = type(lru_cache(lambda: None))
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
_DECIDES_NO_RULE = frozenset(
    {
        *("store", "concurrency", "timeout", "retries", "prices", "speculate", "lockstep"),
        *("reuse_answers", "false_condition", "rules", "settings", "progress", "limiter"),
        *("trace_replays", "print_replays", "omission_predicate", "question_of", "answer_of"),
    }
)
"""The names of settings that do not change which rules are found, or that an audit always sets itself.
They are left out of the comparison of two runs."""


def definition_of(conditions: object) -> str:
    """Returns a text that changes if the conditions change, so that a later run can notice the change.

    The text depends on the texts, numbers, patterns and codes of functions in the conditions. It also
    depends on the globals of their modules that these functions use, and on the arguments with which
    objects of classes of these modules were made. Of other objects, such as the client of a judge, only
    the type counts, so that the text is the same in each run of a program. The code of functions, and so
    the text, may differ between versions of Python.
    """
    data = json.dumps(_Reading().data(conditions, _DEEPEST))
    return sha256(data.encode("ascii")).hexdigest()[:16]


def application_of(job: AuditJob) -> str:
    """Returns a text that identifies an application: the name that was given for it; or a function's
    name and a hash of its code; or the name of an object's type.

    If the store has a namespace, the text ends with it, because it names the version of the application.
    The content of an object, such as its model, has no influence, because it may change while the
    application runs.
    """
    application = job.application
    if isinstance(application, Explainer):
        application = application.replay
    inner: Any = getattr(application, "__func__", application)
    if isinstance(application, str):
        named = application
    elif isinstance(inner, FunctionType):
        named = f"{inner.__qualname__} ({definition_of(inner.__code__)})"
    else:
        named = type(inner).__qualname__
    store = _settings_of(job).store
    version = None if store is None else store.namespace
    return named if version is None else f"{named}, {version}"


def settings_of(job: AuditJob) -> dict[str, str]:
    """Returns the names of the application and of the settings that decide which rules are found, each
    with its value in words."""
    settings = _settings_of(job)
    found = {each.name: getattr(settings, each.name) for each in fields(settings)}
    found |= {name: value for name, value in job.options.items() if name not in found}
    said = {
        name: _ADDRESS.sub("", brief(value))
        for name, value in found.items()
        if name not in _DECIDES_NO_RULE
    }
    return {"application": application_of(job), **said}


def _settings_of(job: AuditJob) -> Settings:
    if isinstance(job.application, Explainer):
        return job.application.settings
    own: Any = {
        name: value for name, value in job.options.items() if name in Settings.__dataclass_fields__
    }
    return Settings.of(job.options.get("settings"), own)


_SIMPLE = (
    str,
    int,
    float,
    complex,
    bytes,
    bool,
    type(None),
    Decimal,
    date,
    time,
    timedelta,
    Enum,
    PurePath,
)


@dataclass(slots=True)
class _Reading:
    """A ``_Reading`` describes a value as JSON data, so that two runs can compare it.

    ``_read``: the functions, classes and objects that were described so far; because they may refer to
    each other, each is described once. ``_near``: the modules of the conditions. Other modules belong to
    libraries; of their objects, only the type counts. ``_changed``: the attributes that functions set.
    """

    _read: dict[int, object] = field(default_factory=dict[int, object])
    _near: set[str] = field(default_factory=set[str])
    _changed: set[str] = field(default_factory=set[str])

    def data(self, value: Any, depth: int) -> Any:
        if isinstance(value, _SIMPLE):
            return ascii(value)
        if depth:
            if isinstance(value, (list, tuple)):
                return [self.data(each, depth - 1) for each in cast("list[Any]", value)]
            if isinstance(value, (set, frozenset)):
                # The order of a set differs between runs, so its items are sorted.
                within = [self.data(each, depth - 1) for each in cast("set[Any]", value)]
                return sorted(within, key=json.dumps)
            if isinstance(value, Mapping):
                items = cast("Mapping[Any, Any]", value).items()
                named = ((ascii(name), each) for name, each in items if isinstance(name, _SIMPLE))
                return {name: self.data(each, depth - 1) for name, each in named}
            inside = self._parts(value)
            if inside is not None:
                return [type(value).__qualname__, *(self.data(each, depth - 1) for each in inside)]
        return type(value).__qualname__

    def _parts(self, value: Any) -> list[Any] | None:
        """Returns the description of a function, a dataclass or an object of a user's class; None for any
        other value."""
        if isinstance(value, Function):
            self._near.add(_module_of_call(value.function))
        elif isinstance(value, Predicate) and not module_of(value).startswith(_OWN):
            self._near.add(module_of(value))
        if isinstance(value, MethodType) and module_of(value.__self__) in self._near:
            name = value.__func__.__name__
            return [name, *self._once(value.__self__, name)]
        if isinstance(value, FunctionType):
            return self._once(value)
        if isinstance(value, _CACHED):
            return [value.__wrapped__]
        if isinstance(value, type):
            own = cast("object", value)
            return self._once(own) if module_of(own) in self._near else None
        if module_of(value) in self._near - {"builtins"}:
            return self._once(value, "__call__" if callable(value) else None)
        return _parts_of(value)

    def _once(self, value: Any, entry: str | None = None) -> list[Any]:
        """Returns the description of a function, a class or an object. If it was described before,
        returns only the name of the function or class; for an object, the name of its class. ``entry``:
        the method that is called on the object; None if any may be called."""
        if id(value) in self._read:
            return [getattr(value, "__qualname__", type(value).__qualname__)]
        self._read[id(value)] = value
        if isinstance(value, type):
            return [value.__qualname__, members_of(value)]
        if not isinstance(value, FunctionType):
            return made_of(value, entry, self._changed)
        self._near.add(module_of(value))
        is_method = "." in value.__qualname__.rpartition("<locals>.")[2]
        for code in () if is_method else codes_in(value.__code__):
            self._changed.update(stored_by(code))
        enclosed = [each.cell_contents for each in value.__closure__ or () if is_filled(each)]
        used = {name: each for name, each in _globals_of(value) if _is_compared(each, value)}
        return [value.__code__, enclosed, value.__defaults__, value.__kwdefaults__, used]


def _is_compared(used: object, function: FunctionType) -> bool:
    """Returns True iff a global that a function uses belongs to the description of the function: if it is
    a value that can be compared, or a function, a class or an object of the same module."""
    is_value = isinstance(used, (*_SIMPLE, list, tuple, set, frozenset, dict, re.Pattern))
    return is_value or module_of(used) == function.__module__


def _module_of_call(function: object) -> str:
    while isinstance(function, partial):
        function = cast("partial[Any]", function).func
    return module_of(function)


def _parts_of(value: Any) -> list[Any] | None:
    if isinstance(value, partial):
        whole = cast("partial[Any]", value)
        return [whole.func, whole.args, whole.keywords]
    if isinstance(value, (MethodType, BuiltinMethodType)):
        return [getattr(value, "__func__", value.__name__), value.__self__]
    if isinstance(value, CodeType):
        # The file and the line numbers are left out, because they say nothing about what the code does.
        return [value.co_code, value.co_names, value.co_consts]
    if isinstance(value, re.Pattern):
        pattern = cast("re.Pattern[Any]", value)
        return [pattern.pattern, pattern.flags]
    if is_dataclass(value) and not isinstance(value, type):
        own = cast("Any", value)
        return [getattr(own, each.name) for each in fields(own) if each.init]
    return None


def _globals_of(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """Yields the globals that a function uses, with their names. A global that the function itself sets,
    such as a counter, is left out."""
    used, own = set[str](), set[str]()
    for code in codes_in(function.__code__):
        used.update(code.co_names)
        own.update(str(each.argval) for each in get_instructions(code) if each.opname == "STORE_GLOBAL")
    for name in sorted(used - own):
        if name in function.__globals__:
            yield name, function.__globals__[name]
