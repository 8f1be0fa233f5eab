"""Applications that run commands: some read what an earlier run left in a folder, others keep nothing."""

import asyncio
import multiprocessing
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.integrations.leaving.parts import (
    HELD_OPEN,
    Answer,
    Ask,
    Search,
    answering,
    asking,
    mode_of,
    written,
)

_Command = str | list[str]


def _folder() -> Path:
    return Path(HELD_OPEN.enter_context(tempfile.TemporaryDirectory()))


def _said(command: _Command, *, given: str = "", folder: Path | None = None, **own: str) -> str:
    """Returns the text that a command prints."""
    run = subprocess.run(
        command,
        shell=isinstance(command, str),
        input=given,
        cwd=folder,
        env={**os.environ, **own} if own else None,
        capture_output=True,
        text=True,
        check=False,
    )
    return run.stdout


def _noted_in(path: Path, search: Search, ask: Ask, noted: Callable[[], object]) -> Answer:
    """Python notes in a file what a command then shows."""
    return answering(search, ask, lambda: path.write_text("two", encoding="utf-8"), noted)


def in_a_folder_that_is_searched(search: Search, ask: Ask) -> Answer:
    folder = _folder()
    return _noted_in(folder / "mode", search, ask, lambda: _said(["grep", "-r", "two", str(folder)]))


def in_a_file_below_a_folder_that_is_searched(search: Search, ask: Ask) -> Answer:
    """The names in the folder stay, and the text in a file does not."""
    folder = _folder()
    (folder / "below").mkdir()
    (folder / "below" / "mode").write_text("one", encoding="utf-8")
    command = ["grep", "-rl", "two", str(folder)]
    return _noted_in(folder / "below" / "mode", search, ask, lambda: _said(command))


def in_the_files_that_a_pattern_matches(search: Search, ask: Ask) -> Answer:
    folder = _folder()
    return _noted_in(folder / "mode", search, ask, lambda: _said(f"cat {folder}/* 2>/dev/null"))


def in_the_files_of_all_folders(search: Search, ask: Ask) -> Answer:
    folder = _folder()
    (folder / "below").mkdir()
    return _noted_in(folder / "below" / "m", search, ask, lambda: _said(f"cat {folder}/*/* 2>/dev/null"))


def in_a_file_that_is_found(search: Search, ask: Ask) -> Answer:
    folder = _folder()
    return _noted_in(folder / "mode", search, ask, lambda: _said(["find", str(folder), "-type", "f"]))


def in_the_folder_where_a_command_begins(search: Search, ask: Ask) -> Answer:
    folder = _folder()
    return _noted_in(folder / "mode", search, ask, lambda: _said(["grep", "-r", "two"], folder=folder))


def in_the_folder_into_which_a_shell_goes(search: Search, ask: Ask) -> Answer:
    folder = _folder()
    return _noted_in(folder / "mode", search, ask, lambda: _said(f"cd {folder} && ls"))


def in_the_folder_of_the_process(search: Search, ask: Ask) -> Answer:
    """The command is told no folder, and begins in that of the process."""
    folder, before = _folder(), Path.cwd()
    HELD_OPEN.callback(os.chdir, before)
    os.chdir(folder)
    return _noted_in(folder / "mode", search, ask, lambda: _said(["ls"]))


def in_a_folder_that_only_the_environment_names(search: Search, ask: Ask) -> Answer:
    folder = _folder()
    code = "import os, pathlib; print(*pathlib.Path(os.environ['NOTES']).iterdir())"
    command = [sys.executable, "-S", "-c", code]
    return _noted_in(folder / "mode", search, ask, lambda: _said(command, NOTES=str(folder)).strip())


def in_files_that_the_input_names(search: Search, ask: Ask) -> Answer:
    path = _folder() / "mode"
    return _noted_in(path, search, ask, lambda: _said(["xargs", "cat"], given=str(path)))


def in_a_database_of_a_command(search: Search, ask: Ask) -> Answer:
    path = _folder() / "modes.db"
    _said(["sqlite3", str(path), "CREATE TABLE modes (mode)"])
    return answering(
        search,
        ask,
        lambda: _said(["sqlite3", str(path), "INSERT INTO modes VALUES ('two')"]),
        lambda: _said(["sqlite3", str(path), "SELECT mode FROM modes"]),
    )


_SCRIPT = """
import pathlib, sys
place = {place}
place.mkdir(exist_ok=True)
if sys.argv[1] == "note":
    (place / "mode").write_text("two")
print("two" if (place / "mode").read_text() == "two" else "")
"""


def _by_a_script(search: Search, ask: Ask, place: str, kept: Path, folder: Path) -> Answer:
    kept.mkdir(exist_ok=True)
    (kept / "mode").write_text("one", encoding="utf-8")
    script = folder / "tool.py"
    script.write_text(_SCRIPT.format(place=place), encoding="utf-8")

    def said(word: str) -> str:
        return _said([sys.executable, "-S", str(script), word]).strip()

    return answering(search, ask, lambda: said("note"), lambda: said("ask"))


def in_a_folder_beside_a_script(search: Search, ask: Ask) -> Answer:
    folder = _folder()
    return _by_a_script(search, ask, "pathlib.Path(__file__).parent / 'kept'", folder / "kept", folder)


def in_a_folder_that_a_script_names(search: Search, ask: Ask) -> Answer:
    kept = _folder()
    return _by_a_script(search, ask, f"pathlib.Path({str(kept)!r})", kept, _folder())


