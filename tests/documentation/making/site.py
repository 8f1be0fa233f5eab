"""The site: pages that are kept in the folder, pages that are made, and what Sphinx makes of both.

``python -m tests.documentation.making.site`` builds it, and fails at the first doubt.
"""

import shutil
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from time import monotonic

from tests.documentation.making import commands, errors, help_pages, names, schema, settings
from tests.documentation.making.places import DOCS, SITE

SOURCES = SITE.with_name("site-sources")


@cache
def made() -> Mapping[str, str]:
    """Every page that is made for the site alone, by its path."""
    reference = {
        **dict(names.pages()),
        "settings.md": settings.page(),
        "errors.md": errors.page(),
        "commands.md": commands.page(),
        "schema.md": schema.page(),
    }
    return {
        **{f"reference/{name}": text for name, text in reference.items()},
        **{f"help/{name}": text for name, text in help_pages.pages()},
    }


def assembled(folder: Path) -> Path:
    """The folder, with all sources of the site in it and nothing else."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(DOCS, folder, ignore=shutil.ignore_patterns("__pycache__"))
    for name, text in made().items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def build(folder: Path = SITE) -> int:
    """Builds the site anew; a warning is an error. Returns the exit code."""
    shutil.rmtree(folder, ignore_errors=True)
    sources = assembled(SOURCES if folder == SITE else folder.with_name(f"{folder.name}-sources"))
    options = ["-b", "html", "-W", "--keep-going", "-E", "-q", "-j", "2"]
    done = subprocess.run([sys.executable, "-m", "sphinx", *options, sources, folder], check=False)
    return done.returncode


if __name__ == "__main__":
    began = monotonic()
    code = build()
    print(
        f"{SITE.name}: {len(list(SITE.rglob('*.html')))} pages in {monotonic() - began:.0f} s, in {SITE}"
    )
    sys.exit(code)
