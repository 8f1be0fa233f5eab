"""This module gets the judgements of judges. During an explanation, a *batcher* asks the judge, because a
batcher can put several answers into one request. At other times, the judge is asked directly."""

import inspect
from collections.abc import Awaitable, Callable, Hashable
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple, Protocol, TypeAlias, cast

from ...allowed import checked_whole, named_function, takes
from ...errors import InvalidInput
from ...verdicts import Judgement
from ..protocol import ALONE
from .majority import majority
from .protocol import Judge, JudgeFailed, JudgeReply, JudgeRequest, Matter

MOST_OPINIONS = 1_000
"""The maximum number of opinions on one answer, and of answers in one request."""

InThread: TypeAlias = Callable[[Callable[[JudgeRequest], Any], JudgeRequest], Awaitable[Any]]

_ADAPTERS = "rag_rule_explainer.judges"
"""The group of entry points by which integrations turn models of their framework into judges. The name of
an entry point is an attribute that all models of this framework have, and by which they are
recognised."""


@dataclass(frozen=True, slots=True)
class Jury:
    """A ``Jury`` holds a judge and how it is used.

    ``name``: identifies the judge in all processes; None if its judgements are not stored. ``samples``:
    the number of opinions on each answer; the majority counts. ``batch``: the maximum number of answers
    in one request. If a request had several answers, rules that depend on its verdicts are never called
    proved.
    """

    judge: Judge = field(repr=False)
    name: str | None = None
    samples: int = 1
    batch: int = ALONE

    @property
    def priced_as(self) -> str:
        """Returns the name under which a price table lists the judge's model; an empty text if this name
        is not known. The price is used for the cost of replies that name no model."""
        name: object = getattr(self.judge, "model_name", None)
        return name if isinstance(name, str) else self.name or ""

    @property
    def is_unmarked(self) -> bool:
        """Returns True iff the judge says, by an attribute of this name, that its prompt does not mark
        answers as data. An answer can then tell the judge what to say, and no rule counts as proved."""
        return bool(getattr(self.judge, "is_unmarked", False))

    @property
    def may_mix(self) -> bool:
        """Returns True iff a judgement may depend on other texts than this answer, such as the other
        answers of the request, or on instructions to the judge in the answer."""
        return self.batch > ALONE or self.is_unmarked

    def __str__(self) -> str:
        times = f", majority of {self.samples}" if self.samples > 1 else ""
        return f"judged by {self.name or 'a function'}{times}"


class JudgeQuestion(NamedTuple):
    """A ``JudgeQuestion`` is one answer to be judged.

    ``matter``: what the jury must decide about the answer. ``remembered_as``, ``memo_key``: the name and
    the key under which a store keeps the judgement. The name is None if nothing is to be stored.
    """

    jury: Jury
    matter: Matter
    answer: str
    remembered_as: str | None
    memo_key: Hashable


class Batcher(Protocol):
    """A ``Batcher`` asks judges during one explanation. It judges each answer once, and may put several
    answers into one request."""

    @property
    def is_here(self) -> bool:
        """Returns True iff the caller runs on the batcher's event loop. The batcher can be used only
        there."""
        ...

    async def judgement(self, asked: JudgeQuestion, /) -> Judgement:
        """Returns the judgement of this answer. Raises JudgeFailed if the judge gives no judgement."""
        ...


current_batcher: ContextVar[Batcher | None] = ContextVar("rag_rule_bench", default=None)
"""The batcher (the object that asks judges) of the explanation that runs in this context; None outside of
explanations."""


@dataclass(slots=True)
class Company:
    """A ``Company`` records whether a judgement uses an opinion from a request with several answers. Such
    an opinion may depend on the other answers in the request (its company).

    The object is in a context variable. So the use of the opinion is recorded even if a user's predicate
    drops the opinion or puts it into an object of its own.
    """

    is_mixed: bool = False


company: ContextVar[Company | None] = ContextVar("rag_rule_company", default=None)
"""The ``Company`` of the judgement that is being made in this context: whether the judge saw several
answers in one request. None while nothing is judged."""


def among_others(name: str) -> str:
    """Returns the name under which a store keeps judgements from requests with several answers. ``name``:
    the name for judgements from requests with one answer. The other answers of a request may have
    influenced its judgements. So the two names are different, and a judgement from a request with several
    answers never replaces a judgement from a request with one answer."""
    return f"{name}, judged among others"


