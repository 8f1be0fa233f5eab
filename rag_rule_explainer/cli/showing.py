"""This module runs ``rag-rules show``, which shows a saved explanation again. The file is untrusted."""

from ..report import load
from .output_options import SavedFile
from .printing import PrintedOptions


def show_saved(file: SavedFile, printed: PrintedOptions) -> None:
    """Show a saved explanation again, in any form, without asking any model.

    Examples:
      rag-rules show saved.json
      rag-rules show saved.json --out report.html
      rag-rules show report.html --format csv --out rules.csv

    Exit codes:
      0  shown
      2  bad input
    """
    printed.show(load(file))
