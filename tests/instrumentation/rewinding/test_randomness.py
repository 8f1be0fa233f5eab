"""Files that seed a generator of random numbers are found."""

import linecache
from pathlib import Path

from rag_rule_explainer.instrumentation.rewinding.randomness import seeds_a_generator


def test_a_file_is_searched_again_once_its_lines_were_read_anew(tmp_path: Path) -> None:
    file = tmp_path / "own.py"
    file.write_text("import random\n")
    assert not seeds_a_generator(str(file))
    file.write_text("import random\nrandom.seed(7)\n")
    linecache.checkcache(str(file))
    assert seeds_a_generator(str(file))
