"""The progress bar: one for a script, a terminal, a notebook or a log."""

import atexit
import os
import sys
import threading
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from typing import Literal, TextIO, TypeAlias, get_args

from typing_extensions import Self

from ..allowed import brief, checked_flag
from ..errors import InvalidInput
from .lines import Lines
from .report import Progress, ProgressReport
from .shown import Shown
from .wording import Row

FormName: TypeAlias = Literal["auto", "terminal", "notebook", "lines"]


class ProgressBar:
    """Shows how far explanations are: probes done, of how many known to be needed, of how many at most.

    Beside these, replays and their pace, failures, retries, answers from the store, tokens, cost, and how
    long what is *known to be needed* will take. To be given as ``progress`` to any explainer, or to
    several, in one thread or many: each explanation has a row of its own.

    ``form``: "terminal", a bar that is redrawn in place; "notebook", the same as HTML in Jupyter;
    "lines", a line at the first probe, at 100, 200, 400 and so on, and at the end; "auto", whichever of
    these fits the place. ``file``: where the first and the last go, by default stderr. ``keep``: whether
    the last state of each bar stays to be seen.

    It appears with the first report and goes when the last explanation has ended, in whatever way. As a
    context manager it is there at once, and closed on leaving. While nothing is drawn, a report costs
    microseconds; drawing is done in a thread beside, at most ten times a second.

    Raises InvalidInput for a form that is none, for "notebook" without IPython, and for what is no file.
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

    def __call__(self, report: ProgressReport, /) -> None:
        """Takes in one report. Raises what goes wrong while showing it, having closed."""
        with self._guard:
            if report.call in self._ignored:
                if report.done:
                    self._ignored.remove(report.call)
                return
            try:
                self._tell(report)
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
        """Closes now; what explanations that are still under way report from here on is ignored."""
        with self._guard:
            self._held = False
            self._ignored |= self._under_way
            self._leave()

    def _tell(self, report: ProgressReport) -> None:
        if report.done and report.call not in self._under_way:
            return  # it ended before its first probe, and was never shown
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
            self._shown.tell(row)
            return
        shown = self._open()
        shown.tell(row)
        shown.start()

    def _open(self) -> Shown:
        self._shown = shown_as(self._form, self._file, keep=self._keep)
        # A cursor that was hidden must come back even where an interrupt leaves explanations behind.
        atexit.register(self.close)
        return self._shown

    def _leave(self) -> None:
        shown, self._shown = self._shown, None
        self._numbers.clear()
        self._under_way.clear()
        atexit.unregister(self.close)
        if shown is not None:
            # A place that is gone cannot be tidied, and an explanation is worth more than its bar.
            with suppress(Exception):
                shown.close()


def shown_as(form: FormName, file: TextIO | None, *, keep: bool) -> Shown:
    """Returns the form of this name; for "auto", the one that fits."""
    # Rich and IPython are loaded by those who see something of them.
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
    """Returns whether it is one that can be redrawn. Asked directly: FORCE_COLOR convinces Rich of any
    file."""
    return file.isatty() and os.environ.get("TERM") != "dumb"


@cache
def shared_bar() -> ProgressBar:
    """Returns the bar of all who ask for ``progress=True``: two bars on one terminal would garble each
    other."""
    return ProgressBar()


def as_progress(progress: Progress | bool | None) -> Progress | None:
    """Returns a bar for True, nothing for False. Raises InvalidInput for what cannot be told."""
    if isinstance(progress, bool):
        return shared_bar() if progress else None
    if progress is not None and not callable(progress):
        raise InvalidInput(
            f"progress is {progress!r}; give True, a ProgressBar, or a function of a ProgressReport"
        )
    return progress
