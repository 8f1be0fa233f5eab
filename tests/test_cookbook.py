"""The notebooks of the cookbook run, and print what they are stored with."""

import json
import re
from pathlib import Path
from typing import Any, cast

import pytest

COOKBOOK = Path(__file__).parents[1] / "cookbook"
MADE = re.compile(r"^Made\n(?:  .*\n)+", re.MULTILINE)
"""When and with which versions a report was made, which differs from run to run."""
NOTEBOOKS = sorted(COOKBOOK.glob("*.ipynb"))


def printed(notebook: Any) -> list[str]:
    """What each cell of code wrote to stdout."""
    return [
        "".join(output.text for output in cell.outputs if output.get("name") == "stdout")
        for cell in notebook.cells
        if cell.cell_type == "code"
    ]


def test_there_is_a_notebook_for_each_framework_and_each_story() -> None:
    stories = [path.stem for path in NOTEBOOKS]
    told = ("judges_and_noise", "langchain", "llama_index", "paper", "plain", "poisoned_corpus")
    assert stories == ["agents", "citations", *told, "red_team"]


def test_the_readme_names_each_notebook() -> None:
    readme = (COOKBOOK.parent / "README.md").read_text(encoding="utf-8")
    assert [path.name for path in NOTEBOOKS if f"(cookbook/{path.name})" not in readme] == []


def test_published_records_that_no_clone_has_are_linked_to() -> None:
    for path in NOTEBOOKS:
        told = json.loads(path.read_text(encoding="utf-8"))
        cells = ["".join(cell["source"]) for cell in told["cells"]]
        for place, cell in enumerate(cells):
            if "shared/data/" in cell:
                assert re.search(r"\]\(https://", "\n".join(cells[:place])), path.name


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("path", NOTEBOOKS, ids=[path.name for path in NOTEBOOKS])
def test_a_notebook_prints_what_it_is_stored_with(path: Path) -> None:
    # Imported late: of all that every worker collects, these would take a tenth of the time.
    import nbformat
    from nbclient import NotebookClient

    read: Any = cast("Any", nbformat).read
    stored = read(path, as_version=4)
    assert any("whenever" in text for text in printed(stored))
    run = read(path, as_version=4)
    NotebookClient(run, timeout=120, kernel_name="python3").execute()
    assert "IProgress" not in str(run)  # no red box about progress bars above the first result
    for now, then in zip(printed(run), printed(stored), strict=True):
        # Published records may be elsewhere.
        assert MADE.sub("", now) == MADE.sub("", then) or now.startswith("not here: ")
