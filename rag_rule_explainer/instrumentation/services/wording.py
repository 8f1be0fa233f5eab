"""This module finds out the purpose of a request to a service by the words in its address. It also finds
out whether the request is about texts of the run that sent it."""

import json
import re
from collections.abc import Iterable
from enum import Enum, auto
from functools import lru_cache
from itertools import pairwise
from typing import Any
from urllib.parse import unquote_plus

_READS = frozenset(
    {
        *("search", "msearch", "query", "queries", "ask", "answer", "find", "lookup", "get", "mget"),
        *("list", "fetch", "read", "retrieve", "retrieval", "scroll", "recommend", "suggest", "count"),
        *("select", "match", "similar", "similarity", "knn", "nearest", "explain", "describe", "scan"),
        *("embed", "embeddings", "embedding", "embeds", "encode", "vectorize", "rerank", "reranker"),
        *("rerankings", "rank", "score", "scores", "predict", "predictions", "infer", "inference"),
        *("classify", "classification", "moderations", "moderation", "detect", "analyze", "analyse"),
        *("extract", "ner", "parse", "tokenize", "detokenize", "tokens", "translate", "summarize"),
        *("generate", "completions", "completion", "complete", "chat", "responses", "invoke"),
        *("converse", "evaluate", "validate", "verify", "compute", "convert", "transform", "render"),
        *("preview", "check", "sparql", "sql", "health", "ping", "version", "info", "status"),
        *("token", "oauth", "login", "auth", "authorize", "content", "contents", "crawl", "scrape"),
    }
)
"""Words in an address which show that a request only reads or computes something."""
_WRITES = frozenset(
    {
        *("set", "put", "add", "insert", "upsert", "update", "delete", "remove", "write", "save"),
        *("store", "append", "push", "pop", "incr", "increment", "decrement", "next", "reset"),
        *("clear", "toggle", "register", "remember", "forget", "note", "create", "mark", "bump"),
        *("enqueue", "dequeue", "ingest", "import", "load", "publish", "lock", "unlock", "swap"),
        *("flush", "touch", "vote", "subscribe", "commit", "record", "patch", "replace"),
    }
)
"""Words in an address which show that a request changes something."""
_KEEPS = frozenset(
    {
        *("memory", "memories", "session", "sessions", "history", "histories", "thread", "threads"),
        *("conversation", "conversations", "message", "messages", "state", "states", "cache"),
        *("counter", "counters", "flag", "flags", "feedback", "cart", "queue", "keys", "kv"),
    }
)
"""Words for things that a service stores. A request whose address contains such a word counts as a read
only if its method is GET."""
_WATCHES = frozenset(
    {
        *("telemetry", "metrics", "traces", "logs", "spans", "ingestion", "envelope", "otlp"),
        *("langsmith", "langfuse", "sentry", "posthog", "datadoghq", "mixpanel", "amplitude"),
        *("honeycomb", "newrelic", "opentelemetry", "phoenix", "arize", "analytics", "collect"),
    }
)
"""Words for services that observe an application. Their replies have no influence on the application."""
_OF_TRACES = re.compile(r"/runs(/(batch|multipart)|/[\da-f-]{36})?$|/capture/?$")
"""Matches the end of an address to which traces are sent, such as "/runs/batch"."""
_SENDS = frozenset(
    {"send", "post", "publish", "notify", "submit", "pay", "transfer", "book", "cancel", "delete"}
)
"""Words in an address which show that a request that is not a GET reaches people, or changes things, even
if other words in the address look as if it only reads."""
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_IN_TEXT = re.compile(r"\w+")
_ESCAPED = re.compile(r"\\u([0-9a-fA-F]{4})")
_NUMBERS = re.compile(r"(?:-?\d+(?:\.\d+)?(?:[eE]-?\d+)?\s*,\s*){7}")
"""Matches seven numbers in a row, as in an embedding."""
_SHORTEST = 3
_EMPTY: Any = ("", [], {})
# These classes are typed as Any. Otherwise, pyright would report unknown types of the values in them.
_DICT: Any = dict
_LIST: Any = list
_MOST_WORDS = 2000


