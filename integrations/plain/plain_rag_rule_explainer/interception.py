"""This module lists the methods that are replaced during explanations of plain applications."""

from openai_rag_rule_explainer import watching

from rag_rule_explainer.instrumentation.copies.patching import Patches
from rag_rule_explainer.instrumentation.isolation import handing, reading_variables
from rag_rule_explainer.instrumentation.searches.guarded_tools import ToolGuards
from rag_rule_explainer.instrumentation.services import connections

interception = Patches(
    [
        *watching.INTERCEPTIONS,
        *handing.INTERCEPTIONS,
        *connections.INTERCEPTIONS,
        *reading_variables.INTERCEPTIONS,
    ],
    ToolGuards(),
)
