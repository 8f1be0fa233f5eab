"""This module defines ``model``, the decorator that marks a function which asks a model."""

import inspect
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from functools import wraps
from typing import Any, NamedTuple, TypeVar, cast

from ...allowed import checked_function
from ...errors import InvalidInput
from ...probing.wholeness import Said
from ..beginnings import note_reply, prompt_editing, recorded_reply
from ..clients.fields import TEXT_KEYS, attribute
from ..copies.copying import described
from ..function_values import answer_of_output
from ..reading import nested_texts
from .client_watch import ClientWatch, ModelReply, ModelRequest, current_watch
from .generated_clients import is_sent_by_client, sent_by_client
from .nested_calls import is_within_no_model

ModelFunction = TypeVar("ModelFunction", bound=Callable[..., Any])


class _Asking(NamedTuple):
    watch: ClientWatch
    key: object
    served: Any


def model(function: ModelFunction) -> ModelFunction:
    """Returns a function that does the same as ``function`` and is marked as one that asks a model.
    ``function`` may be sync or async, and may yield its reply as a stream of texts. ``model`` is a
    decorator.

    Mark a function if explanations do not see its requests, for example because it runs a model in this
    process, or asks a model by a client that this package cannot read. In an explanation, the texts in
    the function's arguments are recorded as the request, and its result as the reply. Outside of an
    explanation, the marked function does the same as before.
    """
    checked_function("model", function, "a function")
    if inspect.isasyncgenfunction(function):
        marked: Any = _streaming_async(function)
    elif inspect.isgeneratorfunction(function):
        marked = _streaming(function)
    else:
        marked = _asking_async(function) if inspect.iscoroutinefunction(function) else _asking(function)
    return cast("ModelFunction", wraps(function)(marked))


def _asking(function: Callable[..., Any]) -> Callable[..., Any]:
    def ask(*args: Any, **kwargs: Any) -> Any:
        asked = _asked(args, kwargs)
        if asked is None or asked.served is not None:
            return function(*args, **kwargs) if asked is None else _replied(asked, asked.served)
        with asked.watch.failing(), sent_by_client():
            return _replied(asked, function(*args, **kwargs))

    return ask


def _asking_async(function: Callable[..., Any]) -> Callable[..., Any]:
    async def ask(*args: Any, **kwargs: Any) -> Any:
        asked = _asked(args, kwargs)
        if asked is None or asked.served is not None:
            return await function(*args, **kwargs) if asked is None else _replied(asked, asked.served)
        with asked.watch.failing(), sent_by_client():
            return _replied(asked, await function(*args, **kwargs))

    return ask


def _streaming(function: Callable[..., Any]) -> Callable[..., Any]:
    def stream(*args: Any, **kwargs: Any) -> Iterator[Any]:
        asked = _asked(args, kwargs)
        pieces = function(*args, **kwargs) if asked is None or asked.served is None else asked.served
        if asked is None:
            yield from pieces
            return
        # The whole reply is read before the application gets the first piece. So the whole reply is
        # recorded even if the application stops reading early.
        with asked.watch.failing(), sent_by_client():
            whole = [*pieces]
        yield from _replied(asked, whole)

    return stream


def _streaming_async(function: Callable[..., Any]) -> Callable[..., Any]:
    async def stream(*args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        asked = _asked(args, kwargs)
        if asked is None:
            async for piece in function(*args, **kwargs):
                yield piece
            return
        whole = asked.served
        if whole is None:
            with asked.watch.failing(), sent_by_client():
                whole = [piece async for piece in function(*args, **kwargs)]
        for piece in _replied(asked, whole):
            yield piece

    return stream


def _asked(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> _Asking | None:
    """Records the call of a marked function as a request to a model, and returns the request. Returns
    None, and records nothing, outside of runs, and inside another call that is already recorded."""
    watch = current_watch()
    if watch is None or is_sent_by_client() or not is_within_no_model():
        return None
    if prompt_editing() is not None:
        raise InvalidInput(
            "a function that model() marks is sent what the application makes, so no turn, memory, "
            "instruction or example can be left out of it; give source_kinds= without these"
        )
    text = "\n\n".join(nested_texts([*args, dict(kwargs)], _own_text))
    parameters = {name: each for name, each in kwargs.items() if isinstance(each, (int, float))}
    key = watch.asked(ModelRequest(text, f"{text}\n\n{described(parameters)}"))
    return _Asking(watch, key, recorded_reply(key))


def _own_text(given: Any) -> str | None:
    if isinstance(given, (str, Mapping, list, tuple)):
        return given if isinstance(given, str) else None
    text = next((found for key in TEXT_KEYS if (found := attribute(given, key)) is not None), None)
    return text if isinstance(text, str) else None


def _replied(asked: _Asking, result: Any) -> Any:
    if hasattr(result, "__next__") or hasattr(result, "__anext__"):
        raise InvalidInput(
            "a function that model() marks returned a stream that is not read; make it yield texts, or "
            "return the whole reply"
        )
    pieces = cast("list[Any]", result) if isinstance(result, list) else []
    is_streamed = bool(pieces) and all(isinstance(each, str) for each in pieces)
    text = "".join(pieces) if is_streamed else _text_of(result)
    said = Said(text)
    note_reply(asked.key, result, said)
    asked.watch.replied(asked.key, ModelReply(said, text, (), "", {}))
    return cast("Any", result)


def _text_of(result: Any) -> str:
    """Returns the text of a reply. If no text can be read from the reply, returns a description of it."""
    try:
        return answer_of_output(result, lambda _: None).text
    except InvalidInput:
        return described(result)
