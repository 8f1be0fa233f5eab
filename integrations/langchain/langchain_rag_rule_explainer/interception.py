"""All that is intercepted while somebody explains, from the rooms that know how."""

from . import checkpoints, histories, memories, retrieval, tools
from .patching import Patches

interception = Patches(
    [
        *retrieval.INTERCEPTIONS,
        *tools.INTERCEPTIONS,
        *histories.INTERCEPTIONS,
        *memories.INTERCEPTIONS,
        *checkpoints.INTERCEPTIONS,
    ]
)
