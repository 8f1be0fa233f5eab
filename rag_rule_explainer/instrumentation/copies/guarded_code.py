"""This module replaces the code of functions for some time. The new code asks a ``CodeGuard`` which
function to call: the original function, or another one in its place.

Other code can reach a function in many ways: through a class, by ``inspect.unwrap``, by ``vars()``, or
through a variable of a module. All of these ways lead to the same function object. So every call is
caught if the code of this object is replaced. The function's signature, flags, name and line numbers stay
the same. Calls that are already running continue with the original code.
"""

import ast
import inspect
import threading
from collections.abc import Callable
from functools import lru_cache
from types import CodeType, FunctionType
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from .recursion_limit import raise_limit, restore_limit

Choosing = Callable[[FunctionType, tuple[Any, ...]], Any]
"""A function that decides which function is called in place of a guarded function, and returns it. It
gets the original function, and a tuple with the first positional argument of the call (empty if the
function has no positional parameters)."""

_HOOK = "\0guard"
_LEFT_ALONE = inspect.CO_ITERABLE_COROUTINE | inspect.CO_ASYNC_GENERATOR
"""Flags of functions that are not guarded, such as async generators. New code could not pass a call on to
an async generator, because Python has no ``yield from`` for async generators. No framework accepts an
async generator as a tool."""


class CodeGuard:
    """A ``CodeGuard`` decides what each call of one guarded function calls. It is a constant in the
    function's new code. ``code``: the original code; ``plain``: a function with the original code."""

    __slots__ = ("_choosing", "code", "plain")

    def __init__(self, function: FunctionType, code: CodeType, choosing: Choosing) -> None:
        self.code = code
        self._choosing = choosing
        self.plain = FunctionType(
            self.code,
            function.__globals__,
            function.__name__,
            function.__defaults__,
            function.__closure__,
        )
        self.plain.__kwdefaults__ = function.__kwdefaults__
        self.plain.__qualname__, self.plain.__module__ = function.__qualname__, function.__module__

    def chosen(self, *first: Any) -> Any:
        """Returns the function that the current call must call. ``first``: the first positional argument
        of the call; none if the function has no positional parameters."""
        return self._choosing(self.plain, first)

    def __reduce__(self) -> Any:
        """Returns what pickle needs to make this guard in another process. There, the guard calls the
        original function, because no explanation runs in that process."""
        return _unguarded, (self.plain,)


def _unguarded(plain: FunctionType) -> CodeGuard:
    return CodeGuard(plain, plain.__code__, lambda function, _: function)


def own_code(function: Any) -> CodeType:
    """Returns the code of a function as its author wrote it, also while the function is guarded."""
    code = function.__code__
    last = code.co_consts[-1:]
    return last[0].code if last and type(last[0]) is CodeGuard else code


class _Guarded(NamedTuple):
    own: CodeType
    code: CodeType
    holders: set[int]


class CodeGuards:
    """A ``CodeGuards`` guards functions, and restores them. Thread-safe. Several holders may guard the
    same function; it is restored when the last one gives it up.

    While a function that calls itself is guarded, the recursion limit is raised."""

    def __init__(self) -> None:
        self._guarded = WeakKeyDictionary[FunctionType, _Guarded]()
        self._lock = threading.RLock()

    def guard(self, function: FunctionType, choosing: Choosing, holder: object = None) -> None:
        """Replaces the code of a function by code that asks ``choosing`` which function to call. Does
        nothing if the code cannot be replaced. If the function is already guarded, the earlier
        ``choosing`` stays. ``holder``: the object that needs the guard."""
        with self._lock:
            known = self._guarded.get(function)
            if known is not None and known.code is function.__code__:
                known.holders.add(id(holder))
                return
            own = own_code(function)
            code = _guarding(own, CodeGuard(function, own, choosing))
            if code is not None:
                self._guarded[function] = _Guarded(own, code, {id(holder)})
                function.__code__ = code
                if _calls_itself(own):
                    raise_limit()

    def restore(self, holder: object = None) -> None:
        """Restores the original code of the functions that only this holder guards. If other code has
        meanwhile replaced the code of a function again, that function is left as it is."""
        with self._lock:
            for function, guarded in list(self._guarded.items()):
                guarded.holders.discard(id(holder))
                if guarded.holders:
                    continue
                if function.__code__ is guarded.code:
                    function.__code__ = guarded.own
                del self._guarded[function]
            if not any(_calls_itself(each.own) for each in self._guarded.values()):
                restore_limit()


