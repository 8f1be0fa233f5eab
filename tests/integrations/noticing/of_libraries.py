"""Marks in objects of libraries: in their attributes, and in what these refer to."""

import logging.handlers
from collections.abc import Callable
from types import FunctionType
from typing import Any

import requests
import tiktoken
import tokenizers
from requests.adapters import HTTPAdapter

from tests.integrations.leaving.parts import HELD_OPEN
from tests.integrations.noticing.attached import marked_on
from tests.integrations.noticing.modes import Mark

Both = tuple[Mark, Mark]
_UNKNOWN = "[UNK]"


def _in_a_list_on(thing: Any) -> Both:
    thing.notes = []
    HELD_OPEN.callback(lambda: vars(thing).pop("notes", None))
    return lambda: thing.notes.append(1), lambda: bool(thing.notes)


def _tokenizer() -> Any:
    return tokenizers.Tokenizer(tokenizers.models.WordLevel({"a": 0, "[UNK]": 1}, unk_token=_UNKNOWN))


def on_a_tokenizer() -> Both:
    encoding: Any = tiktoken.Encoding("two", pat_str=".", mergeable_ranks={b"a": 0}, special_tokens={})
    return marked_on(encoding)


def among_the_special_tokens() -> Both:
    held: Any = tiktoken.Encoding("two", pat_str=".", mergeable_ranks={b"a": 0}, special_tokens={})
    return lambda: held._special_tokens.update(two=1), lambda: "two" in held._special_tokens


def among_the_tokens_of_a_tokenizer() -> Both:
    held = _tokenizer()
    return lambda: held.add_tokens(["two"]), lambda: held.get_vocab_size() > 2


def in_what_a_tokenizer_encodes() -> Both:
    held = _tokenizer()
    return lambda: held.add_tokens(["two"]), lambda: held.encode("two").ids == [2]


def in_the_truncation_of_a_tokenizer() -> Both:
    held = _tokenizer()
    return lambda: held.enable_truncation(3), lambda: held.truncation is not None


def on_a_session() -> Both:
    return marked_on(requests.Session())


def in_a_list_on_a_session() -> Both:
    return _in_a_list_on(requests.Session())


def in_the_headers_of_a_session() -> Both:
    held = requests.Session()
    return lambda: held.headers.update(two="1"), lambda: "two" in held.headers


def in_the_cookies_of_a_session() -> Both:
    held = requests.Session()
    return lambda: held.cookies.set("two", "1"), lambda: held.cookies.get("two")


def in_the_hooks_of_a_session() -> Both:
    held = requests.Session()
    return lambda: held.hooks["response"].append(print), lambda: bool(held.hooks["response"])


def in_the_adapters_of_a_session() -> Both:
    held = requests.Session()
    return (
        lambda: held.mount("two://", HTTPAdapter()),
        lambda: "two://" in held.adapters,
    )


def in_what_a_session_prepares() -> Both:
    held = requests.Session()
    asked = requests.Request("GET", "http://127.0.0.1/")
    return lambda: held.headers.update(two="1"), lambda: "two" in held.prepare_request(asked).headers


def on_a_logger() -> Both:
    return marked_on(logging.getLogger("rag_rule_of_libraries"))


def in_a_list_on_a_logger() -> Both:
    return _in_a_list_on(logging.getLogger("rag_rule_of_libraries"))


def in_the_buffer_of_a_handler() -> Both:
    held = logging.handlers.MemoryHandler(99)
    record = logging.makeLogRecord({})
    return lambda: held.buffer.append(record), lambda: bool(held.buffer)


def in_what_a_handler_was_told() -> Both:
    held = logging.handlers.MemoryHandler(99)
    logger = logging.Logger("rag_rule_of_libraries.own")
    logger.addHandler(held)
    return lambda: logger.warning("two"), lambda: bool(held.buffer)


def in_the_words_of_an_adapter() -> Both:
    held: Any = logging.LoggerAdapter(logging.getLogger("rag_rule_of_libraries"), {})
    return lambda: held.extra.update(two=1), lambda: "two" in held.extra


OF_LIBRARIES: tuple[Callable[[], Both], ...] = tuple(
    each
    for name, each in list(globals().items())
    if isinstance(each, FunctionType) and not name.startswith("_") and each.__module__ == __name__
)
