"""This module finds numbers and flags that every run changes and that the application's code reads.

No request need show them: "every third turn, drop the first document" may take the same branch in all
compared runs. Harmless are counters that no code reads, and limits that only make a run fail.
"""

import ast
import linecache
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from types import CodeType, FunctionType
from typing import Any, cast

from .code import kept_by_defaults, users_functions
from .holdings import Held, Holdings, changed, is_users, names_in
from .positions import Position

_WRITING = frozenset(
    "append appendleft extend add update insert setdefault clear discard remove pop popleft".split()  # noqa: SIM905 -- a list of them is twelve lines
)
_TELLING = frozenset(["print", "debug", "info", "warning", "error", "exception", "critical", "log"])
_IN_TEXTS = frozenset(["next", "len", "str", "join", "sorted", "list", "strip"])
_MANGLED = re.compile(r"^_\w*?[A-Za-z0-9](?=__\w*[A-Za-z0-9]$)")
"""The prefix that Python adds to a private name (name mangling)."""
_LONGEST_FLAG = 20
"""The most characters of a text that counts as a flag, such as the name of a mode."""


@dataclass(frozen=True, slots=True)
class Counted:
    """A ``Counted`` is a number or flag that changes from run to run.

    ``place``: its name with its owner, such as Chat.turn. ``name``: the name by which code reads it.
    ``was``, ``came``: its value before and after a run.
    """

    place: str
    name: str
    was: object
    came: object


def deciding(before: Holdings, after: Holdings, is_meaningless: Callable[[str], bool]) -> Counted | None:
    """Returns a number or flag that a run changed and that the code reads; None if there is none.

    ``is_meaningless``: returns whether the caller ignores changes at a place.
    """
    counted = [each for each in _counted(before, after) if not is_meaningless(each.place)]
    if not counted:
        return None
    functions = [code for _, code in _running(after)]
    return next((each for each in counted if any(reads(code, each.name) for code in functions)), None)


def is_shown(holdings: Holdings, name: str) -> bool:
    """Returns True iff code that a run may call puts the value of this name into a text."""
    return any(reads(code, name, in_texts=True, decides=False) for _, code in _running(holdings))


def is_read(holdings: Holdings, name: str, *, in_texts: bool = True) -> bool:
    """Returns True iff code that a run may call reads this name.

    ``in_texts``: also count reads that only put the value into a text, where requests show it.
    """
    return any(reads(code, name, in_texts=in_texts) for _, code in _running(holdings)) or any(
        name in kept_by_defaults(function) for _, function in users_functions(holdings)
    )


def is_named(holdings: Holdings, name: str) -> bool:
    """Returns True iff a string in code that a run may call has this name, as in ``getattr(app, "mode")``
    or ``"{app.mode}".format(app=app)``."""
    return any(is_in_texts(code, name) for _, code in _running(holdings))


def is_in_texts(code: CodeType, name: str) -> bool:
    """Returns True iff a string constant of the code has this name."""
    return is_in(texts_in(code), name)


def is_in(texts: Iterable[str], name: str) -> bool:
    """Returns True iff one of these texts is this name, or a template that uses it."""
    named = re.compile(rf"(?:^|[{{.\[]){re.escape(name)}(?:$|[}}:!.\]])")
    return any(named.search(text) for text in texts)


def is_read_by_models(holdings: Holdings, name: str) -> bool:
    """Returns True iff the code of a model of the user's own reads this name."""
    return any(held.is_of_model and reads(code, name, in_texts=True) for held, code in _running(holdings))


def _counted(before: Holdings, after: Holdings) -> Iterator[Counted]:
    for held, name, value in changed(before, after, after.is_in_users):
        earlier = before.of(held.thing)
        if earlier is None or not _is_flag(value):
            continue
        is_entry = isinstance(held.thing, (dict, list))
        if not name and not isinstance(held.thing, list):
            continue
        was = next((old for known, old in earlier.plain if known == name), None)
        if was is None or type(was) is not type(value):
            continue
        yield Counted(
            place_in(after, held, "" if is_entry else name), held.name if is_entry else name, was, value
        )
    for held in after.all:
        earlier = before.of(held.thing)
        # A dict or set may hold sessions, and gets one more with each run.
        if earlier is None or not isinstance(held.thing, list) or not held.name:
            continue
        if earlier.size != held.size and after.is_in_users(held):
            # Requests show the content of a list, but not its length, which code may read.
            yield Counted(place_in(after, held, ""), f"len({held.name})", earlier.size, held.size)


