"""This module defines regular expressions for the words before the number of a source, as in "source 2",
and for the words that name a place in a source, as in "page 3". It covers many languages."""

import re

from ..late_patterns import compiled_late

_ONE = (
    r"source|document|doc|passage|quelle|dokument|fuente|documento|fonte|bron|källa|kilde|"
    r"źródł[oa]|źródle|zdroj|источник|источнике|источнику|источника|документ|документе|документу|kaynak|belge|"
    r"(?:وال|بال|لل|ال)?(?:مصدر|مستند|وثيقة|مرجع)|स्रोत|दस्तावेज़?"
)
_SEVERAL = (
    r"sources|documents|docs|passages|quellen|dokumente|dokumenten|fuentes|documentos|fontes|fonti|"
    r"documenti|bronnen|documenten|källorna|kilder|źródła|źródłach|zdroje|источники|источниках|источникам|"
    r"документы|документах|документам|kaynaklar|المصادر|المصدران|المصدرين|स्रोतों|स्रोत"
)
_UNSPACED = (
    r"来源|來源|文档|文檔|文件|资料|資料|文献|文獻|出典|参考资料|参考文献|參考資料|文書|ソース|出处|出處|"
    r"출처|문서|자료"
)
_BRACKETED = (
    r"refs?|references?|citations?|cites?|contexts?|chunks?|excerpts?|snippets?|papers?|src|"
    r"search[ _]results?|results?|belege?|réfs?|références?|extraits?|referencias?|referências?|"
    r"riferiment[oi]|引用|参考|參考|参照|참고|참조"
)
_SIGN = r"(?:[\s.:：#=№_]|no\.|nr\.|n[°º]){0,4}"
_RANGE_WORD = r"to|through|thru|until|bis|à|au|jusqu'à|hasta|al|até|fino a|tot|do|až|til|till|до|по|إلى|से"
RANGE = rf"(?:\s?(?:[-–—~～]|\.{{2,3}}|…)\s?|\s(?:{_RANGE_WORD})\s|\s?(?:至|到|から|부터)\s?)"
"""The text between the first and the last number of a range, as a part of a regular expression."""
_AND = (
    r"(?:\s?[,;&、，；،؛]\s?(?:(?:and|or|und|et|y|e|и)\s)?|"
    r"\s(?:and|or|und|oder|sowie|et|ou|y|o|e|ed|en|og|och|oraz|i|a|и|или|ve|و|और)\s|"
    r"\s?(?:和|与|與|及|と|와|과)\s?)"
)
NUMBERS = rf"\d{{1,3}}(?:(?:{_AND}|{RANGE})\d{{1,3}}){{0,50}}"
"""Several numbers of sources in a row, such as "1, 2 and 3", as a part of a regular expression."""

NAME_BEFORE = compiled_late(
    rf"(?:the |die |der |den |le |la |les |el |los |las |il |o |a )?"
    rf"(?:(?:doc|source|chunk)[ _]?id|{_SEVERAL}|{_ONE}|{_UNSPACED}|{_BRACKETED}|id){_SIGN}",
    re.IGNORECASE,
)
"""Matches the words before a number or an id in brackets, as in "[source 2]"."""
WORDED = compiled_late(
    rf"(?<![\w-])(?:(?:{_ONE})\.?{_SIGN}\d{{1,3}}|(?:{_SEVERAL}){_SIGN}{NUMBERS})(?![\w%]|[.,:]\d)"
    rf"|(?:{_UNSPACED}){_SIGN}{NUMBERS}(?![\d%]|[.,]\d)",
    re.IGNORECASE,
)
"""Matches a word for sources with its numbers, such as "source 2" or "documents 1 and 3", inside or
outside of brackets."""
_PLACE = (
    r"pp?|pgs?|pages?|sections?|sect?s?|chapters?|chap|chs?|paragraphs?|paras?|lines?|ll?|figures?|figs?|"
    r"tables?|tabs?|appendix|slides?|vol|volume|col|columns?|rows?|articles?|art|items?|steps?|cells?|"
    r"lines|seiten?|ss?|abschnitte?|kapitel|kap|absatz|abs|abb|tabelle|zeilen?|"
    r"chapitres?|lignes?|tableau|secci[oó]n|cap[ií]tulo|cap|p[aá]ginas?|pags?|p[aá]gs?|tabla|"
    r"sezione|pagin[ae]|capitolo|seção|página|стр|с|страниц[аы]|раздел|глава|гл|"
    r"blz|hoofdstuk|str|strony?|rozdz|sayfa|bölüm|صفحة|ص|الصفحة|पृष्ठ"
)
PLACE = compiled_late(
    rf"(?:at |on |in |bei |auf |à la |en la )?"
    rf"(?:(?:{_PLACE})(?:\. ?| )(?:\d|[ivxlc]+\b)|pp?\d|§{{1,2}}|¶|第|L\d|頁|页|ページ)"
    r"[\w\s.:§–—-]{0,30}(?:ff?\.?)?",
    re.IGNORECASE,
)
"""Matches a place in a source, such as "p. 3" or "section 4"."""
