"""This module runs ``rag-rules show``, which shows a saved explanation again. The file is untrusted."""

from ..errors import InvalidInput
from ..report import load
from .annotated import AnnotateOptions
from .output_options import SavedFile
from .printing import PrintedOptions
from .traced import TraceOptions


def show_saved(
    file: SavedFile, traced: TraceOptions, printed: PrintedOptions, annotating: AnnotateOptions
) -> None:
    """Show a saved explanation again, in any form, without asking any model.

    Examples:
      rag-rules show saved.json --out report.html
      rag-rules show report.html --format csv --out rules.csv
      rag-rules show saved.json --trace trace.json --annotate phoenix --send

    Exit codes:
      0  shown
      2  bad input; a tool that does not take the annotations
    """
    annotating.check(traced.trace)
    traced.check_alone()
    if traced.trace is not None and not annotating.annotate:
        raise InvalidInput("--trace says where --annotate puts annotations; give one, or leave it out")
    explanation, incident = load(file), traced.incident()
    annotating.check_incident(incident)
    made = annotating.made(explanation, incident)
    printed.show(explanation)
    annotating.put(made)
