"""This module supports applications that are a function of one input, written with any framework or none.

The integration of a model client derives its application class from ``FunctionApplication``. The derived
class adds the patches of the client, and reads the client's responses.
"""

import inspect
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, cast

from typing_extensions import override

from ..allowed import named_function
from ..errors import InvalidInput
from ..printable import type_said
from ..sources import Source
from .application import Application
from .inside_runs import in_a_thread
from .options import CallInput
from .reading import nested_texts, plain_data
from .registered import frameworks
from .requests.client_watch import FAILED, ClientWatch, current_watch, watched_by
from .run_failures import unusable
from .run_record import Participation
from .searches.of_functions import Found, as_found, identify

CONSTANT = "no model was asked: without sources, the application answers with a text of its own"


class AsyncOnlyError(TypeError):
    """This error says that the application has no sync interface."""


@dataclass(frozen=True, slots=True)
class FunctionApplication(Application[Found]):
    """A ``FunctionApplication`` runs a function of one input as an ``Application``.

    ``function``: a sync or async function of one input, which may stream its answer. It may also be a
    function without parameters that returns such a function; it is then called for every run. Raises
    InvalidInput for other objects.
    """

    function: Callable[..., Any]

    def __post_init__(self) -> None:
        function: object = self.function
        is_class = isinstance(function, type)
        if callable(function) and (self._is_maker or (not is_class and is_called_with(function, None))):
            return
        if inspect.isroutine(function):
            raise InvalidInput(
                f"{named_function(function)} cannot be called with one input alone; pass a function of "
                "one input, or explain one of (question, sources) with rag_rule_explainer.Explainer"
            )
        what = f"the class {function.__name__}" if is_class else type_said(function)
        integration = frameworks().get(type(function).__module__.partition(".")[0])
        if integration is not None:
            raise InvalidInput(f"this is {what} of a framework's; explain it with {integration}")
        raise InvalidInput(
            f"this is {what}, which cannot be asked; pass a function of one input, or a function of none "
            "that makes one: lambda: App().answer"
        )

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
        return not self._is_maker and _is_async(self.function)

    @property
    def _is_maker(self) -> bool:
        return is_called_with(self.function)

    @override
    def run(self, case: CallInput, kept: Sequence[Source] | None) -> Any:
        function = self._made()
        output = function(case.given)
        if inspect.isawaitable(output) or hasattr(output, "__anext__"):
            if inspect.iscoroutine(output):
                output.close()
            raise AsyncOnlyError(f"{function!r} is async")
        return self._drained(output)

    @override
    async def arun(self, case: CallInput, kept: Sequence[Source] | None) -> Any:
        watch = current_watch()
        try:
            return await self._aran(case)
        finally:
            if kept is not None and watch is not None:  # a replay leaves no stream open
                await watch.streams.aclose()

    async def _aran(self, case: CallInput) -> Any:
        function = self._made()
        if _is_async(function):
            output = function(case.given)
        else:
            # A sync function, or the stream that it returns, would block the event loop, so it runs in a
            # thread.
            output = await in_a_thread(lambda: self._drained(function(case.given)))
        output = await output if inspect.isawaitable(output) else output
        if isinstance(output, AsyncIterator):
            return self.whole([each async for each in cast("AsyncIterator[Any]", output)])
        return self._drained(output)

    def whole(self, pieces: Sequence[Any]) -> Any:
        """Returns the output of a stream: its pieces joined if all are texts, else the last piece."""
        if all(isinstance(each, str) for each in pieces):
            return "".join(pieces)
        return pieces[-1]

    @override
    def means_async_only(self, error: str) -> bool:
        return error.startswith(AsyncOnlyError.__name__)

    @override
    def watch(self, *, accepts: Collection[str]) -> ClientWatch:
        return ClientWatch(accepts=accepts)

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
    def texts_in(self, given: Any) -> Iterable[str]:
        return nested_texts(given, lambda each: each if isinstance(each, str) else None)

    @override
    def plain(self, given: Any) -> Any:
        return plain_data(given, lambda each: each if isinstance(each, (str, int, float, bool)) else None)

    @override
    def remarks(self, run: Participation, first: Participation) -> Iterable[str]:
        if run.watch.failed and not first.watch.failed:
            # An application may catch the error of a model and return an apology as its answer. Such an
            # answer must not be used.
            raise unusable(FAILED, run.watch, passing=True)
        if first.watch.requests and not run.watch.requests:
            yield CONSTANT

    @override
    def why_nothing(self, retrievals: int) -> str:
        if retrievals:
            return (
                "the gated searches found nothing for this input, so there is nothing to explain its "
                "answer by; check the query and the index"
            )
        return (
            "the application answered without a search that could be seen. Put each search into "
            "gate(...), as a decorator or where it is called; what a model's server searches itself "
            "(file search, web search) cannot be left out. If it is built with a framework, explain it "
            "with that one's integration (--framework); or explain your own function of (question, "
            "sources) with rag_rule_explainer.Explainer"
        )

    @override
    def stopped(self, output: Any, case: CallInput, *, unreadable: bool = False) -> str:
        if not (unreadable and callable(output)):
            return ""
        return (
            f"the application returned {type_said(output)} in place of an answer; pass what is to "
            "be asked, or a function without parameters that makes it"
        )

    def _drained(self, output: Any) -> Any:
        return self.whole(list(cast("Iterator[Any]", output))) if isinstance(output, Iterator) else output

    def _made(self) -> Callable[..., Any]:
        if not self._is_maker:
            return self.function
        made = self.function()
        if not callable(made):
            raise InvalidInput(
                f"the function that makes the application made {type_said(made)}; let it return a "
                "function of one input"
            )
        return made


def is_called_with(function: Callable[..., Any], *arguments: object) -> bool:
    """Returns True iff the function has a signature, and can be called with these arguments."""
    try:
        inspect.signature(function).bind(*arguments)
    except (TypeError, ValueError):  # ``signature`` raises a ValueError for some built-in functions
        return False
    return True


def _is_async(function: Callable[..., Any]) -> bool:
    called = getattr(function, "__call__", None)  # noqa: B004 -- the method itself is needed, not whether it exists
    return any(
        check(each)
        for check in (inspect.iscoroutinefunction, inspect.isasyncgenfunction)
        for each in (function, called)
    )