def _is_flag(value: object) -> bool:
    if isinstance(value, str):
        return isinstance(value, Position) or (value.isalpha() and len(value) <= _LONGEST_FLAG)
    # A larger number is probably a time or an id.
    return isinstance(value, int) and abs(value) < 1_000_000_000


def place_in(holdings: Holdings, held: Held, name: str) -> str:
    """Returns the path of a value as in code, such as Chat.turn, for comparison with ``ignore=``."""
    names = [name] if name else []
    for each in (held, *holdings.above(held)):
        thing = each.thing
        if isinstance(thing, FunctionType):
            return ".".join([thing.__name__, *reversed(names)])
        if not isinstance(thing, (dict, list, tuple, set)):
            kind = thing if isinstance(thing, type) else type(thing)
            return ".".join([kind.__name__, *reversed(names)])
        names += [each.name] if each.name else []
    return ".".join(reversed(names))


def _running(holdings: Holdings) -> Iterator[tuple[Held, CodeType]]:
    """Yields the code of the user's functions that a run may call, each with its holding.

    Methods that no code names, such as those that report statistics, are left out.
    """
    functions = list(users_functions(holdings))
    for held, function in functions:
        holder = None if held.holder is None else holdings.all[held.holder].thing
        if function.__code__.co_filename == "<string>" and function.__name__ == "__init__":
            continue  # it is generated for a dataclass, and only sets attributes
        # Only reads as an attribute count: a variable of the same name is another object.
        if is_for_others(holder, function) and not any(
            reads(each.__code__, function.__name__, as_attribute=True) for _, each in functions
        ):
            continue
        yield held, function.__code__


def is_for_others(holder: object, function: FunctionType) -> bool:
    """Returns True for a method that only the user's code can call.

    A framework may call a method that overrides its own, or that a decorator marked.
    """
    kind = holder if isinstance(holder, type) else type(holder)
    if not is_users(kind.__module__) or vars(function):
        return False
    return not any(
        hasattr(each, function.__name__) for each in kind.__mro__ if not is_users(each.__module__)
    )


def reads(
    code: CodeType,
    name: str,
    *,
    in_texts: bool = False,
    decides: bool = True,
    as_attribute: bool = False,
    as_limit: bool = False,
) -> bool:
    """Returns True iff the code reads this name.

    ``in_texts``: count reads that only put the value into a text. ``decides``: count all other reads.
    ``as_attribute``: of these, count only reads as an attribute. ``as_limit``: count reads that only
    decide whether to raise.
    """
    plain = name.removeprefix("len(").removesuffix(")")
    known = {*names_in(code), *code.co_freevars, *code.co_cellvars, *texts_in(code), *_matched_in(code)}
    if plain not in known:
        return False
    read = _read_in(code.co_filename)
    if read is None:
        return decides
    name = _MANGLED.sub("", name)
    first, last = code.co_firstlineno, _last_line(code)
    lines = [
        *((read.attributes if as_attribute else read.lines).get(name, ()) if decides else ()),
        *(read.in_texts.get(name, ()) if in_texts else ()),
        *(read.limits.get(name, ()) if as_limit else ()),
        *(read.matches if as_limit else ()),
    ]
    return any(first <= line <= last for line in lines)


def texts_in(code: CodeType) -> Iterator[str]:
    """Yields the string constants of the code and of its inner functions."""
    for each in code.co_consts:
        if isinstance(each, str):
            yield each
        elif isinstance(each, CodeType):
            yield from texts_in(each)


def _matched_in(code: CodeType) -> Iterator[str]:
    """Yields the strings in tuple constants, among them the names in patterns of ``match``."""
    for each in code.co_consts:
        if isinstance(each, tuple):
            yield from (part for part in cast("tuple[Any, ...]", each) if isinstance(part, str))


def _last_line(code: CodeType) -> int:
    lines = [line for _, _, line in code.co_lines() if line is not None]
    inner = [_last_line(each) for each in code.co_consts if isinstance(each, CodeType)]
    return max([code.co_firstlineno, *lines, *inner])


@lru_cache(maxsize=64)
def _read_in(file: str) -> "_Reading | None":
    """Returns the lines in which a file reads each name; None if its source is not available."""
    source = "".join(linecache.getlines(file))
    if not source.strip():
        return None
    try:
        module = ast.parse(source)
    except SyntaxError:
        return None
    reading = _Reading()
    reading.visit(module)
    return reading


