"""This module records requests to models that an application of LangChain sends by a client of its own,
beside LangChain's models."""

import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass

from openai_rag_rule_explainer.watching import INTERCEPTIONS

from rag_rule_explainer.instrumentation.copies.guarded_code import own_code
from rag_rule_explainer.instrumentation.requests.client_watch import ClientWatch
from rag_rule_explainer.instrumentation.shared_state.code import users_functions
from rag_rule_explainer.instrumentation.shared_state.contents import names_in
from rag_rule_explainer.instrumentation.shared_state.holdings import Holdings

__all__ = ["INTERCEPTIONS", "ClientLoader", "ClientsBeside", "tokens_of_both"]

_READINGS = 4
"""The calls of an explanation that come before its first replay runs, and one more: when patches are
installed, at the baseline, and twice at a replay."""


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

    To read all objects of an application takes longer than a small replay. So the objects are read at the
    first ``_READINGS`` calls, which include a call after the baseline has built what the application
    builds late. After that, they are read only if modules were imported since the last reading, since
    the application can then use new code.
    """

    _left: int = _READINGS
    _modules: int = 0

    def load(self, application: object) -> None:
        """Imports ``openai`` if code of the application imports it and it is not imported yet."""
        if "openai" in sys.modules or (not self._left and len(sys.modules) == self._modules):
            return
        self._left, self._modules = max(0, self._left - 1), len(sys.modules)
        codes = (own_code(function) for _, function in users_functions(Holdings(application)))
        if any("openai" in names_in(code) for code in codes):
            with suppress(ImportError):
                import openai  # noqa: F401 # pyright: ignore[reportUnusedImport] -- the import itself is what is needed
