"""This module replaces unusual characters of a text by plain ones before the text is searched for
citations.

Answers contain full-width brackets and digits, spaces of many widths, and invisible characters. Each of
them is replaced by exactly one plain character, so positions in the plain text are also positions in the
original text.
"""

UNSEEN = "\u200b\u2060\ufeff\u00ad\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
"""Invisible characters, such as the mark that sets the reading direction."""
_SPACES = "\u00a0\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
_FULL = dict(zip("［］（）｛｝＠＃－～＾｜", "[](){}@#-~^|", strict=True))
_DIGITS = {chr(ord("０") + place): str(place) for place in range(10)}
_OTHERS = {"〔": "[", "〕": "]", "\u2010": "-", "\u2011": "-", "\u2212": "-"}
_PLAIN = str.maketrans({**dict.fromkeys(UNSEEN + _SPACES, " "), **_FULL, **_DIGITS, **_OTHERS})


def plain_signs(text: str) -> str:
    """Returns the text with each unusual character, such as a full-width digit, replaced by one plain
    character. So the length of the text does not change."""
    return text if text.isascii() else text.translate(_PLAIN)


def words_in(text: str) -> frozenset[str]:
    """Returns the words of a list that is written as one text, with spaces between the words."""
    return frozenset(text.split())
