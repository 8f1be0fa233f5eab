"""This module checks the values of settings and parameters, and suggests the name that a user misspelt.

Python itself accepts mistakes: "no" counts as true, a string counts as a sequence of letters, and True
counts as a number.
"""

import dataclasses
import inspect
from collections.abc import Callable, Iterable, Mapping
from functools import cache, partial, wraps
from numbers import Integral, Real
from typing import Any, TypeVar, cast

from .errors import InvalidInput
from .printable import brief, nearest

Collecting = TypeVar("Collecting", bound=Callable[..., Any])
Options = TypeVar("Options")
Callee = TypeVar("Callee", bound=Callable[..., Any])


def checked_flag(name: str, given: Any) -> bool:
    """Returns the value if it is True or False. Raises InvalidInput for anything else, such as "no"."""
    if type(given) is not bool:
        raise InvalidInput(f"{name} is {brief(given)}; give True or False")
    return given


def plain_number(given: Any) -> Any:
    """Converts a number of another library, such as NumPy, to an int or a float of the same value, and
    returns it. Returns any other value, bool included, unchanged."""
    if isinstance(given, bool):
        return given
    if isinstance(given, Integral):
        return int(given)
    return float(given) if isinstance(given, Real) else given


def checked_whole(name: str, given: Any, least: int, most: int | None = None) -> int:
    """Returns the value as an int if it is a whole number from ``least`` to ``most`` (None: no upper
    bound). Raises InvalidInput otherwise."""
    number = plain_number(given)
    if type(number) is not int or number < least or (most is not None and number > most):
        bounds = f"at least {least}" if most is None else f"from {least} to {most:,}"
        raise InvalidInput(f"{name} is {brief(given)}; give a whole number, {bounds}")
    return number


def checked_function(name: str, given: Any, what: str, arguments: int | None = None) -> Any:
    """Returns the value if it can be called. Raises InvalidInput otherwise. ``what``: words for the
    wanted value, for the message. ``arguments``: the number of positional arguments that the function
    must accept; None for any."""
    if not callable(given):
        raise InvalidInput(f"{name} is {brief(given)}; give {what}")
    if arguments is not None and not takes(given, arguments):
        raise InvalidInput(
            f"{name} is {named_function(given)}, which cannot be called with {arguments} positional "
            f"argument{'s' * (arguments > 1)}; give {what}"
        )
    return given


def checked_list(name: str, given: Any, what: str) -> tuple[Any, ...]:
    """Returns the items of a list, a tuple, a set or a generator as a tuple. Raises InvalidInput for a
    string, a mapping and anything else. ``what``: the kind of items that the message asks for."""
    if not isinstance(given, Iterable) or isinstance(given, (str, bytes, Mapping)):
        raise InvalidInput(f"{name} is {brief(cast('object', given))}; give a list of {what}")
    return tuple(cast("Iterable[Any]", given))


def checked_text(name: str, given: Any, what: str = "a str") -> str:
    """Returns the value if it is a str that is not blank. Raises InvalidInput otherwise. ``what``: words
    for the wanted value, for the message."""
    if not isinstance(given, str):
        raise InvalidInput(f"{name} is {brief(given)}; give {what}")
    if not given.strip():
        raise InvalidInput(f"{name} is empty; give {what}")
    return given


def named_function(function: object) -> str:
    """Returns the name of a function for error messages."""
    name = getattr(function, "__qualname__", None) or type(function).__name__
    return "a lambda" if name.endswith("<lambda>") else name


