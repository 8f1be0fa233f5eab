"""This module reads state of library objects that is not in their attributes. Such state is in properties
that are implemented in C, in the operating system, or in the memory of another object.

The caller compares the results before and after runs. Reading the state does not change it.
"""

import io
import operator
import socket
import sys
from collections.abc import Callable, Iterator
from hashlib import blake2b
from types import FunctionType, GetSetDescriptorType, MemberDescriptorType
from typing import Any, cast

from ..shared_state.per_class import per_class
from ..shared_state.positions import position_of
from .companies import is_of_own
from .owners import Node, Owner, package_of
from .values import is_plain

_Ask = Callable[[Any], object]
_MODULES_OF_ITERATORS = frozenset({"builtins", "itertools"})
_COUNT = "count"
"""The name of the class ``itertools.count``. The position of such an iterator is not compared here,
because its numbers often only go into a log. Other checks find out whether code uses the numbers."""
_SETS_WAITING = frozenset({"settimeout", "gettimeout", "setblocking", "getblocking", "timeout"})
_SETS_OPTIONS = frozenset({"setsockopt", "getsockopt"})
_RECEIVES = frozenset({"recv", "recv_into", "recvfrom", "recvmsg", "accept", "makefile"})
_RETURNS = frozenset({"seek", "truncate"})
"""Methods by which code sets its position in a file. Code that calls one of them does not depend on the
position at which an earlier run left the file."""
_OF_MOCKS = ("call", "assert_", "await", "mock_calls", "method_calls", "reset_mock")
"""The beginnings of the names by which code reads the calls that a mock has recorded."""
_NOT_OF_CURSORS = frozenset({"description", "rowcount", "row_factory"})
"""Properties of a database cursor that only describe its last statement. They are not compared, because
each run executes its own statements before it reads such a property."""
_NO_REPLIES = ((None, None), dict[str, object]())
_TEXT: Any = io.TextIOWrapper
_IN_MEMORY: Any = (io.StringIO, io.BytesIO)
_READ_ALWAYS: dict[tuple[str, str], _Ask] = {
    ("_csv", "reader"): lambda thing: thing.line_num,
    ("multiprocessing.shared_memory", "SharedMemory"): lambda thing: _digest(thing.buf),
    ("multiprocessing.shared_memory", "ShareableList"): tuple,
    # The position of a scanner, as of ``re.finditer``, cannot be read, so it counts as changed.
    ("_sre", "SRE_Scanner"): lambda _: object(),
    # The entries of a queue between processes cannot be read, so they count as changed.
    ("multiprocessing.queues", "SimpleQueue"): lambda _: object(),
    ("multiprocessing.queues", "Queue"): lambda _: object(),
    ("multiprocessing.queues", "JoinableQueue"): lambda _: object(),
}
"""Functions that read an object's state, by the module and the name of the object's class."""
_UNREADABLE = frozenset({"zlib", "bz2", "_bz2", "lzma", "_lzma", "select", "pyexpat", "_multibytecodec"})
"""Modules of C code whose objects have state in no attribute. If the application's code contains the name
of a method of such an object, the state counts as changed."""


def asked_of_library_object(thing: Any, named: frozenset[str]) -> Iterator[_Ask]:
    """Yields functions that read the state of ``thing``, an object of a library's class: each takes
    ``thing`` and returns a piece of the state. Yields nothing for other objects. ``named``: the names in
    the application's code; some state is read only if the code names it."""
    kind: Any = cast("Any", type(thing))
    if is_a_mock(thing):
        yield _place_of_replies
        yield _replies_of
        if any(name.startswith(_OF_MOCKS) for name in named):
            yield lambda mock: len(mock.mock_calls)
        return
    for name in sorted(_readable(kind) & named):
        yield lambda thing, name=name: _plain(getattr(thing, name))
    if is_of_own(thing):
        return
    yield from _of_its_kind(kind, named)
    if _is_an_iterator(thing):
        yield _place_of_iterator
    if issubclass(kind, io.IOBase):
        yield from _of_a_stream(thing, named)
    if issubclass(kind, socket.socket):
        yield from _of_a_socket(named)
    if str(kind.__module__).startswith("_") and hasattr(kind, "hexdigest"):
        yield lambda digest: digest.hexdigest()


def _of_its_kind(kind: Any, named: frozenset[str]) -> Iterator[_Ask]:
    ask = _READ_ALWAYS.get((kind.__module__, kind.__name__))
    if ask is not None:
        yield ask
    if kind.__module__ in _UNREADABLE and any(name in vars(kind) for name in named):
        yield lambda _: object()


def is_of_a_librarys_own(node: Node) -> bool:
    """Returns True iff the object is an iterator that belongs to an object of a library or a framework,
    such as an iterator by which a client numbers its requests. To find the owner, the references to the
    iterator are followed back to the first object that is neither an iterator, such as a ``map``, nor a
    collection."""
    if not _is_an_iterator(node.thing):
        return False
    holder = node.holder
    while holder is not None and (_is_an_iterator(holder.thing) or holder.is_passed_by):
        holder = holder.holder
    return holder is not None and holder.owner is not Owner.USER


