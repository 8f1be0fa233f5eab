"""No module imports itself through others, whenever it imports them."""

import ast
import inspect
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from importlib import import_module

import pytest

from tests.structure.product import FILES

_MODULES = {
    name.removesuffix(".py").removesuffix("/__init__").replace("/", "."): file for name, file in FILES
}


class ImportsOf(ast.NodeVisitor):
    """What a module imports: at once, in its functions, by ``import_module``, and as names that a package
    imports late. Without what only type checkers see."""

    def __init__(self, module: str, *, is_package: bool) -> None:
        self._module = module
        self._package = module if is_package else module.rpartition(".")[0]
        self.names: set[str] = set()

    def visit_If(self, node: ast.If) -> None:
        parts = node.orelse if ast.unparse(node.test) == "TYPE_CHECKING" else ast.iter_child_nodes(node)
        for each in parts:
            self.visit(each)

    def visit_Import(self, node: ast.Import) -> None:
        self.names |= {alias.name for alias in node.names}

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        origin = self._absolute("." * node.level + (node.module or ""))
        self.names |= {f"{origin}.{alias.name}" for alias in node.names}

    def visit_Call(self, node: ast.Call) -> None:
        match node:
            case ast.Call(
                func=ast.Name("import_module") | ast.Attribute(attr="import_module"),
                args=[ast.Constant(str(name)), *_],
            ):
                self.names.add(self._absolute(name))
            case _:
                pass
        self.generic_visit(node)

    def _absolute(self, name: str) -> str:
        ending = name.lstrip(".")
        level = len(name) - len(ending)
        if not level:
            return name
        parts = self._package.split(".")
        return ".".join([*parts[: len(parts) - level + 1], *([ending] if ending else [])])


def module_of(name: str) -> str | None:
    """The module of the product that defines a name, also if its package imports this name late."""
    if name in _MODULES:
        return name
    owner, _, attribute = name.rpartition(".")
    if owner not in _MODULES:
        return None
    place = late_names(owner).get(attribute)
    return f"{owner}.{place}" if place else owner


@cache
def late_names(package: str) -> dict[str, str]:
    """For each name that a package imports late, the module that defines it."""
    if "__getattr__ = importing_late(" not in _MODULES[package].read_text():
        return {}
    return inspect.getclosurevars(vars(import_module(package))["__getattr__"]).nonlocals["rooms"]


@cache
def imported() -> dict[str, set[str]]:
    """For each module of the product, the modules of it that it ever imports."""
    return {name: set(_imported_by(name)) - {name} for name in _MODULES}


def _imported_by(module: str) -> Iterator[str]:
    file = _MODULES[module]
    found = ImportsOf(module, is_package=file.name == "__init__.py")
    found.visit(ast.parse(file.read_text()))
    return (place for name in found.names if (place := module_of(name)) is not None)


def cycle_in(graph: dict[str, set[str]]) -> list[str]:
    """A cycle of a graph; empty if there is none."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return error.args[1]
    return []


def test_no_module_imports_itself_through_others() -> None:
    assert not cycle_in(imported())


@pytest.mark.parametrize(
    ("module", "other"),
    [
        ("rag_rule_explainer.explainer", "rag_rule_explainer.session.session"),  # in a function
        ("rag_rule_explainer.audit.auditing", "rag_rule_explainer.audit.cluster.on_ray"),  # by a name
        ("rag_rule_explainer.session.plan", "rag_rule_explainer.mining.grouped"),  # late in a package
        ("langchain_rag_rule_explainer.judges", "rag_rule_explainer.errors"),  # late in the root
    ],
)
def test_late_imports_are_counted(module: str, other: str) -> None:
    assert other in imported()[module]


def test_a_cycle_is_found() -> None:
    assert set(cycle_in({"a": {"b"}, "b": {"c"}, "c": {"b"}})) == {"b", "c"}
