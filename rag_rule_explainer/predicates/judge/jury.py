"""Who judges, how often, and where: on the batcher of an explanation that is under way, or alone."""

import inspect
from collections.abc import Awaitable, Callable, Hashable
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple, Protocol, TypeAlias, cast

from ...allowed import checked_whole
from ...errors import InvalidInput
from ...verdicts import Judgement
from .majority import majority
from .protocol import Judge, JudgeFailed, JudgeReply, JudgeRequest, Matter

ALONE = 1
"""Answers in one request, unless a caller wants more: then one of them could speak for the others."""

MOST_OPINIONS = 1_000
"""On one answer, and answers in one request."""

InThread: TypeAlias = Callable[[Callable[[JudgeRequest], Any], JudgeRequest], Awaitable[Any]]

_ADAPTERS = "rag_rule_explainer.judges"
"""The entry points of integrations that make judges of models, each by what such models can do."""


@dataclass(frozen=True, slots=True)
class Jury:
    """This class represents a judge, and how it is asked.

    ``name``: says which judge it is, also in another process; None: nobody can tell, and nothing that it
    says is stored. ``samples``: opinions on one answer, of which the majority counts. ``batch``: answers
    that may be judged in one request; what was judged among several is never called proved.
    """

    judge: Judge = field(repr=False)
    name: str | None = None
    samples: int = 1
    batch: int = ALONE

    @property
    def priced_as(self) -> str:
        """Returns the model's name in a table of prices, where its replies do not tell it; "" if nobody
        does."""
        told: object = getattr(self.judge, "model_name", None)
        return told if isinstance(told, str) else self.name or ""

    def __str__(self) -> str:
        times = f", majority of {self.samples}" if self.samples > 1 else ""
        return f"judged by {self.name or 'a function'}{times}"


class JudgeQuestion(NamedTuple):
    """One answer that is to be judged.

    ``remembered_as``, ``memo_key``: what the judgement is stored under, where the jury has a name.
    """

    jury: Jury
    matter: Matter
    answer: str
    remembered_as: str | None
    memo_key: Hashable


class Batcher(Protocol):
    """Where answers are judged together, each once, and paid for by one explanation."""

    @property
    def is_here(self) -> bool:
        """True on the event loop that it sits on."""
        ...

    async def judgement(self, asked: JudgeQuestion, /) -> Judgement:
        """Returns the judgement. Raises JudgeFailed where there is none to be had."""
        ...


current_batcher: ContextVar[Batcher | None] = ContextVar("rag_rule_bench", default=None)
"""The batcher of the explanation that is under way in this context."""


@dataclass(slots=True)
class Company:
    """This class keeps whether any opinion that one judgement rests on was given among several answers.

    A context variable carries it, so that it is known whatever a predicate makes of the opinion.
    """

    is_mixed: bool = False


company: ContextVar[Company | None] = ContextVar("rag_rule_company", default=None)
"""That of the judgement which is being made in this context."""


def among_others(name: str) -> str:
    """Returns what a judgement that was made among several answers is stored under.

    It differs from the name of one made alone, so that it never comes back as such.
    """
    return f"{name}, judged among others"


async def judgement_of(asked: JudgeQuestion) -> Judgement:
    """Returns the batcher's judgement; where there is none, the jury's, asked about this answer alone.

    Raises JudgeFailed.
    """
    batcher = current_batcher.get()
    if batcher is not None and batcher.is_here:
        return await batcher.judgement(asked)
    from anyio.to_thread import run_sync  # here, because importing the package loads no event loop

    from .reply import judgements_in  # pydantic takes its time to import
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
    return judgement


async def answered(
    judge: Callable[[JudgeRequest], Any], request: JudgeRequest, in_thread: InThread
) -> JudgeReply:
    """Returns what the judge says: an async one on this loop, a sync one in a thread. Raises what it
    raises."""
    call = getattr(judge, "__call__", None)  # noqa: B004 -- the method itself, not whether it exists
    if inspect.iscoroutinefunction(judge) or inspect.iscoroutinefunction(call):
        said = await judge(request)
    else:
        said = await in_thread(judge, request)
        said = await said if inspect.isawaitable(said) else said
    if isinstance(said, bool):
        raise InvalidInput(
            f"it returned {said}; return {{id: {said}}} for the id of each of its candidates"
        )
    return said if isinstance(said, JudgeReply) else JudgeReply(said)


def jury_of(judge: object, name: str | None, samples: int, batch: int) -> Jury:
    """Returns the jury of a judge: a chat model, an LLM, or a function of a JudgeRequest.

    Raises InvalidInput for what cannot judge, and for numbers that are none.
    """
    if isinstance(judge, Jury):
        return judge
    for what, number in (("judge_samples", samples), ("batch", batch)):
        checked_whole(what, number, 1, MOST_OPINIONS)
    if name is not None and not (isinstance(name, str) and name.strip()):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInput(f"judge_name is {name!r}; give a name, or leave it out")
    found: Any = _adapted(judge)
    if not callable(found):
        raise InvalidInput(
            f"the judge is {judge!r}; give a LangChain chat model, a LlamaIndex LLM, or a function that "
            "takes a JudgeRequest and returns {id: True or False}"
        )
    try:
        hash(found)
    except TypeError as error:
        raise InvalidInput(
            f"judgements are remembered by judge, but {type(found).__name__} cannot be hashed; make it a "
            "frozen dataclass, or give one of its methods"
        ) from error
    told: object = getattr(found, "judge_name", None)
    return Jury(cast("Judge", found), name or (told if isinstance(told, str) else None), samples, batch)


def _adapted(judge: Any) -> Any:
    if isinstance(judge, type):
        return None
    for adapter in _adapters():
        if hasattr(judge, adapter.name):
            # Late, and by name: whoever has such a model has its framework, and nobody else needs it.
            return adapter.load()(judge)
    return judge


@cache
def _adapters() -> tuple[Any, ...]:
    """Returns what the integrations register to make judges of their frameworks' models. It reads the
    metadata of every distribution that is installed, so it does so once."""
    from importlib.metadata import entry_points  # importing the package reads no folders

    return tuple(entry_points(group=_ADAPTERS))
