"""This module finds how code uses objects: which attributes it loads of each, or whether it uses one as a
whole."""

import inspect
from collections.abc import Collection, Iterator, Sequence
from dis import Instruction, get_instructions
from itertools import pairwise
from types import CodeType
from typing import cast

_BY_ATTRIBUTE = ("LOAD_ATTR", "LOAD_METHOD", "STORE_ATTR", "DELETE_ATTR")
_FORMATTING = ("FORMAT_VALUE", "CONVERT_VALUE", "FORMAT_SIMPLE", "FORMAT_WITH_SPEC")
_OF_TWO = {
    "LOAD_FAST_LOAD_FAST": ("LOAD_FAST", "LOAD_FAST"),
    "STORE_FAST_LOAD_FAST": ("STORE_FAST", "LOAD_FAST"),
    "STORE_FAST_STORE_FAST": ("STORE_FAST", "STORE_FAST"),
}
_READERS = frozenset(
    {
        *("str", "repr", "format", "print", "vars", "hash", "asdict", "astuple", "copy", "deepcopy"),
        *("dumps", "dump", "pformat", "pprint", "to_jsonable_python", "jsonable_encoder", "unstructure"),
    }
)
"""The names of functions that read all of the object that they are given first."""
_DOUBLING = ("COPY", "DUP_TOP")
_BETWEEN = ("PUSH_NULL", "COPY", "PRECALL")
_ENDING = ("POP_", "STORE_", "RETURN_", "YIELD_", "GET_", "FOR_", "JUMP_", "COPY", "DUP_TOP")
"""The beginnings of the names of instructions that end a call, or give what they get to no call."""
ANYWHERE = ""
"""This stands for a function that is not known."""
WHOLE = "the whole"
"""This use is any other than by an attribute. The code that gets the object says what it reads of it."""
ALL_OF_IT = "everything"
"""This use is one that reads all of the object."""


def steps_in(code: CodeType) -> list[Instruction]:
    """Returns the instructions of code, those of Python 3.13 that use two variables as two of them."""
    steps = list[Instruction]()
    for each in get_instructions(code):
        if each.opname in _OF_TWO:
            names = zip(_OF_TWO[each.opname], cast("tuple[str, str]", each.argval), strict=True)
            steps += (each._replace(opname=opname, argval=name) for opname, name in names)
        elif each.opname != "CACHE":
            steps.append(each)
    return steps


def uses_of_named(steps: Sequence[Instruction], of_names: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yields the names of objects, each with an attribute that code loads of it, or ``ALL_OF_IT``.
    ``of_names``: the instructions that load an object by its name."""
    names = dict[str, str]()  # of the variables that hold an object which has another name
    for place, (step, after) in enumerate(pairwise(steps)):
        is_local = step.opname == "LOAD_FAST" and step.argval in names
        if step.opname not in of_names and not is_local:
            continue
        name = names[step.argval] if is_local else str(step.argval)
        stored = steps[place + 2] if after.opname in _DOUBLING and place + 2 < len(steps) else after
        if stored.opname == "STORE_FAST":
            names[stored.argval] = name
        use = _use(steps, place, after)
        if use != WHOLE:
            yield name, use


def uses_of_first(code: CodeType, steps: Sequence[Instruction]) -> Iterator[str]:
    """Yields the attributes that code loads of its first argument, ``ALL_OF_IT``, and ``WHOLE``."""
    first = code.co_varnames[:1]
    for place, (step, after) in enumerate(pairwise(steps)):
        if (step.argval,) == first and step.opname.startswith("LOAD_") and not _is_cell(code, step):
            yield _use(steps, place, after)
    if "super" in code.co_names:
        yield from code.co_names


def uses_without_name(
    code: CodeType, steps: Sequence[Instruction], of_names: Collection[str]
) -> Iterator[tuple[str, str]]:
    """Yields the attributes that code loads of objects that have no name there, and ``ALL_OF_IT``, each
    after the name of the function if it is its argument, else after ``ANYWHERE``."""
    arguments = _arguments(code)
    is_lambda = code.co_name.startswith("<")
    for place, (step, after) in enumerate(pairwise(steps)):
        use = WHOLE if step.opname in of_names else _use(steps, place, after)
        if use != WHOLE:
            is_argument = step.argval in arguments and not is_lambda
            yield code.co_name if is_argument else ANYWHERE, use


def hand_overs(
    code: CodeType, steps: Sequence[Instruction], of_names: Collection[str]
) -> Iterator[tuple[str, str]]:
    """Yields the names of objects that code hands on as a whole, each with that of a function that may
    get it, or with ``ANYWHERE`` if it is no argument of a call. An argument is named as ``argument_of``
    says."""
    arguments, called = _arguments(code), list[str]()
    for place, (step, after) in enumerate(pairwise(steps)):
        is_argument = step.argval in arguments and step.opname == "LOAD_FAST" and not _is_cell(code, step)
        if (step.opname in of_names or is_argument) and _use(steps, place, after) == WHOLE:
            name = argument_of(code.co_name) if is_argument else str(step.argval)
            is_given = bool(called) and not after.opname.startswith(_ENDING)
            yield from ((name, each) for each in (called if is_given else (ANYWHERE,)))
        if step.opname in of_names or step.opname in _BY_ATTRIBUTE:
            called.append(str(step.argval))
        elif step.opname.startswith(_ENDING):
            called.clear()


def argument_of(function: str) -> str:
    """Returns what stands for the arguments of a function of this name in ``hand_overs``."""
    return f"{function}()"


def _is_cell(code: CodeType, step: Instruction) -> bool:
    """Returns True iff an instruction loads the cell of a variable, for a function that encloses it."""
    return step.opname == "LOAD_CLOSURE" or (
        step.opname == "LOAD_FAST" and step.argval in code.co_cellvars
    )


def _arguments(code: CodeType) -> tuple[str, ...]:
    further = bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount + further]


def _use(steps: Sequence[Instruction], place: int, after: Instruction) -> str:
    if after.opname in _DOUBLING and place + 2 < len(steps):  # as in ``self.count += 1``
        after = steps[place + 2]
    if after.opname in _BY_ATTRIBUTE:
        return ALL_OF_IT if after.argval == "__dict__" else str(after.argval)
    left = (each for each in reversed(steps[:place]) if each.opname not in _BETWEEN)
    before = next(left, None)
    is_given_first = before is not None and before.opname.startswith("LOAD_")
    is_read = is_given_first and before is not None and str(before.argval) in _READERS
    return ALL_OF_IT if is_read or after.opname in _FORMATTING else WHOLE