def takes(function: Callable[..., Any], arguments: int) -> bool:
    """Returns True iff the function can be called with this number of positional arguments, or its
    signature is not known."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # some built-in functions have no signature
        return True
    try:
        signature.bind(*range(arguments))
    except TypeError:
        return False
    return True


def unknown_name(given: str, what: str, known: Iterable[str]) -> str:
    """Returns a sentence that says that ``given`` is no known name. The sentence suggests the nearest
    known name and lists all known names. ``what``: the kind of thing that is named, such as "setting"."""
    names = sorted(set(known))
    return f"{given!r} is not a {what}; {did_you_mean(given, names)}known are {', '.join(names)}"


def check_no_others(given: Iterable[str], function: Callable[..., object]) -> None:
    """Raises InvalidInput if ``given`` has an item. ``given``: the keywords of a call that ``function``
    does not accept. The message suggests the nearest keyword that the function accepts."""
    for name in given:
        raise InvalidInput(
            unknown_name(name, f"keyword of {named_function(function)}", keywords_of(function)[1:])
        )


_OF_LIMITS = "max_"
_OF_JUDGES = "judge"
CALLED_ELSEWHERE = {
    **dict.fromkeys(("budget", "max_calls", "max_cost", "max_replays", "max_seconds"), "limits"),
    **dict.fromkeys(("replays", "tokens", "cost", "seconds"), "limits"),  # these are the fields of Limits
    **dict.fromkeys(("n_samples", "num_samples", "samples", "votes"), "noise"),
    **dict.fromkeys(("cache", "database", "db"), "store"),
    **dict.fromkeys(("condition", "criterion", "metric", "scorer"), "predicate"),
    **dict.fromkeys(
        ("max_concurrency", "max_workers", "n_jobs", "num_workers", "threads"), "concurrency"
    ),
    **dict.fromkeys(("parallel", "parallelism", "threads", "workers"), "concurrency"),
    **dict.fromkeys(("trace", "traces", "tracing"), "trace_replays"),
    **dict.fromkeys(("progress_bar", "show_progress", "verbose"), "progress"),
    **dict.fromkeys(("attempts", "max_retries"), "retries"),
    **dict.fromkeys(("random_seed", "random_state"), "seed"),
}
"""Names that other libraries use for settings, each with the name of the same setting in this package."""

_OF_CALLS = {
    **dict.fromkeys(("chunks", "contexts", "docs", "documents", "nodes", "source", "sources"), "sources"),
    **dict.fromkeys(("retriever", "vectorstore", "vector_store"), "retrievers"),
    **{name: name for name in ("baseline", "pinned", "question")},
}
"""Names that users often write by mistake in place of an argument of a call, each with this argument.
Unlike the names in ``CALLED_ELSEWHERE``, they do not stand for settings."""


def did_you_mean(given: str, known: Iterable[str]) -> str:
    """Returns "did you mean ...?" with the nearest known name; an empty text if no known name is
    similar."""
    names = list(known)
    if CALLED_ELSEWHERE.get(given) in names:
        return f"did you mean {CALLED_ELSEWHERE[given]!r}? "
    if given != _OF_CALLS.get(given) and _OF_CALLS.get(given) in names:
        return f"did you mean {_OF_CALLS[given]!r}? "
    if given.startswith(_OF_LIMITS) and "limits" in names:
        # The command line has options such as --max-replays. In Python, they are fields of ``limits``.
        return "did you mean 'limits'? "
    if given.startswith(_OF_JUDGES) and "predicate" in names:
        return "did you mean predicate=judged('says ...', judge)? "
    if given in CALLED_ELSEWHERE or given in _OF_CALLS:
        return ""  # ``given`` is exactly a known name of something else, so it is not misspelt
    return nearest(given, names)


def keywords_of(function: Callable[..., object]) -> tuple[str, ...]:
    """Returns the names of the parameters that can be given by keyword, without ``self`` and
    ``**fields``."""
    kinds = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    parameters = inspect.signature(function).parameters.values()
    return tuple(each.name for each in parameters if each.kind in kinds and each.name != "self")


def showing(options: type, fields: type) -> Callable[[Collecting], Collecting]:
    """Returns a decorator for a function that has ``**fields``. The decorated function's signature
    lists every field of the dataclass ``options``, with its default and with its type from the
    TypedDict ``fields``."""

    def shown(function: Collecting) -> Collecting:
        signature = inspect.signature(function)
        *parameters, collected = signature.parameters.values()
        named = [
            inspect.Parameter(
                each.name,
                inspect.Parameter.KEYWORD_ONLY,
                default=each.default_factory() if callable(each.default_factory) else each.default,
                annotation=fields.__annotations__[each.name],
            )
            for each in dataclasses.fields(options)
            if each.name not in signature.parameters
        ]
        shown_signature = signature.replace(parameters=[*parameters, *named, collected])
        function.__signature__ = shown_signature  # pyright: ignore[reportFunctionMemberAccess] -- inspect reads this attribute
        return function

    return shown


def taken(
    options: type[Options],
    given: Mapping[str, Any],
    explainer: Callable[..., object],
    others: Iterable[str],
) -> Options:
    """Returns an instance of ``options`` made from the keywords of a call.

    ``others``: the names of the call's other arguments, which error messages list too. Raises
    InvalidInput for a keyword that is no field of ``options``. If the keyword is a setting of
    ``explainer``, the message says that it must be given when the explainer is made.
    """
    known = [each.name for each in dataclasses.fields(cast("Any", options))]
    for name in given:
        if name in known:
            continue
        if name in keywords_of(explainer):
            raise InvalidInput(_of_explainer(name, f"{explainer.__name__}(replay"))
        raise InvalidInput(unknown_name(name, "keyword of this call", [*known, *others]))
    return options(**given)


def called_as(name: str) -> Callable[[Callee], Callee]:
    """Returns a decorator for a function or class that users call by this name. A call with wrong
    arguments then raises InvalidInput, which suggests the nearest keyword that the function accepts."""

    def checking(function: Callee) -> Callee:
        made: Any = function
        if isinstance(function, type):
            made.__init__ = _checked_call(name, made.__init__)
            return made
        return _checked_call(name, function)

    return checking


def _checked_call(name: str, function: Callable[..., Any]) -> Any:
    # The signature is read at the first call, so that the package is imported fast.
    signature = cache(partial(inspect.signature, function))

    def check(args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        try:
            signature().bind(*args, **kwargs)
        except TypeError as error:
            raise InvalidInput(_why_not(name, function, args, kwargs, str(error))) from None

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        check(args, kwargs)
        return function(*args, **kwargs)

    @wraps(function)
    async def acall(*args: Any, **kwargs: Any) -> Any:
        check(args, kwargs)
        return await function(*args, **kwargs)

    return acall if inspect.iscoroutinefunction(function) else call


def _why_not(
    name: str, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], error: str
) -> str:
    """Returns a sentence that says why a call with these arguments is wrong, and how to call the
    function. ``name``: the name by which users call the function. ``error``: Python's own message."""
    known = keywords_of(function)
    unknown = next((each for each in kwargs if each not in known), None)
    parameters = list(inspect.signature(function).parameters.values())
    is_method = parameters[0].name == "self"
    if unknown is not None:
        owner = cast("type[Any]", type(args[0])) if is_method else None
        if owner is not None and unknown in keywords_of(owner):
            return _of_explainer(unknown, f"{owner.__name__}(application")
        return unknown_name(unknown, f"keyword of {name}", known)
    by_place = [
        each for each in parameters[is_method:] if each.kind not in (each.KEYWORD_ONLY, each.VAR_KEYWORD)
    ]
    by_name = [each for each in parameters if each.kind is each.KEYWORD_ONLY]
    told = [each.name if each.default is each.empty else f"{each.name}=..." for each in by_place]
    form = f"{name}({', '.join([*told, *(f'{each.name}=...' for each in by_name)])})"
    given = len(args) - is_method
    if given > len(by_place):
        return (
            f"{name} takes {len(by_place)} arguments without a name, and was given {given}; write {form}"
        )
    return f"{name} cannot be called so, {error}; write {form}"


def _of_explainer(name: str, explainer: str) -> str:
    return (
        f"{name!r} is a setting of the explainer, and no keyword of this call: {explainer}, {name}=...)"
    )
