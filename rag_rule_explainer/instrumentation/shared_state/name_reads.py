"""This module finds out whether code reads the value of a name, and how the code uses this value."""

import ast
import linecache
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from types import CodeType
from typing import Any, cast

from .adding_up import names_added_to, set_alone, takes_next
from .contents import names_in
from .logging_calls import called_name, logs, only_logged_in, only_logs, only_waits
from .parsing import syntax_tree

_WRITING = frozenset(
    "append appendleft extend add update insert setdefault clear discard remove pop popleft".split()  # noqa: SIM905 -- a list of these words takes twelve lines
)
_SHOWING = frozenset(["str", "repr", "format", "list", "dict", "tuple", "sorted", "dumps", "join", "map"])
"""Functions that may show their argument as text. If an object's ``str()`` or ``repr()`` shows its
attributes, such a function reads all of them."""
_IN_TEXTS = frozenset(["next", "len", "str", "join", "sorted", "list", "strip"])
_MANGLED = re.compile(r"^_\w*?[A-Za-z0-9](?=__\w*[A-Za-z0-9]$)")
"""The prefix that Python adds to a private name: ``_Chat`` in ``_Chat__turn`` (name mangling)."""


def is_in_texts(code: CodeType, name: str) -> bool:
    """Returns True iff a string constant of the code is this name, or a template that uses it, such as
    ``"{name}"``."""
    return is_in(texts_in_code(code), name)


def is_in(texts: Iterable[str], name: str) -> bool:
    """Returns True iff one of these texts is this name, or a template that uses it, such as ``"{name}"``
    or ``"{app.name}"``."""
    having = [text for text in texts if name in text]
    if not having:  # the usual case, which needs no regular expression
        return False
    named = re.compile(rf"(?:^|[{{.\[]){re.escape(name)}(?:$|[}}:!.\]])")
    return any(map(named.search, having))


def reads(
    code: CodeType,
    name: str,
    *,
    in_texts: bool = False,
    decides: bool = True,
    as_attribute: bool = False,
    as_limit: bool = False,
) -> bool:
    """Returns True iff the code reads the value of this name. The keywords say which reads count.

    ``in_texts``: True to count reads that only put the value into a text. ``as_limit``: True to count
    reads that only decide whether to raise an error, such as a comparison of a count with its limit.
    ``decides``: True to count the remaining reads. ``as_attribute``: True to count, of these remaining
    reads, only those of an attribute, such as ``self.mode``, and none of a variable.
    """
    if plain_name(name) not in names_known_to(code):
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


def plain_name(name: str) -> str:
    """Returns the name without ``len()`` around it."""
    return name.removeprefix("len(").removesuffix(")")


def names_known_to(code: CodeType) -> set[str]:
    """Returns all names and string constants of the code. It reads the value of no other name."""
    variables = (*code.co_freevars, *code.co_cellvars)
    return {*names_in(code), *variables, *texts_in_code(code), *_matched_in(code)}


def reads_whole(code: CodeType, name: str) -> bool:
    """Returns True iff the code may read all attributes of the object with this name, as ``str(name)``
    does."""
    read = _read_in(code.co_filename)
    if read is None:
        return name in {*names_in(code), *code.co_freevars, *code.co_cellvars, *code.co_varnames}
    first, last = code.co_firstlineno, _last_line(code)
    return any(first <= line <= last for line in read.wholes.get(name, ()))


def texts_in_code(code: CodeType) -> Iterator[str]:
    """Yields the string constants of the code and of its inner functions."""
    for each in code.co_consts:
        if isinstance(each, str):
            yield each
        elif isinstance(each, CodeType):
            yield from texts_in_code(each)


def _matched_in(code: CodeType) -> Iterator[str]:
    """Yields the strings in the tuples that are constants of the code. In such tuples, Python stores the
    attribute names of patterns, such as ``x`` in ``case Point(x=0)``."""
    for each in code.co_consts:
        if isinstance(each, tuple):
            yield from (part for part in cast("tuple[Any, ...]", each) if isinstance(part, str))


def _last_line(code: CodeType) -> int:
    lines = [line for _, _, line in code.co_lines() if line is not None]
    inner = [_last_line(each) for each in code.co_consts if isinstance(each, CodeType)]
    return max([code.co_firstlineno, *lines, *inner])


@lru_cache(maxsize=64)
def _read_in(file: str) -> "_Reading | None":
    """Returns the lines in which a file's code reads each name; None if its source is not available."""
    source = "".join(linecache.getlines(file))
    if not source.strip():
        return None
    try:
        module, reading = syntax_tree(source), _Reading()
    except SyntaxError:
        return None
    reading.visit(module)
    return reading


