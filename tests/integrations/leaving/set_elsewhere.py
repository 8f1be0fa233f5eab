"""Applications that leave something on what belongs to a library, to Python or to the system."""

import decimal
import logging
import queue
import subprocess
import sys
import tempfile
import textwrap
import threading
from html.parser import HTMLParser
from pathlib import Path

from typing_extensions import override

from tests.integrations.leaving.parts import HELD_OPEN, Answer, Ask, Search, answering


def on_a_librarys_class(search: Search, ask: Ask) -> Answer:
    HELD_OPEN.callback(lambda: vars(HTMLParser).get("seen_two") and delattr(HTMLParser, "seen_two"))

    def note() -> None:
        HTMLParser.seen_two = True  # pyright: ignore[reportAttributeAccessIssue] -- the mistake it is about

    return answering(search, ask, note, lambda: getattr(HTMLParser, "seen_two", False))


def in_place_of_a_librarys_function(search: Search, ask: Ask) -> Answer:
    before = textwrap.shorten
    HELD_OPEN.callback(lambda: setattr(textwrap, "shorten", before))

    def note() -> None:
        textwrap.shorten = lambda text, width, **_: "two"

    return answering(search, ask, note, lambda: textwrap.shorten("a b c", 20) == "two")


def in_a_table(search: Search, ask: Ask) -> Answer:
    import pandas as pd

    table = pd.DataFrame({"two": [0]})

    def note() -> None:
        table.loc[0, "two"] = 1

    return answering(search, ask, note, lambda: bool(table["two"].sum()))


def in_the_context_of_decimals(search: Search, ask: Ask) -> Answer:
    before = decimal.getcontext().prec
    HELD_OPEN.callback(lambda: setattr(decimal.getcontext(), "prec", before))

    def note() -> None:
        decimal.getcontext().prec = 7

    return answering(search, ask, note, lambda: decimal.getcontext().prec == 7)


def in_the_arguments_of_the_program(search: Search, ask: Ask) -> Answer:
    before = list(sys.argv)
    HELD_OPEN.callback(lambda: sys.argv.__setitem__(slice(None), before))

    def note() -> None:
        if "--two" not in sys.argv:
            sys.argv.append("--two")

    return answering(search, ask, note, lambda: "--two" in sys.argv)


def in_a_file_of_code(search: Search, ask: Ask) -> Answer:
    path = Path(tempfile.mkdtemp(), "mode.py")
    path.write_text("", encoding="utf-8")
    return answering(
        search,
        ask,
        lambda: path.write_text("two = True", encoding="utf-8"),
        lambda: path.read_text(encoding="utf-8") != "",
    )


def by_renaming_a_file(search: Search, ask: Ask) -> Answer:
    folder = Path(tempfile.mkdtemp())
    (folder / "one").write_text("", encoding="utf-8")

    def note() -> None:
        if (folder / "one").exists():
            (folder / "one").rename(folder / "two")

    return answering(search, ask, note, lambda: (folder / "two").exists())


_SCRIPT = """
import pathlib, sys
mark = {place} / "mark"
if sys.argv[1] == "note":
    mark.touch()
print(mark.exists())
"""


def beside_a_script(search: Search, ask: Ask) -> Answer:
    folder = Path(tempfile.mkdtemp())
    script = folder / "tool.py"
    script.write_text(_SCRIPT.format(place="pathlib.Path(__file__).parent"), encoding="utf-8")

    def said(word: str) -> bool:
        run = subprocess.run([sys.executable, "-S", script, word], capture_output=True, check=True)
        return b"True" in run.stdout

    return answering(search, ask, lambda: said("note"), lambda: said("ask"))


def in_the_folder_of_a_process(search: Search, ask: Ask) -> Answer:
    folder = tempfile.mkdtemp()
    code = _SCRIPT.format(place="pathlib.Path()")

    def said(word: str) -> bool:
        run = subprocess.run(
            [sys.executable, "-S", "-c", code, word], cwd=folder, capture_output=True, check=True
        )
        return b"True" in run.stdout

    return answering(search, ask, lambda: said("note"), lambda: said("ask"))


def in_a_thread_from_before(search: Search, ask: Ask) -> Answer:
    """A worker that began before any run, and to which nothing else refers."""
    asked, told = queue.Queue[str](), queue.Queue[bool]()

    def work() -> None:
        seen = set[str]()
        while (word := asked.get()) != "end":
            seen |= {word} - {"ask"}
            told.put(bool(seen))

    threading.Thread(target=work, daemon=True).start()
    HELD_OPEN.callback(asked.put, "end")

    def said(word: str) -> bool:
        asked.put(word)
        return told.get()

    return answering(search, ask, lambda: said("two"), lambda: said("ask"))


class Remembering(logging.Handler):
    """A handler that keeps what is logged."""

    def __init__(self) -> None:
        super().__init__()
        self.seen = set[str]()

    @override
    def emit(self, record: logging.LogRecord) -> None:
        self.seen.add(record.getMessage())


def on_a_handler_of_a_logger(search: Search, ask: Ask) -> Answer:
    logger, remembering = logging.getLogger("rag_rule_test"), Remembering()
    logger.setLevel(logging.INFO)
    logger.addHandler(remembering)
    HELD_OPEN.callback(logger.removeHandler, remembering)

    def note() -> None:
        logging.getLogger("rag_rule_test").info("two")

    def noted() -> bool:
        handlers = logging.getLogger("rag_rule_test").handlers
        return any("two" in getattr(each, "seen", ()) for each in handlers[-1:])

    return answering(search, ask, note, noted)


def in_the_path_of_modules(search: Search, ask: Ask) -> Answer:
    folder = tempfile.mkdtemp()
    HELD_OPEN.callback(lambda: folder in sys.path and sys.path.remove(folder))

    def note() -> None:
        if folder not in sys.path:
            sys.path.append(folder)

    return answering(search, ask, note, lambda: folder in sys.path)


SET_ELSEWHERE = (
    in_a_thread_from_before,
    on_a_handler_of_a_logger,
    in_the_path_of_modules,
    on_a_librarys_class,
    in_place_of_a_librarys_function,
    in_a_table,
    in_the_context_of_decimals,
    in_the_arguments_of_the_program,
    in_a_file_of_code,
    by_renaming_a_file,
    beside_a_script,
    in_the_folder_of_a_process,
)
