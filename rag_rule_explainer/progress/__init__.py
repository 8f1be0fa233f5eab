"""This package shows the progress of explanations on a terminal, in a notebook or in a log."""

from .bar import FormName, ProgressBar, as_progress

__all__ = ["FormName", "ProgressBar", "as_progress"]
