"""This module collects the patches that are applied to LlamaIndex during an explanation."""

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
        # The replacements above note the key of an object before this generic one notes its birth.
        *attributes.INTERCEPTIONS,
        *standstills.INTERCEPTIONS,
        *watching.INTERCEPTIONS,
        *handing.INTERCEPTIONS,
        *predictions.INTERCEPTIONS,
    ]
)
