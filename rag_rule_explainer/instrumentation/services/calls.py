"""This module reads the data that a run sends to a service: requests by HTTP, to Redis, or in other
protocols."""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from ..shared_state.statements import Statements
from .wording import (
    Purpose,
    form_apart_from,
    is_about,
    is_sending,
    phrases_of,
    purpose_of,
    unescaped,
)

_FIRST_WORDS = 40
_MOST = 65_536
"""The maximum number of bytes of a request that are stored. Further bytes are dropped."""
_HTTP = re.compile(rb"^([A-Z]{3,8}) (\S+) HTTP/1\.[01]\r\n")
"""Matches the first line of an HTTP request, such as "POST /v1/search HTTP/1.1"."""
_HOST = re.compile(rb"\r\nhost:[ \t]*([^\r\n]+)", re.I)
_TARGET = re.compile(rb"\r\nx-amz-target:[ \t]*[^\r\n]*?([^\r\n.]+)\r\n", re.I)
"""Matches the header in which a request to AWS names the called function."""
_COMMAND = re.compile(rb"\*\d+\r\n\$\d+\r\n([A-Za-z.]+)\r\n")
"""Matches a command to Redis: the number of its parts, then the name of the command, such as GET."""
_ENCRYPTED = re.compile(rb"^[\x14-\x17]\x03[\x00-\x04]")
"""Matches the first bytes of encrypted data (TLS)."""
_PROCEDURE = re.compile(r'"method"\s*:\s*"([^"]+)"')
"""Matches the called method in a JSON-RPC request, such as ``"method": "tools/call"``."""
_OF_MONGO = re.compile(rb"\x02(insert|update|delete|findAndModify|find|aggregate|count|distinct)\x00")
"""Matches the name of a command to MongoDB."""
_MONGO_READS = frozenset({b"find", b"aggregate", b"count", b"distinct"})
_REDIS_READS = frozenset(
    {
        *("GET", "MGET", "EXISTS", "KEYS", "SCAN", "TYPE", "TTL", "PTTL", "STRLEN", "GETRANGE", "HGET"),
        *("HMGET", "HGETALL", "HEXISTS", "HKEYS", "HVALS", "HLEN", "HSCAN", "LRANGE", "LLEN", "LINDEX"),
        *("SMEMBERS", "SISMEMBER", "SCARD", "SRANDMEMBER", "SINTER", "SUNION", "SDIFF", "SSCAN"),
        *("ZRANGE", "ZREVRANGE", "ZRANGEBYSCORE", "ZSCORE", "ZCARD", "ZCOUNT", "ZRANK", "XRANGE"),
        *("XREVRANGE", "XLEN", "XREAD", "GETBIT", "BITCOUNT", "DBSIZE", "FT.SEARCH", "FT.AGGREGATE"),
        *("FT.INFO", "FT._LIST", "JSON.GET", "JSON.MGET", "VSIM", "DUMP", "MEMORY", "GEOSEARCH"),
    }
)
_OF_CONNECTIONS = frozenset(
    {
        *("HELLO", "AUTH", "CLIENT", "SELECT", "PING", "ECHO", "INFO", "COMMAND", "QUIT", "CONFIG"),
        *("READONLY", "CLUSTER", "MULTI", "EXEC", "WATCH", "UNWATCH", "DISCARD", "MODULE", "WAIT"),
        *("SUBSCRIBE", "PUBLISH", "ROLE", "SENTINEL", "FUNCTION"),
    }
)
"""Commands to Redis that concern the connection or the server, and not the stored data."""
_REDIS_BOTH = frozenset(
    {
        *("INCR", "INCRBY", "INCRBYFLOAT", "DECR", "DECRBY", "HINCRBY", "HINCRBYFLOAT", "ZINCRBY"),
        *("GETSET", "GETDEL", "GETEX", "SETNX", "HSETNX", "LPOP", "RPOP", "BLPOP", "BRPOP", "SPOP"),
        *("LMOVE", "RPOPLPUSH", "EVAL", "EVALSHA", "FCALL", "SADD", "SREM", "ZPOPMIN", "ZPOPMAX"),
        *("SETBIT", "XREADGROUP", "XAUTOCLAIM"),
    }
)
"""Commands to Redis that change a value and whose reply depends on the value before the change."""


