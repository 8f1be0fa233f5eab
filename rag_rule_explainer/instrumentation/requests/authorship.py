"""This module checks that the answers come from the models whose requests this package sees.

An answer may use other words than the models' replies, for example if code maps a reply to a label. The
answer still comes from these models if all its words are known and equal replies led to equal answers.
Otherwise, a model whose requests are not seen may have written the answer.
"""

import re
import threading
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from itertools import pairwise
from typing import NamedTuple

from ...printable import shortened
from ...sources import Source
from ...verdicts import Answer
from ..doubts import ANOTHER_MODEL, BASELINE, FEWEST_WORDS, NOTHING_COMPARED, pattern_of
from .exchanges import Exchange
from .source_recognition import reading_of
from .volatile import Steady

_MARKS = re.compile(r"<(?:uuid|call|address|time|ignored)>")
"""The placeholders with which ``Steady`` replaces the parts of a text that differ from run to run, such
as dates."""


_FIGURE = re.compile(r"[^\W\d_]{0,2}\d+[^\W\d_]{0,2}")
"""Matches a number, perhaps with a letter or two around it, as in "p2" or "3rd". Such words do not show
who wrote an answer."""


class ForeignAnswer(NamedTuple):
    """A ``ForeignAnswer`` is an answer with words that the models' replies do not explain.

    ``run``: the run's name. ``sources``: the ids of the retained sources; None for the baseline.
    ``replies``: the replies of the run's models. ``own``: the answer's words that are neither in sources
    nor in the input; if there are none, all words of the answer. ``strange``: the words in ``own`` that
    are not in texts of the application's code either.
    """

    run: str
    sources: tuple[str, ...] | None
    text: str
    replies: tuple[str, ...]
    own: frozenset[str]
    strange: frozenset[str]


