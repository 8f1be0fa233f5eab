"""An application that is a function, as the core's recording and replaying wants to know it."""

import inspect
import sys
from collections.abc import AsyncIterator, Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any, NoReturn

import anyio.to_thread
from typing_extensions import override

from rag_rule_explainer import InvalidInput, Source
from rag_rule_explainer.instrumentation.application import Application
from rag_rule_explainer.instrumentation.copies.copying import copied
from rag_rule_explainer.instrumentation.copies.patching import Patches
from rag_rule_explainer.instrumentation.engine import TracedExplanation, heard, is_sent, own_root, spans, unheard
from rag_rule_explainer.instrumentation.options import Case
from rag_rule_explainer.instrumentation.recording.recorder import Captured
from rag_rule_explainer.instrumentation.run_context import Participation, unusable

from .items import Found, as_found, identify
from .reading import adrained, drained, plainly, texts_in
from .watching import FAILED, Watch, interception, watched_by

CONSTANT = "no model was asked: without sources, the application answers with a text of its own"
_ASYNC = (inspect.iscoroutinefunction, inspect.isasyncgenfunction)


class AsyncOnlyError(TypeError):
    """The application has no sync entry."""


@dataclass(frozen=True, slots=True)
class PlainApplication(Application[Found]):
    """See ``rag_rule_explainer.instrumentation.application.Application``.

    ``function``: of one input; or of none, which makes such a function anew for every run.
    """

    function: Callable[..., Any]

    def __post_init__(self) -> None:
        function: object = self.function
        is_class = isinstance(function, type)
        if callable(function) and (self._takes() or (not is_class and self._takes(None))):
            return
        what = f"the class {function.__name__}" if is_class else f"a {type(function).__name__}"
        raise InvalidInput(
            f"this is {what}, which cannot be asked; pass a function of one input, or a function of none "
            "that makes one: lambda: App().answer"
        )

    @property
    @override
    def interception(self) -> Patches:
        with suppress(ImportError):
            # A client that is imported in the middle of a run would not be seen in it.
            import openai  # noqa: F401  # pyright: ignore[reportUnusedImport]
        return interception

    @property
    @override
    def root(self) -> object:
        return self.function

    @property
    @override
    def making(self) -> str:
        return "RuleExplainer(make_app), where make_app() returns a new function of one input"

    @property
    @override
    def async_only(self) -> bool:
        return not self._takes() and _is_async(self.function)

    @override
    def run(self, case: Case, kept: Sequence[Source] | None) -> Any:
        function = self._made()
        output = function(case.given)
        if inspect.isawaitable(output) or isinstance(output, AsyncIterator):
            if inspect.iscoroutine(output):
                output.close()
            raise AsyncOnlyError(f"{function!r} returns an awaitable")
        return drained(output)

    @override
    async def arun(self, case: Case, kept: Sequence[Source] | None) -> Any:
        function = self._made()
        if _is_async(function):
            output = function(case.given)
        else:
            # A sync function is not to hold up the loop, nor is what it streams.
            output = await anyio.to_thread.run_sync(lambda: drained(function(case.given)))
        return await adrained(await output if inspect.isawaitable(output) else output)

    @override
    def stream(self, case: Case) -> Iterator[Any]:
        yield self.run(case, None)

    @override
    async def astream(self, case: Case) -> AsyncIterator[Any]:
        yield await self.arun(case, None)

    @override
    @contextmanager
    def explaining(self, trace: TracedExplanation, question: str) -> Generator[None, None, None]:
        with ExitStack() as inside:
            if not trace.asked:
                inside.enter_context(heard(trace, unheard()))
            if spans.in_use():
                inside.enter_context(own_root(trace))
            trace.is_open = True
            yield

    @override
    def is_traced(self) -> bool:
        return is_sent()

    @override
    def ask_tracers(self) -> object:
        return unheard()

    @override
    def tells_of_async(self, error: str) -> bool:
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
        return as_found(documents)

    @override
    def copied(self, given: Any) -> Any:
        return copied(given)

    @override
    def texts_in(self, given: Any) -> Iterable[str]:
        return texts_in(given)

    @override
    def plain(self, given: Any) -> Any:
        return plainly(given)

    @override
    def remarks(self, run: Participation, first: Participation) -> Iterable[str]:
        if run.watch.failed and not first.watch.failed:
            # Applications make up for a model that failed, such as by an apology.
            raise unusable(FAILED, run.watch, passing=True)
        if first.watch.requests and not run.watch.requests:
            yield CONSTANT
        idle = set(run.stubs) & first.tools
        if first.tool_calls == 0 and idle:
            _not_a_tool(sorted(idle)[0])

    @override
    def shown(self, captured: Captured[Found]) -> Iterable[str]:
        return ()

    @override
    def notes(self, captured: Captured[Found]) -> Iterable[str]:
        return ()

    @override
    def why_nothing(self, retrievals: int) -> str:
        if retrievals:
            return (
                "the gated searches found nothing for this input, so there is nothing to explain its "
                "answer by; check the query and the index"
            )
        return (
            "the application answered without a search that could be seen. Put each search into "
            "gate(...) from plain_rag_rule_explainer, as a decorator or where it is called; what a model's "
            "server searches itself (file search, web search) cannot be left out. Or explain your own "
            "function of (question, sources) with rag_rule_explainer.Explainer"
        )

    @override
    def stopped(self, output: Any, *, unreadable: bool = False) -> str:
        if not (unreadable and callable(output)):
            return ""
        return (
            f"the application returned a {type(output).__name__} in place of an answer; pass what is to be "
            "asked, or a function without parameters that makes it"
        )

    @override
    def versions(self) -> Mapping[str, str]:
        return {"openai": version("openai")} if "openai" in sys.modules else {}

    def _takes(self, *arguments: object) -> bool:
        try:
            inspect.signature(self.function).bind(*arguments)
        except (TypeError, ValueError):  # or some built-in one, which does not say
            return False
        return True

    def _made(self) -> Callable[..., Any]:
        if not self._takes():
            return self.function
        made = self.function()
        if not callable(made):
            raise InvalidInput(
                f"the function that makes the application made a {type(made).__name__}; let it return a "
                "function of one input"
            )
        return made


def _is_async(function: Callable[..., Any]) -> bool:
    called = getattr(function, "__call__", None)  # noqa: B004 -- the method, not whether it exists
    return any(check(each) for check in _ASYNC for each in (function, called))


def _not_a_tool(name: str) -> NoReturn:
    raise InvalidInput(
        f"stub_tools names {name!r}, which runs all the same: nothing says which function it is. Put "
        "@tool from plain_rag_rule_explainer on that function"
    )
