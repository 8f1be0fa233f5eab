"""This module extracts the content of a statement, without the words around it that may differ from
answer to answer.

For example, an answer without the source says "The dose is five.", while the answer with the source says
"According to [1], the dose is five." or "Second, the dose is five [1]."
"""

import re

from ..late_patterns import compiled_late

_ENDING = " \t\n.!?…。！？;:|।॥۔؟"
_AROUND = ("()", "[]", "“”", "«»", '""', "„“", "「」", "（）", "**", "__")
_SAYING = (
    r"(?:says?|states?|shows?|reports?|notes?|confirms?|mentions?|indicates?|explains?|writes?|adds?|finds?|"
    r"found|stated|reported|showed|sagt|sagen|besagt|besagen|zeigt|zeigen|dit|indique|indiquent|dice|dicen|"
    r"indica|indican|afirma|diz|сообщает|указывает)"
)
_FROM = (
    r"(?:according to|as per|per|from|based on|"
    r"as [^\W\d_]{2,15}(?:ed|en|wn|id) (?:in|by)|"
    r"laut|gemäß|nach|wie in|selon|d[’']après|según|de acuerdo con|secondo|segundo|"
    r"de acordo com|согласно|по данным|根据|根據|按照|によると|によれば|では|に基づき|"
    r"에 따르면|وفقًا|وفقا|بحسب|حسب|के अनुसार|['’]?\w{0,3} göre|volgens|ifølge|enligt|według)"
)
_ARTICLE = r"(?:[ \t]+(?:the|die|der|den|dem|las?|los|el|les?|il|lo|gli|i|as?|os?|de))?"
_LEAD = compiled_late(
    rf"(?:{_FROM}{_ARTICLE}[ \t]*[,:，：、،][ \t]*|(?:(?:as|both|all)[ \t]+)?{_SAYING}"
    rf"(?:[ \t]+(?:that|dass|que|che|что)\b|[ \t]*[:,，：])[ \t]*|zufolge[ \t]*[:,]?[ \t]+)+",
    re.IGNORECASE,
)
_TRAIL = compiled_late(
    rf"[ \t]*[,，(（—–-]?[ \t]*\b(?:(?:{_FROM}){_ARTICLE}|see|from|siehe|voir|véase)[ \t]*[)）]?\Z"
    r"|,[ \t]+so\Z",
    re.IGNORECASE,
)
_ORDER = compiled_late(
    r"(?:in short|in summary|in conclusion|overall|kurz gesagt|zusammenfassend|en résumé|en resumen|总之|"
    r"first(?:ly)?|second(?:ly)?|third(?:ly)?|fourth(?:ly)?|fifth(?:ly)?|next|then|finally|lastly|also|"
    r"additionally|moreover|furthermore|besides|likewise|similarly|in addition|however|therefore|thus|"
    r"erstens|zweitens|drittens|außerdem|zudem|ferner|schließlich|premièrement|deuxièmement|de plus|"
    r"en outre|enfin|primero|segundo|además|por último|inoltre|infine|além disso|во-первых|во-вторых|"
    r"кроме того|首先|其次|此外|最后|另外|また|さらに)[ \t]*[,，、:][ \t]*",
    re.IGNORECASE,
)


_TAG = r"</?[a-z]\w{0,9}(?: [^<>]{0,100})?/?>"
_TAGS_BEFORE = compiled_late(rf"\A(?:\s*{_TAG})+", re.IGNORECASE)
_TAGS_BEHIND = compiled_late(rf"(?:{_TAG}\s*)+\Z", re.IGNORECASE)
_LONGEST_TRAIL = 120


def words_said(text: str) -> str:
    """Returns the content of a text, without the punctuation, brackets and emphasis around it. Also
    removes words that only say where the content comes from ("according to") or where it is in a
    sequence ("second")."""
    whole, text = text, _TAGS_BEFORE.sub("", text)
    tags = _TAGS_BEHIND.search(text, max(0, len(text) - _LONGEST_TRAIL))
    text = text if tags is None else text[: tags.start()]
    said, before = text.strip(_ENDING + "—–").rstrip(" -"), ""
    while said != before:
        before = said
        said = _unwrapped(said)
        for pattern in (_ORDER, _LEAD):
            found = pattern.match(said)
            said = said[found.end() :] if found is not None and found.end() < len(said) else said
        found = _TRAIL.search(said, max(0, len(said) - _LONGEST_TRAIL))
        said = said[: found.start()] if found is not None and found.start() else said
        said = said.strip(_ENDING + ",—–").rstrip(" -")
    return said or text.strip(_ENDING) or whole


def _unwrapped(said: str) -> str:
    for pair in _AROUND:
        width = 2 if pair in {"**", "__"} else 1
        opening, closing = (pair, pair) if width > 1 else (pair[0], pair[1])
        inner = said[width:-width]
        is_around = said.startswith(opening) and said.endswith(closing)
        if is_around and inner and opening not in inner and closing not in inner:
            return inner.strip(_ENDING)
    return said
