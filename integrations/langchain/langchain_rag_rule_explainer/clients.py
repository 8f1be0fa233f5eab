"""This module records requests to models that an application of LangChain sends by a client of its own,
beside LangChain's models."""

import sys
from collections.abc import Mapping
from contextlib import suppress

from openai_rag_rule_explainer.watching import INTERCEPTIONS

from rag_rule_explainer.instrumentation.copies.guarded_code import own_code
from rag_rule_explainer.instrumentation.requests.client_watch import ClientWatch
from rag_rule_explainer.instrumentation.shared_state.code import users_functions
from rag_rule_explainer.instrumentation.shared_state.contents import names_in
from rag_rule_explainer.instrumentation.shared_state.holdings import Holdings

__all__ = ["INTERCEPTIONS", "ClientsBeside", "load_client_of", "tokens_of_both"]


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


def load_client_of(application: object) -> None:
    """Imports the package ``openai`` if code of the application imports it. Requests of OpenAI's client
    are recorded only if ``openai`` is imported before the run begins."""
    if "openai" in sys.modules:
        return
    codes = (own_code(function) for _, function in users_functions(Holdings(application)))
    if any("openai" in names_in(code) for code in codes):
        with suppress(ImportError):
            import openai  # noqa: F401 # pyright: ignore[reportUnusedImport] -- the import itself is what is needed
