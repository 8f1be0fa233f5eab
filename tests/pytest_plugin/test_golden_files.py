"""Golden files: written when asked for, compared by their rules."""

import json
from pathlib import Path

import pytest

from tests.pytest_plugin.conftest import Run

pytest_plugins = ["pytester"]
STABLE = """
def test_it():
    assert_stable(says({wanted}), "golden/it.json")
"""
UPDATE = "--update-explanations"


@pytest.fixture
def golden(pytester: pytest.Pytester) -> Path:
    return pytester.path / "golden" / "it.json"


def test_a_file_that_is_missing_is_written_when_asked_for(run: Run, golden: Path) -> None:
    ended = run(STABLE.format(wanted="'a'"))
    ended.assert_outcomes(failed=1)
    ended.stdout.fnmatch_lines(
        ["E*there is no golden file *it.json; pytest --update-explanations writes it"]
    )
    run(STABLE.format(wanted="'a'"), UPDATE).assert_outcomes(passed=1)
    assert golden.stat().st_mode & 0o044
    assert [each.name for each in golden.parent.iterdir()] == ["it.json"]
    run(STABLE.format(wanted="'a'")).assert_outcomes(passed=1)
    run(STABLE.format(wanted="'a'"), "-p", "xdist", "-n", "2").assert_outcomes(passed=1)


def test_other_rules_are_said_and_written_when_asked_for(run: Run, golden: Path) -> None:
    run(STABLE.format(wanted="'a'"), UPDATE)
    before = golden.read_bytes()
    ended = run(STABLE.format(wanted="'ab'"))
    ended.assert_outcomes(failed=1)
    ended.stdout.fnmatch_lines(["E*other rules than in it.json*"])
    assert golden.read_bytes() == before
    run(STABLE.format(wanted="'ab'"), UPDATE).assert_outcomes(passed=1)
    assert golden.read_bytes() != before
    run(STABLE.format(wanted="'ab'")).assert_outcomes(passed=1)


def test_the_same_rules_are_not_written_again(run: Run, golden: Path) -> None:
    run(STABLE.format(wanted="'a'"), UPDATE)
    saved = json.loads(golden.read_text())
    assert saved["id"] == ""
    assert {probe["latency"] for probe in saved["probes"]} == {None}
    golden.write_text(json.dumps({**saved, "id": "of another run", "versions": {"python": "2.7"}}))
    before = golden.read_bytes()
    run(STABLE.format(wanted="'a'"), UPDATE).assert_outcomes(passed=1)
    run(STABLE.format(wanted="'a'")).assert_outcomes(passed=1)
    assert golden.read_bytes() == before


def test_what_is_undecided_is_neither_written_nor_compared(run: Run, golden: Path) -> None:
    test = "def test_it():\n    assert_stable(stuck(), 'golden/it.json')"
    run(test, UPDATE).assert_outcomes(errors=1)
    assert not golden.exists()
    run(STABLE.format(wanted="'ab'"), UPDATE)
    run(test).assert_outcomes(errors=1)


def test_a_file_that_is_no_explanation_is_said(run: Run, golden: Path) -> None:
    golden.parent.mkdir()
    golden.write_text("{}")
    ended = run(STABLE.format(wanted="'a'"))
    ended.stdout.fnmatch_lines(["E*InvalidInput: *it.json has no explanation: *"])
    run(STABLE.format(wanted="'a'"), UPDATE).assert_outcomes(passed=1)
    run(STABLE.format(wanted="'a'")).assert_outcomes(passed=1)
    golden.unlink()
    golden.mkdir()
    ended = run(STABLE.format(wanted="'a'"))
    ended.stdout.fnmatch_lines(["E*InvalidInput: *it.json cannot be read: Is a directory; give *"])
    ended = run(STABLE.format(wanted="'a'"), UPDATE)
    ended.stdout.fnmatch_lines(["E*InvalidInput: *it.json cannot be written: Is a directory; give *"])
    assert [each.name for each in golden.parent.iterdir()] == ["it.json"]


@pytest.mark.parametrize(
    "unlike",
    ["question='what?'", "pinned=['c']", "predicate=contains('y')", "rules='omission', pinned=['b']"],
)
def test_a_file_of_something_else_decides_nothing(run: Run, unlike: str) -> None:
    run(STABLE.format(wanted="'a'"), UPDATE)
    ended = run(STABLE.format(wanted=f"'a', {unlike}"))
    ended.assert_outcomes(errors=1)
    ended.stdout.fnmatch_lines(["E*Undecided: undecided whether the rules are those of it.json:*"])


def test_a_stopped_search_strengthens_nothing(run: Run) -> None:
    run(STABLE.format(wanted="'a'"), UPDATE)
    stopped = "'a', miner='sampled', limits=__import__('rag_rule_explainer').Limits(replays=3)"
    run(STABLE.format(wanted=stopped)).assert_outcomes(errors=1)


@pytest.mark.parametrize("case", ["TestCase", "IsolatedAsyncioTestCase"])
def test_an_expected_failure_of_unittest_is_not_met_by_undecided(run: Run, case: str) -> None:
    begun = "async def" if case.startswith("Isolated") else "def"
    lines = (
        "import unittest",
        f"class Test(unittest.{case}):",
        "    @unittest.expectedFailure",
        f"    {begun} test_undecided(self): assert_rule(stuck(), retains={{'a', 'b'}})",
        "    @unittest.expectedFailure",
        f"    {begun} test_fails(self): assert_rule(says('ab'), retains={{'a'}})",
    )
    run("\n".join(lines)).assert_outcomes(errors=1, xfailed=1)
