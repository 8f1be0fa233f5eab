"""This module recognises formal texts that describe data: patterns, versions and declarations. No one
makes them of what was said, unless they have words of it."""

import re

_DECLARED = re.compile(
    r"\s*(?:CREATE (?:OR REPLACE )?(?:TEMP(?:ORARY)? )?"
    r"(?:TABLE|INDEX|TYPE|DOMAIN) (?:IF NOT EXISTS )?[\w.]+(?: ON [\w.]+| AS)? ?(?P<table>\(.+\))"
    r"|(?:type|input|interface|enum|message|struct) \w+(?: \w+){0,2} ?(?P<fields>\{.*\}))[\s;]*",
    re.S,
)
"""Matches what declares tables, types or messages, in SQL, GraphQL, TypeScript or Protocol Buffers."""
_SENTENCE = re.compile(r"(?:[A-Za-z]+ ){4}[A-Za-z]+|--|/\*|#|[\"'\u0080-\uffff]")
"""Matches where a declaration may say something in words: a sentence, a comment or a text."""
_OF_PATTERNS = re.compile(r"\\[bBdDsSwW]|\(\?[:=!<P]|\[[^\]]+\]|\{\d+(?:,\d*)?\}")
_WARNED_OF = re.compile(r"\[\[|--|&&|\|\||~~|.\(\?[aiLmsux]")
"""Matches what Python warns of in a pattern."""
_JOINED = re.compile(r"\w+\.\w+ ?(?:=|[<>!]=?) ?\w+\.\w+")
"""Matches how columns of tables belong together."""
_VERSION = re.compile(r"[\w.+#-]{1,32} v?\d[\d.]*")
"""Matches a word and a number, as of a product and its version."""
_FEWEST, _LONGEST = 2, 200
"""The smallest number of signs that only patterns have, and the length of the longest pattern."""
_MOST_DECLARED = 5_000
"""The length of the longest declaration that is read."""


def is_formal(text: str) -> bool:
    """Returns True iff a text is a regular expression, a version, how columns are joined, or declares
    tables or types without any sentence."""
    stripped = text.strip()
    if _JOINED.fullmatch(stripped) or _VERSION.fullmatch(stripped) or _is_pattern(stripped):
        return True
    declared = _DECLARED.fullmatch(stripped) if len(stripped) <= _MOST_DECLARED else None
    return declared is not None and not _SENTENCE.search(declared["table"] or declared["fields"])


def _is_pattern(text: str) -> bool:
    is_warned_of = _WARNED_OF.search(text) is not None
    if " " in text or is_warned_of or len(text) > _LONGEST or len(_OF_PATTERNS.findall(text)) < _FEWEST:
        return False
    letters = sum(map(str.isalpha, _OF_PATTERNS.sub("", text)))
    try:
        re.compile(text)
    except (re.error, OverflowError, RecursionError):
        return False
    return 2 * letters <= len(text)
