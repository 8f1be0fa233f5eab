"""How well a passage, or two that share a name, supports an answer to a question."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from operator import attrgetter
from typing import Final

from rag_rule_explainer.reader.passages import Passage, Sentence
from rag_rule_explainer.reader.questions import Question, Wanted
from rag_rule_explainer.reader.spans import Span, SpanKind
from rag_rule_explainer.reader.words import listed, terms

STATED: Final = 6
"""Per unit of weight: question words in the answer's own sentence or in its passage's subject."""
FOLLOWED: Final = 5
"""... in the passage that led to it."""
NEAR: Final = 1
"""... within a few words of the answer."""
DENIAL: Final = 60
"""Taken from a statement that denies: it says less than one that affirms."""
AGREEMENT: Final = 20
"""Added for each passage that says the same."""
_MOST_COUNTED: Final = 3
_SHARED: Final = 2
_REACH: Final = 6
_LINK_BONUS: Final = 90
_HEAD_BONUS: Final = 90
_PLACE_BONUS: Final = 90
_OF_PLACE: Final = listed("in at near from to")
_KEPT: Final = 12
_NOTHING: Final = frozenset[str]()

FITS: Final[dict[tuple[Wanted, SpanKind], int]] = {
    (Wanted.PERSON, SpanKind.NAME): 60,
    (Wanted.PLACE, SpanKind.NAME): 60,
    (Wanted.NAME, SpanKind.NAME): 60,
    (Wanted.NAME, SpanKind.PHRASE): 30,
    (Wanted.DATE, SpanKind.DATE): 90,
    (Wanted.DATE, SpanKind.YEAR): 60,
    (Wanted.YEAR, SpanKind.YEAR): 90,
    (Wanted.NUMBER, SpanKind.NUMBER): 90,
}


@dataclass(frozen=True, slots=True)
class Candidate:
    """An answer with the weight of what speaks for it; `key` says which answers are the same."""

    weight: int
    key: str
    text: str
    says: frozenset[str]

    @property
    def rank(self) -> tuple[int, str, str]:
        """The heaviest first; equal weights in an order of their words, never of their place."""
        return -self.weight, self.key, self.text

    def agrees(self, other: "Candidate") -> bool:
        """Whether both say the same thing, or one the core of what the other says at length."""
        if self.key == other.key:
            return True
        shared = len(self.says & other.says)
        return 3 * shared >= min(len(self.says), len(other.says)) and shared >= _SHARED

    def supported(self, times: int) -> "Candidate":
        """This answer, found in so many passages."""
        return replace(self, weight=self.weight + AGREEMENT * min(times, _MOST_COUNTED))


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """One passage read for one question."""

    passage: Passage
    covered: tuple[frozenset[str], ...]
    subject_covered: frozenset[str]
    best: frozenset[str]
    candidates: tuple[Candidate, ...]


@lru_cache(maxsize=512)
def reading(question: Question, passage: Passage) -> Reading:
    """The passage's own candidates, and which words of the question each sentence covers."""
    asked = question.weights.keys()
    covered = tuple(sentence.terms & asked for sentence in passage.sentences)
    subject = passage.subject_terms & asked
    best = _weightiest(question, covered)
    candidates = _candidates(question, passage, covered, subject, _NOTHING, 0)
    return Reading(passage, covered, subject, best | subject, candidates)


@lru_cache(maxsize=8192)
def chained(question: Question, asked: Reading, answering: Reading) -> tuple[Candidate, ...]:
    """Candidates of `answering` when `asked` leads there, or is led to, by a name; else none."""
    link = _link(question, asked, answering)
    if link is None:
        return ()
    return _candidates(
        question, answering.passage, answering.covered, answering.subject_covered, link, _LINK_BONUS
    )


def _link(question: Question, asked: Reading, answering: Reading) -> frozenset[str] | None:
    there, here = answering.passage, asked.passage
    if there.subject_key in here.names and _is_new(question, there.subject_terms):
        return _mentioning(question, asked, there.subject_terms)
    if here.subject_key in there.names and _is_new(question, here.subject_terms):
        return asked.best
    return None


def _mentioning(question: Question, asked: Reading, name: frozenset[str]) -> frozenset[str]:
    mentions = [
        covered
        for covered, sentence in zip(asked.covered, asked.passage.sentences, strict=True)
        if name <= sentence.terms
    ]
    return _weightiest(question, mentions) | asked.subject_covered


def _weightiest(question: Question, covered: Iterable[frozenset[str]]) -> frozenset[str]:
    return max(covered, key=lambda each: (question.weight(each), sorted(each)), default=_NOTHING)


def _candidates(
    question: Question,
    passage: Passage,
    covered: tuple[frozenset[str], ...],
    subject: frozenset[str],
    followed: frozenset[str],
    bonus: int,
) -> tuple[Candidate, ...]:
    found: dict[str, Candidate] = {}
    for sentence, stated in zip(passage.sentences, covered, strict=True):
        here = stated | subject
        if not _grounded(question, here | followed):
            continue
        # Two passages count as two only if the second adds something that was asked.
        weight = bonus if here - followed else 0
        weight += STATED * question.weight(here) + FOLLOWED * question.weight(followed - here)
        for extra, key, text in _answers(question, passage, sentence):
            says = terms(text) - question.weights.keys()
            candidate = Candidate(weight + extra, key, text, says)
            if key not in found or candidate.rank < found[key].rank:
                found[key] = candidate
    return tuple(sorted(found.values(), key=attrgetter("rank"))[:_KEPT])


def _grounded(question: Question, whole: frozenset[str]) -> bool:
    """Whether enough of the question is spoken of, and one of the names it gives, if any."""
    if 3 * question.weight(whole) < question.total:
        return False
    return not question.names or any(name <= whole for name in question.names)


_Offer = tuple[int, str, str]


def _answers(question: Question, passage: Passage, sentence: Sentence) -> Iterator[_Offer]:
    """What the sentence could answer: the weight it adds, its key and its text."""
    if question.wanted in (Wanted.STATEMENT, Wanted.MEASURE):
        fits = question.wanted is Wanted.STATEMENT or sentence.counts
        if fits and not sentence.terms.isdisjoint(question.weights):
            yield (-DENIAL if sentence.denies else 0), sentence.text, sentence.text
        return
    if question.wanted in (Wanted.PERSON, Wanted.NAME) and _is_new(question, passage.subject_terms):
        weight = FITS[question.wanted, SpanKind.NAME]
        named = question.head in sentence.terms
        yield weight + (_HEAD_BONUS if named else 0), passage.subject_key, passage.subject
    for span in sentence.spans:
        fit = FITS.get((question.wanted, span.kind))
        if fit is not None and (not span.terms or _is_new(question, span.terms)):
            yield fit + _nearness(question, sentence, span), span.key, span.text


def _is_new(question: Question, words: frozenset[str]) -> bool:
    """Whether there is anything in the words that the question does not say itself."""
    return not words <= question.weights.keys()


def _nearness(question: Question, sentence: Sentence, span: Span) -> int:
    words = sentence.words
    near = words[max(0, span.first - _REACH) : span.last + 1 + _REACH]
    beside = words[max(0, span.first - 2) : span.last + 3]
    before = words[span.first - 1].plain if span.first else ""
    weight = NEAR * question.weight({word.stem for word in near})
    weight += _HEAD_BONUS * any(word.stem == question.head for word in beside)
    if question.wanted is Wanted.PLACE and before in _OF_PLACE:
        weight += _PLACE_BONUS
    return weight
