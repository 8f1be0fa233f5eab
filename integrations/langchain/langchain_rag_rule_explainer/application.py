"""One input to an application: its recorded baseline, then its replays."""

import re
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from typing import Any, cast

from langchain_core.callbacks import UsageMetadataCallbackHandler
from langchain_core.documents import Document
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.config import merge_configs

from rag_rule_explainer import (
    Answer,
    BaselineFailed,
    NoSourcesCaptured,
    RagRuleError,
    ReplayMissedGate,
    Source,
)
from rag_rule_explainer.probing.replaying import Baseline, Captured, Recording, Serving, taking_part

from .documents import copied, sources_of
from .interception import wrap_loaded_classes
from .reading import AnswerOf, plain, tokens

# What langchain-core and langgraph say when a coroutine function is invoked through the sync entry.
_TELLS_OF_ASYNC = re.compile(r"ainvoke|coroutine|synchronous")


@dataclass(slots=True)
class ApplicationRun:
    """Runs ``application`` on ``given``, first recording what it retrieves, then on parts of that."""

    application: Runnable[Any, Any]
    given: Any
    question: str
    answer_of: AnswerOf
    config: RunnableConfig
    _input: Any = None
    _usage: UsageMetadataCallbackHandler = field(default_factory=UsageMetadataCallbackHandler)
    _recording: Recording[Document] = field(default_factory=lambda: Recording(sources_of))
    _captured: Captured[Document] | None = None

    def __post_init__(self) -> None:
        # What one run does to its input must not reach another run, nor the record of it.
        self._input = copied(self.given)

    def baseline(self) -> Any:
        """The application's output on its own retrieval, which is recorded, through its sync entry.

        Raises BaselineFailed where the application raises.
        """
        with self._recording_what_is_retrieved() as config:
            return self.application.invoke(copied(self._input), config)

    async def abaseline(self) -> Any:
        """The same through its async entry."""
        with self._recording_what_is_retrieved() as config:
            return await self.application.ainvoke(copied(self._input), config)

    @contextmanager
    def _recording_what_is_retrieved(self) -> Generator[RunnableConfig, None, None]:
        try:
            with taking_part(self._recording):
                yield merge_configs(self.config, {"callbacks": [self._usage]})
        except RagRuleError:
            raise
        except Exception as error:
            raise BaselineFailed(
                "the application failed on this input, so there is no answer to explain; "
                f"make it answer first: {type(error).__name__}: {error}"
            ) from error

    def recorded(self, output: Any) -> tuple[Sequence[Source], Baseline]:
        """What was retrieved, and the answer. Raises NoSourcesCaptured where nothing was seen."""
        self._captured = self._recording.captured()
        if not self._captured.sources:
            raise NoSourcesCaptured(_why_nothing(self._recording.retrievals))
        baseline = Baseline(
            self._answer(output, self._usage),
            replays=1,
            input=plain(self._input),
            scope="retrieved",
            versions={"langchain-core": version("langchain-core")},
        )
        return self._captured.sources, baseline

    def replay(self, _question: str, kept: Sequence[Source]) -> Answer:
        """One replay through the application's sync entry."""
        with self._serving(kept) as (serving, usage, config):
            output = self.application.invoke(copied(self._input), config)
        return self._served(output, serving, usage)

    async def areplay(self, _question: str, kept: Sequence[Source]) -> Answer:
        """One replay through the application's async entry."""
        with self._serving(kept) as (serving, usage, config):
            output = await self.application.ainvoke(copied(self._input), config)
        return self._served(output, serving, usage)

    @contextmanager
    def _serving(
        self, kept: Sequence[Source]
    ) -> Generator[tuple[Serving[Document], UsageMetadataCallbackHandler, RunnableConfig], None, None]:
        if self._captured is None:
            raise RuntimeError("recorded() comes before the first replay")
        # A retriever class may have been imported since the last replay.
        wrap_loaded_classes()
        serving, usage = self._captured.replaying(kept), UsageMetadataCallbackHandler()
        traced: RunnableConfig = {
            "callbacks": [usage],
            "run_name": "rag_rule_replay",
            "tags": ["rag-rule-replay"],
            "metadata": {"rag_rule_kept": ",".join(source.id for source in kept)},
        }
        with taking_part(serving):
            yield serving, usage, merge_configs(_of_a_new_run(self.config), traced)

    def _served(
        self, output: Any, serving: Serving[Document], usage: UsageMetadataCallbackHandler
    ) -> Answer:
        if not serving.served:
            raise ReplayMissedGate(
                "a replay was answered without a retrieval that could be intercepted, so the answer "
                "says nothing about the documents it was to be given. Retrieve inside the chain, with "
                "a BaseRetriever that is looked up when it is called, or explain your own function of "
                "(question, sources) with rag_rule_explainer.Explainer"
            )
        answer = self._answer(output, usage)
        remarks = "; ".join(filter(None, (answer.note, *sorted(serving.remarks))))
        return replace(answer, note=remarks)

    def _answer(self, output: Any, usage: UsageMetadataCallbackHandler) -> Answer:
        answer = Answer.of(self.answer_of(output))
        # Every model the application asked, not just the one whose message is its output.
        spent = {**(answer.usage or {}), **(tokens(usage.usage_metadata.values()) or {})}
        return replace(answer, usage=spent or None)


def is_async_only(failed: BaselineFailed) -> bool:
    """True iff the application failed because some part of it has no sync entry."""
    cause = failed.__cause__
    told = isinstance(cause, TypeError) and _TELLS_OF_ASYNC.search(str(cause)) is not None
    return told or isinstance(cause, NotImplementedError)


def _of_a_new_run(config: RunnableConfig) -> RunnableConfig:
    """The config without the id of the run it was given for."""
    return cast("RunnableConfig", {key: value for key, value in config.items() if key != "run_id"})


def _why_nothing(retrievals: int) -> str:
    if retrievals:
        return (
            "the application's retrievers returned no documents for this input, so there is nothing to "
            "explain its answer by; check the query and the index"
        )
    return (
        "the application answered without a retrieval that could be seen: only LangChain BaseRetriever "
        "calls made inside its run are. Retrieve inside the chain with a retriever "
        "(vector_store.as_retriever()); use the retriever itself, not a method taken off it beforehand "
        "(retriever.invoke); or explain your own function of (question, sources) with "
        "rag_rule_explainer.Explainer"
    )
