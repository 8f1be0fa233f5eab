"""This module checks the citations of an application's answer, statement by statement."""

from dataclasses import fields
from functools import partial
from typing import Any, TypeVar

from ..citations.cite_options import CiteFields, CiteOptions, showing_cite_fields
from ..citations.cited_answer import CitedAnswer
from ..citations.citing_answers import aasking_citations, asking_citations
from .call import Call

__all__ = [
    "CiteFields",
    "CitedAnswer",
    "acited",
    "cite_options_from",
    "cited",
    "showing_cite_fields",
]

Item = TypeVar("Item")
_NAMES = tuple(each.name for each in fields(CiteOptions))


def cite_options_from(keywords: dict[str, Any]) -> CiteOptions:
    """Removes the options of a check of citations from ``keywords``, and returns them."""
    return CiteOptions(**{name: keywords.pop(name) for name in _NAMES if name in keywords})


def cited(call: Call[Item], options: CiteOptions, logged: Any) -> CitedAnswer:
    """Returns which citations of the answer are real. Blocks. ``logged``: the logged answer or output to
    check; None for the one that the application gives now."""
    return call.asked(partial(asking_citations, call.explainer, options, logged))[1]


async def acited(call: Call[Item], options: CiteOptions, logged: Any) -> CitedAnswer:
    """Returns the same as ``cited``, but runs on the caller's event loop."""
    return (await call.aasked(partial(aasking_citations, call.explainer, options, logged)))[1]
