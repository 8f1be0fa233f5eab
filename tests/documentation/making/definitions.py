"""Constants and aliases of types as their modules define them, with the text below the definition."""

import ast
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from itertools import pairwise
from pathlib import Path


@cache
def defined(package: str) -> Mapping[str, tuple[str, str]]:
    """By its name: the source of each definition, and what is said of it."""
    folder = Path(str(import_module(package).__file__)).parent
    return dict(each for file in sorted(folder.rglob("*.py")) for each in _in(file))


def _in(file: Path) -> Iterator[tuple[str, tuple[str, str]]]:
    body = ast.parse(file.read_text(encoding="utf-8")).body
    for node, after in pairwise([*body, ast.Pass()]):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                told = ""
                match after:
                    case ast.Expr(value=ast.Constant(value=str(text))):
                        told = text
                    case _:
                        pass
                yield name, (ast.unparse(node), told)
            case _:
                pass
