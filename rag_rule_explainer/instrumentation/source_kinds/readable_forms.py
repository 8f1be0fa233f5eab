"""This module finds the texts that a value contains in another form: with escaped characters, encoded (as
by base64), compressed, or as bytes."""

import base64
import binascii
import bz2
import html
import json
import lzma
import quopri
import re
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import lru_cache
from pickletools import genops
from typing import Any, NamedTuple
from urllib.parse import unquote_plus

_ROUNDS = 4
"""The maximum number of nested encodings that are decoded."""
_LONGEST = 1_000_000
"""The maximum number of characters of a text that is decoded."""
_MOST_TEXT = 5_000_000
"""If all decoded forms of a value together have more characters than this, no further form is decoded."""
_TOKEN = re.compile(r"[^\s\"'<>,;:]{12,}")
"""Matches a part of a text that may be encoded as a whole: at least twelve characters without spaces,
quotes and punctuation."""
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]+(?:[ -@](?=\w))?")
"""Matches the control characters between the texts in binary data, such as a database file. The character
after them may be the length of the next text."""
_CODED = re.compile(r"[\w+/=-]+", re.A)
_WIDE = ("utf-16", "utf-16-le", "utf-32-le")
_ASCII = 0.6
"""The minimum share of printable ASCII characters in bytes that may contain texts among other data."""
_NOISE = 64
"""Bytes of at most this length count as noise unless they are valid text as a whole."""
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))", re.S)
_SIGNS = {"n": "\n", "r": "\n", "t": "\t", "b": " ", "f": " "}
_PERCENT, _QUOTED = re.compile(r"%[0-9a-fA-F]{2}"), re.compile(r"=[0-9A-F]{2}|=\r?\n")
_LIKE_TEXT = 0.9
"""The minimum share of printable characters in a text, and of text in bytes that count as readable."""
_SAMPLE = 10_000
_MOST_OPAQUE = 400
"""The length of the longest identifier or key that may be unreadable, such as the signature of a token.
Nothing longer is taken to be independent of a conversation."""
MEDIA = (
    *(b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"RIFF", b"%PDF", b"ID3", b"OggS", b"fLaC"),
    *(b"\x00\x00\x00\x18ftyp", b"\x00\x00\x00\x1cftyp", b"\x00\x00\x00 ftyp"),
)
"""The first bytes of files with pictures, sounds, films and PDF documents."""
_OF_MEDIA = 64
"""The number of encoded characters that are decoded to recognise a picture, a sound, a film or a PDF."""
_UNPACKING: tuple[tuple[bytes, Callable[[bytes], bytes]], ...] = (
    (b"\x1f\x8b", lambda packed: zlib.decompress(packed, 31)),
    (b"x", zlib.decompress),
    (b"BZh", bz2.decompress),
    (b"\xfd7zXZ", lzma.decompress),
)
_DECODING: tuple[Callable[[str], bytes], ...] = (
    lambda text: base64.b64decode(_padded(text, 4), validate=True),
    lambda text: base64.b64decode(_padded(text, 4), altchars=b"-_", validate=True),
    lambda text: base64.b32decode(_padded(text, 8)),
    bytes.fromhex,
    base64.b85decode,
    base64.a85decode,
)


class Readable(NamedTuple):
    """A ``Readable`` describes the texts that a value contains. ``texts``: all decoded forms of the value
    that are texts. ``parsed``: the content, if the value is JSON. ``is_opaque``: True if a part of the
    value cannot be read and is too long for an identifier."""

    texts: tuple[str, ...]
    parsed: tuple[Any, ...] = ()
    is_opaque: bool = False


@lru_cache(maxsize=512)
def read_as(value: str | bytes) -> Readable:
    """Returns a ``Readable`` with all forms of the value that are texts."""
    opaque = list[str]()
    first = [value] if isinstance(value, str) else list(_texts_in(value, opaque))
    found, new, size = dict.fromkeys(first), first, 0
    for _ in range(_ROUNDS):
        new = [
            each
            for text in new
            if len(text) <= _LONGEST and size <= _MOST_TEXT
            for each in _decoded(text, opaque)
            if each not in found
        ]
        found.update(dict.fromkeys(new))
        size += sum(map(len, new))
    parsed = tuple(content for text in found for content in _parsed(text))
    return Readable(tuple(found), parsed, bool(opaque))


