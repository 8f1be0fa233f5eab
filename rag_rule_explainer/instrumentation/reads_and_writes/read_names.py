"""This module finds the names by which code reads variables: its own, and those that it gives as texts,
such as in ``globals()["seen"]`` or ``os.environ["USER"]``."""

import dis
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from types import CodeType
from typing import Any, NamedTuple, cast

from .changed_in_place import ADDING
from .names_changed import names_changed
from .object_uses import hand_overs, steps_in, uses_of_first, uses_of_named, uses_without_name

_OF_NAMES = ("LOAD_ATTR", "LOAD_METHOD", "LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF", "LOAD_CLASSDEREF")
_BY_ATTRIBUTE = ("LOAD_ATTR", "LOAD_METHOD", "STORE_ATTR", "DELETE_ATTR")
METHODS_THAT_ADD = ADDING | {"write", "writelines", "put", "put_nowait", "set", "clear"}
_OF_TEXTS = frozenset(
    {
        *(
            "globals",
            "vars",
            "locals",
            "getattr",
            "attrgetter",
            "methodcaller",
            "__dict__",
            "__getattribute__",
        ),
        *("modules", "import_module", "__import__", "eval", "exec", "setattr", "delattr"),
    }
)
"""The names by which code reads variables whose names are texts."""
_OF_ANY = frozenset({"globals", "vars", "__dict__", "eval", "exec"})
"""Code that uses one of these names may read any variable of a module."""
_OF_ATTRIBUTES = frozenset(
    {"getattr", "setattr", "delattr", "attrgetter", "methodcaller", "__getattribute__"}
)
_CALLS = ("PRECALL", "CALL", "CALL_FUNCTION", "CALL_METHOD", "CALL_KW", "KW_NAMES")
_ENVIRONMENT = frozenset({"environ", "environb", "getenv", "getenvb"})
_LONGEST = 1_000
"""The largest length of a text that may be a name or a path."""
_CALLING = ("PUSH_NULL", "PRECALL", "CALL", "CALL_FUNCTION", "CALL_METHOD", "LOAD_ATTR", "LOAD_METHOD")
_USING = ("BINARY_SUBSCR", "STORE_SUBSCR", "DELETE_SUBSCR", "PRECALL", "CALL", "KW_NAMES")
ANY_VARIABLE = ""
"""The name of an environment variable that may be any."""


class NamedVariable(NamedTuple):
    """A ``NamedVariable`` is an environment variable that code reads. ``name``: ``ANY_VARIABLE`` if it is
    not known; ``is_global``: True if it is that of the global variable that holds the name."""

    name: str
    is_global: bool = False


class CodeNames(NamedTuple):
    """A ``CodeNames`` holds the names in code. ``named``: all of them; ``read``: those that it reads;
    ``whole``: those that it uses otherwise than by an attribute, as in ``f"{session}"`` or
    ``asdict(session)``, so that it may read all of the object. ``texts``: the texts in the code;
    ``environment``: the environment variables that it reads; ``is_any``: True if it may read any variable
    of a module; ``is_computed``: True if it may read any attribute of an object, as its name is no text
    in the code. ``of_named``: pairs of the name of an object and a use of it, as ``uses_of_named``
    says; ``of_first``: those of the first argument, as ``uses_of_first`` says; ``of_unnamed``: those of
    objects that have no name, as ``uses_without_name`` says; ``handed``: what it hands on, as
    ``hand_overs`` says; ``changed``: the names of objects that it seems to change, as ``names_changed``
    says."""

    named: frozenset[str] = frozenset()
    read: frozenset[str] = frozenset()
    whole: frozenset[str] = frozenset()
    texts: frozenset[str] = frozenset()
    environment: frozenset[NamedVariable] = frozenset()
    is_any: bool = False
    is_computed: bool = False
    of_named: frozenset[tuple[str, str]] = frozenset()
    of_first: frozenset[str] = frozenset()
    of_unnamed: frozenset[tuple[str, str]] = frozenset()
    handed: frozenset[tuple[str, str]] = frozenset()
    changed: frozenset[str] = frozenset()

    def __or__(self, other: "CodeNames") -> "CodeNames":
        return CodeNames(
            self.named | other.named,
            self.read | other.read,
            self.whole | other.whole,
            self.texts | other.texts,
            self.environment | other.environment,
            self.is_any or other.is_any,
            self.is_computed or other.is_computed,
            self.of_named | other.of_named,
            self.of_first | other.of_first,
            self.of_unnamed | other.of_unnamed,
            self.handed | other.handed,
            self.changed | other.changed,
        )


