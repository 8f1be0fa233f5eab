"""This module defines the tools of the server: their parameters, their descriptions and their errors."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Annotated, Any, Literal, TypeAlias, TypeVar

import anyio
from anyio import to_thread
from anyio.lowlevel import checkpoint_if_cancelled
from pydantic import Field

from ...errors import RagRuleError
from ...printable import shortened
from ...probing.judging import error_text
from ...rules import RuleKind
from ..conditions import SYNTAX
from .answering import AskedOfServer, ServedApplication
from .calls import CallProgress, called
from .results import EstimatedReplays, ExplainedAnswer, ShownExplanation, VerifiedRule
from .saved import SavedFolder
from .sdk import McpSdk

_LONGEST_ERROR = 1200
McpTool: TypeAlias = Callable[..., Awaitable[Any]]
QuestionAsked = Annotated[
    str, Field(min_length=1, max_length=20_000, description="The question that the application answers.")
]
ConditionAsked = Annotated[
    str, Field(min_length=1, max_length=5_000, description=f"What is asked of an answer: {SYNTAX}")
]
ReplaysAsked = Annotated[
    int | None, Field(ge=1, description="The most runs of the application that this call may make.")
]
Returned = TypeVar("Returned")


def mcp_tools(sdk: McpSdk, answering: ServedApplication) -> list[McpTool]:
    """Returns the tools estimate, explain, verify and show. Calls that run the application come one after
    the other."""
    one_at_a_time = anyio.Lock()
    of_application = (
        each(sdk, answering, one_at_a_time) for each in (_estimating, _explaining, _verifying)
    )
    return [*of_application, _showing(sdk, answering.folder)]


def _estimating(sdk: McpSdk, answering: ServedApplication, lock: anyio.Lock) -> McpTool:
    async def estimate(
        question: QuestionAsked,
        condition: ConditionAsked = "same-answer",
        max_replays: ReplaysAsked = None,
    ) -> EstimatedReplays:
        """Estimate how many runs of the application an explanation needs. The application runs once, up
        to where a model is asked with the documents. This counts as one of the server's replays."""
        asked = AskedOfServer(question, condition, max_replays=max_replays)
        async with lock:
            estimated = await _served(sdk, to_thread.run_sync(answering.estimate, asked))
        return EstimatedReplays.of(estimated)

    return estimate


def _explaining(sdk: McpSdk, answering: ServedApplication, lock: anyio.Lock) -> McpTool:
    async def explain(
        question: QuestionAsked,
        context: Any,
        condition: ConditionAsked = "same-answer",
        rules: Literal["both", "retention", "omission"] = "both",
        max_replays: ReplaysAsked = None,
    ) -> ExplainedAnswer:
        """Find all minimal rules of the application's answer: which documents bring it about when they
        are retained, and which end it when they are omitted."""
        asked, progress = AskedOfServer(question, condition, rules, max_replays), CallProgress()
        async with lock:
            work = partial(answering.explain, asked, progress)
            found = await _served(sdk, called(work, progress, context.report_progress))
        return ExplainedAnswer.of(*found)

    return _given_context(sdk, explain)


def _verifying(sdk: McpSdk, answering: ServedApplication, lock: anyio.Lock) -> McpTool:
    async def verify(
        question: QuestionAsked,
        sources: Annotated[list[str], Field(max_length=1000, description="The ids of the documents.")],
        kind: Literal["retention", "omission"],
        context: Any,
        condition: ConditionAsked = "same-answer",
        max_replays: ReplaysAsked = None,
    ) -> VerifiedRule:
        """Test one rule: whether the condition holds whenever these documents are retained, or breaks
        whenever they are omitted."""
        asked, progress = AskedOfServer(question, condition, max_replays=max_replays), CallProgress()
        async with lock:
            work = partial(answering.verify, asked, sources, RuleKind(kind), progress)
            found = await _served(sdk, called(work, progress, context.report_progress))
        return VerifiedRule.of(*found)

    return _given_context(sdk, verify)


def _showing(sdk: McpSdk, folder: SavedFolder) -> McpTool:
    async def show(
        name: Annotated[str, Field(max_length=300, description="A name that explain returned.")] = "",
        form: Literal["text", "markdown"] = "text",
    ) -> ShownExplanation:
        """Show a saved explanation again, or list the names of all. Nothing is run."""

        def read() -> ShownExplanation:
            if name:
                return ShownExplanation.of(folder.load(name), name, form)
            names = folder.names()
            return ShownExplanation(names=names, text="\n".join(names) or "nothing is saved yet")

        return await _served(sdk, to_thread.run_sync(read))

    return show


def _given_context(sdk: McpSdk, tool: McpTool) -> McpTool:
    """Returns the tool, and sets the type of its parameter ``context`` to the SDK's class. The SDK finds
    the parameter by this type, which is not known before the SDK is imported."""
    tool.__annotations__["context"] = sdk.context
    return tool


async def _served(sdk: McpSdk, work: Awaitable[Returned]) -> Returned:
    """Awaits ``work`` and returns its result. Turns every error into the SDK's error, with a text for the
    client."""
    try:
        return await work
    except RagRuleError as error:
        raise sdk.tool_error(shortened(str(error), _LONGEST_ERROR)) from error
    except Exception as error:
        raise sdk.tool_error(shortened(error_text(error), _LONGEST_ERROR)) from error
    finally:
        # A cancelled call arrives here only after its thread has ended. The SDK has already answered this
        # call, and a second answer would end the server. So the cancellation is raised here instead.
        await checkpoint_if_cancelled()
