"""This module finds the function of an explainer that rechecks an answer after a change of the corpus. It
works for the explainers of all integrations."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import InvalidInput
from ..explainer import Explainer
from ..fixing import Recheck, recheck_corpus
from ..sources import Source
from ..testing.ranking import best_matches


@dataclass(frozen=True, slots=True)
class RecheckAsked:
    """A ``RecheckAsked`` holds the change of the corpus that the user named.

    ``exclude``: the ids of the documents to leave out; None for the documents that the explanation's
    first sure fix removes. (A fix is a set of documents without which the bad outcome does not come back.
    It is sure if its rule is proved, or passed its votes or tests.) ``corpus``: all documents of
    ``--sources``; None for an application, which searches itself. ``top_k``: the maximum number of
    documents of ``corpus`` that are retrieved; None without ``corpus``.
    """

    exclude: tuple[str, ...] | None
    replace: Mapping[str, str]
    add: Sequence[Source]
    rounds: int
    corpus: Sequence[Source] | None = None
    top_k: int | None = None

    @property
    def change(self) -> dict[str, Any]:
        """Returns the change of the corpus as keywords: the fields of ``ChangeOptions`` by name."""
        return {
            "exclude": self.exclude,
            "replace": self.replace,
            "add": self.add,
            "rounds": self.rounds,
        }


def rechecking_entry(explainer: Any, asked: RecheckAsked) -> Callable[..., Recheck]:
    """Returns the function of an explainer that explains an answer and then rechecks it after a change
    of the corpus. ``asked``: this change."""
    if isinstance(explainer, Explainer):
        return _Corpus(explainer, asked)
    return _Application(explainer, asked)


@dataclass(frozen=True, slots=True)
class _Corpus:
    explainer: Explainer
    asked: RecheckAsked

    def __call__(self, question: str, sources: Any, baseline: Any, pinned: Any) -> Recheck:
        before = self.explainer.explain(question, sources, baseline, pinned=pinned)
        asked = self.asked
        corpus = asked.corpus or ()
        return recheck_corpus(
            self.explainer, before, corpus, rank=_ranked, top_k=asked.top_k, **asked.change
        )


@dataclass(frozen=True, slots=True)
class _Application:
    explainer: Any
    asked: RecheckAsked

    def __call__(self, given: Any, documents: Any, pinned: Any, baseline: Any) -> Recheck:
        if documents is not None:
            raise InvalidInput("a recheck retrieves afresh; leave --documents out")
        before = self.explainer.explain(given, pinned=pinned, baseline=baseline)
        return self.explainer.recheck(given, before=before, **self.asked.change)


def _ranked(question: str, documents: Sequence[Source], most: int) -> list[Source]:
    places = best_matches(question, [each.passage for each in documents], most)
    return [documents[place] for place in places]
