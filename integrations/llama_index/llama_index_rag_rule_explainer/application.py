"""This module implements ``rag_rule_explainer.instrumentation``'s ``Application`` for LlamaIndex."""

from collections.abc import AsyncIterator, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import version
from typing import Any, cast

from llama_index.core.chat_engine import SimpleChatEngine
from llama_index.core.indices.base import BaseIndex
from llama_index.core.instrumentation.dispatcher import instrument_tags
from llama_index.core.memory import BaseMemory, BaseMemoryBlock
from llama_index.core.storage.chat_store import BaseChatStore
from llama_index.core.storage.chat_store.base_db import AsyncDBChatStore
from llama_index.core.storage.docstore.types import BaseDocumentStore
from llama_index.core.storage.index_store.types import BaseIndexStore
from llama_index.core.storage.kvstore.types import BaseKVStore
from llama_index.core.storage.storage_context import StorageContext
from llama_index.core.vector_stores.types import BasePydanticVectorStore
from llama_index.core.workflow import Context, Workflow
from llama_index_instrumentation.dispatcher import active_instrument_tags
from typing_extensions import override

from rag_rule_explainer import Source
from rag_rule_explainer.instrumentation.application import Application
from rag_rule_explainer.instrumentation.copies.copying import copied
from rag_rule_explainer.instrumentation.copies.patching import Patches
from rag_rule_explainer.instrumentation.doubts import OF_FRAMEWORKS
from rag_rule_explainer.instrumentation.engine import (
    BASELINE_TAG,
    REPLAY_TAG,
    TracedExplanation,
    current_replay,
)
from rag_rule_explainer.instrumentation.function_application import AsyncOnlyError
from rag_rule_explainer.instrumentation.options import CallInput
from rag_rule_explainer.instrumentation.recording.captured import Captured
from rag_rule_explainer.instrumentation.run_failures import unusable
from rag_rule_explainer.instrumentation.run_record import Participation
from rag_rule_explainer.instrumentation.source_kinds.result_content import ResultContent

from .brought import documents_as_found
from .entries import Entry
from .interception import interception
from .kinds import in_place_of_an_answer
from .nodes import Found, identify
from .reading import plain, texts_in
from .results import result_content
from .retrievers import is_engine
from .standstills import Standstills, running
from .tracing import asked, explaining, is_traced, replaying
from .watching import MODEL_FAILED, Watch, watched_by

SYNTHESIZED = (
    "the sources are the nodes that a query engine handed to its synthesizer (retrieve, synthesize): its "
    "postprocessors had their say before, and have none in replays"
)
GATED = (
    "the sources are what was retrieved (by the gate): what the application does with nodes after that, "
    "such as postprocessing, is done again in every replay"
)
_REMEMBERING = (
    AsyncDBChatStore,
    BaseChatStore,
    BaseDocumentStore,
    BaseIndex,
    BaseIndexStore,
    BaseKVStore,
    BaseMemory,
    BaseMemoryBlock,
    BasePydanticVectorStore,
    Context,
    StorageContext,
)
EMPTY_ANSWER = "no model was asked: without nodes, LlamaIndex answers with a constant of its own"


