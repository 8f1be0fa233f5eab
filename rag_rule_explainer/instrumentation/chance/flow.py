"""This module follows random values through the code of one function, and finds decisions that depend on
them."""

import ast
from collections.abc import Callable, Iterable, Iterator
from types import FunctionType
from typing import Any, TypeAlias

from ..shared_state.logging_calls import called_name, only_logs
from .places import NOTHING, Code, KnownNames
from .sources import DrawnKind, drawn_by, drawn_by_method, makes_a_generator

_KEEPING = frozenset(
    ["abs", "round", "min", "max", "sum", "divmod", "float", "str", "repr", "format", "next"]
)
"""Functions that turn a random argument into a random result of the same kind, such as ``abs``."""
_TO_NUMBERS = frozenset(["int", "hash", "ord", "from_bytes", "bool", "crc32"])
"""Functions that turn a random value of another kind, such as an id, into a random number."""
_PARTS_OF_NAMES = frozenset(["int", "bytes", "bytes_le", "fields", "node", "clock_seq", "time_low"])
"""Attributes of a random id (a ``UUID``) that count as random numbers."""
_PARTS_OF_TIMES = frozenset(["microsecond", "second"])
"""Attributes of a time that count as random numbers, because they differ from run to run."""
_ORDERING = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_DECIDING = (DrawnKind.NUMBER, DrawnKind.CHOICE)
_PASSES = 3
"""The number of times that all assignments in a function are read. A variable may get its value from a
variable that is assigned further below, as in a loop, so reading once is not enough."""


DrawnValue: TypeAlias = tuple[DrawnKind, str] | None
"""The kind of a random value, and the call that draws it, as the code writes it; None for a value that is
not random."""


class Flow:
    """A ``Flow`` follows the random values in one function.

    ``returned_by``: returns the random value that a function of the user's returns, as a ``DrawnValue``.
    ``is_seeded``: True if every run seeds the generators of ``random`` and ``numpy.random``, so that
    their values do not depend on chance.
    """

    def __init__(
        self,
        node: Code,
        names: KnownNames,
        returned_by: Callable[[FunctionType], DrawnValue],
        is_seeded: bool,
    ) -> None:
        self._names = names
        self._returned_by = returned_by
        self._is_seeded = is_seeded
        self._held: dict[str, tuple[DrawnKind, str]] = {}
        self._nodes = list(_own_nodes(node))
        self._body = node
        self._readers: dict[type, Callable[[Any], DrawnValue]] = {
            ast.Call: self._of_call,
            ast.Name: lambda node: self._held.get(node.id),
            ast.Attribute: self._of_attribute,
            ast.Subscript: self._of_subscript,
            ast.BinOp: self._of_arithmetic,
            ast.Compare: self._of_comparison,
            ast.JoinedStr: self._of_text,
            ast.BoolOp: lambda node: self._first(node.values),
            ast.IfExp: lambda node: self._first((node.body, node.orelse)),
            ast.UnaryOp: lambda node: self.of(node.operand),
            ast.ListComp: lambda node: self.of(node.elt),
            ast.GeneratorExp: lambda node: self.of(node.elt),
            ast.Await: lambda node: self.of(node.value),
            ast.NamedExpr: lambda node: self.of(node.value),
            ast.Starred: lambda node: self.of(node.value),
        }
        for _ in range(_PASSES):
            for each in self._nodes:
                self._assign(each)

    def returned(self) -> DrawnValue:
        """Returns the kind of the random value that the function returns, with the call that draws it;
        None if the function returns no random value."""
        if isinstance(self._body, ast.Lambda):
            return self.of(self._body.body)
        values = (each.value for each in self._nodes if isinstance(each, (ast.Return, ast.Yield)))
        return next((found for value in values if value is not None and (found := self.of(value))), None)

    def decided_by(self) -> str:
        """Returns the call that draws a random value by which the function makes a decision; empty if
        there is none."""
        tests = [each.test for each in self._nodes if isinstance(each, ast.If) and _is_harmless(each)]
        harmless = {id(inner) for test in tests for inner in ast.walk(test)}
        for each in self._nodes:
            if id(each) in harmless:
                continue
            for deciding, kinds in _deciding_parts(each):
                found = None if id(deciding) in harmless else self.of(deciding)
                if found is not None and found[0] in kinds:
                    return found[1]
        return ""

    def of(self, node: ast.expr) -> DrawnValue:
        """Returns the kind of the random value of an expression, with the call that draws it; None if the
        value is not random."""
        read = self._readers.get(type(node))
        return None if read is None else read(node)

    def _of_comparison(self, node: ast.Compare) -> DrawnValue:
        parts = [self.of(each) for each in (node.left, *node.comparators)]
        return next((found for found in parts if found is not None and found[0] in _DECIDING), None)

    def _of_text(self, node: ast.JoinedStr) -> DrawnValue:
        found = self._first(each.value for each in node.values if isinstance(each, ast.FormattedValue))
        return found and (DrawnKind.NAME, found[1])

    def _first(self, nodes: Iterable[ast.expr]) -> DrawnValue:
        return next((found for each in nodes if (found := self.of(each))), None)

    def _of_call(self, node: ast.Call) -> DrawnValue:
        called = self._names.object_of(node.func)
        written = ast.unparse(node.func)
        if called is not NOTHING:
            drawn = drawn_by(called, is_seeded=self._is_seeded)
            if drawn is not None:
                return drawn, written
            if makes_a_generator(called, is_given=_is_given(node)):
                return DrawnKind.GENERATOR, written
            if isinstance(called, FunctionType):
                return self._returned_by(called)
        if isinstance(node.func, ast.Attribute):
            of_owner = self.of(node.func.value)
            if of_owner is not None:
                return self._of_method(of_owner, node.func.attr)
        name = called_name(node)
        if name in _TO_NUMBERS:
            found = self._first(node.args)
            return found and (found if found[0] is DrawnKind.TIME else (DrawnKind.NUMBER, found[1]))
        return self._first(node.args) if name in _KEEPING else None

    def _of_method(self, owner: tuple[DrawnKind, str], name: str) -> DrawnValue:
        kind, written = owner
        if kind is not DrawnKind.GENERATOR:
            return owner
        drawn = drawn_by_method(name)
        return drawn and (drawn, f"{written}().{name}")

    def _of_attribute(self, node: ast.Attribute) -> DrawnValue:
        found = self.of(node.value)
        if found is None:
            return None
        parts = {DrawnKind.NAME: _PARTS_OF_NAMES, DrawnKind.TIME: _PARTS_OF_TIMES}.get(
            found[0], frozenset()
        )
        return (DrawnKind.NUMBER, found[1]) if node.attr in parts else found

    def _of_subscript(self, node: ast.Subscript) -> DrawnValue:
        index = self.of(node.slice)
        if index is not None and index[0] in _DECIDING:
            return DrawnKind.CHOICE, index[1]
        found = self.of(node.value)
        if found is not None and found[0] is DrawnKind.NAME and not isinstance(node.slice, ast.Slice):
            return DrawnKind.NUMBER, found[1]
        return found

    def _of_arithmetic(self, node: ast.BinOp) -> DrawnValue:
        found = [each for each in (self.of(node.left), self.of(node.right)) if each is not None]
        if not found:
            return None
        if isinstance(node.left, (ast.Constant, ast.JoinedStr)) and isinstance(
            getattr(node.left, "value", ""), str
        ):
            return DrawnKind.NAME, found[0][1]
        time = next((each for each in found if each[0] is DrawnKind.TIME), None)
        if time is not None:
            is_part = isinstance(node.op, (ast.Mod, ast.BitAnd, ast.BitXor))
            return (DrawnKind.NUMBER, time[1]) if is_part else time
        return found[0]

    def _assign(self, node: ast.AST) -> None:
        value, targets = _assigned(node)
        found = None if value is None else self.of(value)
        if found is not None:
            self._held.update({each.id: found for each in targets if isinstance(each, ast.Name)})


