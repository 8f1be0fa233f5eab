"""This module finds the places in an application's code that write to state that its runs share.

A value may be the same after every run although each run writes it. Then only the application's code
shows the write: by an assignment to an attribute or an entry of a shared object, or by a call that
changes a collection or a file. Counters of calls are left out, because ``counting`` finds them.
"""

import ast
from collections import defaultdict
from collections.abc import Collection, Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache
from types import CodeType, FunctionType, MethodType

from ..copies.guarded_code import own_code
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
"""Functions that return a part of their argument, and methods that return a part of their object.
Changing the returned part changes the argument or object itself."""
OF_THE_MOMENT = frozenset(
    {"get_running_loop", "get_event_loop", "current_thread", "currentThread", "main_thread"}
)
"""Functions that return the current event loop or a thread. All runs on the same loop or thread share
this object, so changing the object changes shared state."""
_TO_FILES = frozenset({"write_text", "write_bytes", "chdir", "putenv", "commit"})
_MAKING = frozenset({"__init__", "__new__", "__post_init__", "model_post_init", "__init_subclass__"})
_SERVED = frozenset({"BaseRetriever", "Embeddings", "BaseEmbedding"})
"""The names of base classes whose state does not matter in replays: retrievers get recorded results, and
the results of embeddings never change."""


@dataclass(frozen=True, slots=True)
class Written:
    """A ``Written`` is a place in code that writes to shared state.

    ``where``: the name of the function, for messages. ``target``: the changed expression. ``node``: the
    syntax node of the changing statement or method, such as ``seen.append``. ``is_of_model``: True if the
    code belongs to a model.
    """

    where: str
    code: CodeType
    target: ast.expr
    node: ast.AST
    is_of_model: bool

    @property
    def counts_for_a_model(self) -> bool:
        """Returns True iff this write may change a counter of a model's calls: the code belongs to a
        user's model, and changes a single value, not an entry of a collection."""
        return self.is_of_model and not isinstance(self.target, ast.Subscript)

    @property
    def clause(self) -> str:
        """Returns a clause for messages, such as "Chat.ask() writes self.turn"."""
        return f"{self.where} writes {ast.unparse(self.target)}"


def function_label(function: FunctionType) -> str:
    """Returns the name of a function for messages."""
    return f"{function.__qualname__.replace('<locals>.', '')}()"


def written_by(holdings: Holdings) -> str:
    """Returns a clause for messages that names the first place in the application's code that writes to
    shared state; empty if there is none. Writes in the code of models are ignored."""
    return next((each.clause for each in writes_in(holdings) if not each.is_of_model), "")


def writes_in(holdings: Holdings, shared: Collection[object] = ()) -> Iterator[Written]:
    """Yields the places where the user's code, including that of models, writes to shared state.

    Counters of calls are left out, except in models. ``shared``: context variables that all runs share,
    because they cannot be reset.
    """
    for held, function in users_functions(holdings):
        # A decorator may have wrapped the method in other functions. The functions are skipped, to find
        # the object that has the method.
        around = (each.thing for each in holdings.above(held))
        holder = next((each for each in around if not isinstance(each, FunctionType)), None)
        kind = holder if isinstance(holder, type) else type(holder)
        is_served = bool(_SERVED & {each.__name__ for each in kind.__mro__})
        if is_served or function.__name__ in _MAKING:
            continue
        kept = frozenset(kept_by_defaults(function))
        for target, node in _writes(own_code(function), kept, is_method=_is_method(holder, function)):
            written = Written(
                function_label(function), own_code(function), target, node, held.is_of_model
            )
            if not (_only_counts(node) and not written.counts_for_a_model) and not (
                isinstance(node, ast.Attribute) and _is_each_runs_own(holdings, node, shared)
            ):
                yield written


def _is_each_runs_own(holdings: Holdings, changing: ast.Attribute, shared: Collection[object]) -> bool:
    """Returns True iff the changed object is stored in a context variable that has a separate value in
    each run. ``changing``: the expression that changes the object. ``shared``: the context variables that
    all runs share."""
    variable = holdings.outer.get(label_of(changing.value))
    return isinstance(variable, ContextVar) and variable not in shared


