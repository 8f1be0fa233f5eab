"""This module recognises whether two conditions are the same, where their words do not tell: two
functions may be worded alike."""

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import partial
from hashlib import sha256
from types import CodeType, FunctionType, MethodType
from typing import Any, cast

from ..instrumentation.copies.copying import is_filled

_DEEPEST = 8


def definition_of(conditions: object) -> str:
    """Returns a text that differs if a text, a number or the code of a function in the conditions does.
    Of other objects, such as the client of a judge, only the type counts, so that the text is the same in
    each run of a program. The code of functions may differ between versions of Python."""
    told = json.dumps(_told(conditions, _DEEPEST))
    return sha256(told.encode("ascii")).hexdigest()[:16]


def _told(value: Any, depth: int) -> Any:
    if isinstance(value, (str, int, float, bytes, bool, type(None))):
        return ascii(value)
    if depth:
        if isinstance(value, (list, tuple)):
            return [_told(each, depth - 1) for each in cast("list[Any]", value)]
        if isinstance(value, Mapping):
            items = cast("Mapping[Any, Any]", value).items()
            return {ascii(name): _told(each, depth - 1) for name, each in items if isinstance(name, str)}
        inside = _parts(value)
        if inside is not None:
            return [type(value).__qualname__, *(_told(each, depth - 1) for each in inside)]
    return type(value).__qualname__


def _parts(value: Any) -> list[Any] | None:
    """Returns what a function or a dataclass is made of; None for anything else."""
    if isinstance(value, partial):
        whole = cast("partial[Any]", value)
        return [whole.func, whole.args, whole.keywords]
    if isinstance(value, MethodType):
        return [value.__func__, value.__self__]
    if isinstance(value, FunctionType):
        enclosed = [each.cell_contents for each in value.__closure__ or () if is_filled(each)]
        return [value.__code__, enclosed, value.__defaults__, value.__kwdefaults__]
    if isinstance(value, CodeType):
        # The file and the lines are left out: they say nothing about what the code does.
        return [value.co_code, value.co_names, value.co_consts]
    if is_dataclass(value) and not isinstance(value, type):
        own = cast("Any", value)
        return [getattr(own, each.name) for each in fields(own) if each.init]
    return None
