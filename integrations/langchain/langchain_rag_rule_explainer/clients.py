"""This module records requests to models that an application of LangChain sends by a client of its own,
beside LangChain's models."""

import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from threading import RLock
from types import FunctionType

from openai_rag_rule_explainer.watching import INTERCEPTIONS

from rag_rule_explainer.instrumentation.copies.guarded_code import own_code
from rag_rule_explainer.instrumentation.requests.client_watch import ClientWatch
from rag_rule_explainer.instrumentation.shared_state.contents import names_in

__all__ = ["INTERCEPTIONS", "ClientLoader", "ClientsBeside", "tokens_of_both"]


class ClientsBeside(ClientWatch):
    """A ``ClientsBeside`` records those requests of one run that the application sends by a client such
    as OpenAI's, and not by a model of LangChain. Both kinds of requests are recorded in the same list
    ``exchanges``, so their common order is kept."""

    def fault_beside(self, has_replies: bool) -> str:
        """Returns the reason why the replies cannot be used; empty if they can be used.

        ``has_replies``: True if LangChain's models replied, so that the application may have asked them
        in place of a client that failed.
        """
        return "" if has_replies and not self.said else self.fault


def tokens_of_both(
    own: Mapping[str, Mapping[str, int]], others: Mapping[str, Mapping[str, int]]
) -> dict[str, dict[str, int]]:
    """Returns the tokens that LangChain's models spent (``own``) plus the tokens that other clients spent
    (``others``), for each model and each kind of token."""
    found = {model: dict(counts) for model, counts in own.items()}
    for model, counts in others.items():
        known = found.setdefault(model, {})
        known.update({kind: known.get(kind, 0) + count for kind, count in counts.items()})
    return found


@dataclass(slots=True, eq=False)
class ClientLoader:
    """A ``ClientLoader`` imports the package ``openai`` if code of one application imports it. Requests
    of OpenAI's client are recorded only if ``openai`` is imported before the run begins.

    To find all functions of an application takes longer than a small replay. So they are read before each
    baseline, and before the first replay, since the baseline may have built parts of the application.
    After that, they are read only if modules were imported since the last reading, since the application
    can then use new code.
    """

    _is_complete: bool = False
    _modules: int = 0
    _lock: RLock = field(default_factory=RLock)

    def load(self, functions: Callable[[], Iterable[FunctionType]], *, for_replay: bool) -> None:
        """Imports ``openai`` if one of these functions imports it and it is not imported yet.
        ``for_replay``: True if the next run is a replay, and not a baseline."""
        # While one replay reads the functions, another one must not begin.
        with self._lock:
            is_known = for_replay and self._is_complete and len(sys.modules) == self._modules
            if is_known or "openai" in sys.modules:
                return
            self._is_complete, self._modules = for_replay, len(sys.modules)
            if any("openai" in names_in(own_code(function)) for function in functions()):
                with suppress(ImportError):
                    import openai  # noqa: F401 # pyright: ignore[reportUnusedImport] -- the import itself is what is needed
