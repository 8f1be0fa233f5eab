"""How the package is laid out: what its root holds, and what integrations may use of it."""

import ast
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.structure.product import FILES, HERE, INTEGRATIONS, PACKAGE

OPEN_TO_INTEGRATIONS = ("instrumentation", "predicates", "errors", "testing", "pytest_plugin")
"""Rooms that an integration may use, beside the names of the package itself. The assertions of the plugin
are for users, and a scorer is one of these."""


def imported_by(file: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
            if node.module == PACKAGE.name:
                yield from (
                    f"{node.module}.{alias.name}"
                    for alias in node.names
                    if (PACKAGE / alias.name).is_dir() or (PACKAGE / f"{alias.name}.py").is_file()
                )


def test_the_root_reads_as_a_table_of_contents() -> None:
    modules = list(PACKAGE.glob("*.py"))
    folders = [each for each in PACKAGE.iterdir() if (each / "__init__.py").is_file()]
    assert len(modules) <= 15
    # A folder for each thing that a user does: an audit of many questions is one, which uses explanations
    # and reports as any other user does, so that no older room could hold it.
    assert len(folders) <= 20


@pytest.mark.parametrize("integration", INTEGRATIONS, ids=lambda path: path.name)
def test_an_integration_uses_what_is_open_to_integrations_alone(integration: Path) -> None:
    used = {
        name
        for file in integration.rglob("*.py")
        for name in imported_by(file)
        if name.startswith(f"{PACKAGE.name}.")
    }
    assert used
    closed = {name for name in used if name.split(".")[1] not in OPEN_TO_INTEGRATIONS}
    assert not closed


def test_the_plain_integration_is_a_small_user_of_the_kit() -> None:
    files = list((HERE / "integrations/plain/plain_rag_rule_explainer").glob("*.py"))
    used = {name for file in files for name in imported_by(file) if name.startswith(PACKAGE.name)}
    assert not {name for name in used if not name.startswith(f"{PACKAGE.name}.instrumentation")}
    assert sum(len(file.read_text().splitlines()) for file in files) <= 650


def test_only_miners_of_subsets_read_masks() -> None:
    """The rest knows an arrangement by its key; plans alone name the units that their methods mine."""
    naming = {
        file.name
        for room in ("session", "probing", "explanation", "instrumentation", "report")
        for file in (PACKAGE / room).rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.ImportFrom) and (node.module or "").endswith("lattice")
        for alias in node.names
        if alias.name in {"Mask", "Subset", "bits"}
    }
    # An estimate counts the subsets that a miner would ask for.
    assert naming <= {"plan.py", "planning.py", "probe_counts.py", "deciding.py", "judged_subsets.py"}


def test_few_layers_say_who_may_know_whom() -> None:
    settings = (HERE / "pyproject.toml").read_text()
    layers = settings.partition("exhaustive = true\nlayers = [")[2].partition("]")[0]
    assert 0 < len(layers.split(",\n")) - 1 <= 14
    # Modules that ``:`` joins may import each other, so that such a layer would hide others.
    assert ":" not in layers


@pytest.mark.parametrize("integration", INTEGRATIONS, ids=lambda path: path.name)
def test_integrations_do_not_know_each_other(integration: Path) -> None:
    others = tuple(each.name for each in INTEGRATIONS if each != integration)
    used = {name for file in integration.rglob("*.py") for name in imported_by(file)}
    assert not {name for name in used if name.startswith(others)}


MOST_LINES, MOST_IN_A_FUNCTION, MOST_PARAMETERS = 300, 40, 7
OF_THE_PAGE = [
    (file.relative_to(PACKAGE.parent).as_posix(), file)
    for file in sorted(PACKAGE.rglob("*"))
    if file.suffix in {".js", ".css"}
]
"""The scripts and the styles of the report."""


class Function(NamedTuple):
    file: str
    name: str
    lines: int
    parameters: int

    def __str__(self) -> str:
        return f"{self.file} {self.name}"


@cache
def functions() -> tuple[Function, ...]:
    """All of the product; its files are parsed once for all that is counted of a function."""
    return tuple(
        Function(name, node.name, lines_of(node), parameters_of(node))
        for name, file in FILES
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    )


