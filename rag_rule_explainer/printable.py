"""This module makes texts and values from outside of the package safe to print and to write as JSON.

Control sequences and characters that reverse the reading direction become visible escapes. Ids that read
like sentences are quoted. Secrets in error messages are masked.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import islice
from math import isfinite
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:  # pydantic is slow to import, and every source needs this module
    from pydantic import JsonValue

_KEPT = frozenset(" \u200c\u200d")
"""Characters that are not escaped. The zero-width joiners are needed for Persian, Indic and emoji
text, and cannot harm a terminal."""

_MOST_READ = 10**15
"""Numbers of this size and above are printed as a power of two."""

_FORMULAS = ("=", "+", "-", "@")
"""The characters that begin a formula in a spreadsheet."""

_PLAIN = frozenset("-_./:#@+~%=&?!$*")
"""The characters, besides letters and digits, that an id may contain without being quoted."""

_SPOKEN_VOWEL = re.compile(r"_*(?:[AEFHILMNORSX](?:[A-Z0-9]|$)|[aeioAEIO]|nd|[uU](?:n(?!i)|[glmp]))")
"""The beginnings of names that are read with "an": letters spelled one by one, such as "LLM", and
vowels, but not "user" or "union"."""
_MASK = "***"
_KEY_NAMES = (
    r"(?:(?:api|subscription|access)[ _-]?key(?:[ _-]?id)?|(?:access|auth|refresh|session|id)[ _-]?token"
    r"|client[ _-]?secret|secret(?:[ _-]?access)?(?:[ _-]?key)?|pass(?:word|wd|phrase)|pwd)"
)
_KEY = r"(?=[\w.~+/=*-]{0,300}?[\d*])[\w.~+/=*-]{8,}"
"""The pattern of a word that looks like a key: it has a digit, or is partly masked."""
_SECRETS: tuple[tuple[str, int, str], ...] = (
    # This pattern finds the password in user:password@ of a URL. The password may itself contain an @.
    (r"(://[^\s:/@\"'<>]{0,100}):[^\s\"'<>]{1,300}@", 0, rf"\1:{_MASK}@"),
    # These patterns find keys with a known prefix, such as those of OpenAI, Anthropic, Google and AWS.
    (r"(?<![A-Za-z0-9])(sk-)(?:(?=[\w*-]{0,300}?[\d*])[\w*-]{6,}|[\w*-]{20,})", 0, rf"\1{_MASK}"),
    (r"\b(AIza|ya29\.|gsk_|hf_|xai-|pplx-|r8_|gh[pousr]_|xox[abprs]-)[\w.-]{10,}", 0, rf"\1{_MASK}"),
    (r"\b(A[KS]IA|A[GIR][DPO]A|ANPA)[A-Z0-9]{12,}\b", 0, rf"\1{_MASK}"),
    (r"\b(eyJ)[\w-]{5,}\.[\w-]{5,}(?:\.[\w-]*)?", 0, rf"\1{_MASK}"),
    # These patterns find values after a name such as "Bearer" or "token=".
    (rf"\b((?:Bearer|Basic)\s{{1,5}})(?:{_KEY}|[\w.~+/=*-]{{20,}})", re.I, rf"\1{_MASK}"),
    (r"([?&](?:key|token|sig|signature|code|auth)=)[^\s&\"'<>]+", re.I, rf"\1{_MASK}"),
    (rf"({_KEY_NAMES}[\"']?\s{{0,3}}=\s{{0,3}}[\"']?)[^\s\"'&,;)\]}}]+", re.I, rf"\1{_MASK}"),
    (
        rf"({_KEY_NAMES}(?:\s\w{{1,20}}){{0,3}}[\"']?\s?:\s{{0,3}}[\"']?){_KEY}",
        re.I,
        rf"\1{_MASK}",
    ),
)


def without_secrets(text: str) -> str:
    """Returns the text with everything that looks like a key, token or password replaced by ``***``.

    Error messages need this, because providers repeat a rejected key, and libraries repeat a URL with its
    password.
    """
    for pattern, flags, shown in _SECRETS:
        text = re.sub(pattern, shown, text, flags=flags)
    return text


@lru_cache(maxsize=1 << 14)
def plain_id(identity: str) -> str:
    """Returns an id for use in a sentence. An id that could be read as words of the sentence is
    quoted. Ids of letters, digits and the usual characters of file names and URLs are not quoted."""
    if identity and all(character.isalnum() or character in _PLAIN for character in identity):
        return printable(identity)
    escaped = identity.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{printable(escaped)}"'


def printable(text: str) -> str:
    """Returns the text on one line, with control, format and unassigned characters shown as escapes.
    Newlines and tabs become spaces. The result cannot move the cursor, colour the terminal, or reverse
    the reading direction."""
    if text.isascii() and text.isprintable():
        return text
    return text.translate(_SHOWN)


def printable_within(text: str, limit: int) -> str:
    """Returns at most ``limit`` characters of the text, made ``printable``, without reading the rest."""
    return shortened(printable(text[: limit + 1]), limit)


def inert(text: str) -> str:
    """Returns the text for a cell of a spreadsheet, with control characters made visible. If a
    spreadsheet would run the text as a formula, an apostrophe is put before the text."""
    text = printable(text)
    # Full-width variants of these characters begin a formula too, so the text is normalised first.
    begins = unicodedata.normalize("NFKC", text.lstrip()[:1])
    return f"'{text}" if begins in _FORMULAS else text


def shortened(text: str, limit: int) -> str:
    """Returns at most ``limit`` characters of the text. A shortened text ends with an ellipsis."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def brief(given: object) -> str:
    """Returns the ``repr`` of a value for an error message, shortened to 200 characters."""
    return shortened(repr(given), 200)