@dataclass(slots=True, eq=False)
class Authorship:
    """This class compares the answers of all runs, and finds those that an unseen model may have written.
    The first answer is the baseline's. Thread-safe.

    ``steady``: replaces the parts of texts that change in every run. ``vouched``: True if an earlier
    explanation has checked the same application in this way; ``doubt`` is then always empty.
    """

    steady: Steady
    vouched: bool = False
    _constants: frozenset[str] = frozenset()
    _facts: frozenset[str] = frozenset()
    _lines: tuple[str, ...] = ()
    _decided: bool = False
    _by_replies: defaultdict[tuple[str, ...], list[ForeignAnswer]] = field(
        default_factory=lambda: defaultdict[tuple[str, ...], list[ForeignAnswer]](list)
    )
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def begin(
        self,
        answer: Answer,
        exchanges: Sequence[Exchange],
        sources: Sequence[Source],
        given: Iterable[str],
        constants: Iterable[str],
    ) -> None:
        """Stores the baseline, with which later answers are compared.

        ``given``: the texts of the application's input. ``constants``: texts in the application's code.
        """
        self._constants = _words_of(constants)
        # Words of any source count as explained in every answer, even if the run did not get this source.
        # Other words are compared between the runs.
        labels = [f"{source.id} {dict(source.metadata)}" for source in sources]
        texts = [source.text for source in sources]
        self._facts = _words_of([*given, *texts, *labels])
        self._lines = tuple(reading_of(text).line for text in texts)
        own, _ = self._words_in(answer)
        self._decided = not self._is_said(answer, own, exchanges)
        self.take(BASELINE, answer, exchanges, None)

    def take(
        self,
        run: str,
        answer: Answer,
        exchanges: Sequence[Exchange],
        sources: Sequence[str] | None,
        made: Iterable[str] = (),
    ) -> None:
        """Stores the answer of a run if it has words that the models' replies do not explain.

        ``sources``: the ids of the sources that the run got; None for the baseline. ``made``: texts that
        the run produced besides model replies, such as results of tools.
        """
        made = list(made)
        own, strange = self._words_in(answer, made)
        # A result of a tool may be the answer, as of a tool with ``return_direct``.
        line = reading_of(answer.text).line
        is_result = any(reading_of(each).line == line for each in made)
        if not own or is_result or self._is_said(answer, own, exchanges):
            return
        replies = tuple(self.steady(each.said) for each in exchanges if each.said is not None)
        ids = None if sources is None else tuple(sources)
        written = ForeignAnswer(run, ids, answer.text, replies, own, strange)
        with self._lock:
            group = self._by_replies[replies]
            same = [each for each in group if each.own == own]
            # If two replays on different sources gave the same answer, the answer does not depend on the
            # sources. Further replays with this answer show nothing new, so they are not stored.
            if len(same) <= 2 and all(each.sources != ids for each in same):
                group.append(written)

    def _words_in(
        self, answer: Answer, made: Iterable[str] = ()
    ) -> tuple[frozenset[str], frozenset[str]]:
        """Returns two sets of the answer's words. ``made``: results of tools and other texts that the run
        produced.

        The first set has the words that come neither from sources, nor from the input, nor from ``made``;
        if there are no such words, it has all words of the answer. The second set has the words that come
        from none of these, and also not from texts in the application's code.
        """
        line = reading_of(_MARKS.sub(" ", self.steady(answer.text))).line
        words = frozenset(word for word in line.split() if not word.isdigit())
        own = words - self._facts - _words_of(made) - self._cut_off(line)
        own -= {word for word in own if _FIGURE.fullmatch(word)}
        return own or words, own - self._constants

    def _cut_off(self, line: str) -> frozenset[str]:
        """Returns the words that the answer quotes from a source. A word of the answer counts as quoted
        if a source has the same word, with the same word before it. The word in the answer may be only
        the beginning of the word in the source, because a quotation may break off: "per calc" is quoted
        from "per calcium". ``line``: the words of the answer in one line."""
        pairs = pairwise(line.split())
        return frozenset(
            word for before, word in pairs if any(f" {before} {word}" in each for each in self._lines)
        )

    def _is_said(self, answer: Answer, own: frozenset[str], exchanges: Sequence[Exchange]) -> bool:
        """Returns True iff the models' replies explain ``own``, which are words of the answer. There are
        two cases: the replies contain more than a third of these words; or the answer contains a whole
        reply that is not very short, and almost all of these words are in replies or in texts of the
        application's code."""
        said = _words_of(each.said or "" for each in exchanges)
        if not own or 3 * len(own & said) > len(own):
            return True
        line = reading_of(answer.text).line
        replies = [reading_of(each.reply or "").line for each in exchanges]
        is_part = any(len(each.split()) >= FEWEST_WORDS and each in line for each in replies)
        return is_part and len(own - said - self._constants) < FEWEST_WORDS

    @property
    def doubt(self) -> str:
        """Returns a message that says why a model whose requests are not seen may have written some of
        the answers; empty if there is no reason so far."""
        if self.vouched:
            return ""
        with self._lock:
            groups = [list(each) for each in self._by_replies.values()]
        for group in groups:
            decisive = self._decisive(group[0])
            other = next((each for each in group if self._decisive(each) != decisive), None)
            if other is not None:
                return self._doubt_about(group[0], other)
        strange = [each for group in groups for each in group if len(each.strange) >= FEWEST_WORDS]
        # If replays on different sources gave the same answer with equal replies, the application's own
        # code made this answer, not an unseen model.
        times = Counter((each.replies, each.own) for each in strange if each.sources is not None)
        repeated = {own for (_, own), many in times.items() if many > 1}
        lone = next((each for each in strange if each.own not in repeated), None)
        if lone is None:
            return ""
        return (
            f"{NOTHING_COMPARED}{lone.run} was answered in words that no model replied whose requests "
            "are seen, and that stand neither in the sources nor in the code "
            f"({_listed(lone.strange)}): {ANOTHER_MODEL}"
        )

    def _decisive(self, written: ForeignAnswer) -> frozenset[str]:
        """Returns the words by which an answer is compared with the answers of other runs. If two runs
        got equal replies and these words differ, an unseen model may have written them.

        These are the words in ``written.own``, or only those in ``written.strange`` if the application's
        code may have chosen words of its constants without a model's reply.
        """
        is_strange = len(written.strange) >= FEWEST_WORDS
        return written.own if is_strange or (self._decided and written.replies) else written.strange

    def _doubt_about(self, first: ForeignAnswer, other: ForeignAnswer) -> str:
        differing = _listed(self._decisive(first) ^ self._decisive(other))
        models = (
            "whose requests are seen replied the same" if first.replies else "are seen to reply to none"
        )
        texts = [repr(shortened(each.text, 100)) for each in (first, other)]
        ignored = ", ".join(repr(pattern_of(each)) for each in _first_difference(first.text, other.text))
        return (
            f"{NOTHING_COMPARED}{first.run} was answered {texts[0]} and {other.run} {texts[1]}, but "
            f"models {models}, so something else decides about {differing}: {ANOTHER_MODEL}. Where code "
            f"decides about it by the sources alone, name it: ignore=[{ignored}]"
        )


def _first_difference(first: str, other: str) -> list[str]:
    """Returns the words of each text at the first place where the texts differ. Leaves out a text that
    has no words there. Returns an empty list if both texts have the same words."""
    words = first.split(), other.split()
    for kind, i1, i2, j1, j2 in SequenceMatcher(None, *words, autojunk=False).get_opcodes():
        if kind != "equal":
            return [" ".join(each) for each in (words[0][i1:i2], words[1][j1:j2]) if each]
    return []


def _words_of(texts: Iterable[str]) -> frozenset[str]:
    """Returns the words of the texts, without numbers."""
    return frozenset(
        word for text in texts for word in reading_of(text).line.split() if not word.isdigit()
    )


def _listed(words: Iterable[str]) -> str:
    return shortened(", ".join(map(repr, sorted(words))), 120)
