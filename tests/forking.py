"""Other processes that have imported already what they need: each is a fork of one that did."""

import multiprocessing
import os
import sys
from multiprocessing.connection import Connection
from pathlib import Path
from types import CodeType
from typing import IO, cast

ROOT = Path(__file__).parents[1]
_forks = multiprocessing.get_context("forkserver")


def imported_once(*modules: str) -> None:
    """Has these imported by the one process that all the others are forks of. Call it before any."""
    _forks.set_forkserver_preload(list(modules))


class Forked:
    """A process that runs some code, with the parts of ``subprocess.Popen`` that tests need.

    It ends without what an interpreter does at its end: what that is about needs a real one.
    """

    def __init__(self, code: str, *arguments: object) -> None:
        reads, self._feeds = _forks.Pipe(duplex=False)
        self._told, writes = _forks.Pipe(duplex=False)
        given = list(map(str, arguments))
        process = _forks.Process(target=_run, args=(code, given, reads, writes), daemon=True)
        before = Path.cwd()
        os.chdir(ROOT)  # whence the process that is forked finds the modules that it is to import
        try:
            process.start()
        finally:
            os.chdir(before)
        reads.close()
        writes.close()
        self._process = process
        self.stdin = cast("IO[str]", os.fdopen(os.dup(self._feeds.fileno()), "w", encoding="utf-8"))
        self.stdout = cast("IO[str]", os.fdopen(os.dup(self._told.fileno()), encoding="utf-8"))
        self._feeds.close()
        self._told.close()

    @property
    def pid(self) -> int:
        assert self._process.pid is not None
        return self._process.pid

    @property
    def returncode(self) -> int | None:
        return self._process.exitcode

    def wait(self, timeout: float) -> int:
        """How it ended. Raises AssertionError if it does not end."""
        self._process.join(timeout)
        assert self._process.exitcode is not None, "it does not end"
        return self._process.exitcode

    def communicate(self, timeout: float) -> tuple[str, None]:
        """What it has told since, once it has ended."""
        self.stdin.close()
        told = "" if self.stdout.closed else self.stdout.read()
        self.stdout.close()
        self.wait(timeout)
        return told, None


def _run(code: str, arguments: list[str], reads: Connection, writes: Connection) -> None:
    os.dup2(reads.fileno(), 0)
    os.dup2(writes.fileno(), 1)
    reads.close()
    writes.close()
    sys.argv = ["-c", *arguments]
    sys.stdin, sys.stdout = os.fdopen(0), os.fdopen(1, "w")
    compiled: CodeType = compile(code, "<told>", "exec")
    try:
        exec(compiled, {"__name__": "__main__"})  # noqa: S102 -- the code is a test's
    finally:
        sys.stdout.flush()