def _texts_in(value: bytes, opaque: list[str]) -> Iterator[str]:
    """Yields the texts in bytes. Adds to ``opaque`` if these are neither a text nor a picture or the
    like."""
    if value.startswith(MEDIA):
        return
    for beginning, unpack in _UNPACKING:
        if value.startswith(beginning):
            with suppress(zlib.error, OSError, EOFError, ValueError, lzma.LZMAError):
                yield from _texts_in(unpack(value), opaque)
                return
    if value[:1] == b"\x80":
        with suppress(Exception):  # the bytes may only look like a pickled object
            stored = [text for _, text, _ in genops(value) if isinstance(text, (str, bytes))]
            yield json.dumps(stored, default=_of_bytes)
            return
    inside = _of_bytes(value)
    if b"\0" in value or not _is_like_text(inside):
        wide = (value.decode(code, "ignore") for code in _WIDE)
        yield from (each for each in wide if _is_like_text(each))
    yield _CONTROL.sub("\n", inside)
    is_lossy = len(inside.encode()) < _LIKE_TEXT * len(value) or not _is_like_text(inside)
    if len(value) > _MOST_OPAQUE and is_lossy:
        opaque.append("bytes")


def _of_bytes(value: bytes) -> str:
    return value.decode("utf-8", "ignore")


def _decoded(text: str, opaque: list[str]) -> Iterator[str]:
    if "&" in text:
        yield html.unescape(text)
    if "\\" in text:
        yield _ESCAPE.sub(_unescaped, text)
    if _PERCENT.search(text):
        yield unquote_plus(text)
    if _QUOTED.search(text):
        yield quopri.decodestring(text.encode()).decode("utf-8", "ignore")
    for token in dict.fromkeys(("".join(text.split()), *_TOKEN.findall(text))):
        if is_encoded_media(token):
            continue
        # A token of a web server consists of several encoded parts with dots between them, so each part
        # is decoded separately.
        for part in dict.fromkeys((token, *token.split("."))):
            is_read = len(part) <= _MOST_OPAQUE or _CODED.fullmatch(part) is None
            for meant in dict.fromkeys(_bytes_of(decode, part) for decode in _DECODING):
                unread = list[str]()
                found = list(_texts_in(meant, unread)) if _may_be_text(meant) else []
                is_read = is_read or (bool(found) and not unread)
                yield from found
            if not is_read:
                opaque.append(part)


def is_encoded_media(text: str) -> bool:
    """Returns True iff a text is a picture, a sound, a film or a PDF file in an encoded form."""
    return any(_bytes_of(decode, text[:_OF_MEDIA]).startswith(MEDIA) for decode in _DECODING)


def _may_be_text(value: bytes) -> bool:
    """Returns False for bytes that are only noise. A text that is decoded in a wrong way usually gives
    noise."""
    if value.startswith((b"\x80", *(beginning for beginning, _ in _UNPACKING))):
        return len(value) > 2
    with suppress(UnicodeDecodeError):
        return _is_like_text(value.decode())
    return len(value) > _NOISE and sum(32 <= each < 127 for each in value) > _ASCII * len(value)


def _bytes_of(decode: Callable[[str], bytes], token: str) -> bytes:
    """Returns the bytes that ``decode`` returns for a part of a text; empty if the part is not encoded in
    this way."""
    with suppress(ValueError, binascii.Error):
        return decode(token.strip("."))
    return b""


def _unescaped(found: re.Match[str]) -> str:
    number = found[1] or found[2]
    return chr(int(number, 16)) if number else _SIGNS.get(found[3], found[3])


def _parsed(text: str) -> Iterator[Any]:
    """Yields the content of a text if it is JSON, or consists of lines of JSON."""
    begins = text.lstrip()[:1]
    if not begins or begins not in '[{"':
        return
    for read in (json.loads, _of_lines):
        with suppress(ValueError, RecursionError):
            content = read(text.strip())
            if not isinstance(content, (str, bytes)) or content != text:
                yield content
                return


def _of_lines(text: str) -> list[Any]:
    return [json.loads(line) for line in text.splitlines() if line.strip()]


def _is_like_text(text: str) -> bool:
    if text.isprintable():
        return len(text) > 2
    beginning = text[:_SAMPLE]
    printable = sum(each.isprintable() or each in "\n\r\t" for each in beginning)
    return len(text) > 2 and printable >= _LIKE_TEXT * len(beginning)


def _padded(text: str, size: int) -> str:
    return text.rstrip("=") + "=" * (-len(text.rstrip("=")) % size)
