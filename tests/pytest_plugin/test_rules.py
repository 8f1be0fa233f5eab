"""What a test sees of a rule: it passes, fails with the rule and the witness, or is an error."""

from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.pytest_plugin.conftest import Run

pytest_plugins = ["pytester"]

UNDECIDED = """
def test_open():
    assert_rule(stuck(), retains={"a", "b"})
"""


def test_what_is_so_passes(run: Run) -> None:
    run(
        """
def test_it():
    explanation = says("ab")
    assert_rule(explanation, retains={"a", "b"})
    assert_rule(explanation, retains=["c", "b", "a"])
    assert_rule(explanation, omits={"a"})
    assert_no_rule(explanation, within={"a", "c"}, kind="retention")
    assert_no_rule(explanation, max_size=1, kind="retention")
    assert_no_rule(explanation, within={"c"})
"""
    ).assert_outcomes(passed=1)


def test_a_failure_shows_rule_and_witness(run: Run) -> None:
    ended = run(
        """
def test_no_rule():
    assert_rule(says("ab"), retains={"a"})
def test_a_rule():
    assert_no_rule(says("ab"), within={"a", "b"}, max_size=2, kind="retention")
"""
    )
    ended.assert_outcomes(failed=2)
    ended.stdout.fnmatch_lines(
        [
            "E * this is no rule: whenever a is retained, the answer contains 'yes'",
            "E * with a and c retained, the answer was 'no'",
            "E * rules that were found:",
            "E *   whenever a and b are retained, *'yes' [[]proved on all 2 subsets[]]",
            "E * there is such a rule:",
            "E *   whenever a and b are retained, *'yes' [[]proved on all 2 subsets[]]",
            "E *     with a and b retained, the answer was 'yes'",
        ]
    )
    # The lines are the user's, not this package's.
    ended.stdout.no_fnmatch_line("*rule_assertions.py*")


@pytest.mark.spread(fast=2)
@pytest.mark.parametrize("options", [(), ("-n", "2", "-p", "xdist")], ids=["here", "xdist"])
def test_undecided_is_an_error(run: Run, pytester: pytest.Pytester, options: tuple[str, ...]) -> None:
    ended = run(
        f"""
import pytest
{UNDECIDED}
def test_also_open():
    assert_no_rule(stuck(), max_size=2, kind="retention")
@pytest.mark.xfail
def test_expected_to_fail():
    assert_rule(stuck(), retains={{"a", "b"}})
@pytest.mark.xfail(raises=Undecided)
def test_expected_to_be_open():
    assert_rule(stuck(), retains={{"a", "b"}})
def test_decided():
    assert_rule(says("a"), retains={{"a"}})
def test_wrong():
    assert_rule(says("a"), retains={{"b"}})
""",
        "--junitxml=out.xml",
        *options,
    )
    ended.assert_outcomes(passed=1, failed=1, errors=3, xfailed=1)
    ended.stdout.fnmatch_lines(
        ["*undecided whether whenever a and b are retained, the answer contains 'yes'"]
    )
    ended.stdout.fnmatch_lines(["*because *no verdict with a and b retained: ValueError: away"])
    suite = ElementTree.parse(Path(pytester.path) / "out.xml").getroot()[0]  # noqa: S314 -- ours
    assert (suite.get("errors"), suite.get("failures"), suite.get("tests")) == ("3", "1", "6")
    assert len(suite.findall("testcase/error")) == 3


def test_what_is_raised_from_undecided_is_an_error(run: Run) -> None:
    ended = run(
        """
def test_wrapped():
    try:
        assert_rule(stuck(), retains={"a", "b"})
    except Undecided as error:
        raise AssertionError("wrapped") from error
def test_wrapped_twice():
    try:
        test_wrapped()
    except AssertionError as error:
        raise ValueError("wrapped again") from error
def test_another_one_that_fails():
    try:
        assert_rule(stuck(), retains={"a", "b"})
    except Undecided:
        assert_rule(says("a"), retains={"b"})
def test_a_circle():
    one, other = ValueError(), ValueError()
    one.__cause__, other.__cause__ = other, one
    raise one
"""
    )
    ended.assert_outcomes(errors=2, failed=2)


def test_an_undecided_test_ends_the_run_with_code_1(run: Run) -> None:
    assert run(UNDECIDED).ret == pytest.ExitCode.TESTS_FAILED
    assert run(UNDECIDED, "-x").ret == pytest.ExitCode.TESTS_FAILED
    expected = f"import pytest\npytestmark = pytest.mark.xfail\n{UNDECIDED}"
    assert run(expected).ret == pytest.ExitCode.TESTS_FAILED


def test_a_failure_beside_it_is_a_failure(run: Run) -> None:
    run(
        """
class Group(Exception):
    def __init__(self, *exceptions):
        self.exceptions = exceptions
def test_both():
    raise Group(Undecided("?"), AssertionError("!"))
def test_one():
    raise Group(Undecided("?"))
"""
    ).assert_outcomes(failed=1, errors=1)


@pytest.mark.spread(fast=3)
@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("assert_rule(says('a'))", "needs retains= or omits="),
        ("assert_rule(says('a'), retains=['a'], omits=['a'])", "needs retains= or omits="),
        ("assert_rule(says('a'), retains='abc')", "give a list of ids of sources"),
        ("assert_rule(says('a'), retains=['d'])", "'d', which is no source"),
        ("assert_no_rule(says('a'), within=['d'])", "'d', which is no source"),
        ("assert_no_rule(says('a'), max_size=-1)", "max_size is -1"),
        ("assert_no_rule(says('a'), kind='both')", "give 'retention' or 'omission'"),
        ("assert_no_rule('a')", "an Explanation is needed"),
        ("assert_rule(says('a'), retains=['a'], max_error=1)", "max_error is 1"),
        ("assert_stable('a', 'golden.json')", "an Explanation is needed"),
    ],
)
def test_a_wrong_assertion_says_what_to_give(run: Run, line: str, said: str) -> None:
    ended = run(f"def test_it():\n    {line}")
    ended.assert_outcomes(failed=1)
    ended.stdout.fnmatch_lines([f"E*InvalidInput: *{said}*"])


@pytest.mark.waits
def test_the_plugin_is_imported_fast() -> None:
    import subprocess
    import sys

    code = "import rag_rule_explainer.pytest_plugin.hooks, sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert loaded.isdisjoint({"pydantic", "langchain_core", "llama_index", "sqlalchemy", "rich", "anyio"})
    without_pytest = "import rag_rule_explainer.pytest_plugin as p, sys; p.assert_rule; p.assert_stable; "
    code = f"{without_pytest}print('pytest' in sys.modules, 'langchain_core' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]
