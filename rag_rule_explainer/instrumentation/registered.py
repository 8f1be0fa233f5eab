"""The integrations that are installed, as their distributions register them by entry points.

Group ``rag_rule_explainer.integrations``: the name of an integration, which is that of its extra as well,
and its package. That has a ``RuleExplainer``, and ``question_in`` in its module ``reading``.

Group ``rag_rule_explainer.frameworks``: a package that applications are built with, and the package of
the integration that explains these. The one that names none explains all others.

Group ``rag_rule_explainer.judges``: what a framework's models can do, and the function that makes a judge
of such a model; see ``predicates.judge``.
"""

from collections.abc import Mapping
from functools import cache
from importlib.metadata import entry_points

_GROUP = "rag_rule_explainer"


@cache
def integrations() -> Mapping[str, str]:
    """Returns the package of each integration, by its name."""
    return {each.name: each.value for each in entry_points(group=f"{_GROUP}.integrations")}


@cache
def frameworks() -> Mapping[str, str]:
    """Returns the package of the integration that explains what is built with a package, by its name."""
    return {each.name: each.value for each in entry_points(group=f"{_GROUP}.frameworks")}
