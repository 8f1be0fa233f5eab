"""Makes text from outside safe to print: no control sequences, nothing that reorders the line, no id that
reads like a sentence, and no secret in what an error says."""

import re
import unicodedata
from functools import lru_cache

_KEPT = frozenset(" \u200c\u200d")
"""The zero-width joiners shape Persian, Indic and emoji text and can do no harm to a terminal."""

_MOST_READ = 10**15
"""From here on a number is its magnitude."""

_PLAIN = frozenset("-_./:#@+~%=&?!$*")
"""What an id may have beside letters and digits, and still be told from the words around it."""

_MASK = "***"
_NAMED_SO = (
    r"(?:(?:api|subscription|access)[ _-]?key(?:[ _-]?id)?|(?:access|auth|refresh|session|id)[ _-]?token"
    r"|client[ _-]?secret|secret(?:[ _-]?access)?(?:[ _-]?key)?|pass(?:word|wd|phrase)|pwd)"
)
_TOLD = r"(?=[\w.~+/=*-]{0,300}?[\d*])[\w.~+/=*-]{8,}"
"""A word that looks like a key, not like one of a language: it has a digit, or is masked in part."""
_SECRETS = tuple(
    (re.compile(pattern, flags), shown)
    for pattern, flags, shown in (
        # user:password@ of a url; a password may itself hold an @.
        (r"(://[^\s:/@\"'<>]{0,100}):[^\s\"'<>]{1,300}@", 0, rf"\1:{_MASK}@"),
        # Keys that their beginning gives away: OpenAI, Anthropic and their like, Google, AWS, and others.
        (r"(?<![A-Za-z0-9])(sk-)(?:(?=[\w*-]{0,300}?[\d*])[\w*-]{6,}|[\w*-]{20,})", 0, rf"\1{_MASK}"),
        (r"\b(AIza|ya29\.|gsk_|hf_|xai-|pplx-|r8_|gh[pousr]_|xox[abprs]-)[\w.-]{10,}", 0, rf"\1{_MASK}"),
        (r"\b(A[KS]IA|A[GIR][DPO]A|ANPA)[A-Z0-9]{12,}\b", 0, rf"\1{_MASK}"),
        (r"\b(eyJ)[\w-]{5,}\.[\w-]{5,}(?:\.[\w-]*)?", 0, rf"\1{_MASK}"),
        # What its name gives away.
        (rf"\b((?:Bearer|Basic)\s{{1,5}})(?:{_TOLD}|[\w.~+/=*-]{{20,}})", re.I, rf"\1{_MASK}"),
        (r"([?&](?:key|token|sig|signature|code|auth)=)[^\s&\"'<>]+", re.I, rf"\1{_MASK}"),
        (rf"({_NAMED_SO}[\"']?\s{{0,3}}=\s{{0,3}}[\"']?)[^\s\"'&,;)\]}}]+", re.I, rf"\1{_MASK}"),
        (
            rf"({_NAMED_SO}(?:\s\w{{1,20}}){{0,3}}[\"']?\s?:\s{{0,3}}[\"']?){_TOLD}",
            re.I,
            rf"\1{_MASK}",
        ),
    )
)


def without_secrets(text: str) -> str:
    """Returns the text with what looks like a key, a token or a password shown as ``***``, for what
    errors say.

    Providers repeat a key that they refuse, and libraries the url that they failed to reach.
    """
    for pattern, shown in _SECRETS:
        text = pattern.sub(shown, text)
    return text


@lru_cache(maxsize=4096)
def plain_id(identity: str) -> str:
    """Returns an id as it stands within a line: as it is, or quoted where it may be taken for words of
    that line.

    Only letters, digits and the marks of file names and urls stand as they are.
    """
    if identity and all(character.isalnum() or character in _PLAIN for character in identity):
        return printable(identity)
    escaped = identity.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{printable(escaped)}"'


def printable(text: str) -> str:
    """Returns the text on one line, with every control, format and unassigned character shown as an
    escape.

    Newlines and tabs become spaces. What is left cannot move the cursor, colour the terminal, or
    turn the reading direction around.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(map(_shown, text))


def shortened(text: str, limit: int) -> str:
    """At most ``limit`` characters, the last one an ellipsis where something was cut."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def amount(number: float, decimals: int = 0) -> str:
    """With separators of thousands, "1,024"; as a power of two where nobody would read the digits."""
    if number < _MOST_READ:
        return f"{number:,.{decimals}f}"
    return f"about 2^{int(number).bit_length() - 1}"


def _shown(character: str) -> str:
    if character in _KEPT or character.isprintable():
        return character
    if character.isspace() or unicodedata.category(character) == "Zs":
        return " "
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")
