"""This module finds what a tool changes in place in the baseline: an object that it was given, or one
that it encloses or is a method of, and that the run itself has made. No replay runs the tool, so the
change is missing there, and code that reads the object may do something else.

Objects that were there before the run are left to the state watch.
"""

import dis
import gc
import sys
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from contextvars import ContextVar
from functools import partial
from itertools import pairwise
from sqlite3 import Connection
from types import CellType, CodeType, CoroutineType, FrameType, FunctionType, GeneratorType, MethodType
from typing import Any, NamedTuple, cast

from ...probing.whose import is_users
from ..copies.guarded_code import own_code
from ..rewinding.values import held_by
from .methods_used import uses_any

_MOST = 5_000
"""The largest number of objects that are looked at."""
_LEFT_OUT = frozenset({"callbacks", "config", "stream_writer", "store", "configurable"})
"""The names of fields by which frameworks hand over their own objects, which every call changes."""
_OF_ATTRIBUTES = ("LOAD_ATTR", "LOAD_METHOD", "STORE_ATTR")
_COLLECTIONS = (list, set, dict, deque, bytearray)
_LEADING = (CellType, ContextVar, FunctionType, MethodType, partial)
"""The types of what leads to an object that a tool may change."""
ADDING = frozenset({"append", "appendleft", "extend", "extendleft", "add", "insert", "update"})
"""The methods by which code adds to a collection without reading it: they return None."""
_LOADS = ("LOAD_FAST", "LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_NAME")


def kept_before(things: Iterable[object]) -> dict[int, Any]:
    """Returns the objects that these hold, at any depth, by their ids. They are kept alive, so that no
    later object gets one of the ids."""
    left, kept = list(things), dict[int, Any]()
    while left and len(kept) < 20 * _MOST:
        thing = left.pop()
        if id(thing) not in kept:
            kept[id(thing)] = thing
            left.extend(_held(thing) or ())
    return kept


class _Seen(NamedTuple):
    """A ``_Seen`` is an object as it was before a call. ``content``: what it held; ``above``: the objects
    by which it was reached; ``is_given``: True if it was an argument, or in one."""

    thing: Any
    content: tuple[Any, ...]
    above: tuple[Any, ...]
    is_given: bool


class BeforeCall:
    """A ``BeforeCall`` holds what a tool can reach before it is called. ``given``: its arguments;
    ``tool``: the tool, or its function; ``held``: the ids of the objects that were there before the
    run."""

    def __init__(self, given: object, tool: object, held: Collection[int]) -> None:
        self._tool, self._held = tool, held
        self._seen = dict[int, _Seen]()
        self._functions = list[FunctionType]()
        self._look(given, is_given=True)
        self._look(tool, is_given=False)

    def changed(self) -> bool:
        """Returns True iff the tool has changed one of the objects, and other code may read it."""
        changed = [each for each in self._seen.values() if not _are_same(each.content, _held(each.thing))]
        if any(each.is_given for each in changed):
            return True
        return any(self._is_read((*each.above, each.thing), _changed_names(each)) for each in changed)

    def _look(self, root: object, *, is_given: bool) -> None:
        left, looked = deque[tuple[Any, tuple[Any, ...]]]([(root, ())]), set(self._seen)
        while left and len(looked) < _MOST:
            thing, above = left.popleft()
            # A runtime has the tools of an agent. Their functions are replaced while a run goes on.
            is_tool = is_given and is_data_record(thing) and hasattr(thing, "invoke")
            content = None if id(thing) in looked or is_tool else _held(thing)
            if content is None:
                continue
            looked.add(id(thing))
            if isinstance(thing, FunctionType):
                self._functions.append(thing)
            if id(thing) not in self._held:
                self._seen[id(thing)] = _Seen(thing, content, above, is_given)
            elif is_given:
                continue
            left.extend((each, (*above, thing)) for each in content)

    def _is_read(self, chain: Sequence[Any], names: Collection[str]) -> bool:
        """Returns True iff code besides the tool's functions reads one of the objects of a chain.
        ``names``: the attributes of the last one that changed."""
        if any(isinstance(each, ContextVar) for each in chain):
            return True  # any code may ask a context variable
        ours = {own_code(each) for each in self._functions}
        of_cells = {name for each in chain if isinstance(each, CellType) for name in self._names_of(each)}
        parts = [each for each in chain if each is not self._tool and not isinstance(each, _LEADING)]
        wanted = _Wanted(
            frozenset(map(id, parts)),
            frozenset(of_cells),
            frozenset(id(each) for each in parts if id(each) in self._held),
            frozenset(each.co_name for each in ours),
            frozenset((id(chain[-1]), name) for name in names),
        )
        readers = _readers(chain)
        return any(code not in ours and wanted.is_read_by(code, variables) for code, variables in readers)

    def _names_of(self, cell: CellType) -> Iterator[str]:
        for each in self._functions:
            named = zip(own_code(each).co_freevars, each.__closure__ or (), strict=False)
            yield from (name for name, own in named if own is cell)


