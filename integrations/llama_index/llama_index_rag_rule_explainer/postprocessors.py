"""This module hides the requests that postprocessors send to models, for example to rerank nodes.

Such requests contain all nodes. If they were recorded, all nodes would seem to be shown to the model that
answers.
"""

import re
from functools import wraps
from typing import Any

from rag_rule_explainer.instrumentation.copies.patching import Interception
from rag_rule_explainer.instrumentation.run_context import inside_retrieval, participation


def _hiding(name: str, method: Any) -> Any:
    """Returns the replacement of ``postprocess_nodes`` or ``apostprocess_nodes``.

    The replacement marks the call as part of a retrieval, so that its requests to models are not
    recorded.
    """

    @wraps(method)
    def postprocess(self: object, *args: Any, **kwargs: Any) -> Any:
        if participation() is None:
            return method(self, *args, **kwargs)
        token = inside_retrieval.set(True)
        try:
            return method(self, *args, **kwargs)
        finally:
            inside_retrieval.reset(token)

    @wraps(method)
    async def apostprocess(self: object, *args: Any, **kwargs: Any) -> Any:
        if participation() is None:
            return await method(self, *args, **kwargs)
        token = inside_retrieval.set(True)
        try:
            return await method(self, *args, **kwargs)
        finally:
            inside_retrieval.reset(token)

    return apostprocess if name.startswith("a") else postprocess


POSTPROCESSOR = ("llama_index.core.postprocessor.types", "BaseNodePostprocessor")
INTERCEPTIONS = (Interception(*POSTPROCESSOR, re.compile("a?postprocess_nodes"), _hiding),)
