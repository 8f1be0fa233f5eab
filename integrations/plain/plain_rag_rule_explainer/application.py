"""A function that asks models through the official OpenAI client, as the kit wants to know it."""

import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from importlib.metadata import version
from typing import Any

from typing_extensions import override

from rag_rule_explainer.instrumentation.copies.patching import Patches
from rag_rule_explainer.instrumentation.function_application import FunctionApplication

from .reading import whole
from .watching import interception
from .wire import plain


class PlainApplication(FunctionApplication):
    """See ``rag_rule_explainer.instrumentation.function_application``."""

    @property
    @override
    def interception(self) -> Patches:
        with suppress(ImportError):
            # A client that is imported in the middle of a run would not be seen in it.
            import openai  # noqa: F401  # pyright: ignore[reportUnusedImport]
        return interception

    @override
    def whole(self, pieces: Sequence[Any]) -> Any:
        return whole(pieces)

    @override
    def texts_in(self, given: Any) -> Iterable[str]:
        return super().texts_in(plain(given))

    @override
    def versions(self) -> Mapping[str, str]:
        return {"openai": version("openai")} if "openai" in sys.modules else {}
