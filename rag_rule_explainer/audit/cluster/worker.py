"""This module defines the worker that runs on a cluster: it builds the application once, and explains
questions with it."""

import os
import platform
import sys
from pathlib import Path
from typing import Any, NamedTuple

from ...errors import RagRuleError
from ...probing.judging import error_text
from ...storing.opened import close_all
from ...version import __version__
from ..asking import audited_answer, explainer_for
from ..engine import AuditJob
from ..questions import AuditedAnswer, LoggedQuestion
from .ledger import Ledger, LedgerPlan


class WorkerState(NamedTuple):
    """A ``WorkerState`` is a worker's report on itself. ``fault``: why it cannot explain anything; empty
    if it can. ``version``: its version of this package. ``where``: its machine and process."""

    fault: str
    version: str
    where: str


class Worker:
    """A ``Worker`` explains questions in one process of a cluster. It is an actor of Ray. If it dies, Ray
    restarts it, and the new worker builds the application again.

    ``folder``: the working folder of the driver, the process that began the audit. If this machine has a
    folder with this path, applications can be imported from it.
    """

    def __init__(self, job: AuditJob, plan: LedgerPlan, folder: str) -> None:
        self._job, self._plan = job, plan
        self._explainer: Any = None
        self._ledger: Ledger | None = None
        # The folder is searched last, so that a working folder which Ray has copied to this machine is
        # preferred.
        if Path(folder).is_dir() and folder not in sys.path:
            sys.path.append(folder)

    async def state(self) -> WorkerState:
        """Builds the application, and returns whether that succeeded. If it failed, the returned
        ``fault`` says why: no error is raised, because not every error can be sent through Ray."""
        fault = ""
        try:
            self._built()
        except RagRuleError as error:
            fault = str(error)
        except Exception as error:
            fault = f"the application cannot be built: {error_text(error)}"
        return WorkerState(fault, __version__, f"{platform.node()}, process {os.getpid()}")

    async def ask(self, question: LoggedQuestion) -> AuditedAnswer:
        """Asks one question, explains the answer, and returns the result. An error makes the result
        "failed"."""
        return await audited_answer(self._built(), self._job, question)

    async def finish(self) -> None:
        """Writes the latest spending to the database, and closes the store and the ``Ledger``."""
        if self._ledger is not None:
            self._ledger.close()
        close_all()

    def _built(self) -> Any:
        if self._explainer is None:
            self._ledger = self._ledger or Ledger(self._plan)
            self._explainer = explainer_for(self._job, self._ledger)
        return self._explainer
