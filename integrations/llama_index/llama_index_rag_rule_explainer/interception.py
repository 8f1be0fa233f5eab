"""This module collects the methods of LlamaIndex that are replaced during explanations."""

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
        # The order matters: for a new object, a patch above must note its key, before these general
        # patches note only that the run made the object.
        *attributes.INTERCEPTIONS,
        *standstills.INTERCEPTIONS,
        *watching.INTERCEPTIONS,
        *handing.INTERCEPTIONS,
        *predictions.INTERCEPTIONS,
    ]
)
