"""This module answers questions from passages without a language model: in the demo, in tests, and where
there is no network. The same input always gives the same answer, which is often wrong.

Each sentence is weighed by the words that also occur in the question. If a passage names the subject of a
second passage, both passages are used together. Answers that several passages give are preferred. An
answer is a piece of text from a passage, or ``yes``, ``no`` or ``N/A``.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from .reader_text import (
    ASKING,
    GRAMMAR,
    LONGEST_READ,
    NAMED,
    UNREADABLE,
    WORD,
    Passage,
    Sentence,
    SpanKind,
    analysed,
    folded,
    key_of,
    spans,
    stem,
    terms_of,
    word_list,
)

__all__ = ["LONGEST_READ", "NO_ANSWER", "read_answer"]

NO_ANSWER: Final = "N/A"
"""The answer if the passages support no other answer."""

_LONGEST_QUESTION: Final = 2_000
_HEAVIEST_WORD: Final = 8
_STATED: Final = 6
"""The weight of a word of the question is multiplied by this number if the word occurs in the answer's
sentence, or in the subject of the answer's passage."""
_FOLLOWED: Final = 5
"""The weight of a word of the question is multiplied by this number if the word occurs in a second
passage that is linked to the answer's passage. Two passages are linked if one of them names the subject
of the other."""
_LED: Final = 90
"""This number is added to the weight of an answer under two conditions. The answer's passage is linked to
a second passage (one of the two passages names the subject of the other). And the answer's passage has
words of the question that the second passage lacks."""
_BESIDE: Final = 90
"""This number is added to the weight of an answer next to the noun for which the question asks. If the
question asks for a place, it is also added to the weight of an answer after a word such as "in"."""
_DENIAL: Final = 60
"""This number is subtracted from the weight of an answer that is a whole sentence, if the sentence denies
something. The answer with the highest weight wins."""
_AGREEMENT: Final = 20
"""This number is added to the weight of an answer for each passage, up to three, that gives this
answer."""
_NEAR: Final = 36
"""The number of characters on either side of an answer that count as near it."""
_NOTHING: Final = frozenset[str]()


_POLAR: Final = word_list("is are was were do does did has have had can could")
_EARLIER: Final = word_list("first earlier older oldest earliest before eldest longer")
_LATER: Final = word_list("later younger youngest latest newer newest recent recently last")
_OF_PLACE: Final = word_list("in at near from to")
_COUNTED: Final = word_list("many much population old often far long tall high large big")

