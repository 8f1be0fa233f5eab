"""This module implements ``rag_rule_explainer.instrumentation.application.Application`` for LangChain."""

import re
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import version
from types import FunctionType
from typing import Any, cast

from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.config import merge_configs
from langsmith import uuid7
from typing_extensions import override

from rag_rule_explainer import Source
from rag_rule_explainer.instrumentation.application import Application
from rag_rule_explainer.instrumentation.copies.patching import Patches
from rag_rule_explainer.instrumentation.engine import (
    BASELINE_TAG,
    REPLAY_TAG,
    TracedExplanation,
    current_replay,
)
from rag_rule_explainer.instrumentation.isolation.attributes import data_copy
from rag_rule_explainer.instrumentation.options import CallInput
from rag_rule_explainer.instrumentation.run_context import participation
from rag_rule_explainer.instrumentation.source_kinds.result_content import ResultContent

from .ambient import completed_config, without_streams
from .breakpoints import asked_a_human
from .brought import as_documents
from .clients import ClientLoader
from .finding import Found, documents_found, identify
from .graphs import GraphStream, aended, ended, graph_in
from .interception import interception
from .kinds import in_place_of_an_answer
from .lasting_content import lasting_content
from .reading import plain, texts_in
from .results import result_content
from .tracing import areplayed, replayed
from .watching import Watch, watched_by

_OF_ASYNC_ONLY = re.compile(r"ainvoke|coroutine|synchronous")
"""Words in the errors that LangChain and LangGraph raise if ``invoke`` finds an async function."""


@dataclass(frozen=True, slots=True)
class LangChainApplication(Application[Found]):
    """A ``LangChainApplication`` runs and records a Runnable for an explanation.

    It expects a RunnableConfig as the ``config`` of a ``CallInput``. ``of_streams``: keywords that only
    ``stream`` accepts, such as ``stream_mode``. Replays are not streamed, so they do not get these
    keywords.
    """

    runnable: Runnable[Any, Any]
    of_streams: Mapping[str, Any] = field(default_factory=dict[str, Any])
    _loader: ClientLoader = field(init=False, repr=False, compare=False, default_factory=ClientLoader)

    @property
    @override
    def interception(self) -> Patches:
        return interception

    @override
    def load_clients(self, functions: Callable[[], Iterable[FunctionType]], *, for_replay: bool) -> None:
        self._loader.load(functions, for_replay=for_replay)

    @property
    @override
    def root(self) -> object:
        return self.runnable

    @property
    @override
    def making(self) -> str:
        return "RuleExplainer(lambda given: make_chain().invoke(given))"

    @property
    @override
    def async_only(self) -> bool:
        """Returns False, because LangChain cannot tell in advance that a Runnable has only async methods.
        If a Runnable has only these, ``invoke`` later raises an error, and ``means_async_only``
        recognises this error."""
        return False

    @override
    def run(self, case: CallInput, kept: Sequence[Source] | None) -> Any:
        def invoke(config: RunnableConfig) -> Any:
            output = self.runnable.invoke(case.given, config, **case.keywords)
            return ended(self.runnable, config, output)

        config = _config_of(case, kept)
        return invoke(config) if kept is None else replayed(config, case.question, invoke)

    @override
    async def arun(self, case: CallInput, kept: Sequence[Source] | None) -> Any:
        async def invoke(config: RunnableConfig) -> Any:
            output = await self.runnable.ainvoke(case.given, config, **case.keywords)
            return await aended(self.runnable, config, output)

        config = _config_of(case, kept)
        return await (invoke(config) if kept is None else areplayed(config, case.question, invoke))

    @override
    def stream(self, case: CallInput) -> Iterator[Any]:
        config, graph = _config_of(case, None), graph_in(self.runnable)
        keywords = {**case.keywords, **self.of_streams}
        if graph is None:
            return self.runnable.stream(case.given, config, **keywords)
        return GraphStream(graph, keywords).stream(self.runnable, case.given, config)

    @override
    def astream(self, case: CallInput) -> AsyncIterator[Any]:
        config, graph = _config_of(case, None), graph_in(self.runnable)
        keywords = {**case.keywords, **self.of_streams}
        if graph is None:
            return self.runnable.astream(case.given, config, **keywords)
        return GraphStream(graph, keywords).astream(self.runnable, case.given, config)

    @override
    def explaining(self, trace: TracedExplanation, question: str) -> AbstractContextManager[object]:
        """Returns a context that does nothing, because the caller has already begun the traced run.

        The callers are ``as_one_run`` and the methods of ``ExplainedRuns``.
        """
        return nullcontext()

    @override
    def is_traced(self) -> bool:
        """Returns False even if traces are sent, so that the tracers are not checked a second time.
        ``why_unheard`` has already checked whether they receive runs."""
        return False

    @override
    def ask_tracers(self) -> object:
        """Returns None and asks no tracers, because ``why_unheard`` has already checked whether they
        receive runs."""
        return None

    @override
    def means_async_only(self, error: str) -> bool:
        by_type = error.startswith("TypeError") and _OF_ASYNC_ONLY.search(error) is not None
        return by_type or error.startswith("NotImplementedError")

    @override
    def watch(self, *, accepts: Collection[str]) -> Watch:
        return Watch(accepts=accepts)

    @override
    def watching(self, watch: Any) -> AbstractContextManager[object]:
        return watched_by(watch)

    @override
    def identify(self, batches: Sequence[Sequence[Found]]) -> Sequence[Sequence[Source]]:
        return identify(batches)

    @override
    def brought(self, documents: Sequence[Any]) -> list[Found]:
        return documents_found(as_documents(documents))

    @override
    def texts_in(self, given: Any) -> Iterable[str]:
        return texts_in(given)

    @override
    def plain(self, given: Any) -> Any:
        return plain(given)

    @override
    def lasting_content(self, remembered: Any) -> Any:
        return lasting_content(remembered)

    @override
    def result_content(self, result: Any) -> ResultContent:
        return result_content(result)

    @override
    def why_nothing(self, retrievals: int) -> str:
        if retrievals:
            return (
                "the application's retrievers returned no documents for this input, so there is nothing "
                "to explain its answer by; check the query and the index"
            )
        return (
            "the application answered without a retrieval that could be seen: those of LangChain "
            "retrievers and vector stores made inside its run are. Wrap any other search, or one in a "
            "thread that began before the run, in gate(...) where it is called; or explain your own "
            "function of (question, sources) with rag_rule_explainer.Explainer"
        )

    @override
    def stopped(self, output: Any, case: CallInput, *, unreadable: bool = False) -> str:
        stopped = asked_a_human(self.runnable, output, case.keywords, unreadable=unreadable)
        return stopped or (in_place_of_an_answer(output) if unreadable else "")

    @override
    def versions(self) -> Mapping[str, str]:
        return {"langchain-core": _installed()}