async def judgement_of(asked: JudgeQuestion) -> Judgement:
    """Returns the judgement of one answer, from the batcher if there is one on this event loop. Otherwise
    asks the judge directly, about this answer only. Raises JudgeFailed if there is no judgement."""
    batcher = current_batcher.get()
    if batcher is not None and batcher.is_here:
        return await batcher.judgement(asked)
    from anyio.to_thread import (
        run_sync,  # imported late, so that importing the package loads no event loop
    )

    from .reply import judgements_in  # imported late, because pydantic takes long to import
    from .request import request_for

    async def in_thread(judge: Callable[[JudgeRequest], Any], request: JudgeRequest) -> Any:
        return await run_sync(judge, request)

    opinions: list[Judgement] = []
    while (judgement := majority(opinions, asked.jury.samples)) is None:
        request = request_for(asked.matter, [asked.answer])
        try:
            reply = await answered(asked.jury.judge, request, in_thread)
        except Exception as error:
            raise JudgeFailed(f"the judge failed: {type(error).__name__}: {error}") from error
        judged = judgements_in(reply.content, request.ids)
        if not judged:
            raise JudgeFailed("the judge's reply has no well-formed opinion")
        opinions += judged.values()
    judging = company.get()
    if judging is not None and asked.jury.is_unmarked:
        judging.is_mixed = True
    return judgement


async def answered(
    judge: Callable[[JudgeRequest], Any], request: JudgeRequest, in_thread: InThread
) -> JudgeReply:
    """Returns the judge's reply. An async judge runs on the current event loop, a sync judge in a thread.
    Raises the judge's errors. ``in_thread``: runs the sync judge."""
    call = getattr(judge, "__call__", None)  # noqa: B004 -- reads the method itself
    if inspect.iscoroutinefunction(judge) or inspect.iscoroutinefunction(call):
        said = await judge(request)
    else:
        said = await in_thread(judge, request)
        said = await said if inspect.isawaitable(said) else said
    if isinstance(said, bool):
        raise InvalidInput(
            f"the judge returned {said}; return {{id: {said}}} for the id of each of its candidates"
        )
    return said if isinstance(said, JudgeReply) else JudgeReply(said)


def jury_of(judge: object, name: str | None, samples: int, batch: int) -> Jury:
    """Returns the jury (a judge with its settings) for ``judge``, which is a chat model, an LLM, or a
    function of a JudgeRequest. Returns a ``Jury`` unchanged.

    ``name``: the name under which a store keeps the judgements; None for the judge's own name, if it has
    one. ``samples``: the number of opinions on each answer. ``batch``: the maximum number of answers in
    one request. Raises InvalidInput for an object that cannot be a judge, and for numbers out of range.
    """
    if isinstance(judge, Jury):
        return judge
    for what, number in (("judge_samples", samples), ("batch", batch)):
        checked_whole(what, number, 1, MOST_OPINIONS)
    # Users may pass values of other types than the annotation says.
    if name is not None and not (isinstance(name, str) and name.strip()):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInput(f"judge_name is {name!r}; give a name, or leave it out")
    found: Any = _adapted(judge)
    if not callable(found):
        raise InvalidInput(
            f"the judge is {judge!r}; give a LangChain chat model, a LlamaIndex LLM, or a function that "
            "takes a JudgeRequest and returns {id: True or False}"
        )
    if not takes(found, 1):
        raise InvalidInput(
            f"the judge is {named_function(found)}, which cannot be called with one JudgeRequest alone; "
            "give a function that takes a JudgeRequest and returns {id: True or False}"
        )
    try:
        hash(found)
    except TypeError as error:
        raise InvalidInput(
            f"judgements are remembered by judge, but {type(found).__name__} cannot be hashed; make it a "
            "frozen dataclass, or give one of its methods"
        ) from error
    own_name: object = getattr(found, "judge_name", None)
    return Jury(
        cast("Judge", found), name or (own_name if isinstance(own_name, str) else None), samples, batch
    )


def _adapted(judge: Any) -> Any:
    if isinstance(judge, type):
        return None
    for adapter in _adapters():
        if hasattr(judge, adapter.name):
            # Only now the adapter is loaded, so that only users of its framework import that framework.
            return adapter.load()(judge)
    return judge


@cache
def _adapters() -> tuple[Any, ...]:
    """Returns the entry points by which integrations turn models of their frameworks into judges. They
    are cached, because finding them reads the metadata of every installed distribution."""
    from importlib.metadata import (
        entry_points,  # imported late, so that importing the package reads no folders
    )

    return tuple(entry_points(group=_ADAPTERS))
