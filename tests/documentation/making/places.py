"""Where the documentation lies."""

from pathlib import Path

ROOT = Path(__file__).parents[3]
DOCS = ROOT / "docs"
SITE = ROOT / "dist" / "site"