def _is_an_iterator(thing: Any) -> bool:
    kind: Any = cast("Any", type(thing))
    return kind.__module__ in _MODULES_OF_ITERATORS and kind.__name__ != _COUNT and _iterates(kind)


def is_a_mock(thing: object) -> bool:
    """Returns True iff the object is a mock of ``unittest.mock``, even if the mock's ``__class__`` is
    another class."""
    mock: Any = sys.modules.get("unittest.mock")
    return mock is not None and issubclass(type(thing), mock.NonCallableMock)


def _plain(value: object) -> object:
    return value if is_plain(value) else None


def _digest(held: Any) -> bytes:
    return blake2b(held, digest_size=16).digest()


@per_class
def _iterates(kind: type) -> bool:
    return hasattr(kind, "__next__")


def _place_of_iterator(thing: Any) -> object:
    """Returns the position of an iterator, without reading further entries."""
    left = operator.length_hint(thing, -1)
    return left if left >= 0 else position_of(thing)


@per_class
def _readable(kind: type) -> frozenset[str]:
    """Returns the names of those properties of a class that can be read without running code of the user
    or of third-party libraries: properties that are implemented in C, and properties of classes of the
    standard library."""
    found, of_the_user = set[str](), set[str]()
    for each in kind.__mro__:
        if is_of_own(each):
            of_the_user |= vars(each).keys()
            continue
        is_of_python = str(each.__module__).partition(".")[0] in sys.stdlib_module_names
        kinds = (GetSetDescriptorType, MemberDescriptorType, *((property,) if is_of_python else ()))
        found |= {
            name
            for name, member in vars(each).copy().items()
            if (isinstance(member, kinds) or _is_property_of_c(member)) and not name.startswith("__")
        }
    if "Cursor" in kind.__name__:
        found -= _NOT_OF_CURSORS
    return frozenset(found - of_the_user)


def _is_property_of_c(member: object) -> bool:
    """Returns True iff reading a property runs no Python code, as is so for a class of C++."""
    return isinstance(member, property) and not isinstance(member.fget, (FunctionType, type(None)))


def _place_of_replies(mock: Any) -> object:
    """Returns the position of a mock in the list of replies that it gives one after the other."""
    held: Any = getattr(mock, "__dict__", {})
    return position_of(held.get("_mock_side_effect"))


def _replies_of(mock: Any, depth: int = 4) -> object:
    """Returns the replies that were set for a mock and for its attributes. An attribute for which none
    was set is left out, because a mock makes such attributes whenever they are read."""
    held: dict[str, Any] = getattr(mock, "__dict__", {})
    side, reply = held.get("_mock_side_effect"), held.get("_mock_return_value")
    own = None if side is None else id(side), reply if is_plain(reply) else None
    children: dict[str, Any] = held.get("_mock_children") or {}
    known = {
        name: found
        for name, each in children.copy().items()
        if depth and is_a_mock(each) and (found := _replies_of(each, depth - 1)) != _NO_REPLIES
    }
    return own, known


def _place_of_stream(stream: Any) -> object:
    return stream.tell() if stream.readable() else None


def _of_a_stream(thing: Any, named: frozenset[str]) -> Iterator[_Ask]:
    if issubclass(type(thing), _TEXT):
        yield lambda text: (text.encoding, text.errors, text.line_buffering, text.write_through)
    # Streams in memory, such as ``io.StringIO``, are left out here, because they can be restored with
    # their positions.
    if not named & _RETURNS and package_of(thing) == "_io" and not isinstance(thing, _IN_MEMORY):
        yield _place_of_stream


def _of_a_socket(named: frozenset[str]) -> Iterator[_Ask]:
    if named & _SETS_WAITING:
        yield lambda held: held.gettimeout()
    if named & _SETS_OPTIONS:
        yield _options_of
    if named & _RECEIVES:
        # Reading the data that waits in such a socket would remove it, so the data counts as changed.
        yield lambda held: object() if _may_talk_to_itself(held) else None


def _may_talk_to_itself(held: socket.socket) -> bool:
    """Returns True iff a run may send data through the socket that a later run receives."""
    return held.family == getattr(socket, "AF_UNIX", None) or held.type == socket.SOCK_DGRAM


def _options_of(held: socket.socket) -> object:
    """Returns the values of all options of a socket that have a name in Python."""
    found = dict[str, int]()
    for level, prefix in (("SOL_SOCKET", "SO_"), ("IPPROTO_TCP", "TCP_"), ("IPPROTO_IP", "IP_")):
        for name, number in vars(socket).copy().items():
            if name.startswith(prefix) and isinstance(number, int):
                try:
                    found[name] = held.getsockopt(cast("int", getattr(socket, level)), number)
                except OSError:  # the socket does not have this option
                    continue
    return found
