"""This module lists the installed integrations. Their distributions register them by entry points.

Group ``rag_rule_explainer.integrations`` maps the name of an integration, which is also the name of its
extra, to its package. The package has a ``RuleExplainer``, and its module ``reading`` has a function
``question_in``.

Group ``rag_rule_explainer.frameworks`` maps a framework's package to the package of the integration that
explains applications of this framework. The integration that registers no framework explains all other
applications.

Group ``rag_rule_explainer.judges`` maps a method or attribute of a framework's models to the function
that makes a judge from such a model; see ``predicates.judge``.
"""

from collections.abc import Mapping
from functools import cache
from importlib.metadata import entry_points

_GROUP = "rag_rule_explainer"


@cache
def integrations() -> Mapping[str, str]:
    """Returns a mapping from the name of each integration to its package."""
    return {each.name: each.value for each in entry_points(group=f"{_GROUP}.integrations")}


@cache
def frameworks() -> Mapping[str, str]:
    """Returns a mapping from each framework's package to the package of the integration for it."""
    return {each.name: each.value for each in entry_points(group=f"{_GROUP}.frameworks")}
