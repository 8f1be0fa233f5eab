"""This module recognises answers that refuse, or that say that the answer is not known.

A refusal is found only at the beginning of an answer, after greetings, apologies and "based on the
documents". The tables below list the known phrases: most are English, the most frequent ones also German,
French and Spanish. Some phrases, such as "N/A", are refusals only if they are the whole answer. A refusal
is in the first person, so "the patient refuses treatment" and "the report does not mention zinc" are
answers. A text that begins with a refusal but then answers counts as an answer: "I don't know, but
probably zinc".
"""

from collections.abc import Iterable
from dataclasses import dataclass

from ..allowed import called_as
from ..errors import InvalidInput
from ..late_patterns import compiled_late
from ..printable import shortened
from ..verdicts import Case, Judgement, Verdict
from .combine import Combinable
from .protocol import answer_key
from .text import texts_given
from .wording import near_exact

_LOOKED_AT = 600
"""A refusal is searched for only in this number of characters at the start of an answer."""

_ALONE = frozenset(
    near_exact(each)
    for each in (
        *("N/A", "unknown", "unanswerable", "no answer", "no comment", "not known", "no idea"),
        *("not specified", "not mentioned", "not stated", "not provided", "not available", "not found"),
        *("the answer is unknown", "the answer is not known", "the answer is N/A", "answer not found"),
        *("I'm not sure", "I am not sure", "not sure", "I'm unsure", "empty response", "I pass"),
        *(
            "keine Ahnung",
            "keine Angabe",
            "unbekannt",
            "inconnu",
            "aucune idée",
            "desconocido",
            "ni idea",
        ),
    )
)
_SOURCES = (
    r"(?:context|documents?|sources?|information|passages?|texts?|excerpts?|articles?|snippets?|materials?"
    r"|(?:search |retrieved )?results|knowledge base|contenido|contexto)"
)
_GIVEN = r"(?:(?:provided|given|available|retrieved|above|supplied|relevant|context|source|search) ){0,3}"
_THESE = (
    rf"(?:the|this|these|those|your|my|any of the|none of the|what) {_GIVEN}{_SOURCES}"
    r"(?: (?:provided|given|above|available|retrieved|i have|i was given|you (?:have )?provided)){0,2}"
)
_OPENERS = compiled_late(
    r"(?:(?:"
    r"(?:i'm|i am|we're|we are)(?: very| so| really| truly| terribly| afraid)? sorry"
    r"|i'm afraid|i am afraid|sorry|(?:my )?apologies|i apologi[sz]e"
    r"(?: for (?:the|any) (?:inconvenience|confusion))?|unfortunately|regrettably|sadly"
    r"|as an? (?:ai|artificial intelligence|large language|language)(?: language)?(?: model| assistant)?"
    rf"|(?:based (?:only |solely )?on|according to|from|given|in|after reviewing)"
    rf" {_THESE}"
    r"|hello|hi|thank you(?: for (?:your question|asking|reaching out))?|thanks(?: for asking)?|well|hmm"
    r"|answer|es tut mir (?:sehr )?leid|tut mir (?:sehr )?leid|leider|entschuldigung|entschuldige"
    r"|désolée?|je suis (?:vraiment )?désolée?|malheureusement|lo siento(?: mucho)?|lamentablemente"
    r"|desafortunadamente|perdón"
    r")(?=[\s,.:;!-])[\s,.:;!-]{1,5}(?:but |that |aber |mais |pero )?){0,6}"
)
_ADVERBS = (
    r"(?:(?:currently|really|actually|simply|just|also|therefore|honestly|reliably|explicitly) ){0,2}"
)
_VERBS = (
    r"(?:answer|help|assist|comply|respond|provide|fulfil+|do (?:that|this|so)|say\b(?! enough)"
    r"|tell(?= (?:you|from|by|if|whether|what|which|who|when|where|why|how)\b|[.,!]|$)"
    r"|share|discuss|disclose|reveal|engage|support (?:that|this)|participate|generate|create|write"
    r"|give (?:you )?(?:an? |any |the |that |this |specific |such |medical |legal |instructions"
    r"|advice|info)"
    r"|offer (?:any |an? |such |medical |legal |specific )?(?:advice|answer|information|guidance|help)"
    r"|determine|identify|verify|locate|comment|find (?:that|this|it|(?:an? |any |the |enough "
    r"|sufficient |specific |relevant ){0,2}(?:information|answer|mention|details?|reference)))"
)
_LACKING = (
    r"(?:(?:any|enough|sufficient|the|an|a|access|to|that|this|specific|relevant|necessary|more|personal"
    r"|real-time|explicit|direct) ){0,4}(?:information|context|data|knowledge|details?|answer|opinions?"
    r"|documents|sources|ability)"
)
_ASKED = (
    r"(?:this|that|it\b|the answer|the question|your question|what|who|whom|whose|when|where|which|how"
    r"|why|whether|anything)"
)
_ENGLISH = (
    rf"(?:i|we) (?:do not|don't|did not|didn't) {_ADVERBS}know\b(?! of\b)"
    rf"|(?:i|we) (?:do not|don't) {_ADVERBS}have {_LACKING}"
    rf"|(?:i|we) (?:could not|couldn't|cannot|can't) {_ADVERBS}find (?:that|this|it|{_LACKING})\b"
    rf"|(?:i )?(?:cannot|can not|can't|could not|couldn't|won't|will not) {_ADVERBS}{_VERBS}"
    rf"|(?:i (?:am|was)|i'm)? ?{_ADVERBS}(?:unable|not able|not allowed|not permitted|not authorized"
    rf"|not comfortable|not going) (?:to |with ){_ADVERBS}(?:{_VERBS}|\w+ing that)"
    rf"|i (?:must |have to |respectfully |will ){{0,2}}(?:decline|refuse)"
    rf"(?: to {_VERBS}| this| that|[.!]|$)"
    rf"|(?:i'd|i would) (?:rather|prefer) not(?: to)? {_VERBS}"
    r"|i have no (?:idea|information|knowledge|data|record|way of knowing)\b"
    r"|(?:i'm|i am|we're|we are) (?:not (?:entirely |quite )?(?:sure|certain)|unsure)"
    r"(?= (?:what|which|who|when|where|why|how|about|whether)\b|[.!])"
    rf"|{_THESE} (?:do|does|did)(?: not|n't) (?:\w+ly |seem to |appear to ){{0,2}}"
    rf"(?:(?:contain|provide|include|have|give|offer) {_LACKING}"
    rf"|(?:say|mention|specify|state|address|answer|indicate|cover|tell us|discuss) {_ASKED})"
    rf"|{_THESE} (?:is|are) (?:insufficient|not (?:enough|sufficient))"
    rf"|none of the {_GIVEN}{_SOURCES} (?:\w+ ){{0,2}}"
    rf"(?:(?:contains?|provides?|includes?) {_LACKING}|(?:says?|mentions?|answers?|states?) {_ASKED})"
    r"|there (?:is|was|are) (?:no|not enough|insufficient|not sufficient) (?:\w+ ){0,2}?"
    r"(?:information|answer|context|data|details?|way to (?:tell|know|determine|say))\b"
    rf"|there (?:is|was) no mention of [^.]{{1,100}} in {_THESE}"
    r"|(?:insufficient|not enough) (?:information|context|data)\b"
    r"|no (?:relevant |such |specific |further )?(?:"
    r"(?:information|results?|context) (?:(?:was|were|is|are|could be|can be) )?(?:found|available"
    r"|provided|given)|answer (?:(?:was|is|could be|can be) )?(?:found|available))\b"
    r"|(?:this|that|the|your) (?:question|query|request) (?:cannot|can't|can not|could not) be "
    r"(?:answered|fulfilled|processed)"
    r"|(?:(?:it|this|that|the answer|the information) )?(?:cannot|can't|can not|could not) be "
    r"(?:determined|inferred|answered|found in)"
    r"|(?:it|this|that) is(?: not|n't) possible to (?:say|tell|determine|answer|know)\b"
    rf"|(?:it|this|that|the answer|(?:the|this|that) (?:requested )?information|the answer to "
    rf"(?:this|that|your|the) question) (?:is|was)(?: not|n't) (?:\w+ly )?(?:provided|mentioned|specified"
    rf"|stated|available|given|included|found|clear|contained)(?: (?:in|from|by) {_THESE}|[.!]|$)"
    r"|(?:this|that|it|your request|the request)(?:'s| is| goes| violates) (?:\w+ ){0,2}?"
    r"(?:against|beyond|outside) (?:of )?(?:my|our|what i|the scope)\b"
    r"|(?:this|that|your|the) (?:request |question )?violates (?:my|our|the) (?:\w+ )?"
    r"(?:polic|guideline|principle|terms)"
)
_OTHERS = (
    r"(?:das |ich |darauf |auf diese frage ){0,2}weiss (?:ich )?(?:es |das |die antwort )?(?:leider )?"
    r"nicht\b"
    r"|(?:ich kann|(?:das|dazu|darauf|dabei|hierzu|diese frage) kann ich|kann ich) (?:\w+ ){0,4}?nicht "
    r"(?:beantworten|helfen|sagen|antworten|beurteilen|weiterhelfen|bereitstellen)"
    r"|(?:ich kann|dazu kann ich|kann ich) (?:\w+ ){0,4}?keine (?:\w+ )?"
    r"(?:auskunft|angaben?|antwort|informationen)\b"
    r"|(?:ich habe|(?:dazu|darüber|hierzu) habe ich|habe ich) (?:\w+ ){0,3}?keine (?:\w+ )?"
    r"(?:informationen|angaben|antwort|kenntnis)\b"
    r"|(?:in )?(?:den|die|dem|das|der) (?:\w+ )?(?:dokumente?n?|quellen?|kontext|texte?n?) "
    r"(?:enthalten|enthält|geben|gibt|liefern|liefert) (?:\w+ ){0,3}?keine (?:\w+ )?"
    r"(?:informationen|angaben|antwort|auskunft)\b"
    r"|(?:enthalten|enthält|geben|liefern) (?:die|der|das) (?:\w+ ){1,3}keine (?:\w+ )?"
    r"(?:informationen|angaben|antwort|auskunft)\b"
    r"|je ne (?:le )?sais pas\b"
    r"|je (?:ne peux pas|ne puis|n'ai pas pu|ne suis pas en mesure de) (?:\w+ |vous |l'|y ){0,3}?"
    r"(?:répondre|aider|fournir|dire|trouver)"
    r"|je n'ai pas (?:trouvé )?(?:assez |suffisamment )?(?:d'|de |l')?"
    r"(?:informations?|réponse|éléments|données)"
    r"|(?:le|les|ce|ces) (?:\w+ )?(?:documents?|sources?|contextes?|textes?)(?: fournie?s?)? "
    r"ne (?:contien\w+|fourni\w+|donne\w*|précise\w*|mentionne\w*) (?:pas|aucune?)\b"
    r"|(?:yo )?no (?:lo )?sé\b"
    r"|(?:yo )?no (?:puedo|soy capaz de) (?:\w+ ){0,2}?"
    r"(?:responder|ayudar\w*|contestar|proporcionar|decir)"
    r"|no (?:tengo|dispongo de|hay|encuentro) (?:suficiente |la |ninguna ){0,2}"
    r"(?:información|respuesta|datos)\b"
    r"|(?:el|los|la|las) (?:\w+ )?(?:documentos?|fuentes?|contexto|textos?)(?: proporcionad\w+)? no "
    r"(?:contienen?|proporcionan?|mencionan?|indican?|dicen?|especifican?)\b"
)
_FORMS = compiled_late(f"{_ENGLISH}|{_OTHERS}")
_GOES_ON = compiled_late(
    r"(?:,|;|-|\b) ?(?:but|however|though|aber|mais|pero)\b,? "
    r"(?!(?:i (?:can|could|would|will|am|do not|don't|cannot|can't|hope)\b|i'm|i'd|i'll|you|please|if"
    r"|feel|let me|there (?:is|are) no|the (?:context|documents?)|ich kann|je peux|puedo)\b)"
)
_SENTENCE_ENDS = compiled_late(r"[.!?](?:\s|$)|\n")
_TYPOGRAPHIC = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "–": "-", "—": "-"})