def _is_method(holder: object, function: FunctionType) -> bool:
    """Returns True iff a function is a method, so that its first parameter is the object on which the
    method is called. ``holder``: the object or class in which the function was found."""
    if isinstance(holder, MethodType):
        return True
    kind = holder if isinstance(holder, type) else type(holder)
    name = function.__name__
    return any(
        name in vars(each) and function.__qualname__ == f"{each.__qualname__}.{name}"
        for each in kind.__mro__
    )


def changed_names(code: CodeType) -> frozenset[str]:
    """Returns the first name of each expression by which a function changes shared state: ``seen`` for
    ``seen.append(1)``, ``app`` for ``app.turn = 2``."""
    writes = _writes(code, frozenset[str](), is_method=False)
    return frozenset(_root(target) for target, _ in writes)


def written_names(code: CodeType) -> frozenset[str]:
    """Returns the names of all shared values that code changes, such as ``seen`` for
    ``self.seen.append(each)``; empty for the code of ``__init__`` and similar methods."""
    if code.co_name in _MAKING:
        return frozenset()
    writes = _writes(code, frozenset[str](), is_method=code.co_varnames[:1] in {("self",), ("cls",)})
    return frozenset(
        label_of(target.value if target is node and isinstance(target, ast.Attribute) else target)
        for target, node in writes
    )


def changed_collections(code: CodeType) -> frozenset[str]:
    """Returns the names of the collections in which the code changes an entry, such as ``cache`` for
    ``linecache.cache[key] = lines``."""
    writes = _writes(code, frozenset[str](), is_method=False)
    return frozenset(
        label_of(target.value)
        for target, node in writes
        if isinstance(target, ast.Subscript) or (isinstance(target, ast.Attribute) and target is node)
    )


@lru_cache(maxsize=512)
def _writes(
    code: CodeType, kept: frozenset[str], *, is_method: bool
) -> tuple[tuple[ast.expr, ast.AST], ...]:
    """Returns the writes to shared state in a function: the changed expressions, each with the syntax
    node that changes the expression. Code never changes, so the result is cached.

    ``kept``: the parameters whose default value all calls share. ``is_method``: True if the first
    parameter is ``self`` or ``cls``.
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
    """Yields the local variables that are only another name for a shared object, as ``seen`` after ``seen
    = self.seen``. ``own``: the names of all local variables whose values do not come from outside of the
    function."""
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
    """Yields the names of the parameters to which LlamaIndex passes a workflow's ``Resource``, which is
    the same object in every run."""
    for node in ast.walk(tree):
        if isinstance(node, ast.arg) and node.annotation and "Resource(" in ast.unparse(node.annotation):
            yield node.arg


def locals_of(code: CodeType) -> Iterator[str]:
    """Yields the names of the code's local variables, also of inner functions."""
    yield from (*code.co_varnames, *code.co_cellvars)
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from inner.co_varnames


def _declared(node: ast.AST) -> list[str]:
    return node.names if isinstance(node, (ast.Global, ast.Nonlocal)) else []


def _targets(node: ast.AST) -> Iterator[ast.expr]:
    """Yields the expressions that a statement or a call changes. For a method such as ``seen.append``,
    yields the whole expression ``seen.append``."""
    if isinstance(node, ast.Assign):
        yield from (part for target in node.targets for part in _parts(target))
    elif isinstance(node, (ast.AugAssign, ast.AnnAssign)) and getattr(node, "value", None) is not None:
        yield node.target
    elif isinstance(node, ast.Delete):
        yield from node.targets
    elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load) and node.attr in _CHANGING:
        # The method may also be passed to a function that calls it, as in ``race(results.put)``.
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
    """Returns the last name in an expression, without its keys: ``x`` for ``self.x["y"]``."""
    while isinstance(node, ast.Subscript):
        node = node.value
    return getattr(node, "attr", "") or getattr(node, "id", "")


def _root(target: ast.expr) -> str:
    """Returns the variable with which an expression begins: ``self`` for ``type(self).seen["x"]``.
    Returns an empty text if it begins with something else, such as the call of an unknown function."""
    while not isinstance(target, ast.Name):
        if isinstance(target, (ast.Attribute, ast.Subscript)):
            target = target.value
        elif isinstance(target, ast.Call) and label_of(target.func) in _HANDING_ON | OF_THE_MOMENT:
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
    """Returns True for a statement such as ``calls += 1``. The module ``counting`` finds the code that
    reads such a counter."""
    return isinstance(node, ast.AugAssign) and isinstance(node.value, ast.Constant)
