"""This module makes texts from outside of the package safe to print.

Control sequences and characters that reverse the reading direction become visible escapes. Ids that read
like sentences are quoted. Secrets in error messages are masked.
"""

import re
import unicodedata
from functools import lru_cache

_KEPT = frozenset(" \u200c\u200d")
"""Characters that are not escaped. The zero-width joiners are needed for Persian, Indic and emoji
text, and cannot harm a terminal."""

_MOST_READ = 10**15
"""Numbers of this size and above are printed as a power of two."""

_FORMULAS = ("=", "+", "-", "@")
"""The characters that begin a formula in a spreadsheet."""

_PLAIN = frozenset("-_./:#@+~%=&?!$*")
"""The characters, besides letters and digits, that an id may contain without being quoted."""

_MASK = "***"
_KEY_NAMES = (
    r"(?:(?:api|subscription|access)[ _-]?key(?:[ _-]?id)?|(?:access|auth|refresh|session|id)[ _-]?token"
    r"|client[ _-]?secret|secret(?:[ _-]?access)?(?:[ _-]?key)?|pass(?:word|wd|phrase)|pwd)"
)
_KEY = r"(?=[\w.~+/=*-]{0,300}?[\d*])[\w.~+/=*-]{8,}"
"""The pattern of a word that looks like a key: it has a digit, or is partly masked."""
_SECRETS = tuple(
    (re.compile(pattern, flags), shown)
    for pattern, flags, shown in (
        # The password in user:password@ of a URL. The password may itself contain an @.
        (r"(://[^\s:/@\"'<>]{0,100}):[^\s\"'<>]{1,300}@", 0, rf"\1:{_MASK}@"),
        # Keys with a known prefix, such as those of OpenAI, Anthropic, Google and AWS.
        (r"(?<![A-Za-z0-9])(sk-)(?:(?=[\w*-]{0,300}?[\d*])[\w*-]{6,}|[\w*-]{20,})", 0, rf"\1{_MASK}"),
        (r"\b(AIza|ya29\.|gsk_|hf_|xai-|pplx-|r8_|gh[pousr]_|xox[abprs]-)[\w.-]{10,}", 0, rf"\1{_MASK}"),
        (r"\b(A[KS]IA|A[GIR][DPO]A|ANPA)[A-Z0-9]{12,}\b", 0, rf"\1{_MASK}"),
        (r"\b(eyJ)[\w-]{5,}\.[\w-]{5,}(?:\.[\w-]*)?", 0, rf"\1{_MASK}"),
        # Values after a name such as "Bearer" or "token=".
        (rf"\b((?:Bearer|Basic)\s{{1,5}})(?:{_KEY}|[\w.~+/=*-]{{20,}})", re.I, rf"\1{_MASK}"),
        (r"([?&](?:key|token|sig|signature|code|auth)=)[^\s&\"'<>]+", re.I, rf"\1{_MASK}"),
        (rf"({_KEY_NAMES}[\"']?\s{{0,3}}=\s{{0,3}}[\"']?)[^\s\"'&,;)\]}}]+", re.I, rf"\1{_MASK}"),
        (
            rf"({_KEY_NAMES}(?:\s\w{{1,20}}){{0,3}}[\"']?\s?:\s{{0,3}}[\"']?){_KEY}",
            re.I,
            rf"\1{_MASK}",
        ),
    )
)


def without_secrets(text: str) -> str:
    """Returns the text with everything that looks like a key, token or password replaced by ``***``.

    Error messages need this, because providers repeat a rejected key, and libraries repeat a URL with its
    password.
    """
    for pattern, shown in _SECRETS:
        text = pattern.sub(shown, text)
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


def cut_in_the_middle(text: str, limit: int) -> str:
    """Returns at most ``limit`` characters of the text: its beginning and its end, with an ellipsis
    between them. Ids that begin alike, such as web addresses, then still differ."""
    if len(text) <= limit:
        return text
    end = (limit - 1) // 2
    return f"{text[: limit - 1 - end]}…{text[len(text) - end :]}"


def amount(number: float, decimals: int = 0) -> str:
    """Returns a number with thousands separators, such as "1,024". Numbers of 10^15 and above are
    written as a power of two, such as "about 2^50"."""
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
"""The maximum number of entries that the dict stores. Unicode has about a million characters, so the dict
must not store all of them."""
_SHOWN = _ShownAs()


def _shown(character: str) -> str:
    if character in _KEPT or character.isprintable():
        return character
    if character.isspace() or unicodedata.category(character) == "Zs":
        return " "
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")
