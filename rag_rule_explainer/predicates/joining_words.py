"""This module defines regular expressions for the signs and words that join two citations, as in "[1] and
[2]", in many languages.

An answer that cites two sources contains these words; the same answer with only one citation does not. So
they are removed together with the citations.
"""

import re

from ..late_patterns import compiled_late

WORDS = (
    "and|or|and also|as well as|along with|together with|plus|to|through|"
    "und|oder|sowie|bis|und auch|et|ou|ainsi que|à|y|e|o|u|así como|hasta|a|bem como|ed|od|nonché|"
    "en|of|tot|og|eller|och|samt|ja|tai|i|oraz|lub|nebo|és|vagy|și|sau|и|или|а также|та|або|"
    "ve|veya|ile|dan|atau|và|hoặc|va|και|ή|או|و|أو|और|या|"
    "와|과|및|또는|と|や|及び|または|和|与|及|或|以及"
)
"""Words of widely used languages for "and", "or" and "to", as a part of a regular expression."""
_SIGNS = r"[,;/&|·+、，；・،؛–—-]"
_BESIDE = (
    "in|also|from|by|see|both|likewise|even|then|auch|aus|siehe|aussi|dans|voir|también|en|ver|anche|vedi|"
    "também|em|också|också i|także|też|w|také|v|также|в|ook|ayrıca|也|还|還|也在|同样|在"
)
"""The words that may precede or follow a joining word, as in "[1] and also in [2]"."""
JOINT = compiled_late(
    rf"[ \t]{{0,3}}(?:{_SIGNS}[ \t]{{0,3}})?(?:(?:{WORDS}|{_BESIDE})[ \t]{{0,3}}){{0,4}}"
    r"|[ \t]{0,3}<br ?/?>[ \t]{0,3}",
    re.IGNORECASE,
)
"""Matches the text between two citations that belong together, such as the "and" in "[1] and [2]"."""
INNER_JOINT = compiled_late(
    rf"[,;&|+、，；・،؛]|\band\b|(?<=\w) (?:und|sowie|oder|et|ou|or) (?=\w)|"
    rf"(?<=\d)[ ]*(?:[/和与及或와과と]|\s(?:{WORDS})\s|[ ])[ ]*(?=\d)",
    re.IGNORECASE,
)
"""Matches the text between two citations within the same brackets, such as the comma in "[1, 2]"."""