@dataclass(frozen=True, slots=True)
class LlamaIndexApplication(Application[Found]):
    """A ``LlamaIndexApplication`` runs and records a LlamaIndex application for an explanation.

    ``entry``: runs the engine, workflow or function. ``standstills``: says whether workflows of the
    application were seen to wait for an event, such as an answer of a human.
    """

    entry: Entry
    standstills: Standstills = field(default_factory=Standstills)

    @property
    @override
    def interception(self) -> Patches:
        return interception

    @property
    @override
    def root(self) -> object:
        return getattr(self.entry, "engine", self.entry)

    @property
    @override
    def making(self) -> str:
        engine = self.root
        if isinstance(engine, Workflow):
            name = type(engine).__name__
            return (
                f"RuleExplainer(make_workflow), where make_workflow() returns a new {name}, whose run is "
                "given a fresh Context, or none"
            )
        return "RuleExplainer(make_engine), where make_engine() returns a new engine or workflow"

    @property
    @override
    def seeing(self) -> str:
        return f"{OF_FRAMEWORKS}. Or put model on the function that asks one: ask = model(ask)"

    @property
    @override
    def async_only(self) -> bool:
        return self.entry.async_only

    @override
    def run(self, case: CallInput, kept: Sequence[Source] | None) -> Any:
        with _tagged(kept), nullcontext() if kept is None else replaying(case.question):
            return self.entry.run(case.given)

    @override
    async def arun(self, case: CallInput, kept: Sequence[Source] | None) -> Any:
        with ExitStack() as inside:
            inside.enter_context(_tagged(kept))
            inside.enter_context(running(self.standstills, is_replay=kept is not None))
            if kept is not None:
                inside.enter_context(replaying(case.question))
            return await self.entry.arun(case.given)

    @override
    def explaining(self, trace: TracedExplanation, question: str) -> AbstractContextManager[object]:
        return explaining(trace, question)

    @override
    def is_traced(self) -> bool:
        return is_traced()

    @override
    def ask_tracers(self) -> object:
        return asked()

    @override
    def stream(self, case: CallInput) -> Iterator[Any]:
        with _tagged(None):
            yield from self.entry.stream(case.given)

    @override
    async def astream(self, case: CallInput) -> AsyncIterator[Any]:
        with _tagged(None), running(self.standstills, is_replay=False):
            async for piece in self.entry.astream(case.given):
                yield piece

    @override
    def means_async_only(self, error: str) -> bool:
        return error.startswith(AsyncOnlyError.__name__)

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
        return documents_as_found(documents)

    @override
    def copied(self, given: Any) -> Any:
        if isinstance(given, Mapping):
            # Memories and stores are not copied here, because their methods are replaced by methods that
            # isolate every use of them.
            arguments = cast("Mapping[str, Any]", given)
            return {
                key: value if isinstance(value, _REMEMBERING) else copied(value)
                for key, value in arguments.items()
            }
        return copied(given)

    @override
    def texts_in(self, given: Any) -> Iterable[str]:
        return texts_in(given)

    @override
    def plain(self, given: Any) -> Any:
        return plain(given)

    @override
    def remarks(self, run: Participation, first: Participation) -> Iterable[str]:
        failed, failed_before = _failures(run), first.watch.failed
        was_cut = run.tool_replay is not None and bool(run.tool_replay.cut)
        if failed and not failed_before and not was_cut:
            # Some engines continue after a model failed, for example without the answer to a
            # sub-question. Their answer cannot be compared with the baseline's, so an error is raised.
            raise unusable(f"{MODEL_FAILED}: {failed[0]}", run.watch, passing=True)
        # A replay without requests to models has no answer of a model, so it is refused. But if the first
        # run has no requests either, the application does not report its requests, and the replay is
        # accepted.
        if first.watch.requests and not run.watch.requests:
            yield EMPTY_ANSWER

    @override
    def shown(self, captured: Captured[Found]) -> Iterable[str]:
        # A synthesizer shows all its nodes to the model. It may split them into chunks that are too small
        # to be recognised in requests. So this method names the sources of all its nodes as shown.
        batches = zip(captured.retrievals, captured.batches, strict=True)
        return {
            source.id for asked, batch in batches if is_engine(asked.retriever) for source, _ in batch
        }

    @override
    def notes(self, captured: Captured[Found]) -> Iterable[str]:
        if captured.any_query:
            return
        by_engine = {is_engine(retrieval.retriever) for retrieval in captured.retrievals}
        if True in by_engine:
            yield SYNTHESIZED
        if False in by_engine:
            yield GATED

    @override
    def result_content(self, result: Any) -> ResultContent:
        return result_content(result)

    @override
    def why_nothing(self, retrievals: int) -> str:
        if retrievals:
            return (
                "the application's retrievers returned no nodes for this input, so there is nothing to "
                "explain its answer by; check the query and the index"
            )
        if isinstance(self.root, SimpleChatEngine):
            return (
                "a SimpleChatEngine retrieves nothing, so there is nothing to explain its answer by; "
                "pass an engine that retrieves, such as index.as_chat_engine(), or wrap the search that "
                "its model makes in gate(...)"
            )
        return (
            "the application answered without a retrieval that could be seen: those of LlamaIndex query "
            "engines, retrievers and vector stores made inside its run are. Wrap any other search, or "
            "one in a thread that began before the run, in gate(...) where it is called; or explain your "
            "own function of (question, sources) with rag_rule_explainer.Explainer"
        )

    @override
    def stopped(self, output: Any, case: CallInput, *, unreadable: bool = False) -> str:
        return self.standstills.answered or (in_place_of_an_answer(output) if unreadable else "")

    @override
    def versions(self) -> Mapping[str, str]:
        return {"llama-index-core": _installed()}


@cache
def _installed() -> str:
    """Returns the version of llama-index-core. It is cached, because reading it takes as long as a
    quick replay."""
    return version("llama-index-core")


@contextmanager
def _tagged(kept: Sequence[Source] | None) -> Generator[None, None, None]:
    """Tags all events and spans in the block as those of the baseline or of a replay. ``kept``: the
    retained sources of the replay; None for the baseline."""
    tags: dict[str, Any] = {BASELINE_TAG: True}
    if kept is not None:
        replay = current_replay()
        tags = {REPLAY_TAG: True, **({} if replay is None else replay.marks)}
    with instrument_tags({**active_instrument_tags.get(), **tags}):
        yield


def _failures(run: Participation) -> list[str]:
    return run.watch.failures if isinstance(run.watch, Watch) else []
