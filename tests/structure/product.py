"""Where the product's files are."""

from pathlib import Path

HERE = Path(__file__).parents[2]
PACKAGE = HERE / "rag_rule_explainer"
INTEGRATIONS = sorted(HERE.glob("integrations/*/*_rag_rule_explainer"))
FILES = sorted(
    (file.relative_to(root.parent).as_posix(), file)
    for root in (PACKAGE, *INTEGRATIONS)
    for file in root.rglob("*.py")
)
"""All of the product, by name."""