class _Wanted(NamedTuple):
    """A ``_Wanted`` says which variables of code count. ``ids``: those of the objects that they may hold;
    ``cells``: the names of those that a tool's function shares. ``held``: the ids of objects that were
    there before the run; only an attribute counts that is one of the objects. ``methods``: the names of
    the tool's functions, of which none counts. ``attributes``: those that changed, each with the id of
    its object."""

    ids: frozenset[int]
    cells: frozenset[str]
    held: frozenset[int]
    methods: frozenset[str]
    attributes: frozenset[tuple[int, str]]

    def is_read_by(self, code: CodeType, variables: Mapping[str, Any]) -> bool:
        """Returns True iff code reads what these variables hold, and does not only pass on what was there
        before the run, set an attribute, or get a tool's own method."""
        found = {name: each for name, each in variables.items() if self._counts(name, each)}
        steps = [each for each in dis.get_instructions(code) if found and each.opname != "CACHE"]
        loads = (each for one, after in pairwise(steps) for each in _loaded(code, one, after))
        return any(name in found and self._is_read(found[name], after) for name, after in loads)

    def _counts(self, name: str, value: Any) -> bool:
        return id(value) in self.ids or name in self.cells

    def _is_read(self, value: Any, after: dis.Instruction) -> bool:
        if after.opname not in _OF_ATTRIBUTES:
            return id(value) not in self.held
        if type(value) in _COLLECTIONS and after.argval in ADDING:
            return False
        own: Any = getattr(value, "__dict__", {})
        if after.argval in own:
            is_one = id(own[after.argval]) in self.ids or (id(value), after.argval) in self.attributes
            return after.opname != "STORE_ATTR" and is_one
        is_read = after.opname != "STORE_ATTR" and after.argval not in self.methods
        return is_read and id(value) not in self.held and self._is_used_by(value, after.argval)

    def _is_used_by(self, value: Any, method: str) -> bool:
        """Returns True iff a method of an object may use an attribute that changed."""
        own: Any = getattr(value, "__dict__", {})
        wanted = {name for name, each in own.items() if id(each) in self.ids}
        wanted |= {name for owner, name in self.attributes if owner == id(value)}
        return not wanted or uses_any(cast("type[Any]", type(value)), method, frozenset(wanted))


def _changed_names(seen: _Seen) -> list[str]:
    """Returns the names of the attributes that an object had otherwise, or not, before the call."""
    if not hasattr(seen.thing, "__dict__"):
        return []
    before = _pairs(seen.content)
    now = _pairs(_held(seen.thing) or ())
    return [each for each in now if each not in before or not _are_same((before[each],), (now[each],))]


def _pairs(entries: tuple[Any, ...]) -> dict[Any, Any]:
    return dict(zip(entries[::2], entries[1::2], strict=False))


def _loaded(
    code: CodeType, one: dis.Instruction, after: dis.Instruction
) -> Iterator[tuple[str, dis.Instruction]]:
    """Yields the variables that an instruction loads, each with the instruction that uses it.

    Python 3.13 has instructions for two variables. With LOAD_FAST, it also loads variables that an inner
    function encloses, to make this function; they are not read then.
    """
    is_second = one.opname == "STORE_FAST_LOAD_FAST"
    if not (is_second or one.opname.startswith(_LOADS)):
        return
    loaded: Any = one.argval
    names = cast("tuple[str, ...]", loaded if isinstance(loaded, tuple) else (loaded,))
    enclosed = (*code.co_cellvars, *code.co_freevars) if "FAST" in one.opname else ()
    for name in names[1:] if is_second else names:
        if name not in enclosed:
            yield name, after if name is names[-1] else one


