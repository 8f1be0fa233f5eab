"""Exit codes are those of the table on the page of the command line."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.runs import BUILT, QUESTION, UNREACHABLE, RagRules, jsonl

ASKED = ("--question", QUESTION, "--predicate", "contains:1889")
WRONG = ("--app", "tests.citations.applications:wrong", "--framework", "plain")
LABEL = {"question": QUESTION, "answer": "in 1889", "label": True, "truth": "1889"}
Typed = tuple[object, ...]


def told_by_the_documentation() -> set[tuple[str, int]]:
    """The commands and codes of the table; an interrupt is tested with processes, in test_output."""
    text = (Path(__file__).parents[2] / "docs/reference/command-line.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w[\w-]*)` \|(.*)\|(.*)\|(.*)\|(.*)\|.*\|$", text, re.MULTILINE)
    return {(row[0], code) for row in rows for code in range(4) if row[code + 1].strip()}


@pytest.fixture
def file_of(rag_rules: RagRules, tmp_path: Path, sources: Path) -> Callable[..., Path]:
    """Keeps what explain prints as JSON."""

    def explained(name: str, *options: object) -> Path:
        given = () if "--sources" in options else ("--sources", sources)
        run = rag_rules("explain", *ASKED, "--json", *given, "--yes", *options)
        path = tmp_path / name
        path.write_text(run.out, encoding="utf-8")
        return path

    return explained


@pytest.fixture
def typed(sources: Path, tmp_path: Path, file_of: Callable[..., Path]) -> dict[tuple[str, int], Typed]:
    given = ("--sources", sources)
    labels = jsonl(tmp_path / "labels.jsonl", LABEL)
    judged = ("--predicate", "judged:is right", "--judge-model", "j", "--judge-base-url", UNREACHABLE)
    whole, stopped = file_of("whole.json"), file_of("stopped.json", "--max-replays", 2)
    other = jsonl(tmp_path / "other.jsonl", {**BUILT[0], "text": "Nothing."}, *BUILT[1:])
    changed = file_of("changed.json", "--sources", other)
    questions = tmp_path / "questions.txt"
    questions.write_text(QUESTION)
    checked = ("check", *given, "--questions", questions, "--forbid")
    rechecked = ("recheck", *ASKED, *given, "--top-k", 2)
    audited = ("audit", *given, "--questions", questions, "--out")
    rule = ("verify", *ASKED, *given, "--kind", "retention", "--rule")
    return {
        ("explain", 0): ("explain", *ASKED, *given),
        ("explain", 2): ("explain", *given),
        ("verify", 0): (*rule, "plaque"),
        ("verify", 1): (*rule, "menu"),
        ("verify", 2): (*rule, "nobody"),
        ("verify", 3): (*rule, "plaque", "--max-replays", 2),
        ("recheck", 0): (*rechecked, "--exclude", "plaque"),
        ("recheck", 1): (*rechecked, "--exclude", "menu", "--rounds", 1),
        ("recheck", 2): (*rechecked, "--exclude", "nobody"),
        ("check", 0): (*checked, "contains:1700"),
        ("check", 1): (*checked, "contains:1889"),
        ("check", 2): (*checked, "nonsense"),
        ("check", 3): (*checked, "contains:1889", "--max-size", 1, "--max-replays", 2),
        ("audit", 0): (*audited, tmp_path / "0", "--predicate", "contains:1700"),
        ("audit", 1): (*audited, tmp_path / "1", "--predicate", "contains:1889"),
        ("audit", 2): (*audited, tmp_path / "2", "--predicate", "nonsense"),
        ("audit", 3): (*audited, tmp_path / "3", "--predicate", "contains:1889", "--all-replays", 1),
        ("cite", 0): ("cite", *given, "--questions", questions),
        ("cite", 1): ("cite", "--questions", questions, *WRONG),
        ("cite", 2): ("cite", "--questions", questions),
        ("cite", 3): (
            *("cite", "--questions", questions, *WRONG),
            *("--max-replays", 2),
        ),
        ("doctor", 0): ("doctor",),
        ("doctor", 1): ("doctor", "--app", "nowhere_at_all:chain"),
        ("doctor", 2): ("doctor", "--price", "nonsense"),
        ("help", 0): ("help", "proved"),
        ("help", 2): ("help", "provd"),
        ("diff", 0): ("diff", whole, whole),
        ("diff", 1): ("diff", whole, changed),
        ("diff", 2): ("diff", whole, labels),
        ("diff", 3): ("diff", whole, stopped),
        ("judge-check", 0): ("judge-check", labels),
        ("judge-check", 2): ("judge-check", sources),
        ("judge-check", 3): ("judge-check", labels, *judged, "--retries", 0),
        ("estimate", 0): ("estimate", *ASKED, *given),
        ("estimate", 2): ("estimate", *given),
        ("experiment", 2): ("experiment", "efficiency", "--setting", "nowhere"),
    }


@pytest.mark.slow
def test_commands_exit_as_the_documentation_says(
    with_key: RagRules, typed: dict[tuple[str, int], Typed]
) -> None:
    # What an experiment ends with otherwise is tested where each of them is. Only a judge that abstains
    # leaves a recheck undecided.
    elsewhere = {("experiment", 0), ("experiment", 3), ("recheck", 3)}
    assert set(typed) == told_by_the_documentation() - elsewhere
    ended = {(command, code): with_key(*words).code for (command, code), words in typed.items()}
    assert ended == {(command, code): code for command, code in typed}