def lines_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """With its docstring, which readers of the function read as well."""
    return (function.end_lineno or 0) - function.lineno + 1


def parameters_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Without self, and without ``**fields``."""
    given = function.args
    named = [*given.posonlyargs, *given.args, *given.kwonlyargs]
    return len([each for each in named if each.arg not in {"self", "cls"}]) + (given.vararg is not None)


def check(found: dict[str, int], most: int) -> None:
    assert not {name: count for name, count in found.items() if count > most}


def test_no_file_is_long() -> None:
    check({name: len(file.read_text().splitlines()) for name, file in (*FILES, *OF_THE_PAGE)}, MOST_LINES)


def test_the_scripts_and_styles_of_the_page_are_counted() -> None:
    assert {file.suffix for _, file in OF_THE_PAGE} == {".js", ".css"}


def test_no_function_is_long() -> None:
    check({str(each): each.lines for each in functions()}, MOST_IN_A_FUNCTION)


def test_no_function_takes_much() -> None:
    check({str(each): each.parameters for each in functions()}, MOST_PARAMETERS)


TWINS = (
    {each.name for each in INTEGRATIONS},
    # What the plain integration has of the kit, the others have of their own.
    {"langchain_rag_rule_explainer", "llama_index_rag_rule_explainer", "searches/of_functions.py"},
    {"langchain_rag_rule_explainer", "llama_index_rag_rule_explainer", "requests/client_watch.py"},
    {"storing/postgres.py", "storing/sqlite.py"},
    {"tracing/langsmith.py", "tracing/spans.py"},
)
"""Frameworks, databases and tracers: what does the same for two of them has the same name."""
IN_EACH_MODULE = {"INTERCEPTIONS"}
"""What many modules define for the same reader: each lists under this name what it intercepts."""


def names_in(file: Path) -> Iterator[tuple[str, bool]]:
    """What a module defines for others, and whether it is a type variable."""
    for node in ast.parse(file.read_text()).body:
        match node:
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name, False
            case ast.Assign(
                targets=[ast.Name(id=name)], value=ast.Call(func=ast.Name(id="TypeVar" | "ParamSpec"))
            ):
                yield name, True
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                yield name, False
            case _:
                pass


def are_twins(places: set[str]) -> bool:
    """Whether each of these is in another one of the same group."""
    return any(
        len({part for part in group for place in places if part in place}) == len(places)
        for group in TWINS
    )


STANDS_FOR_ANY = {"Result"}
"""What is Any in one module and a type variable in others: a value of any type."""


def test_no_public_name_means_two_things() -> None:
    """A type variable may have the name of another one, and of nothing else."""
    places, variables = defaultdict[str, set[str]](set), defaultdict[str, set[str]](set)
    for name, file in FILES:
        for each, is_variable in names_in(file):
            if not each.startswith("_"):
                (variables if is_variable else places)[each].add(name)
    twice = {each for each, found in places.items() if len(found) > 1 and not are_twins(found)}
    assert not twice - IN_EACH_MODULE, {each: places[each] for each in twice}
    both = places.keys() & variables.keys() - STANDS_FOR_ANY
    assert not both, {each: places[each] | variables[each] for each in both}


def iterated_live(file: Path) -> Iterator[int]:
    """Yields the lines that iterate over the namespace of a class, module or function itself."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, (ast.For, ast.comprehension)):
            over = node.iter
        elif isinstance(node, ast.Starred):
            over = node.value
        else:
            continue
        if isinstance(over, ast.Call) and isinstance(over.func, ast.Attribute):
            over = over.func.value if over.func.attr in ("items", "values", "keys") else over
        name = ast.unparse(over.func if isinstance(over, ast.Call) else over)
        if name in ("vars", "sys.modules"):
            yield over.lineno


def test_namespaces_are_copied_before_they_are_iterated() -> None:
    # Another thread may import a module or set an attribute; Python then raises RuntimeError.
    builtin = "rag_rule_explainer/instrumentation/shared_state/made_when_missing.py"
    found = [(name, line) for name, file in FILES for line in iterated_live(file) if name != builtin]
    assert not found