def _readers(chain: Sequence[Any]) -> Iterator[tuple[CodeType, Mapping[str, Any]]]:
    """Yields the user's code that may have one of these objects in a variable, with the values of its
    variables: code that is running, code that waits, and functions that enclose one."""
    frames, referring = list(_running()), gc.get_referrers(*chain)
    for each in referring:
        if isinstance(each, (CoroutineType, GeneratorType)):
            waiting: Any = cast("Any", each)
            frames.append(waiting.cr_frame if isinstance(each, CoroutineType) else waiting.gi_frame)
    for frame in frames:
        if frame is not None and is_users(str(frame.f_globals.get("__name__"))):
            yield frame.f_code, frame.f_locals.copy()
    cells = [each for each in referring if isinstance(each, CellType)]
    enclosing = [*referring, *(gc.get_referrers(*cells) if cells else ())]
    closures: list[Any] = [each for each in enclosing if isinstance(each, tuple)]
    for each in gc.get_referrers(*closures) if closures else ():
        if isinstance(each, FunctionType) and is_users(str(each.__module__)):
            cells = zip(own_code(each).co_freevars, each.__closure__ or (), strict=False)
            yield own_code(each), {name: cell.cell_contents for name, cell in cells if has_value(cell)}


def _running() -> Iterator[FrameType | None]:
    for each in sys._current_frames().values():  # pyright: ignore[reportPrivateUsage] -- no public way
        frame: FrameType | None = each
        while frame is not None:
            yield frame
            frame = frame.f_back


def _held(thing: Any) -> tuple[Any, ...] | None:
    """Returns what an object holds, in order; None if it is none whose content counts."""
    try:
        return _leading_to(thing) if isinstance(thing, _LEADING) else data_held(thing)
    except Exception:  # the user's own collections and properties may raise any error
        return None


def _leading_to(thing: Any) -> tuple[Any, ...]:
    """Returns what a function, a method, a partial, or a variable leads to."""
    if isinstance(thing, CellType):
        return (thing.cell_contents,) if has_value(thing) else ()
    if isinstance(thing, ContextVar):
        return (cast("ContextVar[Any]", thing).get(None),)
    if isinstance(thing, MethodType):
        return thing.__self__, thing.__func__
    if isinstance(thing, FunctionType):
        if not is_users(str(thing.__module__)):
            return (vars(thing).get("__wrapped__"),)
        named: Any = (thing.__globals__.get(each) for each in own_code(thing).co_names)
        variables: list[Any] = [each for each in named if isinstance(each, ContextVar)]
        return vars(thing).get("__wrapped__"), *(thing.__closure__ or ()), *variables
    return thing.func, *thing.args, *thing.keywords.values()


def data_held(thing: Any) -> tuple[Any, ...] | None:
    """Returns what data holds: a collection, a record, or an object of the user's. Of entries and
    attributes, the names are between the values. None for any other object."""
    if isinstance(thing, Mapping):
        return _entries(cast("Mapping[Any, Any]", thing))
    if isinstance(thing, (list, tuple, deque, Set)):
        return tuple(cast("Sequence[Any]", thing))
    if isinstance(thing, bytearray):
        return (bytes(thing),)
    if isinstance(thing, Connection):
        return (thing.total_changes,)
    kind = cast("type[Any]", type(thing))
    if isinstance(thing, type) or not (is_data_record(thing) or is_users(kind.__module__)):
        return None
    fields: Any = getattr(kind, "__dataclass_fields__", {})
    held = held_by(thing) or {**getattr(thing, "__dict__", {})}
    return _entries({name: getattr(thing, name, None) for name in fields} | held)


def is_data_record(thing: object) -> bool:
    """Returns True iff an object is one of a dataclass, or of a model of pydantic."""
    kind: Any = type(thing)
    return bool(getattr(kind, "__dataclass_fields__", {})) or hasattr(kind, "model_fields")


def _entries(held: Mapping[Any, Any]) -> tuple[Any, ...]:
    return tuple(part for name, value in held.items() if name not in _LEFT_OUT for part in (name, value))


def _are_same(before: tuple[Any, ...], after: tuple[Any, ...] | None) -> bool:
    if after is None or len(before) != len(after):
        return False
    return all(one is other or _is_equal(one, other) for one, other in zip(before, after, strict=True))


def _is_equal(one: Any, other: Any) -> bool:
    plain = (str, bytes, int, float, bool, tuple, FunctionType, MethodType)
    try:
        return type(one) is type(other) and isinstance(one, plain) and bool(one == other)
    except Exception:  # the user's own comparison may raise any error
        return False


def has_value(cell: CellType) -> bool:
    """Returns True iff an enclosed variable has a value already."""
    try:
        return cell.cell_contents is not has_value
    except ValueError:  # the variable has no value yet
        return False