def _calls_itself(code: CodeType) -> bool:
    """Returns True iff a function may call itself: its code, or code inside it, has its own name."""
    inner = (each for each in code.co_consts if isinstance(each, CodeType))
    names = {name for each in (code, *inner) for name in (*each.co_names, *each.co_freevars)}
    return code.co_name in names


def _guarding(code: CodeType, guard: CodeGuard) -> CodeType | None:
    """Returns new code with the parameters of ``code``; it calls the function that ``guard`` chooses.
    Returns None if no new code would have the same flags and variables as ``code``."""
    made = None if code.co_flags & _LEFT_ALONE else _calling_hook(code)
    if made is None:
        return None
    consts = [guard if each == _HOOK else each for each in made.co_consts]
    named: dict[str, Any] = {"co_name": code.co_name, "co_firstlineno": code.co_firstlineno}
    if hasattr(code, "co_qualname"):
        named["co_qualname"] = code.co_qualname
    # ``own_code`` looks for the guard in the last constant, so the guard is added there as well.
    return made.replace(co_consts=(*consts, guard), **named)


@lru_cache(maxsize=256)
def _calling_hook(code: CodeType) -> CodeType | None:
    """Returns new code with the parameters of ``code``; it calls the constant ``_HOOK``, which is later
    replaced by a ``CodeGuard``. Returns None if the new code would have other flags or other free
    variables than ``code``."""
    try:
        made = compile(_source(code), code.co_filename, "exec", dont_inherit=True)
        made = _code_in(_code_in(made))
    except (SyntaxError, ValueError, StopIteration):
        return None
    is_alike = made.co_freevars == code.co_freevars and made.co_flags & _KIND == code.co_flags & _KIND
    return made if is_alike else None


_KIND = (
    inspect.CO_VARARGS
    | inspect.CO_VARKEYWORDS
    | inspect.CO_GENERATOR
    | inspect.CO_COROUTINE
    | inspect.CO_ASYNC_GENERATOR
)


def _code_in(code: CodeType) -> CodeType:
    return next(each for each in code.co_consts if isinstance(each, CodeType))


def _source(code: CodeType) -> ast.Module:
    """Returns the syntax tree of a module that defines an outer function with an inner function. The
    inner function has the parameters and the free variables of ``code``."""
    signature, given, first = _parameters(code)
    call = f"{_HOOK!r}.chosen({first})({given})"
    head, body = "def", f"return {call}"
    if code.co_flags & inspect.CO_COROUTINE:
        head, body = "async def", f"return await {call}"
    elif code.co_flags & inspect.CO_GENERATOR:
        body = f"return (yield from {call})"
    lines = ["def _rag_outer():"]
    lines += [f" {name} = None" for name in code.co_freevars]
    # The line after the call never runs. It only names the free variables, so that Python compiles them
    # as free variables of the inner function.
    lines += [f" {head} _rag_inner({signature}):", f"  {body}"]
    lines += [f"  if 0: return_ = ({', '.join(code.co_freevars)},)"] if code.co_freevars else []
    tree = ast.parse("\n".join(lines))
    for node in ast.walk(tree):
        if hasattr(node, "lineno"):
            node.lineno = node.end_lineno = code.co_firstlineno  # type: ignore[attr-defined] # every such node has both
    return tree


def _parameters(code: CodeType) -> tuple[str, str, str]:
    """Returns three texts for the new code: the parameters of the function, without defaults; the
    arguments that pass these parameters on; and the first positional argument (empty if there is none).
    """
    count, only = code.co_argcount, code.co_kwonlyargcount
    names, keywords = code.co_varnames[:count], code.co_varnames[count : count + only]
    rest = list(code.co_varnames[count + only :])
    listed, passed = list(names), list(names)
    if code.co_posonlyargcount:
        listed.insert(code.co_posonlyargcount, "/")
    if code.co_flags & inspect.CO_VARARGS:
        several = f"*{rest.pop(0)}"
        listed.append(several)
        passed.append(several)
    elif keywords:
        listed.append("*")
    listed += keywords
    passed += [f"{name}={name}" for name in keywords]
    if code.co_flags & inspect.CO_VARKEYWORDS:
        listed.append(f"**{rest[0]}")
        passed.append(f"**{rest[0]}")
    first = (
        names[0]
        if names
        else next((f"{each}[:1]" for each in passed if each[:1] == "*" != each[1:2]), "")
    )
    return ", ".join(listed), ", ".join(passed), first
