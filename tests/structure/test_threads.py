"""Nothing that another thread may change meanwhile is gone through itself: a copy of it is."""

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.structure.product import FILES

LIVE = {
    *("vars", "sys.modules", "f_locals", "f_globals", "__dict__", "__globals__", "__kwdefaults__"),
    *("loggerDict", "_dict_of", "_all_of", "attributes_of", "state.before"),
}
"""The ends of the names of what other threads may change: namespaces, registers, what runs have read."""
BY_HAND = {
    # The builtins, of which a copy would cost more than all else there.
    "rag_rule_explainer/instrumentation/shared_state/made_when_missing.py",
}


def iterated(node: ast.AST) -> ast.expr | None:
    """What a loop, a comprehension, a star or a call such as ``map(f, x)`` goes through."""
    if isinstance(node, (ast.For, ast.comprehension)):
        return node.iter
    if isinstance(node, (ast.YieldFrom, ast.Starred)):
        # A list of keys is made in one step; one of pairs is not, since pairs are made one by one.
        return node.value if isinstance(node, ast.YieldFrom) or ".items(" in ast.unparse(node) else None
    if isinstance(node, ast.Call) and node.args and isinstance(node.func, ast.Name):
        if node.func.id in {"islice", "any"}:
            return node.args[0]
        return node.args[-1] if node.func.id == "map" else None
    return None


def of_the_process(tree: ast.Module) -> set[str]:
    """The names of the dicts and sets that a module keeps for all threads."""
    found = set[str]()
    for node in tree.body:
        if not isinstance(node, (ast.Assign, ast.AnnAssign)):
            continue
        value = node.value
        made = ast.unparse(value.func) if isinstance(value, ast.Call) else ""
        is_empty = isinstance(value, ast.Dict) and not value.keys
        if is_empty or made.partition("[")[0] in {"dict", "set"} or made.startswith("Weak"):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found.update(map(ast.unparse, targets))
    return found


def iterated_live(file: Path) -> Iterator[int]:
    """Yields the lines that go through something that another thread may change meanwhile, itself."""
    tree = ast.parse(file.read_text())
    names = of_the_process(tree)
    for node in ast.walk(tree):
        over = iterated(node)
        if isinstance(over, ast.Call) and isinstance(over.func, ast.Attribute):
            over = over.func.value if over.func.attr in ("items", "values", "keys") else over
        name = "" if over is None else ast.unparse(over.func if isinstance(over, ast.Call) else over)
        if name in names or any(name == each or name.endswith(f".{each}") for each in LIVE):
            yield node.iter.lineno if isinstance(node, ast.comprehension) else over.lineno  # pyright: ignore[reportOptionalMemberAccess] -- it has a name


def test_what_other_threads_may_change_is_copied_before_it_is_iterated() -> None:
    # Another thread may import a module or set an attribute; Python then raises RuntimeError.
    found = [(name, line) for name, file in FILES for line in iterated_live(file) if name not in BY_HAND]
    assert not found
