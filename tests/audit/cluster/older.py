"""What a worker begins with that has another version of this package."""

from rag_rule_explainer import version


def pretend() -> None:
    version.__version__ = "0.0.1"
