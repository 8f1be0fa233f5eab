"""All that is intercepted while somebody explains, from the rooms that know how."""

from rag_rule_explainer.wrapping.patching import Patches

from . import memories, postprocessors, retrievers, tools, watching

interception = Patches(
    [
        *retrievers.INTERCEPTIONS,
        *postprocessors.INTERCEPTIONS,
        *tools.INTERCEPTIONS,
        *memories.INTERCEPTIONS,
        *watching.INTERCEPTIONS,
    ]
)
