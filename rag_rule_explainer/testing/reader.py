"""This small extractive reader answers from given passages, the same way every time, without a model.

It is no language model and understands nothing. It weighs each sentence by the words of the question in
it, follows a name from one passage into the passage about it, prefers what several passages say, and
returns a stretch of their text, ``yes``, ``no`` or ``N/A``. It stands in for an LLM where none is at
hand: in the demo, in tests and offline. Its answers are often wrong.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import Final, NamedTuple

NO_ANSWER: Final = "N/A"
"""What is answered where the passages support nothing."""
LONGEST_READ: Final = 20_000
"""Characters of one passage that are read: a longer one is cut, so that a read stays bounded."""

_LONGEST_QUESTION: Final = 2_000
_HEAVIEST_WORD: Final = 8
# An answer weighs, for each unit of weight of the question's words in its sentence or the subject,
_STATED: Final = 6
# or in the passage that led there by a name,
_FOLLOWED: Final = 5
# and more where a name led there, or the noun asked for stands beside it. A denial says less.
_LED: Final = 90
_BESIDE: Final = 90
_DENIAL: Final = 60
_AGREEMENT: Final = 20
_NEAR: Final = 36
"""Characters on either side of an answer that count as near it."""
_NOTHING: Final = frozenset[str]()


def _listed(words: str) -> frozenset[str]:
    return frozenset(words.split())


_ASKING: Final = _listed("who whom whose which what where when why how")
_GRAMMAR: Final = _ASKING | _listed(
    """a about above after again against all also although am among an and any are as at be because been
    before being between both but by can could did do does doing during each either else ever few for from
    had has have having he her here hers him his i if in into is it its itself just may me might more most
    much must my name named neither no nor not of off on one only onto or other our out over own per same
    shall she should since so some such than that the their them then there these they this those through
    to too under until up upon us very was we were while will with within without would yet you your s
    t"""
)
_POLAR: Final = _listed("is are was were do does did has have had can could")
_EARLIER: Final = _listed("first earlier older oldest earliest before eldest longer")
_LATER: Final = _listed("later younger youngest latest newer newest recent recently last")
_OF_PLACE: Final = _listed("in at near from to")
_COUNTED: Final = _listed("many much population old often far long tall high large big")

# Every repetition is bounded or followed by something it cannot match: hostile texts take linear time.
_WORD: Final = re.compile(r"(?:\d+(?:[.,]\d+)*[^\W\d]*|\w+)(?:[-'’]\w+)*")
_UNREADABLE: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\ufeff\ud800-\udfff]")
_TITLE: Final = re.compile(
    r"([^\n]{0,119}[^\s.?!;,])[ \t]*\n\s*(?=\S)|((?:\S{1,40} ){0,7}\S{0,40}[^\s.?!;,]): \s*(?=\S)"
)
_BREAK: Final = re.compile(
    r"\n+|(?:(?<=[.!?])|(?<=[.!?][\"'”’)\]]))(?<!\b[A-Z]\.)(?<!\b(?:M[rst]|Dr|St|Jr|vs|No|ca)\.)"
    r"(?<!\b(?:Mrs|Inc|Ltd)\.)\s+(?![a-zß-ÿ])"
)
_DENIES: Final = re.compile(
    r"(?i)\b(?:no|not|none|never|nor|neither|nothing|without|cannot|\w{2,6}n['’]t|failed|fails|lacks)\b"
)
_CAPITALISED: Final = r"[A-ZÀ-ÖØ-Þ]\w*(?:[-'’]\w+)*"
_JOINT: Final = r" (?:(?:of|the|de|la|le|van|von|der|du|da|del|di|for|y) ){0,2}"
_NAME: Final = (
    rf"{_CAPITALISED}(?:(?:(?:(?<=\b[A-Z])|(?<=\b[MDSJ][rst]))\. ?| & |/|{_JOINT}){_CAPITALISED}| \d+\b)*"
)
_MONTH: Final = "(?:(?:Jan|Febr)uary|March|April|May|June|July|August|(?:Septem|Octo|Novem|Decem)ber)"
_SCALE: Final = "hundred|thousand|million|billion|dozen"
_NUMERAL: Final = (
    "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)teen"
    f"|(?:twen|thir|for|fif|six|seven|eigh|nine)ty|{_SCALE}"
)


class _Kind(Enum):
    """What a stretch of text looks like; of two kinds with the same bounds, the first counts."""

    DATE = re.compile(
        rf"\b(?:\d{{1,2}} {_MONTH}|{_MONTH} \d{{1,2}}\b|{_MONTH}(?= \d{{4}}))(?:,? \d{{4}}\b)?"
    )
    YEAR = re.compile(r"(?<!\d)[12]\d{3}\b(?![-.,]\d)")
    NUMBER = re.compile(rf"(?i)\b(?:\d+(?:[.,]\d+)*[^\W\d]*|{_NUMERAL})\b(?: (?:{_SCALE}|percent)\b)*")
    NAME = re.compile(rf"\b{_NAME}")


_Wanted = dict[_Kind, int]
"""How well each kind of stretch answers a question; a sentence with all kinds answers where none does."""
_SENTENCE: Final[_Wanted] = {}
_COUNTING_SENTENCE: Final[_Wanted] = {_Kind.NUMBER: 0}
_NAME_OF: Final[_Wanted] = {_Kind.NAME: 60}
_PLACE: Final[_Wanted] = {_Kind.NAME: 60}
_NUMBER: Final[_Wanted] = {_Kind.NUMBER: 90}
_DATE: Final[_Wanted] = {_Kind.DATE: 90, _Kind.YEAR: 60}
_ASKED_BY: Final = (  # the question word, or a word soon after it
    ("why", "", _SENTENCE),
    ("who whom whose", "", _NAME_OF),
    ("where", "", _PLACE),
    ("when", "", _DATE),
    ("", "year", {_Kind.YEAR: 90}),
    ("", "date born birthday", _DATE),
    ("", "population number", _NUMBER),
    ("", "should ought must may can could", _SENTENCE),
    ("", "city town country state county", _PLACE),
)


@dataclass(frozen=True, slots=True, eq=False)
class _Question:
    weights: dict[str, int]
    terms: frozenset[str]
    names: frozenset[frozenset[str]]
    words: frozenset[str]
    wanted: _Wanted
    head: str
    options: tuple[str, ...]
    polar: bool

    def weight(self, covered: Iterable[str]) -> int:
        return sum(self.weights.get(term, 0) for term in covered)


class _Span(NamedTuple):
    kind: _Kind
    start: int
    text: str
    key: str
    terms: frozenset[str]


@dataclass(frozen=True, slots=True, eq=False)
class _Sentence:
    text: str
    terms: frozenset[str]
    spans: tuple[_Span, ...]


@dataclass(frozen=True, slots=True, eq=False)
class _Passage:
    subject: str
    subject_terms: frozenset[str]
    body: str
    sentences: tuple[_Sentence, ...]
    terms: frozenset[str]
    names: frozenset[str]


_Candidate = tuple[int, str, str]
"""The weight of an answer, negated so that the heaviest comes first, its key and its text."""


def read(question: str, passages: Sequence[str]) -> str:
    """Returns the best supported answer, or NO_ANSWER; the same in whatever order the passages come."""
    asked = _understood(question)
    found = [_analysed(text) for text in dict.fromkeys(passages)]
    return (_compared(asked, found) if asked.options else _best(asked, found)) or NO_ANSWER


def _best(asked: _Question, passages: list[_Passage]) -> str:
    own = [_candidates(asked, each) for each in passages]
    led = (_led(asked, one, to) for one in passages for to in passages if one is not to)
    said = Counter(key for offered in own for _, key, _ in offered)
    offers = (
        (minus_weight - _AGREEMENT * min(said[key], 3), key, text)
        for offered in (*own, *led)
        for minus_weight, key, text in offered
    )
    return min(offers, default=(0, "", ""))[2]


@lru_cache(maxsize=8192)
def _led(asked: _Question, here: _Passage, there: _Passage) -> tuple[_Candidate, ...]:
    """Returns what ``there`` answers if a name in one of the two is the other's subject; else nothing."""
    for one, other in ((here, there), (there, here)):
        if _key(other.subject) in one.names and not other.subject_terms <= asked.terms:
            covered = [each.terms & asked.terms for each in here.sentences]
            best = max(covered, key=lambda each: (asked.weight(each), sorted(each)), default=_NOTHING)
            return _candidates(asked, there, best | (here.subject_terms & asked.terms), _LED)
    return ()


