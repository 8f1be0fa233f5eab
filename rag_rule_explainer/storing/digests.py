"""This module makes short keys from values of any length. Equal values give equal keys, in every process.
Different values practically never give equal keys."""

from collections.abc import Hashable
from hashlib import blake2b
from typing import cast

from ..printable import with_article

_SIZE = 16
_BEGINNING = 8


class NotStorable(Exception):
    """This error says that a value cannot be part of a stored key: it contains an object that means
    nothing outside this process, or it is nested too deeply."""


def digest(*values: Hashable) -> str:
    """Returns a key made of all these values, as hexadecimal digits. Raises NotStorable for values
    that ``encoded`` does not accept."""
    return blake2b(encoded(values), digest_size=_SIZE).hexdigest()


def beginning(begun: str) -> str:
    """Returns the prefix that all keys of one ``KeyDigests`` have in common. ``begun``: the ``digest`` of
    the values with which that ``KeyDigests`` was made. Different values practically never give the same
    prefix."""
    return begun[:_BEGINNING]


class KeyDigests:
    """A ``KeyDigests`` makes keys for tuples that begin with the same values, such as a namespace and a
    question. The keys have a common prefix, so a database finds them next to each other in its index."""

    def __init__(self, *values: Hashable) -> None:
        self._begun = blake2b(encoded(values), digest_size=_SIZE)
        self._beginning = beginning(self._begun.hexdigest())

    def of(self, value: Hashable) -> str:
        """Returns the key of the tuple that consists of the values with which this object was made, and
        ``value``. Raises NotStorable if ``value`` cannot be encoded."""
        hasher = self._begun.copy()
        hasher.update(encoded(value))
        return self._beginning + hasher.hexdigest()


def encoded(value: object) -> bytes:
    """Returns a value as bytes. Different values give different bytes, because each part of a value
    begins with a letter for its type and with its length.

    Accepts None, bool, int, float, str, bytes, and tuples and frozensets of them. Raises NotStorable for
    anything else. Objects of a subclass are refused too, because the bytes would lack their additional
    data.
    """
    try:
        return _encoded(value)
    except RecursionError as error:
        raise NotStorable("it is nested too deeply") from error


def _encoded(value: object) -> bytes:
    kind = type(value)
    if kind is tuple:
        return _of_tuple(cast("tuple[object, ...]", value))
    if kind is frozenset:
        parts = sorted(map(_encoded, cast("frozenset[object]", value)))
        return b"F%d:%b" % (len(parts), b"".join(parts))
    if value is None:
        return b"N"
    return _of_scalar(value)


def _of_scalar(value: object) -> bytes:
    kind = type(value)
    if kind is str:
        tag, content = b"s", cast("str", value).encode("utf-8", "surrogatepass")
    elif kind is bytes:
        tag, content = b"b", cast("bytes", value)
    elif kind is bool:
        return b"T" if value else b"U"
    elif kind is int:
        tag, content = b"i", b"%x" % cast("int", value)
    elif kind is float:
        tag, content = b"f", cast("float", value).hex().encode()
    else:
        raise NotStorable(f"it holds {with_article(kind.__name__)}")
    return b"%b%d:%b" % (tag, len(content), content)


def _of_tuple(values: tuple[object, ...]) -> bytes:
    if set(map(type, values)) == {str}:
        # The key of an arrangement (an ordered list of sources) is a tuple of texts. Encoding these
        # together is several times as fast as encoding each text separately.
        texts = cast("tuple[str, ...]", values)
        lengths = ",".join(map(str, map(len, texts)))
        return b"S%b:%b" % (lengths.encode(), "".join(texts).encode("utf-8", "surrogatepass"))
    return b"P%d:%b" % (len(values), b"".join(map(_encoded, values)))
