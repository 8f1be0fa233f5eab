"""This module recognises phrases that only say where an answer comes from, such as "This answer is based
on the documents". It knows such phrases in many languages. They make no statement about the question."""

from unicodedata import category

from ..late_patterns import compiled_late
from .plain_signs import words_in

_SOURCES = words_in(
    "source sources document documents doc docs reference references citation citations passage "
    "passages quelle quellen quellenangaben dokument dokumente dokumenten referenz referenzen "
    "fuente fuentes documento documentos referencia referencias référence références fonte fonti "
    "fontes documenti riferimento riferimenti referência referências bron bronnen documenten "
    "verwijzingen källa källor kilde kilder źródło źródła źródeł dokumenty dokumentów zdroj zdroje "
    "источник источники источников источниках документ документы документов документах ссылки "
    "kaynak kaynaklar kaynaklara belgeler المصدر المصادر مصدر مصادر المراجع المستندات स्रोत "
    "स्रोतों cited zitiert citées citadas kaynaklarına kaynaklarda źródłach źródłem"
)
_FROM = words_in(
    "evidence based basis see citing according derived drawn supported support via cf basierend "
    "basiert beruht gestützt siehe vgl belegt beleg belege nachweis nachweise laut grundlage "
    "stammt stammen basé basée fondé fondée repose selon voir d'après preuve preuves basado basada "
    "basa según véase ver evidencia baseado baseada baseia evidência basato basata secondo vedi "
    "prova prove gebaseerd zie bewijs bazuje oparte oparta oparto podstawie zob основан основано "
    "основывается согласно см доказательства dayanmaktadır dayanarak bkz استنادا استنادًا بناء "
    "بناءً انظر आधारित आधार देखें comes come taken found described mentioned reported stated shown "
    "noted acordo base baseia-se na według volgens ifølge enligt göre مبنية مبني تستند يستند "
    "اعتمادا اعتمادًا وفقا وفقًا بحسب अनुसार bazowana"
)
_BESIDE = words_in(
    "this the that these those an a answer answers response information info statement is was were "
    "are has have been being above my i we used using from in on of to by and with following all "
    "for provided given retrieved listed taken found comes come data also as per it its can be "
    "more details further reading where here please list context both only main key primary die "
    "der das den dem des ein eine antwort diese dieser dieses obige obigen auf aus folgende "
    "folgenden verwendet verwendete verwendeten benutzte angaben informationen und wurde wurden "
    "ist sind von zu für im zur zum auch la le les l el los las il lo gli une un cette réponse est "
    "sont sur utilisé utilisés utilisée utilisées de du suivant suivants suivante suivantes et aux "
    "au documents informations s'appuie ce ces esta este respuesta se en utilizado utilizados "
    "utilizada utilizadas usadas usados consultadas siguiente siguientes y información estas estos "
    "questa questo risposta si su sui sulle sulla utilizzate utilizzati usate seguenti e dei delle "
    "del della nei nelle o os resposta nas nos na no em seguintes da do dos dit deze het antwoord "
    "op gebruikte gebruikt zijn van uit volgende een ten ta odpowiedź wykorzystane użyte jest "
    "oparta następujących z w tych этот эта это ответ на в из использованные использовано "
    "использованы следующих и данных bu cevap yanıt şu kullanılan ve هذه هذا الإجابة إلى على من "
    "المستخدمة التالية و यह उत्तर पर है और के com described 'e"
)
_CHINESE = compiled_late(
    r"(?:本|该|此|以上|この|上記の)?(?:回答|答案|答え|內容|内容|信息)?(?:は|主要|均)?"
    r"(?:基于|基於|依据|依據|根据|根據|参考|參考|参照|来源|來源|来自|來自|引用|出典|证据|證據|所用|使用|参见|見|见)"
    r"(?:了|于|於|自|的|は)?(?:以下)?(?:文档|文檔|文件|来源|來源|资料|資料|文献|文獻|出典|ソース)?"
    r"(?:に基づいています|に基づく|による|です|に基づき)?"
    r"|(?:この|上記の|以上の)?(?:回答|答え|情報)?は?(?:に基づいて(?:います)?|に基づく(?:回答)?です|によるものです)"
    r"|(?:이|본|위)?(?:답변|출처|참고|근거|문서|사용된|자료|은|는|에|을|를|기반|합니다|입니다|의){1,10}"
)
_WORD = compiled_late(r"[^\s\d_.,;:!?()\[\]{}\"“”«»*#>|–—·•/，。：；、（）।॥-]+")
_MOST = 14


def _without_signs(text: str) -> str:
    """Returns the text without the punctuation, brackets, emojis and spaces around it."""
    start, end = 0, len(text)
    while start < end and category(text[start])[0] in "SPZC":
        start += 1
    while end > start and category(text[end - 1])[0] in "SPZC":
        end -= 1
    return text[start:end]


def is_attribution(text: str, *, names_sources: bool = False) -> bool:
    """Returns True iff the text only says where an answer comes from. ``names_sources``: True if the text
    must also contain a word for sources, such as "documents"."""
    bare = _without_signs(text)
    if not bare or len(bare) > 200:
        return False
    if _CHINESE.fullmatch(bare.replace(" ", "")):
        return True
    words = [each.casefold().replace("’", "'") for each in _WORD.findall(bare)]
    if not words or len(words) > _MOST or any(map(str.isdigit, bare)):
        return False
    expected = _SOURCES if names_sources else _SOURCES | _FROM
    known = _SOURCES | _FROM | _BESIDE
    return not expected.isdisjoint(words) and known.issuperset(words)