def _assigned(node: ast.AST) -> tuple[ast.expr | None, list[ast.expr]]:
    """Returns the expression that a statement assigns, and the targets to which it is assigned; None and
    no targets for other statements."""
    if isinstance(node, ast.Assign):
        return node.value, node.targets
    if isinstance(node, (ast.AnnAssign, ast.AugAssign, ast.NamedExpr)):
        return node.value, [node.target]
    return (node.iter, [node.target]) if isinstance(node, ast.For) else (None, [])


def _own_nodes(node: Code) -> Iterator[ast.AST]:
    """Yields the nodes of a function, including the nodes of functions that are defined in it."""
    for each in node.body if isinstance(node.body, list) else [node.body]:
        yield from ast.walk(each)


def _is_given(node: ast.Call) -> bool:
    given = [*node.args, *(each.value for each in node.keywords)]
    return any(not (isinstance(each, ast.Constant) and each.value is None) for each in given)


def _deciding_parts(node: ast.AST) -> Iterator[tuple[ast.expr, tuple[DrawnKind, ...]]]:
    """Yields the parts of a node that decide what the code does next, such as the condition of an ``if``.
    With each part, yields kinds of random values: if the value of the part is of one of these kinds, the
    decision depends on chance."""
    if isinstance(node, ast.Compare):
        # Two kinds of comparison are no decision by chance: ``is``, because it mostly tests for None, and
        # a random value is never None; and a test whether two ids are equal, because it mostly looks up
        # an object. Comparing ids by order is a decision by chance.
        checks = all(isinstance(each, (ast.Is, ast.IsNot)) for each in node.ops)
        ordered = any(isinstance(each, _ORDERING) for each in node.ops)
        for each in () if checks else (node.left, *node.comparators):
            yield each, (*_DECIDING, DrawnKind.NAME) if ordered else _DECIDING
    elif isinstance(node, (ast.If, ast.While, ast.IfExp)):
        yield node.test, _DECIDING
    elif isinstance(node, ast.BoolOp):
        yield from ((each, _DECIDING) for each in node.values[:-1])
    elif isinstance(node, ast.comprehension):
        yield from ((each, _DECIDING) for each in node.ifs)
    elif isinstance(node, ast.Match):
        yield node.subject, _DECIDING
    elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
        yield node.slice, (DrawnKind.NUMBER,)
    elif isinstance(node, ast.Call):
        owner = node.func.value if isinstance(node.func, ast.Attribute) else node.func
        if not (isinstance(node.func, ast.Attribute) and hasattr(str, node.func.attr)):
            yield owner, (DrawnKind.CHOICE,)


def _is_harmless(node: ast.If) -> bool:
    """Returns True for an ``if`` whose branch only logs or waits, or only sets the number that its
    condition compares, as ``if delay > 9: delay = 9`` does."""
    if node.orelse:
        return False
    tested = {each.id for each in ast.walk(node.test) if isinstance(each, ast.Name)}
    return all(_changes_nothing(each, tested) for each in node.body)


def _changes_nothing(statement: ast.stmt, tested: set[str]) -> bool:
    if isinstance(statement, ast.Assign):
        return all(isinstance(each, ast.Name) and each.id in tested for each in statement.targets)
    value = statement.value if isinstance(statement, ast.Expr) else None
    call = value.value if isinstance(value, ast.Await) else value
    if isinstance(call, ast.Call):
        return only_logs(call) or called_name(call) == "sleep"
    return isinstance(statement, ast.Pass)