class _Reading(ast.NodeVisitor):
    """This class collects, for each name, the lines of a file in which the name's value is read. Each
    kind of read has a separate list, such as the reads that only put the value into a text. Leaves out
    reads that only change the value itself or only log it, because they influence nothing else."""

    def __init__(self) -> None:
        self.lines: dict[str, list[int]] = {}
        self.attributes: dict[str, list[int]] = {}
        self.in_texts: dict[str, list[int]] = {}
        self.limits: dict[str, list[int]] = {}
        self.wholes: dict[str, list[int]] = {}
        self.matches: list[int] = []
        self._updated: list[str] = []
        self._added: frozenset[str] = frozenset()
        self._logged: frozenset[str] = frozenset()

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        if only_waits(node):
            return  # the function only waits, so a value that it reads decides nothing else
        around, self._logged = self._logged, only_logged_in(node)
        self.generic_visit(node)
        self._logged = around

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self.visit_FunctionDef(node)

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load) and ast.dump(node) not in self._updated:
            self.lines.setdefault(node.id, []).append(node.lineno)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        is_read = isinstance(node.ctx, ast.Load) and node.attr not in self._added
        if is_read and ast.dump(node) not in self._updated:
            self.lines.setdefault(node.attr, []).append(node.lineno)
            self.attributes.setdefault(node.attr, []).append(node.lineno)
        self.visit(node.value)

    def visit_Call(self, node: ast.Call) -> None:
        if called_name(node) == "len" and len(node.args) == 1:
            inner = node.args[0]
            name = getattr(inner, "attr", "") or getattr(inner, "id", "")
            self.lines.setdefault(f"len({name})", []).append(node.lineno)
        elif called_name(node) in _SHOWING:
            for each in node.args:
                self._note_whole(each)
        elif called_name(node) in {"getattr", "hasattr"} and len(node.args) > 1:
            name = getattr(node.args[1], "value", None)
            if isinstance(name, str) and name not in self._added:
                self.lines.setdefault(name, []).append(node.lineno)
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self._visit_keys(node.target)
        self._visit_apart(node.value, [], names_added_to(node))

    def _visit_apart(
        self, node: ast.expr, updated: list[str], added: frozenset[str] = frozenset()
    ) -> None:
        """Visits an expression whose result is only stored in the expressions ``updated`` (their syntax
        trees as texts), or in attributes with the names ``added``. If the visited expression reads one of
        these, this is not recorded as a read, as for ``self.n`` in ``self.n = self.n + 1``."""
        before, around = len(self._updated), self._added
        self._updated += updated
        self._added = around | added
        self.visit(node)
        del self._updated[before:]
        self._added = around

    def visit_For(self, node: ast.For) -> None:
        self._note_whole(node.iter)
        self.generic_visit(node)

    def visit_comprehension(self, node: ast.comprehension) -> None:
        self._note_whole(node.iter)
        self.generic_visit(node)

    def visit_Dict(self, node: ast.Dict) -> None:
        # The dict may be the input of a prompt template, which may show each value as text. So all
        # attributes of each value count as read.
        for each in node.values:
            self._note_whole(each)
        self.generic_visit(node)

    def _visit_keys(self, target: ast.expr) -> None:
        """Records that ``x[key] = ...`` reads ``key``, but no read of ``x``, which is only changed."""
        while isinstance(target, (ast.Subscript, ast.Attribute)):
            if isinstance(target, ast.Subscript):
                self.visit(target.slice)
            target = target.value

    def _note_whole(self, node: ast.expr) -> None:
        """Records that all attributes of an object may be read, as in ``str(state)``."""
        name = getattr(node, "attr", "") or getattr(node, "id", "")
        self.wholes.setdefault(name, []).append(node.lineno)

    def visit_Assign(self, node: ast.Assign) -> None:
        for each in node.targets:
            self._visit_keys(each)
        if takes_next(node.value) and {getattr(each, "id", "") for each in node.targets} <= self._logged:
            return  # so for ``number = next(counter)``, if the number is only logged
        # ``x = x + 1`` only changes x, so it is not recorded as a read; ``y = x = x + 1`` is recorded.
        if len(node.targets) > 1:
            self.visit(node.value)
            return
        changed = [each.value if isinstance(each, ast.Subscript) else each for each in node.targets]
        targets = [ast.dump(each).replace("Store()", "Load()") for each in changed]
        self._visit_apart(node.value, targets, names_added_to(node))

    def visit_FormattedValue(self, node: ast.FormattedValue) -> None:
        """Records in ``in_texts`` the names whose values an f-string only puts into its text."""
        self._note_whole(node.value)
        if not all(_goes_into_text(each) for each in ast.walk(node.value)):
            self.generic_visit(node)
            return
        lines, self.lines = self.lines, self.in_texts
        self.generic_visit(node)
        self.lines = lines

    def visit_If(self, node: ast.If) -> None:
        if node.orelse or not all(map(_fails_or_logs, node.body)):
            # ``if n > self.most: self.most = n`` reads the old value only to update it, so this is not
            # recorded as a read.
            self._visit_apart(node.test, set_alone(node))
        else:
            lines, attributes = self.lines, self.attributes
            self.lines, self.attributes = self.limits, {}
            self.visit(node.test)
            self.lines, self.attributes = lines, attributes
        for each in (*node.body, *node.orelse):
            self.visit(each)

    def visit_MatchClass(self, node: Any) -> None:
        """Records the attributes that a class pattern reads, such as ``x`` in ``case Point(x=0)``. A
        pattern such as ``case Point(0)`` does not name the attributes, so it counts as a read of any
        name."""
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
        name = called_name(call)
        if only_logs(call):
            self.lines.setdefault(name, []).append(node.lineno)
            return
        if not (name in _WRITING and isinstance(call.func, ast.Attribute)) and name != "next":
            self.visit(call.func)
        if name != "next":
            for each in (*call.args, *call.keywords):
                self.visit(each)


def _fails_or_logs(statement: ast.stmt) -> bool:
    return logs(statement) or isinstance(statement, ast.Raise)


def _goes_into_text(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        return called_name(node) in _IN_TEXTS
    return not isinstance(
        node, (ast.Compare, ast.IfExp, ast.BoolOp, ast.BinOp, ast.UnaryOp, ast.Subscript)
    )
