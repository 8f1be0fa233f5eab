"""This module holds agents whose tool reads a file by a path in its code, an environment variable, a
variable by its name, or a buffer, and code of the application, that is no tool, that writes there."""

import io
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from langchain.agents.middleware import before_model
from langchain_core.tools import tool

from tests.agents.reading import Omitted, cut, policy_for, told
from tests.agents.reading_agents import agent_of, guilty, innocent

NOTES = Path(tempfile.gettempdir()) / f"rag_rules_notes_{os.getpid()}" / "mails.txt"
KEPT: list[str] = []
MARK = "RAG_RULES_TEST_MAILS"


def _fresh(name: str = "mails.txt") -> None:
    for each in (Path(name), NOTES):
        each.unlink(missing_ok=True)
    NOTES.parent.mkdir(exist_ok=True)
    os.environ.pop(MARK, None)
    KEPT.clear()


def _with(omitted: Omitted, read: Any, write: Any) -> Any:
    """An agent whose tool says what ``read`` returns. ``write`` gets what tools have returned before each
    request to the model."""
    _fresh()

    @tool
    def policy() -> str:
        """Policy."""
        return cut("policy #1", policy_for(read()), omitted)

    @before_model
    def keep(state: Any, runtime: Any) -> None:
        write(told(state["messages"]))

    return agent_of(omitted, policy, keep)


def _to_file(text: str) -> None:
    Path("mails.txt").write_text(text, encoding="utf-8")


def _lines_of(text: str) -> str:
    return "\n".join(each for each in text.splitlines() if "4711" in each)


def _literal() -> str:
    with open("mails.txt", encoding="utf-8") as file:  # noqa: PTH123 -- this way to open one is tested
        return file.read()


@guilty
def file_with_a_literal_path(omitted: Omitted) -> Any:
    return _with(omitted, _literal, _to_file)


@guilty
def file_by_pathlib(omitted: Omitted) -> Any:
    return _with(omitted, lambda: Path("mails.txt").read_text(encoding="utf-8"), _to_file)


@guilty
def file_whose_path_is_put_together(omitted: Omitted) -> Any:
    return _with(omitted, lambda: Path("mails" + ".txt".lower()).read_text(encoding="utf-8"), _to_file)


@guilty
def file_with_a_constant_path(omitted: Omitted) -> Any:
    return _with(omitted, lambda: NOTES.read_text(encoding="utf-8"), NOTES.write_text)


@guilty
def file_that_a_function_of_the_tool_reads(omitted: Omitted) -> Any:
    def found() -> str:
        return _literal()

    return _with(omitted, lambda: found(), _to_file)


@guilty
def file_that_is_there_only_after_a_mail(omitted: Omitted) -> Any:
    def write(text: str) -> None:
        if "4711" in text:
            Path("mails.txt").touch()

    return _with(omitted, lambda: "4711" if Path("mails.txt").exists() else "", write)


@guilty
def file_that_is_not_written_without_a_mail(omitted: Omitted) -> Any:
    def write(text: str) -> None:
        if "4711" in text:
            _to_file("account 4711")

    def read() -> str:
        found = Path("mails.txt")
        return found.read_text(encoding="utf-8") if found.exists() else ""

    return _with(omitted, read, write)


@guilty
def file_that_is_changed_only_after_a_mail(omitted: Omitted) -> Any:
    def write(text: str) -> None:
        if "4711" in text:
            _to_file("account 4711")

    agent = _with(omitted, _literal, write)
    _to_file("none")
    return agent


@guilty
def file_that_is_added_to(omitted: Omitted) -> Any:
    def write(text: str) -> None:
        with Path("mails.txt").open("a", encoding="utf-8") as file:
            file.write(_lines_of(text))

    return _with(omitted, _literal, write)


@guilty
def file_that_is_renamed(omitted: Omitted) -> Any:
    def write(text: str) -> None:
        Path("new.txt").write_text(text, encoding="utf-8")
        Path("new.txt").replace("mails.txt")

    return _with(omitted, _literal, write)


@guilty
def file_in_a_listed_folder(omitted: Omitted) -> Any:
    def write(text: str) -> None:
        if "4711" in text:
            (NOTES.parent / "mails.txt").touch()

    return _with(omitted, lambda: "4711" if os.listdir(NOTES.parent) else "", write)  # noqa: PTH208 -- this way is tested


@guilty
def file_in_a_folder_of_the_run(omitted: Omitted) -> Any:
    def app(question: Any) -> Any:
        held = {"folder": tempfile.mkdtemp()}

        def write(text: str) -> None:
            Path(held["folder"], "mails.txt").write_text(text, encoding="utf-8")

        return _with(
            omitted,
            lambda: Path(held["folder"], "mails.txt").read_text(encoding="utf-8"),
            write,
        ).invoke(question)

    return app


def _set(text: str) -> None:
    os.environ.update({MARK: text})


@guilty
def environment_variable(omitted: Omitted) -> Any:
    return _with(omitted, lambda: os.environ[MARK], _set)


@guilty
def environment_variable_by_a_literal(omitted: Omitted) -> Any:
    def write(text: str) -> None:
        os.environ["RAG_RULES_TEST_MAILS"] = text

    return _with(omitted, lambda: os.getenv("RAG_RULES_TEST_MAILS"), write)