@lru_cache(maxsize=2_048)
def names_in_code(code: CodeType) -> CodeNames:
    """Returns the names in code, and in the code of the functions that are defined there."""
    steps = steps_in(code)
    named, read, whole = {*code.co_names, *code.co_freevars}, set[str](), set[str]()
    texts = {each for each in code.co_consts if isinstance(each, str) and len(each) <= _LONGEST}
    for place, step in enumerate(steps):
        if step.opname in _OF_NAMES and not _only_changes(steps, place):
            read.add(str(step.argval))
            after = steps[min(place + 1, len(steps) - 1)]
            whole |= set() if after.opname in _BY_ATTRIBUTE else {str(step.argval)}
    if not named.isdisjoint(_OF_TEXTS):
        given = {part for each in texts for part in each.split(".") if part.isidentifier()}
        named, read = named | given, read | given
    matched = set(_in_patterns(steps))
    named, read = named | matched, read | matched
    environment = frozenset(_environment_in(steps))
    is_any = any(_is_any(steps, place) for place, step in enumerate(steps) if step.argval in _OF_ANY)
    texts, whole = frozenset(texts), frozenset(whole)
    is_computed = any(_is_computed(steps, place) for place in range(len(steps)))
    found = CodeNames(frozenset(named), frozenset(read), whole, texts, environment, is_any, is_computed)
    found = found._replace(
        of_named=frozenset(uses_of_named(steps, _OF_NAMES)),
        of_first=frozenset(uses_of_first(code, steps)),
        of_unnamed=frozenset(uses_without_name(code, steps, _OF_NAMES)),
        handed=frozenset(hand_overs(code, steps, _OF_NAMES)),
        changed=frozenset(names_changed(steps, _OF_NAMES)),
    )
    for each in _inner(code):
        inner = names_in_code(each)
        # A function that is defined in a method may use the method's first argument.
        of_first = {use for owner, use in inner.of_named if (owner,) == code.co_varnames[:1]}
        found |= inner._replace(of_first=frozenset(of_first))
    return found


def _in_patterns(steps: Sequence[dis.Instruction]) -> Iterator[str]:
    """Yields the attributes that the patterns of ``match`` look at."""
    for before, step in pairwise(steps):
        if step.opname == "MATCH_CLASS":
            yield from map(str, cast("tuple[Any, ...]", before.argval))


def _is_any(steps: Sequence[dis.Instruction], place: int) -> bool:
    """Returns True iff the name after ``globals()`` or the like is no text in the code."""
    following = _key_after(steps, place)
    if steps[place].argval not in ("globals", "__dict__"):
        return not any(isinstance(each.argval, str) and each.opname == "LOAD_CONST" for each in steps)
    return following is None or not _is_text(following)


def _is_computed(steps: Sequence[dis.Instruction], place: int) -> bool:
    """Returns True iff an instruction loads a function that gets an attribute by a name that is no text
    in the code."""
    if steps[place].argval not in _OF_ATTRIBUTES or steps[place].opname not in _OF_NAMES:
        return False
    rest = steps[place + 1 :]
    called = next((number for number, each in enumerate(rest) if each.opname in _CALLS), 0)
    # Before the call, there is the name, or the name and one more value.
    *name, last = rest[max(called - 2, 0) : max(called, 1)]
    return not (_is_text(last) or (last.opname.startswith("LOAD") and any(map(_is_text, name))))


