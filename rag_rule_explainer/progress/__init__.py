"""Shows people how far an explanation is: on a terminal, in a notebook, in a log."""

from .bar import FormName, ProgressBar, as_progress

__all__ = ["FormName", "ProgressBar", "as_progress"]
