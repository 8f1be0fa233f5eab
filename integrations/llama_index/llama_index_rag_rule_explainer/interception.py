"""All that is intercepted while somebody explains, from the rooms that know how."""

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
        # After those that say how what is made in a run is known again.
        *attributes.INTERCEPTIONS,
        *standstills.INTERCEPTIONS,
        *watching.INTERCEPTIONS,
        *handing.INTERCEPTIONS,
        *predictions.INTERCEPTIONS,
    ]
)
