"""This module makes the signs of a text plain before citations are looked for in it.

Answers have brackets and digits of full width, spaces of many widths, and characters that nobody sees.
Each of them is replaced by one plain character, so that places in the plain text are places in the text.
"""

UNSEEN = "\u200b\u2060\ufeff\u00ad\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
"""The characters that take no room, such as the sign for the direction of a script."""
_SPACES = "\u00a0\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
_FULL = dict(zip("［］（）｛｝＠＃－～＾｜", "[](){}@#-~^|", strict=True))
_DIGITS = {chr(ord("０") + place): str(place) for place in range(10)}
_OTHERS = {"〔": "[", "〕": "]", "\u2010": "-", "\u2011": "-", "\u2212": "-"}
_PLAIN = str.maketrans({**dict.fromkeys(UNSEEN + _SPACES, " "), **_FULL, **_DIGITS, **_OTHERS})


def plain_signs(text: str) -> str:
    """Returns the text with plain signs. It is as long as before."""
    return text if text.isascii() else text.translate(_PLAIN)


def words_in(text: str) -> frozenset[str]:
    """Returns the words of a list of words, which spaces divide."""
    return frozenset(text.split())
