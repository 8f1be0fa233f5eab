"""``python -m tests.golden.write [ROOM ...]``: writes the golden files anew, of all rooms or of some.

What they say is what the tests hold the package to: look at ``git diff tests/golden`` before it is
committed, line by line.
"""

import logging
import shutil
import sys
from pathlib import Path

from tests.golden.goldens import FILES
from tests.golden.rooms import ROOMS, explanations, filled, made, written


def write(room: str, folder: Path) -> None:
    """Writes the files of one room, and nothing else is left in its folder."""
    files: dict[str, str] = {}
    for name in explanations(room):
        files |= made(room, name)
    for name in written(room):
        files |= filled(room, name)
    shutil.rmtree(folder, ignore_errors=True)
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content.encode("utf-8"))


if __name__ == "__main__":
    logging.disable()
    for room in sys.argv[1:] or ROOMS:
        write(room, FILES / room)
