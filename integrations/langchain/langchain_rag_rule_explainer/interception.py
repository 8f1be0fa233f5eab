"""All that is intercepted while somebody explains, from the rooms that know how."""

from . import checkpoints, histories, memories, retrievers, stores, tools
from .patching import Patches

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