def type_said(given: object) -> str:
    """Returns the name of a value's type with its article, such as "an int"."""
    return with_article(type(given).__name__)


def with_article(name: str) -> str:
    """Returns a name with the article that it is read with, such as "a str", "an AIMessage" or "a
    UUID"."""
    return f"{'an' if _SPOKEN_VOWEL.match(name) else 'a'} {name}"


def nearest(given: str, names: Iterable[str]) -> str:
    """Returns "did you mean ...?" with the name that is most similar to ``given``; an empty text if none
    is similar."""
    from difflib import get_close_matches  # imported late, because only a mistake needs it

    near = get_close_matches(given, list(names), n=1, cutoff=0.6)
    return f"did you mean {near[0]!r}? " if near else ""


def cut_in_the_middle(text: str, limit: int) -> str:
    """Returns at most ``limit`` characters of the text: its beginning and its end, with an ellipsis
    between them. Ids that begin alike, such as web addresses, then still differ."""
    if len(text) <= limit:
        return text
    end = (limit - 1) // 2
    return f"{text[: limit - 1 - end]}…{text[len(text) - end :]}"


def amount(number: float, decimals: int = 0) -> str:
    """Returns a number with thousands separators, such as "1,024", and ``decimals`` digits after the
    point. Numbers of 10^15 and above are written as a power of two, such as "about 2^50"."""
    if number < _MOST_READ:
        return f"{number:,.{decimals}f}"
    return f"about 2^{int(number).bit_length() - 1}"


class _ShownAs(dict[int, str]):
    """This dict maps each character to the text that is printed for it. A missing entry is computed when
    it is first looked up."""

    def __missing__(self, code: int) -> str:
        shown = _shown(chr(code))
        if len(self) < _MOST_KNOWN:
            self[code] = shown
        return shown


_MOST_KNOWN = 10_000
"""The maximum number of entries that a ``_ShownAs`` stores. Unicode has about a million characters, and
entries for all of them would need too much memory."""
_SHOWN = _ShownAs()


def _shown(character: str) -> str:
    if character in _KEPT or character.isprintable():
        return character
    if character.isspace() or unicodedata.category(character) == "Zs":
        return " "
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")


_DEEPEST, _MOST_ITEMS = 32, 10_000
_LARGEST = 10**600
"""Integers from this size on are not written as numbers in JSON. A Python program that reads the JSON may
be set to accept no integer of more than 640 digits."""


def as_json(value: Any) -> "JsonValue":
    """Returns the value in the types of JSON. An object of another type becomes the name of its type, and
    none of its code is run. An integer of more than 600 digits also becomes the name of its type.

    Containers nested deeper than 32 levels, and all containers after the first 10,000, also become the
    names of their types. Only the first 10,000 items of each container are kept.
    """
    return _said(value, _DEEPEST, iter(range(_MOST_ITEMS)))


def json_object(mapping: Mapping[Any, Any]) -> "dict[str, JsonValue]":
    """Returns the mapping in the types of JSON, converted as by ``as_json``."""
    return cast("dict[str, JsonValue]", as_json(mapping))


def _said(value: Any, depth: int, budget: Iterator[int]) -> "JsonValue":
    name = f"<{type(value).__name__}>"
    if isinstance(value, (Mapping, list, tuple, set, frozenset)) and depth:
        if next(budget, None) is not None:
            return _all_said(cast("Any", value), depth - 1, budget)
    elif value is None or isinstance(value, bool) or (isinstance(value, int) and abs(value) < _LARGEST):
        return value
    elif isinstance(value, float):
        return value if isfinite(value) else str(value)
    elif isinstance(value, str):
        return encodable(value)
    return name


def _all_said(value: Any, depth: int, budget: Iterator[int]) -> "JsonValue":
    if isinstance(value, Mapping):
        items = islice(cast("Mapping[Any, Any]", value).items(), _MOST_ITEMS)
        return {_key(key): _said(item, depth, budget) for key, item in items}
    return [_said(item, depth, budget) for item in islice(cast("Iterable[Any]", value), _MOST_ITEMS)]


def _key(key: object) -> str:
    if isinstance(key, str):
        return encodable(key)
    plain = isinstance(key, (bool, float)) or (isinstance(key, int) and abs(key) < _LARGEST)
    return str(key) if plain else f"<{type(key).__name__}>"


def encodable(text: str) -> str:
    """Returns the text with "?" in place of each lone surrogate (half of a UTF-16 pair), because no
    encoding can write it."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def plain_text(text: str) -> str:
    """Returns the text as a plain str. No code of the text's own subclass of str is run."""
    return str.__str__(text)
