"""Writes the pictures: ``make pictures``. Screenshots are taken anew where their page has changed."""

import json
import tempfile
from collections.abc import Mapping
from pathlib import Path

from tests.browser.opening import DESKTOP, Opened, launched
from tests.pictures.making import FOLDER, TAKEN_OF, drawings, hashes, pages, taken_of

SIZES = {"notebook.png": {"width": 900, "height": 760}}
"""Those that are not of a whole window."""


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, drawing in drawings().items():
        (FOLDER / name).write_text(drawing, encoding="utf-8")
    known: Mapping[str, str] = taken_of() if TAKEN_OF.exists() else {}
    now = hashes()
    with tempfile.TemporaryDirectory() as folder, launched() as browser:
        for name, page in pages().items():
            if known.get(name) == now[name] and (FOLDER / name).exists():
                continue
            file = Path(folder) / "page.html"
            file.write_text(page, encoding="utf-8")
            opened = Opened.of(browser, file, {"viewport": SIZES.get(name, DESKTOP)})
            opened.page.screenshot(path=FOLDER / name)
            opened.context.close()
    TAKEN_OF.write_text(json.dumps(now, indent=2) + "\n")


if __name__ == "__main__":
    main()