@guilty
def environment_variable_that_is_set_after_a_mail(omitted: Omitted) -> Any:
    def write(text: str) -> None:
        if "4711" in text:
            os.environ["RAG_RULES_TEST_MAILS"] = "4711"

    return _with(omitted, lambda: os.environ.get("RAG_RULES_TEST_MAILS", ""), write)


@guilty
def environment_variable_whose_name_is_put_together(omitted: Omitted) -> Any:
    def write(text: str) -> None:
        os.environ[MARK] = text

    return _with(omitted, lambda: os.environ["_".join(["RAG", "RULES", "TEST", "MAILS"])], write)


def _keep(text: str) -> None:
    KEPT[:] = [text]


@guilty
def variable_by_its_name(omitted: Omitted) -> Any:
    return _with(omitted, lambda: globals()["KEPT"], _keep)


@guilty
def variable_by_a_name_that_is_put_together(omitted: Omitted) -> Any:
    return _with(omitted, lambda: globals()["".join(["KE", "PT"])], _keep)


@guilty
def variable_of_a_module_by_its_name(omitted: Omitted) -> Any:
    return _with(omitted, lambda: sys.modules["tests.agents.reading_files"].KEPT, _keep)


@guilty
def variable_of_this_module(omitted: Omitted) -> Any:
    return _with(omitted, lambda: sys.modules[__name__].KEPT, _keep)


@guilty
def variable_by_getattr(omitted: Omitted) -> Any:
    return _with(omitted, lambda: getattr(sys.modules[__name__], "KEPT"), _keep)  # noqa: B009 -- tested


@guilty
def variable_by_vars(omitted: Omitted) -> Any:
    return _with(omitted, lambda: vars(sys.modules[__name__])["KEPT"], _keep)


@guilty
def buffer_of_the_run(omitted: Omitted) -> Any:
    def app(question: Any) -> Any:
        buffer = io.StringIO()
        return _with(omitted, buffer.getvalue, buffer.write).invoke(question)

    return app


@guilty
def buffer_of_bytes(omitted: Omitted) -> Any:
    def app(question: Any) -> Any:
        buffer = io.BytesIO()

        def write(text: str) -> None:
            buffer.write(text.encode())

        return _with(omitted, lambda: buffer.getvalue(), write).invoke(question)

    return app


@guilty
def buffer_in_a_dict(omitted: Omitted) -> Any:
    def app(question: Any) -> Any:
        held = {"buffer": io.StringIO()}

        def write(text: str) -> None:
            held["buffer"].write(text)

        return _with(omitted, lambda: held["buffer"].getvalue(), write).invoke(question)

    return app


# The tools below read nothing that depends on a source.


def _nothing(text: str) -> None:
    pass


def _known() -> str:
    with open("known.txt", encoding="utf-8") as file:  # noqa: PTH123 -- this way to open one is tested
        return file.read()


def _with_a_known_file(omitted: Omitted, read: Any, write: Any) -> Any:
    if not Path("known.txt").exists():
        Path("known.txt").write_text("account 4711", encoding="utf-8")
    return _with(omitted, read, write)


@innocent
def file_that_is_only_read(omitted: Omitted) -> Any:
    return _with_a_known_file(omitted, _known, _nothing)


@innocent
def file_that_is_read_where_another_is_written(omitted: Omitted) -> Any:
    return _with_a_known_file(omitted, _known, _to_file)


@innocent
def file_that_is_written_the_same(omitted: Omitted) -> Any:
    def write(text: str) -> None:
        _to_file("account 4711")

    return _with(omitted, _literal, write)


@innocent
def constant_path_that_is_written_the_same(omitted: Omitted) -> Any:
    def write(text: str) -> None:
        NOTES.write_text("account 4711", encoding="utf-8")

    return _with(omitted, lambda: NOTES.read_text(encoding="utf-8"), write)


@innocent
def log_of_the_tool(omitted: Omitted) -> Any:
    def read() -> str:
        with open("log.txt", "a", encoding="utf-8") as file:  # noqa: PTH123 -- this way is tested
            file.write("policy")
        return "4711"

    return _with(omitted, read, _nothing)


@innocent
def log_that_the_application_fills_too(omitted: Omitted) -> Any:
    def added(text: str) -> None:
        with open("mails.txt", "a", encoding="utf-8") as file:  # noqa: PTH123 -- this way is tested
            file.write(text)

    def read() -> str:
        added("policy")
        return "4711"

    return _with(omitted, read, added)


@innocent
def environment_variable_that_stays(omitted: Omitted) -> Any:
    def write(text: str) -> None:
        os.environ[MARK] = text

    return _with(omitted, lambda: f"4711 {os.environ['PATH']}", write)


@innocent
def environment_variable_that_is_set_the_same(omitted: Omitted) -> Any:
    def write(text: str) -> None:
        os.environ["RAG_RULES_TEST_MAILS"] = "4711"

    return _with(omitted, lambda: os.environ["RAG_RULES_TEST_MAILS"], write)


@innocent
def buffer_that_stays(omitted: Omitted) -> Any:
    held = io.StringIO("account 4711")
    return _with(omitted, lambda: held.getvalue(), _nothing)
