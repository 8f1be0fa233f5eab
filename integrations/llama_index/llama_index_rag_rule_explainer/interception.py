"""This module lists the methods of LlamaIndex that are replaced during explanations."""

from openai_rag_rule_explainer import watching as clients

from rag_rule_explainer.instrumentation.copies.patching import Patches
from rag_rule_explainer.instrumentation.isolation import handing, reading_variables
from rag_rule_explainer.instrumentation.services import connections

from . import (
    attributes,
    bedrock_streams,
    chat_stores,
    context_reads,
    contexts,
    dispatching,
    event_streams,
    key_values,
    memories,
    outside,
    postprocessors,
    predictions,
    retrievers,
    standstills,
    tools,
)

interception = Patches(
    [
        *retrievers.INTERCEPTIONS,
        *postprocessors.INTERCEPTIONS,
        *tools.INTERCEPTIONS,
        *memories.INTERCEPTIONS,
        *chat_stores.INTERCEPTIONS,
        *contexts.INTERCEPTIONS,
        *context_reads.INTERCEPTIONS,
        *key_values.INTERCEPTIONS,
        *outside.INTERCEPTIONS,
        # The order matters. If a run makes an object, the patches above record the key by which other
        # runs recognise the object. The general patches below record only that the run made it, so they
        # come later.
        *attributes.INTERCEPTIONS,
        *event_streams.INTERCEPTIONS,
        *standstills.INTERCEPTIONS,
        *dispatching.INTERCEPTIONS,
        *handing.INTERCEPTIONS,
        *connections.INTERCEPTIONS,
        *reading_variables.INTERCEPTIONS,
        *predictions.INTERCEPTIONS,
        *bedrock_streams.INTERCEPTIONS,
        *clients.INTERCEPTIONS,
    ],
    tools.GUARDS,
)