def in_a_folder_that_a_script_computes(search: Search, ask: Ask) -> Answer:
    kept = _folder() / "kept"
    place = f"pathlib.Path('/', *{kept.parts[1:]!r})"
    return _by_a_script(search, ask, place, kept, _folder())


def in_the_history_of_a_repository(search: Search, ask: Ask) -> Answer:
    folder = _folder()
    own = ["git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@localhost"]
    _said([*own, "init", "-q"])
    return answering(
        search,
        ask,
        lambda: _said([*own, "commit", "-q", "--allow-empty", "-m", "two"]),
        lambda: _said([*own, "log", "--oneline"]),
    )


def in_a_folder_of_an_asynchronous_command(search: Search, ask: Ask) -> Answer:
    folder = _folder()

    async def noted() -> bytes:
        pipe = asyncio.subprocess.PIPE
        run = await asyncio.create_subprocess_exec("ls", str(folder), stdout=pipe)
        return (await run.communicate())[0]

    def waited() -> bytes:
        found = list[bytes]()
        thread = threading.Thread(target=lambda: found.append(asyncio.run(noted())))
        thread.start()
        thread.join()
        return found[0]

    return _noted_in(folder / "mode", search, ask, waited)


def _touch(path: Path) -> None:
    path.write_text("two", encoding="utf-8")


def _tell(path: Path, told: Any) -> None:
    told.put(path.exists())


def in_a_file_of_a_process_that_is_forked(search: Search, ask: Ask) -> Answer:
    path, forking = _folder() / "mode", multiprocessing.get_context("fork")

    def run(target: Callable[..., None], *given: Any) -> None:
        process = forking.Process(target=target, args=(path, *given))
        process.start()
        process.join()

    def noted() -> bool:
        told = forking.SimpleQueue()
        run(_tell, told)
        return bool(told.get())

    return answering(search, ask, lambda: run(_touch), noted)


BY_COMMANDS = (
    in_a_folder_that_is_searched,
    in_a_file_below_a_folder_that_is_searched,
    in_the_files_that_a_pattern_matches,
    in_the_files_of_all_folders,
    in_a_file_that_is_found,
    in_the_folder_where_a_command_begins,
    in_the_folder_into_which_a_shell_goes,
    in_the_folder_of_the_process,
    in_a_folder_that_only_the_environment_names,
    in_files_that_the_input_names,
    in_a_database_of_a_command,
    in_a_folder_beside_a_script,
    in_a_folder_that_a_script_names,
    in_a_folder_that_a_script_computes,
    in_the_history_of_a_repository,
    in_a_folder_of_an_asynchronous_command,
    in_a_file_of_a_process_that_is_forked,
)


def the_commit_that_is_checked_out(search: Search, ask: Ask) -> Answer:
    folder = _folder()
    _said(["git", "init", "-q", str(folder)])
    return asking(search, ask, lambda *_: _said(["git", "rev-parse", "--git-dir"], folder=folder))


def the_system_that_it_runs_on(search: Search, ask: Ask) -> Answer:
    return asking(search, ask, lambda *_: _said(["uname", "-a"]))


def what_was_found_in_other_words(search: Search, ask: Ask) -> Answer:
    """Each run gives a converter what it found, and gets it back in another form."""
    return asking(search, ask, lambda _, found: _said(["tr", "a-z", "A-Z"], given="\n".join(found)))


def the_words_of_a_file(search: Search, ask: Ask) -> Answer:
    folder = _folder()
    (folder / "report").write_text("words", encoding="utf-8")
    return asking(search, ask, lambda *_: _said(["fold", "-w", "80", str(folder / "report")]))


def a_search_in_a_folder_that_nobody_writes(search: Search, ask: Ask) -> Answer:
    folder = _folder()
    (folder / "words").write_text("reader", encoding="utf-8")
    return asking(search, ask, lambda *_: _said(["grep", "-r", "reader", str(folder)]))


def a_file_of_each_run_that_is_counted(search: Search, ask: Ask) -> Answer:
    def count(_: str, found: list[str]) -> None:
        with tempfile.NamedTemporaryFile("w", encoding="utf-8") as file:
            file.write("\n".join(found))
            file.flush()
            _said(["wc", "-w", file.name])

    return asking(search, ask, count)


def a_log_and_the_system(search: Search, ask: Ask) -> Answer:
    """The log is in the folder where the command begins, and the command reads no file."""
    folder = _folder()

    def answer(question: str) -> str:
        found = search(question)
        with (folder / "log").open("a", encoding="utf-8") as log:
            log.write(f"{len(found)} {_said(['uname'], folder=folder)}")
        return written(ask, mode_of(found), found)

    return answer


def a_sum_by_a_line_of_python(search: Search, ask: Ask) -> Answer:
    code = "import json, sys; print(sum(map(len, json.load(sys.stdin))))"

    def count(_: str, found: list[str]) -> str:
        return _said([sys.executable, "-S", "-c", code], given=str(found).replace("'", '"'))

    return asking(search, ask, count)


HARMLESS = (
    the_commit_that_is_checked_out,
    the_system_that_it_runs_on,
    what_was_found_in_other_words,
    the_words_of_a_file,
    a_search_in_a_folder_that_nobody_writes,
    a_file_of_each_run_that_is_counted,
    a_log_and_the_system,
    a_sum_by_a_line_of_python,
)
