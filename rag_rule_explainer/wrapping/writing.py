"""Whether the code of an application writes to what all of its runs share.

A result that a run leaves on such a thing may be the very same after every run, so that no look at it
tells; the code does. It is read without being run: assignments to attributes and entries of what is
shared, and calls that change a collection or a file. What only counts calls is left out.
"""

import ast
from collections.abc import Iterator
from types import CodeType, FunctionType, MethodType

from .code import tree_of, users_functions
from .holdings import Holdings

_CHANGING = frozenset(
    {
        *("append", "appendleft", "extend", "insert", "add", "update", "setdefault", "remove", "discard"),
        *("pop", "popleft", "popitem", "clear", "put", "put_nowait", "write", "writelines", "execute"),
        *("executemany", "dump", "__setitem__", "__setattr__"),
    }
)
_TO_FILES = frozenset({"write_text", "write_bytes", "chdir", "putenv", "commit"})
_MAKING = frozenset({"__init__", "__new__", "__post_init__", "model_post_init", "__init_subclass__"})
_SERVED = frozenset({"BaseRetriever", "Embeddings", "BaseEmbedding"})
"""Bases of what replays are served instead of, or what says the same to everybody."""


def written_by(holdings: Holdings) -> str:
    """Returns where the user's code writes to what runs share, in words; empty where it does not."""
    for held, function in users_functions(holdings):
        holder = None if held.holder is None else holdings.all[held.holder].thing
        kind = holder if isinstance(holder, type) else type(holder)
        is_served = bool(_SERVED & {each.__name__ for each in kind.__mro__})
        if held.is_of_model or is_served or function.__name__ in _MAKING:
            continue
        found = next(_writes(function, is_method=_is_method(holder, function)), "")
        if found:
            return f"{function.__qualname__.replace('<locals>.', '')}() writes {found}"
    return ""


def _is_method(holder: object, function: FunctionType) -> bool:
    """True iff the first argument of a function is the object whose method it is."""
    if isinstance(holder, MethodType):
        return True
    kind = holder if isinstance(holder, type) else type(holder)
    defined = (vars(each).get(function.__name__) for each in kind.__mro__)
    return any(each is function or getattr(each, "fget", None) is function for each in defined)


def _writes(function: FunctionType, *, is_method: bool) -> Iterator[str]:
    tree = tree_of(function)
    if tree is None:
        return
    code = function.__code__
    first = code.co_varnames[0] if is_method and code.co_argcount else ""
    own = set(_locals_of(code)) - {first}
    named = {name for node in ast.walk(tree) for name in _declared(node)}
    for node in ast.walk(tree):
        for target in _targets(node):
            root = _root(target)
            if isinstance(target, ast.Name):
                if target.id in named and not _only_counts(node):
                    yield target.id
            elif root and root not in own and not _only_counts(node):
                yield ast.unparse(target)


def _locals_of(code: CodeType) -> Iterator[str]:
    """The names that a call of it makes anew."""
    yield from (*code.co_varnames, *code.co_cellvars)
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from inner.co_varnames


def _declared(node: ast.AST) -> list[str]:
    return node.names if isinstance(node, (ast.Global, ast.Nonlocal)) else []


def _targets(node: ast.AST) -> Iterator[ast.expr]:
    """What a statement or a call changes."""
    if isinstance(node, ast.Assign):
        yield from (part for target in node.targets for part in _parts(target))
    elif isinstance(node, (ast.AugAssign, ast.AnnAssign)) and getattr(node, "value", None) is not None:
        yield node.target
    elif isinstance(node, ast.Delete):
        yield from node.targets
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        holder, name = node.func.value, node.func.attr
        if name in _CHANGING and isinstance(holder, (ast.Name, ast.Attribute, ast.Subscript)):
            yield ast.Attribute(holder, name)
        elif name in _TO_FILES:
            yield ast.Attribute(ast.Name("a file"), name)
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        modes = [each.value for each in node.args[1:2] if isinstance(each, ast.Constant)]
        if node.func.id == "open" and any(set(str(mode)) & set("wax+") for mode in modes):
            yield ast.Attribute(ast.Name("a file"), "write")
        elif node.func.id == "setattr" and node.args:
            yield ast.Attribute(node.args[0], "…")


def _parts(target: ast.expr) -> Iterator[ast.expr]:
    if isinstance(target, (ast.Tuple, ast.List)):
        for each in target.elts:
            yield from _parts(each)
    else:
        yield target.value if isinstance(target, ast.Starred) else target


def _root(target: ast.expr) -> str:
    while isinstance(target, (ast.Attribute, ast.Subscript)):
        target = target.value
    return target.id if isinstance(target, ast.Name) else ""


def _only_counts(node: ast.AST) -> bool:
    """``calls += 1``: whoever goes by it is told of elsewhere."""
    return isinstance(node, ast.AugAssign) and isinstance(node.value, ast.Constant)
