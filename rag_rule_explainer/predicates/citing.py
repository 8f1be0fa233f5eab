"""This module defines predicates on the sources that an answer cites or mentions.

The module ``citation_marks`` lists the forms of citations that are recognised. A citation is valid iff
its source was shown, because the model cannot have read a source that was left out.
"""

import re
from collections.abc import Hashable
from dataclasses import dataclass

from ..allowed import called_as, did_you_mean
from ..errors import InvalidInput
from ..printable import shortened
from ..sources import Source
from ..verdicts import Case, Judgement, Verdict
from .citation_marks import citations
from .combine import Combinable
from .mark_contents import Citation
from .protocol import answer_key
from .text import text_given

_LISTED = 8
"""If an answer cites an unknown source, the reason of the judgement lists at most this number of known
ids."""


def _ids(sources: tuple[Source, ...]) -> tuple[str, ...]:
    return tuple([source.id for source in sources])


@dataclass(frozen=True, slots=True)
class Cites(Combinable):
    """This predicate holds iff the answer cites ``source``, and ``source`` was shown.

    If ``source`` is None, it holds iff the answer cites at least one source, and only sources that were
    shown.
    """

    source: str | None = None

    def __call__(self, case: Case) -> Judgement:
        """Returns HOLDS, or BREAKS with the reason: the first invalid citation, or that the citation is
        missing. Returns UNKNOWN if the result depends on a citation whose source cannot be determined."""
        kept, known = _ids(case.kept), _ids(case.sources)
        if self.source is None:
            return _all_valid(tuple(citations(case.answer.text, kept, known)), kept, known)
        found = tuple(citations(case.answer.text, kept, (*known, self.source)))
        if not any(each.id == self.source and not each.doubt for each in found):
            doubts = [each.doubt for each in found if each.doubt and self.source in kept]
            if doubts:
                return Judgement(Verdict.UNKNOWN, doubts[0])
            return Judgement(Verdict.BREAKS, _not_there(self.source, kept, known) or "it is not cited")
        if self.source in kept:
            return Judgement(Verdict.HOLDS)
        return Judgement(Verdict.BREAKS, f"{self.source!r} is cited but was not shown")

    def memo_key(self, case: Case) -> Hashable:
        """Returns the cache key of the judgement: the question, the texts of the answer and the baseline,
        and the ids of the shown sources and of all sources."""
        return (*answer_key(self, case), _ids(case.kept), _ids(case.sources))

    def __str__(self) -> str:
        if self.source is None:
            return "the answer's citations are valid"
        return f"the answer validly cites {self.source!r}"

    @property
    def negation(self) -> str:
        """Returns the opposite of this condition in words, as in "the answer does not validly cite
        'D2'"."""
        if self.source is None:
            return "the answer's citations are missing or invalid"
        return f"the answer does not validly cite {self.source!r}"


def _all_valid(found: tuple[Citation, ...], kept: tuple[str, ...], known: tuple[str, ...]) -> Judgement:
    """Returns HOLDS if the answer has citations and all of them are valid. Returns BREAKS if the answer
    has no citations, or an invalid one. Returns UNKNOWN if the source of a citation cannot be determined
    and no other is invalid. ``found``: the citations. ``kept``, ``known``: the ids of the shown sources
    and of all sources."""
    doubts = [each.doubt for each in found if each.doubt]
    sure = [each for each in found if not each.doubt]
    wrong = next((each for each in sure if each.id not in kept), None)
    if wrong is not None:
        return Judgement(Verdict.BREAKS, _fault(wrong, known, len(kept)))
    if doubts:
        return Judgement(Verdict.UNKNOWN, doubts[0])
    return Judgement(Verdict.HOLDS) if sure else Judgement(Verdict.BREAKS, "nothing is cited")


def _fault(wrong: Citation, known: tuple[str, ...], shown: int) -> str:
    if wrong.id in known:
        return f"{wrong.written} was not shown"
    return f"{wrong.written} is none of the {shown} sources shown"


def _not_there(source: str, kept: tuple[str, ...], known: tuple[str, ...]) -> str:
    if not known or source in {*kept, *known}:
        return ""
    more = f", and {len(known) - _LISTED:,} more" if len(known) > _LISTED else ""
    listed = ", ".join(repr(shortened(each, 100)) for each in known[:_LISTED])
    return f"no source is named {source!r}; {did_you_mean(source, known)}the sources are {listed}{more}"


@dataclass(frozen=True, slots=True)
class MentionsSource(Combinable):
    """This predicate holds iff the id or the title of ``source`` occurs in the answer as whole words. For
    the title, upper and lower case are not distinguished. The source need not have been shown."""

    source: str

    def __call__(self, case: Case) -> Judgement:
        """Returns HOLDS if the answer mentions the source, or else BREAKS with the reason."""
        if _occurs(self.source, case.answer.text):
            return Judgement(Verdict.HOLDS)
        title = self._title(case)
        if title and _occurs(title, " ".join(case.answer.text.casefold().split())):
            return Judgement(Verdict.HOLDS)
        return Judgement(Verdict.BREAKS, _not_there(self.source, _ids(case.kept), _ids(case.sources)))

    def _title(self, case: Case) -> str:
        titles = [
            source.metadata.get("title")
            for source in (*case.sources, *case.kept)
            if source.id == self.source
        ]
        return next((" ".join(each.casefold().split()) for each in titles if isinstance(each, str)), "")

    def memo_key(self, case: Case) -> Hashable:
        """Returns the cache key of the judgement: the question, the texts of the answer and the
        baseline, and the title of the source. If there is no such source, the key contains the reason
        for this instead of a title."""
        named = _not_there(self.source, _ids(case.kept), _ids(case.sources))
        return (*answer_key(self, case), self._title(case), named)

    def __str__(self) -> str:
        return f"the answer mentions {self.source!r}"

    @property
    def negation(self) -> str:
        """Returns the opposite of this condition in words, as in "the answer does not mention 'D2'"."""
        return f"the answer does not mention {self.source!r}"


def _occurs(words: str, text: str) -> bool:
    if words not in text:
        return False
    return re.search(rf"(?<!\w)(?<!\w-){re.escape(words)}(?!-?\w)", text) is not None


def _id_given(given: str, where: str) -> str:
    if not text_given(given).strip():
        raise InvalidInput(f"{where} was given an empty id; give the id of a source, e.g. 'D2'")
    return given


@called_as("cites")
def cites(source: str | None = None) -> Cites:
    """Returns a predicate that holds iff the answer cites the source with the id ``source``, and this
    source was shown to the model.

    Without ``source``, it holds iff the answer cites at least one source, and cites only sources that
    were shown. Citations in the text such as [1], [2, 3], [D2], (D2) and "Source 2" are recognised. A
    number means the position among the shown sources, unless the ids of sources are themselves numbers.
    Raises InvalidInput for an empty id.
    """
    return Cites(None if source is None else _id_given(source, "cites"))


@called_as("mentions_source")
def mentions_source(source: str) -> MentionsSource:
    """Returns a predicate that holds iff the answer mentions the source with the id ``source``. The
    answer mentions a source if it contains, as whole words, the source's id or its title (the metadata
    ``title``, in upper or lower case). The source need not have been shown to the model. Raises
    InvalidInput for an empty id."""
    return MentionsSource(_id_given(source, "mentions_source"))