@dataclass(slots=True, eq=False)
class ServiceCall:
    """A ``ServiceCall`` is one request that a run sends to a service.

    ``address``: the host and port of the service. ``data``: the first bytes of the request. ``texts``:
    the texts that models and tools have made in this run so far. ``waiting``: the requests to models that
    have no reply yet.
    """

    address: str
    texts: tuple[str, ...] = ()
    waiting: tuple[str, ...] = ()
    data: bytearray = field(default_factory=bytearray)

    def add(self, data: bytes) -> None:
        """Adds further bytes of the request."""
        self.data += data[: _MOST - len(self.data)]

    @property
    def service(self) -> str:
        """Returns the host to which the request is addressed, or, if it contains no host, the address of
        the service."""
        host = _HOST.search(self.data) if _HTTP.match(self.data) else None
        return host.group(1).decode("latin-1").strip() if host else self.address

    @property
    def is_encrypted(self) -> bool:
        """Returns True iff the bytes are encrypted. For an encrypted connection, the data is also
        recorded in another place, before its encryption."""
        return bool(_ENCRYPTED.match(self.data))

    @property
    def is_a_models(self) -> bool:
        """Returns True iff the call sends one of the waiting requests to a model."""
        said = " ".join(re.findall(r"\w+", unescaped(self._text).casefold()))
        return any(_is_mostly_in(each, said) for each in self.waiting)

    @property
    def line(self) -> str:
        """Returns the method and the path of a request by HTTP; empty for other protocols."""
        http = _HTTP.match(self.data)
        return "" if http is None else f"{http[1].decode()} {http[2].decode('latin-1').partition('?')[0]}"

    @property
    def act(self) -> str:
        """Returns the name of a call that may change something, as at the service or for people, such as
        "POST /mails"; empty if it only reads, reports or asks a model. A call of an unknown kind counts
        as one that changes something."""
        if self.is_encrypted or self.is_a_models:
            return ""
        method, _, path = self.line.partition(" ")
        if method:
            purpose, name = self._purpose_in_http(method, path)
            only_reads = purpose is Purpose.READS and not is_sending(method, path)
            return "" if only_reads or purpose is Purpose.WATCHES else name
        effects = self.effects(frozenset())
        return effects.name if effects.writes or effects.form is not None else ""

    @property
    def _text(self) -> str:
        return self.data.decode("utf-8", "replace")

    def effects(self, phrases: frozenset[str]) -> "Effects":
        """Returns the effects that the call may have on the state of the service.

        ``phrases``: pairs of neighbouring words in the input and the sources. A call of an unknown kind
        counts as a query, which only reads, if it contains one of these pairs, words from ``self.texts``
        (texts of the run), or a list of numbers. Any other call of an unknown kind counts as a write.
        """
        http = _HTTP.match(self.data)
        if http:
            purpose, name = self._purpose_in_http(http.group(1).decode(), http.group(2).decode("latin-1"))
            if purpose is not Purpose.UNKNOWN:
                return Effects(name, purpose is Purpose.READS, purpose is Purpose.WRITES)
            return self._of_unknown(name, phrases)
        commands = [each.decode().upper() for each in _COMMAND.findall(self.data)]
        if commands:
            return _of_redis(commands)
        found = {each.group(1) for each in _OF_MONGO.finditer(self.data)}
        if found:
            name = min(found).decode()
            return Effects(name, bool(found & _MONGO_READS), bool(found - _MONGO_READS))
        tables = Statements.among(re.split(r"[^\x09\x0a\x0d\x20-\x7e]+", self._text))
        if tables.any:
            return Effects("SQL", bool(tables.read), bool(tables.written), both=False)
        return self._of_unknown("bytes", phrases)

    def _purpose_in_http(self, method: str, path: str) -> tuple[Purpose, str]:
        name = f"{method} {path.partition('?')[0]}"
        purpose = purpose_of(method, path, self.service)
        if method != "POST" or purpose is Purpose.WATCHES:
            return purpose, name
        target = _TARGET.search(self.data)
        if target is not None:
            called = target.group(1).decode("latin-1")
            return purpose_of("POST", called), f"{name} {called}"
        body = self._text.partition("\r\n\r\n")[2]
        procedure = _PROCEDURE.search(body) if '"jsonrpc"' in body else None
        if procedure is not None:
            called = procedure.group(1)
            is_of_tools = called == "tools/call"
            opens = called in {"initialize", "ping"} or called.startswith("notifications/")
            known = Purpose.READS if opens else purpose_of("POST", called)
            return Purpose.UNKNOWN if is_of_tools else known, f"{name} {called}"
        if "graphql" in path:
            return Purpose.WRITES if "mutation" in body else Purpose.READS, name
        return purpose, name

    def _of_unknown(self, name: str, phrases: frozenset[str]) -> "Effects":
        body = self._text.partition("\r\n\r\n")[2] if name != "bytes" else self._text
        known = phrases | phrases_of(self.texts)
        asks = is_about(body, known)
        return Effects(name, reads=asks, writes=not asks, form=form_apart_from(body, known))


@dataclass(frozen=True, slots=True)
class Effects:
    """An ``Effects`` describes the effects that a call may have."""

    name: str
    """The name of the call in messages."""
    reads: bool
    """True if the reply may depend on what the service stores."""
    writes: bool
    """True if the call may change what the service stores."""
    both: bool = True
    """True if a call that writes also counts as a read, because its reply may depend on the stored
    data."""
    form: str | None = None
    """The request without texts of the run, which is equal for requests that differ only in these texts;
    None if the call is of a known kind, such as SQL."""


def _of_redis(commands: Collection[str]) -> Effects:
    acting = [each for each in commands if each not in _OF_CONNECTIONS]
    writing = [each for each in acting if each not in _REDIS_READS]
    reads = any(each in _REDIS_READS | _REDIS_BOTH for each in acting)
    return Effects(next(iter((*writing, *acting)), "PING"), reads, bool(writing), both=False)


def _is_mostly_in(request: str, said: str) -> bool:
    """Returns True iff most of the first words of a request occur in the words that were sent. If the
    request has several messages, which blank lines separate, other words may stand between them."""
    known = found = 0
    for part in request.casefold().split("\n\n"):
        words = re.findall(r"\w+", part)[: _FIRST_WORDS - known]
        known += len(words)
        found += len(words) if words and " ".join(words[: len(words) // 2 + 1]) in said else 0
    return 2 * found > known


def influencing_call(effects: Iterable[Effects]) -> str:
    """Returns the name of a call by which one run may influence another; empty if there is none.
    ``effects``: the effects of all calls to one service."""
    every = list(effects)
    # A run without documents may send an empty text where other runs send the text of a document. Alone,
    # such a request would count as a write. So if one request of a form counts as a query, all requests
    # of this form count as queries.
    asking = {(each.name, each.form) for each in every if each.reads and each.form is not None}
    known = [each for each in every if (each.name, each.form) not in asking]
    reads = any(each.reads or (each.writes and each.both) for each in known)
    return next((each.name for each in known if each.writes and reads), "")


def begins_a_request(data: bytes) -> bool:
    """Returns True iff these bytes are the beginning of a request whose protocol is known."""
    return bool(_HTTP.match(data) or _COMMAND.match(data))