@cache
def _installed() -> str:
    """Returns the version of langchain-core. It is cached, because reading it takes as long as a
    quick replay."""
    return version("langchain-core")


def _config_of(case: CallInput, kept: Sequence[Source] | None) -> RunnableConfig:
    """Returns the config of a run. Its tags and metadata say that the run is a replay or the baseline.

    ``kept``: the retained sources of a replay; None for the baseline.
    """
    # A run may change its config, so each replay gets a copy. The original is used only for a run that
    # the user made (by ``invoke`` or ``stream``).
    own = kept is None and case.live
    given = cast("RunnableConfig", (case.config if own else data_copy(case.before)) or {})
    run = participation()
    if kept is None:
        baseline: RunnableConfig = {"tags": [BASELINE_TAG]}
        config = merge_configs(given, baseline)
        if run is not None and run.trace is not None:
            config["run_id"] = config.get("run_id") or uuid7()
            run.trace.explained_run = str(config["run_id"])
        return config
    replay = current_replay()
    metadata = (
        {"rag_rule_kept": ",".join(source.id for source in kept)} if replay is None else replay.marks
    )
    config = without_streams(completed_config(_of_a_new_run(given)))
    config["tags"] = sorted({*(config.get("tags") or ()), REPLAY_TAG})
    config["metadata"] = {**(config.get("metadata") or {}), **metadata}
    if run is not None and not run.traced:
        config["callbacks"] = []
    return config


def _of_a_new_run(config: RunnableConfig) -> RunnableConfig:
    """Returns the config without ``run_id``, because two runs must not have the same id."""
    return cast("RunnableConfig", {key: value for key, value in config.items() if key != "run_id"})