class Purpose(Enum):
    """A ``Purpose`` is the purpose of a request, as far as its address shows it: the request only reads,
    changes something, or reports to a service that observes the application; or its purpose is
    unknown."""

    READS = auto()
    WRITES = auto()
    WATCHES = auto()
    UNKNOWN = auto()


@lru_cache(maxsize=1024)
def purpose_of(method: str, path: str, host: str = "") -> Purpose:
    """Returns the purpose of an HTTP request. ``method``: its method, such as GET or POST. ``path``: its
    path, or the name of the called function. ``host``: the name of the service; empty if it is
    unknown."""
    path = path.partition("?")[0]
    parts = [_words(each) for each in path.split("/")]
    if _OF_TRACES.search(path) or any(_WATCHES & each for each in (*parts, _words(host))):
        return Purpose.WATCHES
    if method in {"PUT", "PATCH", "DELETE"}:
        return Purpose.WRITES
    only_asks = method in {"GET", "HEAD", "OPTIONS", "CONNECT"}
    for words in reversed(parts):
        if words & _READS:
            return Purpose.READS
        if words & _WRITES or (words & _KEEPS and not only_asks and path != "/v1/messages"):
            return Purpose.WRITES
    return Purpose.READS if only_asks or path == "/v1/messages" else Purpose.UNKNOWN


def is_sending(method: str, path: str) -> bool:
    """Returns True iff the last two parts of an address show that a request reaches people or changes
    something, as "POST /chat.postMessage" does. A GET or HEAD does not."""
    parts = [each for each in path.partition("?")[0].split("/") if each][-2:]
    only_asks = method in {"GET", "HEAD", "OPTIONS", "CONNECT"}
    return not only_asks and any(_SENDS & _words(each) for each in parts)


def _words(text: str) -> frozenset[str]:
    return frozenset(each.lower() for each in _WORD.findall(text))


def phrases_of(texts: Iterable[str]) -> frozenset[str]:
    """Returns all pairs of neighbouring words in these texts. For a text of one word, returns this word
    instead."""
    found = set[str]()
    for text in texts:
        words = _IN_TEXT.findall(text.casefold())[:_MOST_WORDS]
        found.update(map(" ".join, pairwise(words)))
        if len(words) == 1 and len(words[0]) >= _SHORTEST:
            found.add(words[0])
    return frozenset(found)


def is_about(sent: str, phrases: frozenset[str]) -> bool:
    """Returns True iff a request contains one of these phrases, or a list of numbers, such as an
    embedding. ``phrases``: pairs of neighbouring words in texts of runs; if a text has only one word,
    this word is a phrase."""
    plain = unescaped(sent)
    for text in (plain, unquote_plus(plain)):
        words = _IN_TEXT.findall(text.casefold())
        if not phrases.isdisjoint(words):
            return True
        if not phrases.isdisjoint(map(" ".join, pairwise(words))):
            return True
    return bool(_NUMBERS.search(sent))


def form_apart_from(body: str, phrases: frozenset[str]) -> str:
    """Returns the form of a request: its JSON without fractional numbers and without texts that contain
    one of these phrases. If ``body`` is not JSON, the form is ``body`` itself, or empty if ``body``
    contains a phrase or a list of numbers. Requests with the same form differ only in the texts that they
    are about."""
    try:
        return json.dumps(_without(json.loads(body), phrases))
    except (ValueError, RecursionError):
        return "" if not body.strip() or is_about(body, phrases) else body


def _without(value: Any, phrases: frozenset[str]) -> Any:
    if isinstance(value, _DICT):
        return {key: _without(each, phrases) for key, each in value.items()}
    if isinstance(value, _LIST):
        held = [_without(each, phrases) for each in value]
        return [each for each in held if each not in _EMPTY]
    if isinstance(value, float) or (isinstance(value, str) and is_about(value, phrases)):
        return ""
    return value


def unescaped(text: str) -> str:
    """Returns the text with the escapes of JSON replaced by their characters."""
    plain = _ESCAPED.sub(lambda found: chr(int(found.group(1), 16)), text)
    return re.sub(r"\\[nrtbf\"/\\]", " ", plain)
