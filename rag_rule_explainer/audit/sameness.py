"""This module recognises whether two runs of an audit have the same conditions, application and settings.
The words of conditions do not show it, because two functions may be worded alike."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from datetime import date, time, timedelta
from decimal import Decimal
from dis import get_instructions
from enum import Enum
from functools import partial
from hashlib import sha256
from pathlib import PurePath
from types import CodeType, FunctionType, MethodType
from typing import Any, cast

from ..allowed import brief
from ..explainer import Explainer
from ..instrumentation.copies.copying import is_filled
from ..predicates.combine import Function
from ..settings import Settings
from .engine import AuditJob

_DEEPEST = 8
_SETTING = frozenset({"__init__", "__post_init__", "__new__"})
"""Methods that set what an object is made of."""
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
_DECIDES_NO_RULE = frozenset(
    {
        *("store", "concurrency", "timeout", "retries", "prices", "speculate", "lockstep"),
        *("reuse_answers", "false_condition", "rules", "settings", "progress", "limiter"),
        *("trace_replays", "print_replays", "omission_predicate", "question_of", "answer_of"),
    }
)
"""The names of settings that do not change which rules are found, or that an audit always sets itself."""


def definition_of(conditions: object) -> str:
    """Returns a text by which a later run recognises that the conditions have changed.

    It depends on the texts, numbers, patterns and codes of functions in the conditions, and on those
    globals of the functions' modules that they use. Of other objects, such as the client of a judge, it
    depends only on the type, so that it is the same in each run of a program. The code of functions, and
    with it the text, may differ between versions of Python.
    """
    data = json.dumps(_Reading().data(conditions, _DEEPEST))
    return sha256(data.encode("ascii")).hexdigest()[:16]


def application_of(job: AuditJob) -> str:
    """Returns a text that identifies an application: its name as it was given, or the name of its type;
    then the code of a function, and the namespace of its store, which names its version. What is inside
    of an object, such as its model, is not looked at: it may change while the application runs."""
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
    """Returns in words the application, and the settings that decide which rules are found."""
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
    """A ``_Reading`` makes data for JSON of one value. ``_functions``: the functions that were read. None
    is read again, because functions may use each other."""

    _functions: set[FunctionType] = field(default_factory=set[FunctionType])

    def data(self, value: Any, depth: int) -> Any:
        if isinstance(value, _SIMPLE):
            return ascii(value)
        if depth:
            if isinstance(value, (list, tuple)):
                return [self.data(each, depth - 1) for each in cast("list[Any]", value)]
            if isinstance(value, (set, frozenset)):
                # Their order differs between runs.
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
        """Returns what a function or a dataclass is made of; None for anything else."""
        if isinstance(value, Function) and (parts := _parts_of_object(value.function)) is not None:
            return [*parts, value.text, value.remembered_as]
        if not isinstance(value, FunctionType):
            return _parts_of(value)
        if value in self._functions:
            return [value.__qualname__]
        self._functions.add(value)
        enclosed = [each.cell_contents for each in value.__closure__ or () if is_filled(each)]
        used = dict(_globals_of(value))
        return [value.__code__, enclosed, value.__defaults__, value.__kwdefaults__, used]


def _parts_of(value: Any) -> list[Any] | None:
    if isinstance(value, partial):
        whole = cast("partial[Any]", value)
        return [whole.func, whole.args, whole.keywords]
    if isinstance(value, MethodType):
        return [value.__func__, value.__self__]
    if isinstance(value, CodeType):
        # The file and the lines are left out: they say nothing about what the code does.
        return [value.co_code, value.co_names, value.co_consts]
    if isinstance(value, re.Pattern):
        pattern = cast("re.Pattern[Any]", value)
        return [pattern.pattern, pattern.flags]
    if is_dataclass(value) and not isinstance(value, type):
        own = cast("Any", value)
        return [getattr(own, each.name) for each in fields(own) if each.init]
    return None


def _parts_of_object(value: object) -> list[Any] | None:
    """Returns the code and the settings of an object of a user's class that is a condition; None for
    anything else. An attribute that its methods set, such as a counter, is no setting."""
    if is_dataclass(value) or isinstance(value, FunctionType):
        return None
    methods = {
        name: each
        for kind in reversed(type(value).__mro__)
        for name, each in vars(kind).items()
        if isinstance(each, FunctionType)
    }
    if "__call__" not in methods:
        return None
    own = {
        str(each.argval)
        for name, method in methods.items()
        for code in _codes_in(method.__code__)
        for each in get_instructions(code)
        if each.opname == "STORE_ATTR" and name not in _SETTING
    }
    held: dict[str, Any] = getattr(value, "__dict__", {})
    settings = {name: each for name, each in held.items() if name not in own and _is_setting(each)}
    return [methods, settings]


def _is_setting(value: object) -> bool:
    if isinstance(value, list):
        return all(isinstance(each, str) for each in cast("list[object]", value))
    return isinstance(value, (*_SIMPLE, re.Pattern, tuple, frozenset, FunctionType))


def _globals_of(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """Yields the globals that a function uses, with their names: values that can be compared, and
    functions of the same module. One that the function itself sets, such as a counter, is no part of
    what it is."""
    used, own = set[str](), set[str]()
    for code in _codes_in(function.__code__):
        used.update(code.co_names)
        own.update(str(each.argval) for each in get_instructions(code) if each.opname == "STORE_GLOBAL")
    for name in sorted(used - own):
        value = function.__globals__.get(name)
        is_near = isinstance(value, FunctionType) and value.__module__ == function.__module__
        if is_near or isinstance(value, (*_SIMPLE, list, tuple, set, frozenset, dict, re.Pattern)):
            yield name, value


def _codes_in(code: CodeType) -> Iterator[CodeType]:
    yield code
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from _codes_in(each)
