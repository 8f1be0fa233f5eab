"""This module holds the hooks of the plugin, which pytest finds by the entry point ``rag_rules``.

pytest runs each test in phases: setup, call and teardown. If the call fails, pytest reports the test as
*failed*. If the setup fails, pytest reports an *error*. So this plugin reports a test that ended
undecided as if its setup had failed. Everything that reads pytest's reports then counts the test as an
error: the summary, JUnit XML, xdist and other plugins.
"""

from collections.abc import Callable, Generator
from functools import partial
from typing import Any

import pytest

from .running import RUNNING_TEST

_SECTION = "rag-rules"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the option that rewrites golden files."""
    parser.getgroup("rag-rules", "explanations of RAG applications").addoption(
        "--update-explanations",
        action="store_true",
        help="assert_stable writes the explanation into its golden file instead of comparing them.",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Stores whether golden files are to be rewritten, as the user's option says."""
    RUNNING_TEST.rewrites = bool(config.getoption("--update-explanations"))


def pytest_unconfigure() -> None:
    """Resets what was stored about this run of pytest. The same process may run pytest again."""
    RUNNING_TEST.rewrites, RUNNING_TEST.folder = False, None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, Any, Any]:
    """Stores the folder of the test while the test runs. Its golden files are in this folder."""
    before, RUNNING_TEST.folder = RUNNING_TEST.folder, item.path.parent
    try:
        return (yield)
    finally:
        RUNNING_TEST.folder = before


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Makes a method of ``unittest`` that is marked as an expected failure report ``Undecided`` as an
    error. Without this, pytest would count ``Undecided`` as the failure that the mark expects."""
    # For a test method of ``unittest``, pytest uses ``item`` as the unittest result. The class of
    # ``item`` is not public, so its methods for results are looked up by name.
    expected: Callable[..., None] | None = getattr(item, "addExpectedFailure", None)
    error: Callable[..., None] | None = getattr(item, "addError", None)
    if expected is not None and error is not None:
        vars(item)["addExpectedFailure"] = partial(_add_expected_failure, expected, error)


def _add_expected_failure(
    expected: Callable[..., None], error: Callable[..., None], test: object, raised: Any, *reason: str
) -> None:
    if _is_undecided(raised[1]):
        error(test, raised)
    else:
        expected(test, raised, *reason)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Reports a test that raised ``Undecided`` as an error, even if the test is marked as ``xfail``. If a
    test is marked to raise ``Undecided``, pytest's own report stays."""
    report = yield
    if call.when == "call" and call.excinfo is not None and _is_undecided(call.excinfo.value):
        if _is_expected(item):
            return report
        report.when, report.outcome = "setup", "failed"
        if hasattr(report, "wasxfail"):
            del report.wasxfail
        if not report.longrepr:
            report.longrepr = item.repr_failure(call.excinfo)
        report.sections.append((_SECTION, "undecided: neither passed nor failed"))
    return report


def _is_undecided(error: BaseException) -> bool:
    """Returns True iff the error is an ``Undecided``, an error that was raised from one, or an exception
    group that contains only such errors."""
    from ..errors import Undecided

    followed = list[BaseException]()
    while not isinstance(error, Undecided):
        inside: tuple[BaseException, ...] = getattr(error, "exceptions", ())
        if inside:
            return all(map(_is_undecided, inside))
        followed.append(error)
        if error.__cause__ is None or error.__cause__ in followed:
            return False
        error = error.__cause__
    return True


def _is_expected(item: pytest.Item) -> bool:
    """Returns True iff the test is marked to raise ``Undecided`` and nothing else."""
    from ..errors import Undecided

    marks = item.iter_markers("xfail")
    return any(mark.kwargs.get("raises") is Undecided for mark in marks)
