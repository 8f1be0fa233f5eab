"""This module lists the methods of LlamaIndex that are replaced during explanations."""

from rag_rule_explainer.instrumentation.copies.patching import Patches
from rag_rule_explainer.instrumentation.isolation import handing

from . import (
    attributes,
    chat_stores,
    contexts,
    key_values,
    memories,
    outside,
    postprocessors,
    predictions,
    retrievers,
    standstills,
    tools,
    watching,
)

interception = Patches(
    [
        *retrievers.INTERCEPTIONS,
        *postprocessors.INTERCEPTIONS,
        *tools.INTERCEPTIONS,
        *memories.INTERCEPTIONS,
        *chat_stores.INTERCEPTIONS,
        *contexts.INTERCEPTIONS,
        *key_values.INTERCEPTIONS,
        *outside.INTERCEPTIONS,
        # The order matters. For a new object, a patch above must first note its key. The general patches
        # below note only that the run made the object.
        *attributes.INTERCEPTIONS,
        *standstills.INTERCEPTIONS,
        *watching.INTERCEPTIONS,
        *handing.INTERCEPTIONS,
        *predictions.INTERCEPTIONS,
    ]
)
