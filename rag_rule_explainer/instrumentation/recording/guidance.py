"""This module makes errors whose messages advise the user which function to wrap in ``gate(...)``."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from ...errors import SourceLeak, UnseenSourcesNeeded
from ...printable import plain_id, shortened
from .retrievals import Retrieval

ThatFound: TypeAlias = Callable[[Collection[str]], Sequence[Retrieval[Any]]]
"""A function from ids of sources to the retrievals of the baseline that found any of these sources."""

ANOTHER_WAY = "the application goes another way even if all that was shown is kept"


def no_retrievals(_ids: Collection[str]) -> Sequence[Retrieval[Any]]:
    """Returns no retrievals. It is used as ``that_found`` if the retrievals of the baseline were not
    recorded."""
    return ()


def unseen_results_needed(held_out: Collection[str], answers: str = "") -> UnseenSourcesNeeded:
    """Returns the error for a replay that differs from the baseline, although only results of tools are
    missing that no model saw word for word. ``held_out`` and ``answers``: see ``unseen_needed``."""
    named, is_one = shortened(", ".join(map(plain_id, held_out)), 200), len(held_out) == 1
    it = "it" if is_one else "them"
    return UnseenSourcesNeeded(
        f"no model was shown {named} word for word, so no replay is served {it}; but without {it}, "
        f"{answers or ANOTHER_WAY}: the application has rewritten {it} before a model saw {it}, "
        f"such as by redacting or shortening {it}, or uses {it} otherwise. Pass "
        f'scope="retrieved": then {"it is a source" if is_one else "they are sources"} as the '
        f"tool returned {it}, whatever the application makes of {it}"
    )


def unseen_needed(
    held_out: Collection[str], shown: Collection[str], that_found: ThatFound, answers: str = ""
) -> UnseenSourcesNeeded:
    """Returns the error for a replay that differs from the baseline, although only sources that no model
    saw are missing.

    ``held_out``: the ids of these sources; ``shown``: the ids of the sources that a model saw.
    ``that_found``: returns the retrievals that found the sources with these ids. ``answers``: in words,
    how the answer differs from the baseline's; empty if searches or requests to models differ.
    """
    one, named = len(held_out) == 1, shortened(", ".join(map(plain_id, held_out)), 200)
    were, it = ("was", "it") if one else ("were", "them")
    finding = that_found(held_out)
    others = [each for each in that_found(shown) if each not in finding]
    steered = f"what {_names(others)} finds" if others else "a further search"
    verb = ("decide" if answers else "steer") + ("s" if one else "")
    alone = not others and len(finding) == 1
    # If there was only one search, its results cannot have influenced another search. The message then
    # says that they influence the answer; for example, the application may count them.
    means = f"{verb} {'what becomes of the answer' if answers or alone else steered}"
    both = _function_of_all([*finding, *others])
    way_out = (
        ""
        if alone
        else ", or wrap the function that makes both searches in gate(...), so that what it returns are "
        f"the sources{f'; both are called in {both}' if both else ''}"
    )
    return UnseenSourcesNeeded(
        f"{named} {were} retrieved{_by(finding)} and shown to no model, so no replay is served {it}; but "
        f"without {it}, {answers or ANOTHER_WAY}: {'it' if one else 'they'} {means}. Pass "
        f'scope="retrieved"{way_out}. (A text that was shown in other words was not recognised; '
        'scope="retrieved" takes it in as well.)'
    )


def leaked(named: Collection[str], delivered: int, that_found: ThatFound, anew: str = "") -> SourceLeak:
    """Returns the error for omitted sources that a model of a replay was sent.

    ``named``: the ids of these sources. ``delivered``: the number of sources that the searches of the
    replay returned. ``that_found``: returns the retrievals that found the sources with these ids.
    ``anew``: advice for an application that keeps the results of an earlier run.
    """
    shown, finding = shortened(", ".join(map(plain_id, named)), 200), that_found(named)
    caller = _function_of_all(finding)
    return SourceLeak(
        f"the text of {shown} was left out of a replay and reached the model all the same (the gate "
        f"served {delivered} sources): a second retriever in a thread of its own, a memory, or a cache. "
        "Wrap it in gate(...), turn it off while explaining, or pass the source as pinned if it is "
        f"always to be there{anew}. "
        f"If what was found{_by(finding)} is only used to fetch something longer (a page, a parent, "
        "neighbours, what a document cites), gate the function that returns that"
        f"{f': the search is called in {caller}' if caller else ''}"
    )


def repeated(kinds: Mapping[str, str], anew: str = "") -> SourceLeak:
    """Returns the error for omitted parts of prompts, or omitted results of tools, that a model of a
    replay was sent nevertheless.

    ``kinds``: the kind of each of these sources, by id. ``anew``: advice for an application that keeps
    the results of an earlier run.
    """
    shown = shortened(", ".join(map(plain_id, kinds)), 200)
    written = ", ".join(repr(each) for each in dict.fromkeys(kinds.values()))
    return SourceLeak(
        f"the text of {shown} was left out of a replay and reached the model all the same: the "
        "application repeats it elsewhere, such as in its instructions, in a summary, in a memory, in "
        "what a tool returns, or in what a tool writes into the state (LangGraph's Command(update=...)). "
        "Turn that off while explaining, pass the source as pinned if it is always to be there, or leave "
        f"its kind ({written}) out of source_kinds{anew}"
    )


def _by(retrievals: Iterable[Retrieval[Any]]) -> str:
    names = _names(retrievals)
    return f" by {names}" if names else ""


def _names(retrievals: Iterable[Retrieval[Any]]) -> str:
    """Returns the names of the retrievers (of their functions or classes), each once, separated by
    commas."""
    known = (each.retriever for each in retrievals if each.retriever is not None)
    names = (str(getattr(each, "__qualname__", type(each).__qualname__)) for each in known)
    return ", ".join(dict.fromkeys(name.rsplit("<locals>.", 1)[-1] for name in names))


def _function_of_all(retrievals: Sequence[Retrieval[Any]]) -> str:
    """Returns the name of the innermost of the user's functions that called all these retrievals,
    directly or indirectly; empty if there is no such function."""
    if not retrievals:
        return ""
    first, *others = (each.callers for each in retrievals)
    return next((each for each in first if all(each in callers for callers in others)), "")
