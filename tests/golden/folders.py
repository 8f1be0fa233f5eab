"""An empty folder to work in, so that no path is in what is written."""

import os
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def empty_folder() -> Generator[Path, None, None]:
    """The current folder meanwhile; it is gone afterwards."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        os.chdir(folder)
        try:
            yield Path(folder)
        finally:
            os.chdir(before)
