"""This module checks the citations of an application's answer, statement by statement."""

from dataclasses import fields, replace
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
    """Checks the citations of an answer, and returns for each whether the cited source brings the
    statement about. Blocks. ``logged``: the logged answer or output to check; None for the answer that
    the application gives now."""
    of_next = _of_the_last_reply(call)
    return call.asked(partial(asking_citations, call.explainer, options, logged, of_next_action=of_next))[
        1
    ]


async def acited(call: Call[Item], options: CiteOptions, logged: Any) -> CitedAnswer:
    """Checks the citations of an answer on the caller's event loop, and returns for each whether the
    cited source brings the statement about. ``logged``: the logged answer or output to check; None for
    the answer that the application gives now."""
    of_next = _of_the_last_reply(call)
    ask = partial(aasking_citations, call.explainer, options, logged, of_next_action=of_next)
    return (await call.aasked(ask))[1]


def _of_the_last_reply(call: Call[Item]) -> bool:
    """Prepares a check of citations. Returns True iff replays repeat only one request to a model
    (``replay_of="next_action"``). In this case, the last reply is checked. So the explainer's condition,
    which may choose an earlier reply, is removed from the call."""
    manner = call.run.manner
    if manner.replay_of != "next_action":
        return False
    call.run.manner = replace(manner, condition=None, accepts_calls=False)
    return True
