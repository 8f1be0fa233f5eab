"""This module repeats a search for more results. If documents are removed from a search's result, the
result is filled up with the documents that production would return instead."""

import inspect
from collections.abc import Callable, Mapping
from contextlib import suppress
from copy import copy
from typing import Any, NamedTuple, TypeAlias, cast

_COUNTS = (
    "k",
    "top_k",
    "topk",
    "n_results",
    "similarity_top_k",
    "num_results",
    "max_results",
    "top_k_results",
    "limit",
    "size",
    "count",
    "n",
)
"""Names that frameworks and clients use for the parameter or attribute with the number of results."""
_SETTINGS_OF_OTHERS = frozenset({"count", "n", "size"})
"""Names in ``_COUNTS`` that are used only for parameters. An attribute of this name may be something
other than the number of results."""
_POOL = "fetch_k"
"""The parameter with the number of candidates from which a search by maximal marginal relevance (MMR)
selects."""
_DIVERSITY = "lambda_mult"
"""A parameter that only searches by maximal marginal relevance have."""
_SETTINGS = "search_kwargs"
"""The attribute in which some retrievers keep the arguments of their store's search."""


class Wide(NamedTuple):
    """A ``Wide`` is a search for more results. ``search``: a function that makes the search; it may
    return an awaitable. ``chooses``: True if the search selects its results from a larger set of
    candidates; a document that is removed afterwards may then have influenced which other documents were
    selected. ``raised``: the parameter with the number of results and its new value, such as "k=7"."""

    search: Callable[[], Any]
    chooses: bool = False
    raised: str = ""

    @property
    def number(self) -> int:
        """Returns the number of results that the wider search asks for; 0 if it is not known."""
        value = self.raised.rpartition("=")[2]
        return int(value) if value.isdecimal() else 0


Wider: TypeAlias = Callable[[int, int], Wide | None]
"""A function of two numbers, ``more`` and ``returned``. It returns the search for ``more`` additional
results (fewer if ``more`` is negative); None if the number of results cannot be read. ``returned`` is the
number of results that the search returned."""


def never_wider(more: int, returned: int) -> Wide | None:  # noqa: ARG001 -- needed in every ``Wider``
    """Returns None: this ``Wider`` is for searches whose number of results cannot be read."""
    return None


def wider_call(call: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Wider:
    """Returns the ``Wider`` that repeats a call with more results. The number of results is one of the
    call's arguments, or is in a dict or an object among them."""

    def wider(more: int, returned: int) -> Wide | None:
        try:
            bound = inspect.signature(call).bind(*args, **kwargs)
        except (TypeError, ValueError):
            return None
        bound.apply_defaults()
        raised = _raise_in(bound.arguments, more, returned)
        if not raised:
            return None
        chooses = _DIVERSITY in bound.arguments
        return Wide(lambda: call(*bound.args, **bound.kwargs), chooses, raised)

    return wider


def wider_object(owner: Any, call: Callable[[Any], Any]) -> Wider:
    """Returns the ``Wider`` that makes the search of a retriever with more results. The number of results
    is in an attribute of the retriever.

    ``call``: makes the search with a copy of the retriever that has a larger number of results.
    """

    def wider(more: int, returned: int) -> Wide | None:
        settings: Any = getattr(owner, _SETTINGS, None)
        if isinstance(settings, Mapping):
            changed = dict(cast("Mapping[str, Any]", settings))
            if raised := _raise_in(changed, more, returned):
                own = _with(owner, _SETTINGS, changed)
                chooses = getattr(owner, "search_type", None) == "mmr"
                return None if own is None else Wide(lambda: call(own), chooses, raised)
        names = [each for each in _COUNTS if each not in _SETTINGS_OF_OTHERS]
        both = [each for plain in names for each in (plain, f"_{plain}")]
        name = _count_among({each: getattr(owner, each, None) for each in both}, returned)
        own = _with(owner, name, getattr(owner, name) + more) if name else None
        return None if own is None else Wide(lambda: call(own), False, f"{name}={getattr(own, name)}")

    return wider


def first_wider(*choices: Wider) -> Wider:
    """Returns a ``Wider`` that tries the ``choices`` in order, and returns the first search that is not
    None."""

    def wider(more: int, returned: int) -> Wide | None:
        return next((found for each in choices if (found := each(more, returned)) is not None), None)

    return wider


def _raise_in(arguments: Any, more: int, returned: int) -> str:
    """Increases the number of results in a dict of arguments by ``more``. Returns the name of the
    argument and its new value, such as "k=7"; empty if the dict has no such number. ``returned``: the
    number of results that the search returned."""
    name = _count_among({each: arguments.get(each) for each in _COUNTS}, returned)
    if name:
        arguments[name] += more
        if _is_count(arguments.get(_POOL)):
            arguments[_POOL] += max(more, 0)
        return f"{name}={arguments[name]}"
    for name, each in list(arguments.items()):
        if isinstance(each, Mapping):
            inside = dict(cast("Mapping[str, Any]", each))
            if raised := _raise_in(inside, more, returned):
                # Arguments that a call takes by ``**kwargs`` are in a dict inside ``arguments``, so this
                # dict is searched too.
                arguments[name] = inside
                return raised
        elif _is_count(getattr(each, "similarity_top_k", None)):
            own = _with(each, "similarity_top_k", each.similarity_top_k + more)
            if own is not None:
                arguments[name] = own
                return f"similarity_top_k={own.similarity_top_k}"
    return ""


def _count_among(given: Mapping[str, Any], returned: int) -> str:
    """Returns the name of the argument that is the number of results; empty if there is none. If several
    arguments have a usual name for this number, such as ``k``, returns the first argument whose value is
    ``returned``. If no argument has this value, returns the first one."""
    counts = [name for name, each in given.items() if _is_count(each)]
    return next((name for name in counts if given[name] == returned), next(iter(counts), ""))


def _is_count(given: object) -> bool:
    return type(given) is int and given > 0


def _with(owner: Any, name: str, value: Any) -> Any:
    """Returns a copy of an object in which one attribute has a new value; None if the attribute cannot be
    set."""
    own = None
    with suppress(Exception):  # the class belongs to a library, and may not allow copies or changes
        own = copy(owner)
        try:
            setattr(own, name, value)
        except (AttributeError, ValueError, TypeError):
            object.__setattr__(own, name, value)
        own = own if getattr(own, name) == value else None
    return own
