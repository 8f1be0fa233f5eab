"""Whether the code of an application writes to what all of its runs share.

A result that a run leaves on such a thing may be the very same after every run, so that no look at it
tells; the code does. It is read without being run: assignments to attributes and entries of what is
shared, and calls that change a collection or a file. What only counts calls is left out.
"""

import ast
from collections import defaultdict
from collections.abc import Collection, Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache
from types import CodeType, FunctionType, MethodType

from .code import kept_by_defaults, tree_of, users_functions
from .holdings import Holdings

_CHANGING = frozenset(
    {
        *("append", "appendleft", "extend", "insert", "add", "update", "setdefault", "remove", "discard"),
        *("pop", "popleft", "popitem", "clear", "put", "put_nowait", "write", "writelines", "execute"),
        *("executemany", "dump", "__setitem__", "__setattr__", "__delitem__", "sort", "reverse"),
        *("set", "update_prompts", "hset", "incr", "rpush", "lpush", "sadd", "upsert"),
    }
)
_HANDING_ON = frozenset(
    {"type", "vars", "globals", "getattr", "cast", "get", "setdefault", "__getitem__"}
)
"""Calls that return what is held elsewhere."""
_TO_FILES = frozenset({"write_text", "write_bytes", "chdir", "putenv", "commit"})
_MAKING = frozenset({"__init__", "__new__", "__post_init__", "model_post_init", "__init_subclass__"})
_SERVED = frozenset({"BaseRetriever", "Embeddings", "BaseEmbedding"})
"""Bases of what replays are served instead of, or what says the same to everybody."""


@dataclass(frozen=True, slots=True)
class Written:
    """Where code writes to what runs share. ``where``: the function, in words; ``target``: what it
    changes; ``node``: by what."""

    where: str
    code: CodeType
    target: ast.expr
    node: ast.AST
    is_of_model: bool

    @property
    def counts_for_a_model(self) -> bool:
        """Returns whether a model counts here how often it was asked, whatever it was asked."""
        return self.is_of_model and not isinstance(self.target, ast.Subscript)

    @property
    def told(self) -> str:
        """Where, in words."""
        return f"{self.where} writes {ast.unparse(self.target)}"


def named(function: FunctionType) -> str:
    """Returns how a function of the user's is called, in words."""
    return f"{function.__qualname__.replace('<locals>.', '')}()"


def written_by(holdings: Holdings) -> str:
    """Returns where the user's code writes to what runs share, in words; empty where it does not."""
    return next((each.told for each in writes_in(holdings) if not each.is_of_model), "")


def writes_in(holdings: Holdings, shared: Collection[object] = ()) -> Iterator[Written]:
    """Yields where the user's code writes to what runs share, but for what only counts calls.

    Also where the user's own model does, which keeps books of its own. ``shared``: variables of the
    context that are not each run's own.
    """
    for held, function in users_functions(holdings):
        # Around it there may be functions of a decorator's.
        around = (each.thing for each in holdings.above(held))
        holder = next((each for each in around if not isinstance(each, FunctionType)), None)
        kind = holder if isinstance(holder, type) else type(holder)
        is_served = bool(_SERVED & {each.__name__ for each in kind.__mro__})
        if is_served or function.__name__ in _MAKING:
            continue
        kept = frozenset(kept_by_defaults(function))
        for target, node in _writes(function.__code__, kept, is_method=_is_method(holder, function)):
            written = Written(named(function), function.__code__, target, node, held.is_of_model)
            if not (_only_counts(node) and not written.counts_for_a_model) and not (
                isinstance(node, ast.Attribute) and _is_each_runs_own(holdings, node, shared)
            ):
                yield written


def _is_each_runs_own(holdings: Holdings, changing: ast.Attribute, shared: Collection[object]) -> bool:
    """Returns whether what is changed is a variable of the context, of which every run has one."""
    variable = holdings.outer.get(label_of(changing.value))
    return isinstance(variable, ContextVar) and variable not in shared


def _is_method(holder: object, function: FunctionType) -> bool:
    """Returns True iff the first argument of a function is the object whose method it is."""
    if isinstance(holder, MethodType):
        return True
    kind = holder if isinstance(holder, type) else type(holder)
    name = function.__name__
    return any(
        name in vars(each) and function.__qualname__ == f"{each.__qualname__}.{name}"
        for each in kind.__mro__
    )


@lru_cache(maxsize=512)
def _writes(
    code: CodeType, kept: frozenset[str], *, is_method: bool
) -> tuple[tuple[ast.expr, ast.AST], ...]:
    """Returns what it changes, and by what. Code is what it is, and is asked from several sides.

    ``kept``: parameters whose default every call of it is given the same of.
    """
    return tuple(_writes_of(code, kept, is_method=is_method))


