"""This module ranks texts by how well they match a question (BM25). It needs the extra ``bm25``."""

import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from ..errors import InvalidInput, MissingExtra


def best_matches(question: str, texts: Sequence[str], count: int) -> list[int]:
    """Returns the positions in ``texts`` of the texts that match the question best, the best one first;
    at most ``count`` of them.

    Texts that share no word with the question are left out. Raises InvalidInput for a count below 1, and
    MissingExtra if the library bm25s is not installed.
    """
    if count < 1:
        raise InvalidInput(f"the number of texts to retrieve is {count}; give at least 1")
    try:
        # The library is optional, and imports NumPy, which takes long. So it is imported only here.
        bm25s: Any = sys.modules.get("bm25s") or _imported()
    except ImportError as error:
        raise MissingExtra.naming("bm25", "retrieving by BM25") from error
    tokens = bm25s.tokenize([*texts, question], stopwords="en", show_progress=False, return_ids=False)
    *documents, query = tokens
    if not any(documents) or not query:
        return []
    index = bm25s.BM25()
    index.index(documents, show_progress=False)
    scores = index.get_scores(query)
    by_score = sorted(range(len(texts)), key=lambda place: (-float(scores[place]), place))
    return [place for place in by_score[:count] if float(scores[place]) > 0]


def _imported() -> Any:  # imported by name, because the library has no types
    with warnings.catch_warnings():
        # In a notebook without ipywidgets, the import warns that progress bars cannot be shown. This
        # package shows none, so the warning is suppressed.
        warnings.filterwarnings("ignore", "IProgress not found")
        return import_module("bm25s")