class _Reading(ast.NodeVisitor):
    """This class collects the lines in which each name is read, by the kind of read.

    Reads that only change the value itself, or only log it, are left out.
    """

    def __init__(self) -> None:
        self.lines: dict[str, list[int]] = {}
        self.attributes: dict[str, list[int]] = {}
        self.in_texts: dict[str, list[int]] = {}
        self.limits: dict[str, list[int]] = {}
        self.matches: list[int] = []
        self._updated: list[str] = []

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load) and ast.dump(node) not in self._updated:
            self.lines.setdefault(node.id, []).append(node.lineno)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if isinstance(node.ctx, ast.Load) and ast.dump(node) not in self._updated:
            self.lines.setdefault(node.attr, []).append(node.lineno)
            self.attributes.setdefault(node.attr, []).append(node.lineno)
        self.visit(node.value)

    def visit_Call(self, node: ast.Call) -> None:
        if _called(node) == "len" and len(node.args) == 1:
            inner = node.args[0]
            name = getattr(inner, "attr", "") or getattr(inner, "id", "")
            self.lines.setdefault(f"len({name})", []).append(node.lineno)
        elif _called(node) in {"getattr", "hasattr"} and len(node.args) > 1:
            name = getattr(node.args[1], "value", None)
            if isinstance(name, str):
                self.lines.setdefault(name, []).append(node.lineno)
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self.visit(node.value)

    def visit_Assign(self, node: ast.Assign) -> None:
        # ``x = x + 1`` only changes x, so it is no read; ``y = x = x + 1`` is one.
        if len(node.targets) > 1:
            self.visit(node.value)
            return
        changed = [each.value if isinstance(each, ast.Subscript) else each for each in node.targets]
        targets = [ast.dump(each).replace("Store()", "Load()") for each in changed]
        self._updated += targets
        self.visit(node.value)
        del self._updated[len(self._updated) - len(targets) :]

    def visit_FormattedValue(self, node: ast.FormattedValue) -> None:
        """Notes a read inside an f-string apart, because the text shows the value."""
        if not all(_goes_into_text(each) for each in ast.walk(node.value)):
            self.generic_visit(node)
            return
        lines, self.lines = self.lines, self.in_texts
        self.generic_visit(node)
        self.lines = lines

    def visit_If(self, node: ast.If) -> None:
        if node.orelse or not all(map(_fails_or_tells, node.body)):
            # ``if n > self.most: self.most = n`` only changes the maximum, so it is no read.
            self._updated += (changed := _set_alone(node))
            self.visit(node.test)
            del self._updated[len(self._updated) - len(changed) :]
        else:
            lines, attributes = self.lines, self.attributes
            self.lines, self.attributes = self.limits, {}
            self.visit(node.test)
            self.lines, self.attributes = lines, attributes
        for each in (*node.body, *node.orelse):
            self.visit(each)

    def visit_MatchClass(self, node: Any) -> None:
        """Notes a pattern of ``match``. The class defines the attributes of positional patterns."""
        if node.patterns:
            self.matches.append(node.lineno)
        for name in node.kwd_attrs:
            self.lines.setdefault(name, []).append(node.lineno)
        self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> None:
        call: Any = node.value
        if not isinstance(call, ast.Call):
            self.generic_visit(node)
            return
        name = _called(call)
        if name in _TELLING:
            self.lines.setdefault(name, []).append(node.lineno)
            return
        if not (name in _WRITING and isinstance(call.func, ast.Attribute)) and name != "next":
            self.visit(call.func)
        if name != "next":
            for each in (*call.args, *call.keywords):
                self.visit(each)


def _fails_or_tells(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        return _called(statement.value) in _TELLING
    return isinstance(statement, ast.Raise)


def _set_alone(branch: ast.If) -> list[str]:
    """Returns the target that the branch sets, if setting it is all that the branch does."""
    targets = {
        ast.dump(each).replace("Store()", "Load()")
        for statement in branch.body
        for each in (statement.targets if isinstance(statement, ast.Assign) else [statement])
    }
    return list(targets) if len(targets) == 1 and not branch.orelse else []


def _goes_into_text(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        return _called(node) in _IN_TEXTS
    return not isinstance(
        node, (ast.Compare, ast.IfExp, ast.BoolOp, ast.BinOp, ast.UnaryOp, ast.Subscript)
    )


def _called(call: ast.Call) -> str:
    if isinstance(call.func, ast.Attribute):
        return call.func.attr
    return call.func.id if isinstance(call.func, ast.Name) else ""