@lru_cache(maxsize=8192)
def _candidates(
    asked: _Question, passage: _Passage, followed: frozenset[str] = _NOTHING, bonus: int = 0
) -> tuple[_Candidate, ...]:
    """Returns the passage's answers, if what led to it has the words ``followed`` of the question."""
    best: dict[str, _Candidate] = {}
    for sentence in passage.sentences:
        here = (sentence.terms | passage.subject_terms) & asked.terms
        whole = here | followed
        named = not asked.names or any(name <= whole for name in asked.names)
        if not whole or not named or 3 * asked.weight(whole) < asked.weight(asked.terms):
            continue
        # Two passages count as two only if the second adds something that was asked.
        weight = bonus if here - followed else 0
        weight += _STATED * asked.weight(here) + _FOLLOWED * asked.weight(followed - here)
        for extra, key, text in _answers(asked, passage, sentence):
            candidate = (-weight - extra, key, text)
            best[key] = min(candidate, best.get(key, candidate))
    return tuple(best.values())


def _answers(asked: _Question, passage: _Passage, sentence: _Sentence) -> Iterator[tuple[int, str, str]]:
    """Yields what the sentence could answer: the weight that it adds, its key and its text."""
    if not any(asked.wanted.values()):
        fits = {each.kind for each in sentence.spans} >= asked.wanted.keys()
        if fits and sentence.terms & asked.terms:
            yield -_DENIAL * bool(_DENIES.search(sentence.text)), sentence.text, sentence.text
        return
    if asked.wanted is _NAME_OF and not passage.subject_terms <= asked.terms:
        beside = asked.head in sentence.terms
        yield _NAME_OF[_Kind.NAME] + _BESIDE * beside, _key(passage.subject), passage.subject
    for span in sentence.spans:
        if span.kind in asked.wanted and not (span.terms and span.terms <= asked.terms):
            before = sentence.text[max(0, span.start - _NEAR) : span.start].split()
            after = sentence.text[span.start + len(span.text) :][:_NEAR].split()
            beside = asked.head in span.terms | _terms(" ".join(before[-2:] + after[:2]))
            placed = asked.wanted is _PLACE and not _OF_PLACE.isdisjoint(before[-1:])
            near = span.terms | _terms(" ".join(before + after))
            fit = asked.wanted[span.kind] + asked.weight(near) + _BESIDE * (beside + placed)
            yield fit, span.key, span.text


