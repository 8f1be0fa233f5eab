"""This module holds the data about the running test that the assertions need: its folder, and whether
golden files are to be written."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(slots=True)
class RunningTest:
    """A ``RunningTest`` holds the folder of the running test, and whether golden files (files with
    expected results) are to be written (``rewrites``) instead of compared. Outside of pytest, the folder
    is the current directory."""

    folder: Path | None = None
    rewrites: bool = False

    def path(self, name: str) -> Path:
        """Returns the path of a golden file. A relative path starts at the folder of the running test."""
        return (self.folder or Path.cwd()) / name


RUNNING_TEST = RunningTest()
"""The test that runs in this process. There is only one at a time: pytest-xdist runs parallel tests in
separate processes."""
