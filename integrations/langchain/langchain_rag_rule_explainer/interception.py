"""All that is intercepted while somebody explains, from the rooms that know how."""

from rag_rule_explainer.wrapping.patching import Patches

from . import checkpoints, histories, memories, retrievers, stores, tools

interception = Patches(
    [
        *retrievers.INTERCEPTIONS,
        *stores.INTERCEPTIONS,
        *tools.INTERCEPTIONS,
        *histories.INTERCEPTIONS,
        *memories.INTERCEPTIONS,
        *checkpoints.INTERCEPTIONS,
    ]
)
