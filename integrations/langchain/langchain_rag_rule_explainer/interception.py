"""This module lists the methods of LangChain and LangGraph that are replaced during explanations."""

from rag_rule_explainer.instrumentation.copies.patching import Patches
from rag_rule_explainer.instrumentation.isolation import handing, reading_variables
from rag_rule_explainer.instrumentation.services import connections

from . import (
    caches,
    checkpoints,
    clients,
    conversations,
    docstores,
    histories,
    injected,
    keyvalue_reads,
    keyvalues,
    longterm,
    loops,
    memories,
    nodecaches,
    retrievers,
    settled_calls,
    silencing,
    stores,
    streamed_refusals,
    tools,
    watching,
    writes,
)

interception = Patches(
    [
        *retrievers.INTERCEPTIONS,
        *stores.INTERCEPTIONS,
        *tools.INTERCEPTIONS,
        *settled_calls.INTERCEPTIONS,
        *histories.INTERCEPTIONS,
        *memories.INTERCEPTIONS,
        *checkpoints.INTERCEPTIONS,
        *longterm.INTERCEPTIONS,
        *injected.INTERCEPTIONS,
        *keyvalue_reads.INTERCEPTIONS,
        *keyvalues.INTERCEPTIONS,
        *writes.INTERCEPTIONS,
        *docstores.INTERCEPTIONS,
        *caches.INTERCEPTIONS,
        *nodecaches.INTERCEPTIONS,
        *silencing.INTERCEPTIONS,
        *watching.INTERCEPTIONS,
        *clients.INTERCEPTIONS,
        *streamed_refusals.INTERCEPTIONS,
        *conversations.INTERCEPTIONS,
        *loops.INTERCEPTIONS,
        *handing.INTERCEPTIONS,
        *connections.INTERCEPTIONS,
        *reading_variables.INTERCEPTIONS,
    ],
    tools.GUARDS,
)
