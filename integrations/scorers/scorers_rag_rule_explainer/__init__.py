"""This package scores answers by their rules, in the frameworks that evaluate applications.

``no_forbidden_rule``, ``right_documents_decide``, ``citations_decisive`` and ``stable_rules`` return a
scorer of an application's answers. There is one module for each framework, such as
``scorers_rag_rule_explainer.deepeval``. Its function turns a scorer into an object of the framework, and
only then imports the framework. An undecided answer gets no score.
"""

from .checks import citations_decisive, no_forbidden_rule, right_documents_decide, stable_rules
from .scoring import RuleScore, RuleScorer

__all__ = [
    "RuleScore",
    "RuleScorer",
    "citations_decisive",
    "no_forbidden_rule",
    "right_documents_decide",
    "stable_rules",
]