def _writes_of(
    code: CodeType, kept: frozenset[str], *, is_method: bool
) -> Iterator[tuple[ast.expr, ast.AST]]:
    tree = tree_of(code)
    if tree is None:
        return
    first = code.co_varnames[0] if is_method and code.co_argcount else ""
    own = set(locals_of(code)) - {first, *kept, *_resources(tree)}
    own -= set(_aliases(tree, own))
    declared = {name for node in ast.walk(tree) for name in _declared(node)}
    for node in ast.walk(tree):
        for target in _targets(node):
            root = _root(target)
            if isinstance(target, ast.Name):
                if target.id in declared:
                    yield target, node
            elif root and root not in own:
                yield target, node


def _aliases(tree: ast.AST, own: set[str]) -> Iterator[str]:
    """Variables of a function that are nothing but other names of what runs share."""
    made = defaultdict[str, list[ast.expr]](list)
    for node in ast.walk(tree):
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in (part for each in targets for part in _parts(each)):
                if isinstance(target, ast.Name):
                    made[target.id].append(node.value)
    for name in own & made.keys():
        roots = [_root(value) for value in made[name]]
        if all(root and root not in own for root in roots):
            yield name


def _resources(tree: ast.AST) -> Iterator[str]:
    """Parameters that a workflow is given the same of in every run."""
    for node in ast.walk(tree):
        if isinstance(node, ast.arg) and node.annotation and "Resource(" in ast.unparse(node.annotation):
            yield node.arg


def locals_of(code: CodeType) -> Iterator[str]:
    """Yields the names that a call of it makes anew."""
    yield from (*code.co_varnames, *code.co_cellvars)
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from inner.co_varnames


def _declared(node: ast.AST) -> list[str]:
    return node.names if isinstance(node, (ast.Global, ast.Nonlocal)) else []


def _targets(node: ast.AST) -> Iterator[ast.expr]:
    """Yields what a statement or a call changes."""
    if isinstance(node, ast.Assign):
        yield from (part for target in node.targets for part in _parts(target))
    elif isinstance(node, (ast.AugAssign, ast.AnnAssign)) and getattr(node, "value", None) is not None:
        yield node.target
    elif isinstance(node, ast.Delete):
        yield from node.targets
    elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load) and node.attr in _CHANGING:
        # Called here, or handed over to be called by another one: ``race(results.put)``.
        if isinstance(node.value, (ast.Name, ast.Attribute, ast.Subscript)):
            yield node
    elif isinstance(node, ast.Call):
        yield from _changed_by(node)


def _changed_by(call: ast.Call) -> Iterator[ast.expr]:
    name = label_of(call.func)
    if isinstance(call.func, ast.Attribute) and name in _TO_FILES:
        yield ast.Attribute(ast.Name("a file"), name)
    elif name in {"setattr", "setitem"} and call.args:
        yield ast.Attribute(call.args[0], "…")
    elif isinstance(call.func, ast.Name) and name == "open":
        modes = [each.value for each in call.args[1:2] if isinstance(each, ast.Constant)]
        if any(set(str(mode)) & set("wax+") for mode in modes):
            yield ast.Attribute(ast.Name("a file"), "write")


def _parts(target: ast.expr) -> Iterator[ast.expr]:
    if isinstance(target, (ast.Tuple, ast.List)):
        for each in target.elts:
            yield from _parts(each)
    else:
        yield target.value if isinstance(target, ast.Starred) else target


def label_of(node: ast.AST) -> str:
    """Returns the name under which code reads what it is or is an entry of: of ``self.x["y"]``, x."""
    while isinstance(node, ast.Subscript):
        node = node.value
    return getattr(node, "attr", "") or getattr(node, "id", "")


def _root(target: ast.expr) -> str:
    """Returns the variable at which a target begins: of ``type(self).seen["x"]``, self."""
    while not isinstance(target, ast.Name):
        if isinstance(target, (ast.Attribute, ast.Subscript)):
            target = target.value
        elif isinstance(target, ast.Call) and label_of(target.func) in _HANDING_ON:
            if isinstance(target.func, ast.Attribute):
                target = target.func.value
            elif target.args:
                target = target.args[0]
            else:
                return target.func.id if isinstance(target.func, ast.Name) else ""
        else:
            return ""
    return target.id


def _only_counts(node: ast.AST) -> bool:
    """``calls += 1``: whoever goes by it is told of elsewhere."""
    return isinstance(node, ast.AugAssign) and isinstance(node.value, ast.Constant)
