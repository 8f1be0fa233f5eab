"""This module defines the progress bar for scripts, terminals, notebooks and logs."""

import atexit
import os
import sys
import threading
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from typing import Literal, TextIO, TypeAlias, get_args

from typing_extensions import Self

from ..allowed import brief, called_as, checked_flag
from ..errors import InvalidInput
from .lines import Lines
from .report import Progress, ProgressReport
from .shown import Shown
from .wording import Row

FormName: TypeAlias = Literal["auto", "terminal", "notebook", "lines"]


@called_as("ProgressBar")
class ProgressBar:
    """A ``ProgressBar`` shows how many probes are done, how many are known to be needed so far, and how
    many there can be at most.

    It also shows replays and their rate, failures, retries, answers from the store, tokens, cost, and the
    estimated time for the probes *known to be needed*. Pass the bar as ``progress`` to one or several
    explainers, in one thread or many: each explanation has a row of its own.

    ``form``: "terminal" redraws a bar in place; "notebook" shows a bar as HTML in Jupyter; "lines" writes
    a line at the first probe, at 100, 200, 400, ... probes, and at the end; "auto" chooses the form that
    suits the output. ``file``: the text file of the forms "terminal" and "lines", by default stderr.
    ``keep``: whether the last state of each row stays visible.

    The bar appears with the first report and disappears when the last explanation has ended. As a context
    manager, it appears on entering and is closed on leaving. A report costs microseconds; a separate
    thread draws at most ten times a second.

    Raises InvalidInput for an unknown form, for "notebook" without IPython, and for a ``file`` that is no
    text file.
    """

    def __init__(self, form: FormName = "auto", *, file: TextIO | None = None, keep: bool = True) -> None:
        if form not in get_args(FormName):
            raise InvalidInput(
                f"form is {form!r}; give one of {', '.join(map(repr, get_args(FormName)))}"
            )
        if form == "notebook" and find_spec("IPython") is None:
            raise InvalidInput("form is 'notebook', but IPython is not installed; leave form out")
        if file is not None and not callable(getattr(file, "write", None)):
            raise InvalidInput(f"file is {brief(file)}; give an open text file such as sys.stdout")
        checked_flag("keep", keep)
        self._form: FormName = form
        self._file = file
        self._keep = keep
        self._guard = threading.Lock()
        self._shown: Shown | None = None
        self._held = False
        self._numbers: dict[int, int] = {}
        self._under_way: set[int] = set()
        self._ignored: set[int] = set()

    def __deepcopy__(self, _memo: object) -> Self:
        """Returns this bar itself, so that a copy of an explainer uses the same bar."""
        return self

    def __call__(self, report: ProgressReport, /) -> None:
        """Shows one report. If a drawing failed, closes the bar and raises the error of the drawing."""
        with self._guard:
            if report.call in self._ignored:
                if report.done:
                    self._ignored.remove(report.call)
                return
            try:
                self._report(report)
            except BaseException:
                self._leave()
                raise

    def __enter__(self) -> Self:
        with self._guard:
            self._held = True
            if self._shown is None:
                self._open().start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the bar. Explanations that are still running go on, but their reports are ignored."""
        with self._guard:
            self._held = False
            self._ignored |= self._under_way
            self._leave()

    def _report(self, report: ProgressReport) -> None:
        if report.done and report.call not in self._under_way:
            return  # the explanation ended before its first probe, so it has no row
        number = self._numbers.setdefault(report.call, len(self._numbers) + 1)
        row = Row(report, number if len(self._numbers) > 1 else None)
        if not report.done:
            self._under_way.add(report.call)
            self._show(row)
        elif self._shown is not None:
            self._under_way.remove(report.call)
            self._shown.finish(row)
            if not self._under_way and not self._held:
                self._leave()

    def _show(self, row: Row) -> None:
        if self._shown is not None:
            self._shown.show(row)
            return
        shown = self._open()
        shown.show(row)
        shown.start()

    def _open(self) -> Shown:
        self._shown = shown_as(self._form, self._file, keep=self._keep)
        # A bar hides the cursor. If an interrupt ends the process while the bar is shown, this makes the
        # cursor visible again.
        atexit.register(self.close)
        return self._shown

    def _leave(self) -> None:
        shown, self._shown = self._shown, None
        self._numbers.clear()
        self._under_way.clear()
        atexit.unregister(self.close)
        if shown is not None:
            # Closing fails if, for example, the terminal is gone. The explanation must not fail for this
            # reason.
            with suppress(Exception):
                shown.close()


def shown_as(form: FormName, file: TextIO | None, *, keep: bool) -> Shown:
    """Returns the object that shows rows in this form; for "auto", in the form that suits the file.
    ``keep``: whether the last state of each row stays visible."""
    # Rich and IPython are slow to import, so they are imported only when a bar is shown.
    from .animated import Animated
    from .notebook import in_notebook

    file = sys.stderr if file is None else file
    if form == "notebook" or (form == "auto" and in_notebook()):
        from .notebook import NOTEBOOK_SECONDS, NotebookCanvas

        return Animated(NotebookCanvas(), NOTEBOOK_SECONDS, keep=keep)
    if file is not None and (form == "terminal" or (form == "auto" and is_terminal(file))):
        from .terminal import SECONDS, TerminalCanvas

        return Animated(TerminalCanvas(file), SECONDS, keep=keep)
    return Lines(file)


def is_terminal(file: TextIO) -> bool:
    """Returns True iff the file is a terminal on which text can be redrawn in place."""
    # Rich's own check is not used, because it treats every file as a terminal if FORCE_COLOR is set.
    return file.isatty() and os.environ.get("TERM") != "dumb"


@cache
def shared_bar() -> ProgressBar:
    """Returns the one bar that all explainers with ``progress=True`` share. Two bars would overwrite each
    other."""
    return ProgressBar()


def as_progress(progress: Progress | bool | None) -> Progress | None:
    """Returns the shared bar for True, None for False or None, and a callable unchanged. Raises
    InvalidInput for anything else."""
    if isinstance(progress, bool):
        return shared_bar() if progress else None
    if progress is not None and not callable(progress):
        raise InvalidInput(
            f"progress is {progress!r}; give True, a ProgressBar, or a function of a ProgressReport"
        )
    return progress
