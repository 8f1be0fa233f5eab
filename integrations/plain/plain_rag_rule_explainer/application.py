"""This module runs applications that are functions and use the official OpenAI client, and records
their runs."""

import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from typing import Any

from openai_rag_rule_explainer.wire import plain
from typing_extensions import override

from rag_rule_explainer.instrumentation.copies.patching import Patches
from rag_rule_explainer.instrumentation.function_application import FunctionApplication

from .interception import interception
from .reading import whole


@cache
def _installed() -> str:
    """Returns the version of openai. It is cached, because reading it takes as long as a quick replay."""
    return version("openai")


class PlainApplication(FunctionApplication):
    """This class runs applications that are functions. It records the requests that they send to models
    by the OpenAI client."""

    @property
    @override
    def interception(self) -> Patches:
        with suppress(ImportError):
            # The client is imported before the run. If the run imported it, the run's requests would not
            # be recorded.
            import openai  # noqa: F401  # pyright: ignore[reportUnusedImport]
        return interception

    @property
    @override
    def seeing(self) -> str:
        return (
            "Ask models by the OpenAI client, by requests or by httpx, or put model on the function that "
            "asks one: ask = model(ask). If none is asked, put it on the function that makes the answer "
            "of the texts that were found"
        )

    @override
    def whole(self, pieces: Sequence[Any]) -> Any:
        return whole(pieces)

    @override
    def texts_in(self, given: Any) -> Iterable[str]:
        return super().texts_in(plain(given))

    @override
    def versions(self) -> Mapping[str, str]:
        return {"openai": _installed()} if "openai" in sys.modules else {}