def _compared(asked: _Question, passages: list[_Passage]) -> str:
    """Returns the option chosen, yes or no; nothing if the passages do not speak of both options."""
    one, other = (_about(option, passages) for option in asked.options)
    if one is None or other is None:
        return ""
    rest = asked.terms - _terms(" ".join(asked.options))
    held = [asked.weight(rest & each.terms) for each in (one, other)]
    if asked.polar:
        return "yes" if 2 * min(held) >= asked.weight(rest) else "no"
    if asked.words & (_EARLIER | _LATER):
        years = [re.search(r"\d{4}", each.body) for each in (one, other)]
        held = [int(year.group()) for year in years if year]
    if len(held) < 2 or held[0] == held[1]:
        return ""
    pick = min if asked.words & _EARLIER and not asked.words & _LATER else max
    return asked.options[held.index(pick(held))]


def _about(option: str, passages: list[_Passage]) -> _Passage | None:
    near = [each for each in passages if _terms(option) <= each.subject_terms]
    return min(near, key=lambda each: (_key(each.subject) != _key(option), each.body), default=None)


@lru_cache(maxsize=64)
def _understood(text: str) -> _Question:
    text = " ".join(_UNREADABLE.sub(" ", text[:_LONGEST_QUESTION]).split())
    words = _WORD.findall(text)
    plain = [_folded(word) for word in words]
    weights: dict[str, int] = {}
    for word in words:
        weights[_stem(word)] = min(len(word), _HEAVIEST_WORD)
    weights.pop("", None)
    names = (span.terms for span in _spans(text) if span.kind is _Kind.NAME and span.terms)
    polar = not _POLAR.isdisjoint(plain[:1])
    pairs = re.findall(rf"({_NAME})\W{{0,3}} {'and' if polar else 'or'} \W?({_NAME})", text[1:])
    wanted, head = _wanted(plain)
    options = pairs[-1] if pairs else ()
    asked = frozenset(weights), frozenset(names), frozenset(plain)
    return _Question(weights, *asked, wanted, head, options, polar)


