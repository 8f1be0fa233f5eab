"""This module isolates the docstores of langchain_community, so that no replay changes a docstore."""

import re
from collections.abc import Hashable, Iterable, Mapping
from typing import Any

from rag_rule_explainer.instrumentation.copies.copying import copied
from rag_rule_explainer.instrumentation.copies.state import State
from rag_rule_explainer.instrumentation.isolation.redirecting import Isolation, in_memory, untouched

from .ordinary import state_of_current_run
from .overlays import MethodsOverlay
from .remembered import TWINS


class DocstoreOverlay(MethodsOverlay):
    """This overlay takes the place of a real docstore in one run.

    At first it has the documents from before the baseline. Only a run that the user made (no replay)
    changes the real docstore.
    """

    def __init__(self, real: Any, state: State, key: Hashable) -> None:
        super().__init__(real, state)
        self._before: dict[str, Any] = state.aside.setdefault(key, {})
        self._own: dict[str, Any] = {}

    def search(self, search: str) -> Any:
        """Returns the document that has the id ``search`` in this run. If there is none, returns a
        message that says so, as the real docstore does."""
        if self._live:
            return self._really_found(search)
        if search not in self._own:
            self._own[search] = copied(self._kept(search))
        return self._own[search]

    def add(self, texts: Mapping[str, Any]) -> None:
        """Adds documents for this run only. A run that the user made adds them to the real docstore."""
        if self._live:
            self._keep(texts)
            with untouched():
                self._real.add(texts)
        else:
            self._own.update(texts)

    def delete(self, ids: Iterable[str]) -> None:
        """Removes documents for this run only. A run that the user made removes them from the real
        docstore."""
        removed = list(ids)
        if self._live:
            self._keep(removed)
            with untouched():
                self._real.delete(removed)
        else:
            self._own.update({each: f"ID {each} not found." for each in removed})

    def _keep(self, ids: Iterable[str]) -> None:
        for each in ids:
            self._kept(each)

    def _kept(self, name: str) -> Any:
        if name not in self._before:
            self._before.setdefault(name, copied(self._really_found(name)))
        return self._before[name]

    def _really_found(self, name: str) -> Any:
        with untouched():
            return self._real.search(name)


INTERCEPTIONS = (
    Isolation(
        module="langchain_community.docstore.base",
        owner="Docstore",
        state=state_of_current_run,
        twins=TWINS,
        overlay=DocstoreOverlay,
        overlaid=re.compile("search|add|delete"),
        writes=re.compile("add|delete"),
        owns_born=in_memory,
        aside=True,
    ).interception,
)
