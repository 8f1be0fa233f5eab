"""This module records the bytes that a run sends over sockets."""

import pickle
import re
import socket
import sys
from dataclasses import replace
from functools import wraps
from typing import Any

from ..copies.patching import Interception
from ..isolation.acting import note_sent
from ..run_context import inside_retrieval, participation
from ..run_record import Participation
from .calls import ServiceCall

_MOST = 65_536
_POOLING = ("multiprocessing", "concurrent")


def _sending(_: str, send: Any) -> Any:
    @wraps(send)
    def sent(self: Any, data: Any, *args: Any, **kwargs: Any) -> Any:
        _note(self, data)
        return send(self, data, *args, **kwargs)

    return sent


def _sending_parts(_: str, send: Any) -> Any:
    @wraps(send)
    def sent(self: Any, buffers: Any, *args: Any, **kwargs: Any) -> Any:
        parts = list(buffers)  # ``buffers`` may be an iterator, but is needed twice
        _note(self, b"".join(bytes(each) for each in parts))
        return send(self, parts, *args, **kwargs)

    return sent


def _handing(_: str, send: Any) -> Any:
    @wraps(send)
    def sent(self: Any, given: Any, *args: Any, **kwargs: Any) -> Any:
        # The public functions that find the caller are too slow to be called whenever something is sent.
        caller = str(sys._getframe(1).f_globals.get("__name__"))  # pyright: ignore[reportPrivateUsage]
        # Connections of managers and pools of processes are ignored here, because ``rewinding`` checks
        # these processes.
        if not caller.startswith(_POOLING):
            _note(self, given, "another process")
        return send(self, given, *args, **kwargs)

    return sent


def _note(connection: Any, data: Any, address: str = "") -> None:
    run = participation()
    # A replay gets recorded results instead of real retrievals, so data that a retrieval sends is
    # ignored.
    if run is None or run.outside is None or inside_retrieval.get():
        return
    try:
        address = address or _address_of(connection)
        if address:
            call, sent = _call_of(run, address), _bytes_of(data)
            run.outside.sent(connection, call, sent)
            note_sent(run, connection, replace(call, data=bytearray()), sent)
    except Exception:  # noqa: S110 -- recording must not make the application's own call fail
        pass


def _call_of(run: Participation, address: str) -> ServiceCall:
    exchanges = [*run.watch.exchanges]
    said = (each.reply for each in exchanges if each.reply)
    waiting = (each.request.text for each in exchanges if each.reply is None)
    return ServiceCall(address, (*said, *run.made), tuple(waiting))


def _bytes_of(data: Any) -> bytes:
    try:
        return bytes(memoryview(data).cast("B")[:_MOST])
    except TypeError:  # the sent object is meant for another process, and is not bytes
        return pickle.dumps(data)[:_MOST]


def _address_of(connection: Any) -> str:
    """Returns the host and port, or the path, to which a connection leads. Returns an empty text for
    datagrams and for pairs of sockets. Also returns an empty text for encrypted connections, because
    their data is recorded before its encryption."""
    server = getattr(connection, "server_hostname", None)
    if server:
        return str(server)
    if not isinstance(connection, socket.socket) or connection.type != socket.SOCK_STREAM:
        return ""
    peer = connection.getpeername()
    return f"{peer[0]}:{peer[1]}" if isinstance(peer, tuple) else str(peer or "")


_SEND = re.compile("send")
_PARTS = re.compile("sendmsg")
_HAND = re.compile("send|send_bytes")
INTERCEPTIONS = [
    Interception("socket", "socket", _SEND, _sending, added=("send", "sendall")),
    Interception("socket", "socket", _PARTS, _sending_parts, added=("sendmsg",)),
    Interception("ssl", "SSLObject", re.compile("write"), _sending),
    Interception("multiprocessing.connection", "_ConnectionBase", _HAND, _handing),
]
"""The methods that are replaced during an explanation. Code calls these methods to send bytes or objects
over a connection."""