def _key_after(steps: Sequence[dis.Instruction], place: int) -> dis.Instruction | None:
    """Returns the instruction that loads the key after a name; None if the key is put together."""
    left = (each for each in range(place + 1, len(steps)) if steps[each].opname not in _CALLING)
    key = next(left, len(steps))
    after = [each.opname for each in steps[key + 1 : key + 3]]
    has_default = after[:1] == ["LOAD_CONST"] and after[1:] != [] and after[1].startswith(_USING)
    return steps[key] if after and (has_default or after[0].startswith(_USING)) else None


def _is_text(step: dis.Instruction) -> bool:
    return step.opname == "LOAD_CONST" and isinstance(step.argval, str)


def _environment_in(steps: Sequence[dis.Instruction]) -> Iterator[NamedVariable]:
    for place, step in enumerate(steps):
        if step.argval not in _ENVIRONMENT or step.opname not in _OF_NAMES:
            continue
        after = steps[place + 1 : place + 4]
        if after and after[0].opname in _BY_ATTRIBUTE and after[0].argval in ADDING:
            continue
        is_asked = bool(after) and after[0].opname == "CONTAINS_OP"
        key = _text_before(steps, place) if is_asked else _key_after(steps, place)
        if key is not None and len(after) > 1 and after[1].opname in ("STORE_SUBSCR", "DELETE_SUBSCR"):
            continue
        if key is not None and _is_text(key):
            yield NamedVariable(key.argval)
        elif key is not None and key.opname == "LOAD_GLOBAL":
            yield NamedVariable(str(key.argval), is_global=True)
        else:
            yield NamedVariable(ANY_VARIABLE)


def _text_before(steps: Sequence[dis.Instruction], place: int) -> dis.Instruction | None:
    before: Any = reversed(steps[max(place - 3, 0) : place])
    return next((each for each in before if _is_text(each)), None)


def _inner(code: CodeType) -> Iterator[CodeType]:
    yield from (each for each in code.co_consts if isinstance(each, CodeType))


def _only_changes(steps: list[dis.Instruction], place: int) -> bool:
    """Returns True iff the value that an instruction loads is only changed: an entry of it is set, or
    something is added to it."""
    step = steps[place]
    if _adds_to_entry(steps, place):
        return True
    before, after = steps[max(place - 1, 0)], steps[min(place + 1, len(steps) - 1)]
    second = steps[min(place + 2, len(steps) - 1)]
    if after.opname in ("LOAD_ATTR", "LOAD_METHOD") and after.argval in METHODS_THAT_ADD:
        return True
    if second.opname == "STORE_SUBSCR":
        return True
    if step.opname == "LOAD_ATTR" and before.opname in ("COPY", "DUP_TOP"):
        return _is_in_place(second)
    return step.opname in ("LOAD_DEREF", "LOAD_GLOBAL") and _is_in_place(second)


def _adds_to_entry(steps: list[dis.Instruction], place: int) -> bool:
    """Returns True iff the value that an instruction loads gets another value under one key, such as
    ``counts[name] += 1``."""
    doubling = [each.opname for each in steps[place + 2 : place + 4]]
    if doubling[:1] != ["DUP_TOP_TWO"] and doubling != ["COPY", "COPY"]:
        return False
    rest = steps[place + 3 : place + 16]
    added = next((number for number, each in enumerate(rest) if _is_in_place(each)), len(rest))
    return any(each.opname == "STORE_SUBSCR" for each in rest[added : added + 4])


def _is_in_place(step: dis.Instruction) -> bool:
    return step.opname.startswith("INPLACE_") or (
        step.opname == "BINARY_OP" and step.argrepr.endswith("=")
    )
