"""This package shows the progress of explanations on a terminal, in a notebook or in a log."""

from typing import TYPE_CHECKING

from ..late_names import importing_late

if TYPE_CHECKING:
    from .bar import FormName, ProgressBar, as_progress

__all__ = ["FormName", "ProgressBar", "as_progress"]

__getattr__ = importing_late(__name__, dict.fromkeys(__all__, "bar"))