_DENIES: Final = re.compile(
    r"(?i)\b(?:no|not|none|never|nor|neither|nothing|without|cannot|\w{2,6}n['’]t|failed|fails|lacks)\b"
)
_Wanted = dict[SpanKind, int]
"""The weight of each kind of text, such as a date, as an answer to a question. If no weight is above 0,
the answer is a whole sentence that contains a text of each of these kinds."""
_SENTENCE: Final[_Wanted] = {}
_COUNTING_SENTENCE: Final[_Wanted] = {SpanKind.NUMBER: 0}
_NAME_OF: Final[_Wanted] = {SpanKind.NAME: 60}
_PLACE: Final[_Wanted] = {SpanKind.NAME: 60}
_NUMBER: Final[_Wanted] = {SpanKind.NUMBER: 90}
_DATE: Final[_Wanted] = {SpanKind.DATE: 90, SpanKind.YEAR: 60}
_ASKED_BY: Final = (  # in each row: question words, words soon after them, the weights
    ("why", "", _SENTENCE),
    ("who whom whose", "", _NAME_OF),
    ("where", "", _PLACE),
    ("when", "", _DATE),
    ("", "year", {SpanKind.YEAR: 90}),
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


_Candidate = tuple[int, str, str]
"""An answer: its weight (negated, so that the heaviest is the smallest), its key for comparisons, and its
text."""


def read_answer(question: str, passages: Sequence[str]) -> str:
    """Returns the answer with the most support, or NO_ANSWER. The order of the passages does not
    matter."""
    query = _understood(question)
    found = [analysed(text) for text in dict.fromkeys(passages)]
    return (_compared(query, found) if query.options else _best(query, found)) or NO_ANSWER


def _best(query: _Question, passages: list[Passage]) -> str:
    own = [_candidates(query, each) for each in passages]
    led = (_led(query, here, there) for here in passages for there in passages if here is not there)
    passages_with = Counter(key for offered in own for _, key, _ in offered)
    offers = (
        (minus_weight - _AGREEMENT * min(passages_with[key], 3), key, text)
        for offered in (*own, *led)
        for minus_weight, key, text in offered
    )
    return min(offers, default=(0, "", ""))[2]


@lru_cache(maxsize=8192)
def _led(query: _Question, here: Passage, there: Passage) -> tuple[_Candidate, ...]:
    """Returns the answers in the passage ``there`` if one of the two passages names the subject of the
    other; else none. The words of the question in ``here`` then add to the weight of these answers."""
    for one, other in ((here, there), (there, here)):
        if key_of(other.subject) in one.names and not other.subject_terms <= query.terms:
            covered = [each.terms & query.terms for each in here.sentences]
            best = max(covered, key=lambda each: (query.weight(each), sorted(each)), default=_NOTHING)
            return _candidates(query, there, best | (here.subject_terms & query.terms), _LED)
    return ()


@lru_cache(maxsize=8192)
def _candidates(
    query: _Question, passage: Passage, followed: frozenset[str] = _NOTHING, bonus: int = 0
) -> tuple[_Candidate, ...]:
    """Returns the possible answers in the passage, each once, with its highest weight.

    ``followed``: the words of the question that a second passage has; this passage and the second one
    are linked. ``bonus``: a number that is added to the weight of an answer if this passage has words of
    the question that are not in ``followed``.
    """
    best: dict[str, _Candidate] = {}
    for sentence in passage.sentences:
        here = (sentence.terms | passage.subject_terms) & query.terms
        whole = here | followed
        named = not query.names or any(name <= whole for name in query.names)
        if not whole or not named or 3 * query.weight(whole) < query.weight(query.terms):
            continue
        weight = bonus if here - followed else 0
        weight += _STATED * query.weight(here) + _FOLLOWED * query.weight(followed - here)
        for extra, key, text in _answers(query, passage, sentence):
            candidate = (-weight - extra, key, text)
            best[key] = min(candidate, best.get(key, candidate))
    return tuple(best.values())


def _answers(query: _Question, passage: Passage, sentence: Sentence) -> Iterator[tuple[int, str, str]]:
    """Yields the answers in a sentence. Each comes with the number that is added to its weight, its key
    for comparisons, and its text."""
    if not any(query.wanted.values()):
        fits = {each.kind for each in sentence.spans} >= query.wanted.keys()
        if fits and sentence.terms & query.terms:
            yield -_DENIAL * bool(_DENIES.search(sentence.text)), sentence.text, sentence.text
        return
    if query.wanted is _NAME_OF and not passage.subject_terms <= query.terms:
        beside = query.head in sentence.terms
        yield _NAME_OF[SpanKind.NAME] + _BESIDE * beside, key_of(passage.subject), passage.subject
    for span in sentence.spans:
        if span.kind in query.wanted and not (span.terms and span.terms <= query.terms):
            before = sentence.text[max(0, span.start - _NEAR) : span.start].split()
            after = sentence.text[span.start + len(span.text) :][:_NEAR].split()
            beside = query.head in span.terms | terms_of(" ".join(before[-2:] + after[:2]))
            placed = query.wanted is _PLACE and not _OF_PLACE.isdisjoint(before[-1:])
            near = span.terms | terms_of(" ".join(before + after))
            fit = query.wanted[span.kind] + query.weight(near) + _BESIDE * (beside + placed)
            yield fit, span.key, span.text


def _compared(query: _Question, passages: list[Passage]) -> str:
    """Returns the better of the two options that a question names, or "yes" or "no". Returns an empty
    text if there is no passage about one of the options."""
    one, other = (_about(option, passages) for option in query.options)
    if one is None or other is None:
        return ""
    rest = query.terms - terms_of(" ".join(query.options))
    scores = [query.weight(rest & each.terms) for each in (one, other)]
    if query.polar:
        return "yes" if 2 * min(scores) >= query.weight(rest) else "no"
    if query.words & (_EARLIER | _LATER):
        years = [re.search(r"\d{4}", each.body) for each in (one, other)]
        scores = [int(year.group()) for year in years if year]
    if len(scores) < 2 or scores[0] == scores[1]:
        return ""
    pick = min if query.words & _EARLIER and not query.words & _LATER else max
    return query.options[scores.index(pick(scores))]


def _about(option: str, passages: list[Passage]) -> Passage | None:
    near = [each for each in passages if terms_of(option) <= each.subject_terms]
    return min(near, key=lambda each: (key_of(each.subject) != key_of(option), each.body), default=None)


@lru_cache(maxsize=64)
def _understood(text: str) -> _Question:
    text = " ".join(UNREADABLE.sub(" ", text[:_LONGEST_QUESTION]).split())
    words = WORD.findall(text)
    plain = [folded(word) for word in words]
    weights: dict[str, int] = {}
    for word in words:
        weights[stem(word)] = min(len(word), _HEAVIEST_WORD)
    weights.pop("", None)
    names = (span.terms for span in spans(text) if span.kind is SpanKind.NAME and span.terms)
    polar = not _POLAR.isdisjoint(plain[:1])
    pairs = re.findall(rf"({NAMED})\W{{0,3}} {'and' if polar else 'or'} \W?({NAMED})", text[1:])
    wanted, head = _wanted(plain)
    options = pairs[-1] if pairs else ()
    word_sets = frozenset(weights), frozenset(names), frozenset(plain)
    return _Question(weights, *word_sets, wanted, head, options, polar)


def _wanted(plain: list[str]) -> tuple[_Wanted, str]:
    """Returns which kinds of text answer the question, and the stem of the noun that it asks for. In
    "Which director won?", this noun is *director*. ``plain``: the words of the question in lower case."""
    places = [at for at, word in enumerate(plain) if word in ASKING]
    if not places:
        return _SENTENCE, ""
    # The first question word of a question counts if it begins the question or follows a preposition, as
    # in "in which year". Otherwise, the last "what", "which" or "how" counts, such as the "what" in "Once
    # it was lit, what did it look like?"
    begins = places[0] == 0 or plain[places[0] - 1] in ("in", "at", "of", "on", "from", "for", "to", "by")
    open_words = [at for at in places if plain[at] in ("what", "which", "how")]
    at = places[0] if begins or not open_words else open_words[-1]
    word, after = plain[at], plain[at + 1 : at + 5]
    nouns = re.search(r"\w+(?: \w+)*", " ".join(map(stem, after)))
    head = nouns.group().split()[-1] if nouns and at in open_words else ""
    if word == "how":
        if not after or after[0] in GRAMMAR - _COUNTED:
            return _SENTENCE, head
        return (_NUMBER if after[0] in _COUNTED else _COUNTING_SENTENCE), head
    for words, soon, wanted in _ASKED_BY:
        if word in words.split() or not set(soon.split()).isdisjoint(after):
            return wanted, head
    return _NAME_OF, head