def _wanted(plain: list[str]) -> tuple[_Wanted, str]:
    """Returns what a question wants, and the stem of the noun it asks for: which *director* won."""
    places = [at for at, word in enumerate(plain) if word in _ASKING]
    if not places:
        return _SENTENCE, ""
    # A question that begins with a setting asks at its end: "When it was lit, what did it look like?".
    led = places[0] == 0 or plain[places[0] - 1] in ("in", "at", "of", "on", "from", "for", "to", "by")
    what = [at for at in places if plain[at] in ("what", "which", "how")]
    at = places[0] if led or not what else what[-1]
    word, after = plain[at], plain[at + 1 : at + 5]
    nouns = re.search(r"\w+(?: \w+)*", " ".join(map(_stem, after)))
    head = nouns.group().split()[-1] if nouns and at in what else ""
    if word == "how":
        if not after or after[0] in _GRAMMAR - _COUNTED:
            return _SENTENCE, head
        return (_NUMBER if after[0] in _COUNTED else _COUNTING_SENTENCE), head
    for words, soon, wanted in _ASKED_BY:
        if word in words.split() or not set(soon.split()).isdisjoint(after):
            return wanted, head
    return _NAME_OF, head


@lru_cache(maxsize=256)
def _analysed(text: str) -> _Passage:
    """Returns what a passage says, in time linear in its length; once for each text."""
    text = _UNREADABLE.sub(" ", text[:LONGEST_READ]).strip()
    titled = _TITLE.match(text)
    body = text[titled.end() :] if titled else text
    parts = (" ".join(part.split()) for part in _BREAK.split(body))
    sentences = tuple(_Sentence(part, _terms(part), _spans(part)) for part in parts if _WORD.search(part))
    if titled:
        subject = re.sub(r" ?\([^()]*\)$", "", titled.group(titled.lastindex or 0))
    else:
        opening = [span.text for each in sentences[:1] for span in each.spans if span.kind is _Kind.NAME]
        subject = opening[0] if opening and sentences[0].text.find(opening[0]) < 6 else ""
    names = frozenset(span.key for each in sentences for span in each.spans)
    terms = _terms(subject).union(*(each.terms for each in sentences))
    return _Passage(subject, _terms(subject), body, sentences, terms, names)


def _spans(text: str) -> tuple[_Span, ...]:
    found: dict[tuple[int, int], _Span] = {}
    opening = _WORD.search(text)
    for kind in _Kind:
        for match in kind.value.finditer(text):
            start, end = match.span()
            if opening and start == opening.start() and not _stem(opening.group()):
                start = min(end, opening.end() + 1)
            key = _key(text[start:end])
            if key and (start, end) not in found:
                found[start, end] = _Span(kind, start, text[start:end], key, _terms(text[start:end]))
    return tuple(found.values())


def _folded(text: str) -> str:
    """Returns the text without case and accents, so that one word has one spelling."""
    apart = unicodedata.normalize("NFKD", text.casefold())
    return "".join(char for char in apart if not unicodedata.combining(char))


@lru_cache(maxsize=32_768)
def _stem(word: str) -> str:
    """Returns the word's light stem, which ``directed`` and ``director`` share; of mere grammar, none."""
    plain = _folded(word).replace("’", "'").removesuffix("'s").strip("'")
    if plain in _GRAMMAR or not plain.isalpha():
        return "" if plain in _GRAMMAR else plain
    plain = re.sub(r"(?<=...)ies$", "y", plain)
    plain = re.sub(r"(?<=...)(?:ings?|[eo]rs?|ed|es|ly|(?<!s)s)$", "", plain)
    return re.sub(r"(?<=..)(.)\1$|(?<=...)e$", r"\1", plain)


def _terms(text: str) -> frozenset[str]:
    return frozenset(map(_stem, _WORD.findall(text))) - {""}


def _key(text: str) -> str:
    """Returns the text as it is compared: folded words, without punctuation and leading articles."""
    return re.sub("^(?:(?:an?|the)(?: |$))+", "", " ".join(map(_folded, _WORD.findall(text))))
