"""Writes what is true of each application: what its recording captures, and its rules.

Arguments: the framework, the file.
"""

import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from tests.integrations.known import BAD


def truth_of(framework: str, asked: Any) -> dict[str, Any]:
    integration = import_module(f"{framework}_rag_rule_explainer")
    explainer = integration.RuleExplainer(asked.application, predicate=BAD, **asked.parameters)
    return said_of(explainer.explain(asked.given))


def said_of(explanation: Any) -> dict[str, Any]:
    """Question, answer, sources and rules, as JSON has them."""
    return {
        "question": explanation.question,
        "answer": explanation.baseline.text,
        "sources": [[each.id, each.text] for each in explanation.sources],
        "retention": sorted(sorted(rule.sources) for rule in explanation.retention_rules),
        "omission": sorted(sorted(rule.sources) for rule in explanation.omission_rules),
    }


def main(framework: str, file: Path) -> None:
    shapes = import_module(f"tests.traces.making.of_{framework}").SHAPES
    truths = {name: truth_of(framework, build()) for name, build in shapes.items()}
    file.write_text(json.dumps(truths, indent=1) + "\n")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