def refusal_in(text: str) -> str:
    """Returns the words by which the answer refuses; an empty text if it does not refuse."""
    opening = text.strip()[:_LOOKED_AT]
    plain = " ".join(opening.translate(_TYPOGRAPHIC).casefold().split())
    plain = plain.lstrip("*_#>` ")
    if plain.startswith(('"', "'")) and plain.rstrip(".!*_` ").endswith(plain[0]):
        plain = plain.strip("\"'*_` ")
    if len(opening) < 40 and near_exact(opening) in _ALONE:
        return plain
    opened = _OPENERS.match(plain)
    form = _FORMS.match(plain, opened.end() if opened else 0)
    if form is None:
        return ""
    ends = _SENTENCE_ENDS.search(plain, form.end())
    return "" if _GOES_ON.search(plain, form.end(), ends.start() if ends else len(plain)) else form[0]


def _folded(text: str) -> str:
    return " ".join(text.translate(_TYPOGRAPHIC).casefold().split())


@dataclass(frozen=True, slots=True)
class Refuses(Combinable):
    """This predicate holds iff the answer begins with a refusal, or contains one of ``phrases``. Upper
    and lower case are not distinguished."""

    phrases: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not all(map(_folded, self.phrases)):
            raise InvalidInput("refuses was given an empty phrase, which every answer has; leave it out")

    def __call__(self, case: Case) -> Judgement:
        """Returns HOLDS with the words of the refusal as the reason, or BREAKS."""
        said = refusal_in(case.answer.text)
        if not said and self.phrases:
            text = _folded(case.answer.text)
            said = next((phrase for phrase in self.phrases if _folded(phrase) in text), "")
        return Judgement(Verdict.HOLDS, f"it says {shortened(said, 80)!r}") if said else _NONE

    def __str__(self) -> str:
        return f"the answer is a refusal{self._or_says('or')}"

    @property
    def negation(self) -> str:
        """Returns the opposite of this condition in words: "the answer is no refusal"."""
        return f"the answer is no refusal{self._or_says('nor')}"

    def _or_says(self, joint: str) -> str:
        return f" ({joint} says {', '.join(map(repr, self.phrases))})" if self.phrases else ""

    memo_key = answer_key


_NONE = Judgement(Verdict.BREAKS)


@called_as("refuses")
def refuses(*, phrases: Iterable[str] = ()) -> Refuses:
    """Returns a predicate that holds iff the answer refuses, or says that the answer is not known.

    An example is "I'm sorry, but I can't help with that". Only the beginning of the answer counts; the
    module ``predicates.refusing`` lists the known phrases. ``phrases``: more texts that count as a
    refusal wherever they occur, such as the standard refusal of your application. Raises InvalidInput for
    an empty phrase.
    """
    return Refuses(texts_given(phrases, "phrases="))
