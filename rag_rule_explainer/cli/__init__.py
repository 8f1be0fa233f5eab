"""This package contains the command line ``rag-rules``."""

import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs ``rag-rules`` and exits.

    ``arguments``: the arguments of the command line; None for the arguments of this process.
    """
    # The import takes longer than many commands run. So Ctrl-C during the import must be handled too.
    try:
        from .entry import run_command_line
    except KeyboardInterrupt:
        print("rag-rules: interrupted", file=sys.stderr)  # noqa: T201 -- nothing else is imported yet
        sys.exit(130)
    run_command_line(arguments)


__all__ = ["main"]
