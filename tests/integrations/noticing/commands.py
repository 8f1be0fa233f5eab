"""Marks that commands read: in files, their modes and times, links, processes and settings."""

import asyncio
import os
import shlex
import subprocess
import sys
import tempfile
import threading
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

from tests.integrations.leaving.parts import HELD_OPEN
from tests.integrations.noticing.modes import Mark

_OS: Any = os
"""The type checker advises against functions that applications use all the same."""


def folder() -> Path:
    return Path(HELD_OPEN.enter_context(tempfile.TemporaryDirectory()))


def said(command: str | list[str], *, at: Path | None = None, given: str = "") -> str:
    """Returns the text that a command prints."""
    is_text = isinstance(command, str)
    run = subprocess.run(
        command, shell=is_text, cwd=at, input=given, capture_output=True, text=True, check=False
    )
    return run.stdout.strip()


def _marking(path: Path) -> Mark:
    return lambda: path.write_text("two", encoding="utf-8")


def parts_of_a_name() -> tuple[Mark, Mark]:
    at = folder()
    return _marking(at / "part-1.md"), lambda: said("cat part-*.md 2>/dev/null", at=at)


def parts_of_a_name_in_a_folder() -> tuple[Mark, Mark]:
    at = folder()
    return _marking(at / "part-1.md"), lambda: said(f"cat {at}/part-?.md 2>/dev/null")


def above_the_folder_it_goes_to() -> tuple[Mark, Mark]:
    at = folder()
    (at / "app").mkdir()
    return _marking(at / "mode"), lambda: said("cd app && cat ../mode 2>/dev/null", at=at)


def below_the_folder_it_goes_to() -> tuple[Mark, Mark]:
    at = folder()
    (at / "app").mkdir()
    (at / "app" / "mode").write_text("", encoding="utf-8")
    return _marking(at / "app" / "mode"), lambda: said(f"cd {at}/app; cat mode")


def in_the_folder_of_an_option() -> tuple[Mark, Mark]:
    at = folder()
    (at / "mode").write_text("", encoding="utf-8")
    return _marking(at / "mode"), lambda: said(["env", "-C", str(at), "cat", "mode"])


def names_that_are_echoed() -> tuple[Mark, Mark]:
    at = folder()
    return _marking(at / "part-1.md"), lambda: "1" in said("echo part-*", at=at)


def names_that_are_walked() -> tuple[Mark, Mark]:
    at = folder()
    return _marking(at / "part-1.md"), lambda: said(
        "for each in *.md; do test -f $each && echo yes; done", at=at
    )


def files_that_are_counted() -> tuple[Mark, Mark]:
    at = folder()
    return _marking(at / "one"), lambda: said("ls | wc -l", at=at) == "1"


def _mode() -> Path:
    path = folder() / "mode"
    path.write_text("two", encoding="utf-8")
    path.chmod(0o600)
    os.utime(path, (1_000_000, 1_000_000))
    return path


def a_mode_that_is_tested() -> tuple[Mark, Mark]:
    path = _mode()
    return lambda: path.chmod(0o700), lambda: said(f"test -x {path} && echo yes")


def a_mode_that_a_command_sets() -> tuple[Mark, Mark]:
    path = _mode()
    return lambda: said(["chmod", "+x", str(path)]), lambda: said(f"[ -x {path} ] && echo yes")


def a_mode_that_is_listed() -> tuple[Mark, Mark]:
    path = _mode()
    return lambda: path.chmod(0o700), lambda: "x" in said(["ls", "-l", str(path)]).split()[0]


def a_time_that_is_told() -> tuple[Mark, Mark]:
    path = _mode()
    told = lambda: said(["stat", "-c", "%Y", str(path)]) != "1000000"  # noqa: E731 -- a channel
    return lambda: os.utime(path, (2_000_000, 2_000_000)), told


def a_time_that_a_command_sets() -> tuple[Mark, Mark]:
    path = _mode()
    old = said(["date", "-r", str(path), "+%s"])
    return lambda: said(["touch", str(path)]), lambda: said(["date", "-r", str(path), "+%s"]) != old


def a_time_that_is_compared() -> tuple[Mark, Mark]:
    path = _mode()
    other = path.with_name("other")
    other.write_text("", encoding="utf-8")
    os.utime(other, (1_500_000, 1_500_000))
    newer = f"find {path} -newer {other}"
    return lambda: os.utime(path, (2_000_000, 2_000_000)), lambda: said(newer)


def a_link() -> tuple[Mark, Mark]:
    at = folder()
    (at / "one").write_text("", encoding="utf-8")
    (at / "two").write_text("two", encoding="utf-8")
    (at / "mode").symlink_to(at / "one")

    def mark() -> None:
        (at / "mode").unlink()
        (at / "mode").symlink_to(at / "two")

    return mark, lambda: said(["readlink", str(at / "mode")]).endswith("two")


def a_link_that_a_command_makes() -> tuple[Mark, Mark]:
    at = folder()
    (at / "two").write_text("two", encoding="utf-8")
    make = ["ln", "-sf", str(at / "two"), str(at / "mode")]
    return lambda: said(make), lambda: said(f"cat {at / 'mode'} 2>/dev/null")


def a_process_that_goes_on() -> tuple[Mark, Mark]:
    name = f"77{os.getpid()}"

    def mark() -> None:
        process = subprocess.Popen(["sleep", name])
        HELD_OPEN.callback(process.wait)
        HELD_OPEN.callback(process.kill)

    return mark, lambda: f"sleep {name}" in said(["ps", "-eo", "args"])


def a_process_that_a_shell_starts() -> tuple[Mark, Mark]:
    name = f"78{os.getpid()}"
    HELD_OPEN.callback(lambda: said(f"kill $(pgrep -f 'sleep {name}')"))
    return (
        lambda: said(f"sleep {name} >/dev/null 2>&1 &"),
        lambda: said(["pgrep", "-f", f"^sleep {name}"]),
    )


def a_variable_of_the_environment() -> tuple[Mark, Mark]:
    name = "RAG_RULE_TEST_MODE"

    def mark() -> None:
        os.environ[name] = "two"

    return mark, lambda: said(["printenv", name])


def by_an_asynchronous_command() -> tuple[Mark, Mark]:
    at = folder()

    async def told() -> bytes:
        command = f"cd {shlex.quote(str(at))}; cat part-* 2>/dev/null"
        run = await asyncio.create_subprocess_shell(command, stdout=asyncio.subprocess.PIPE)
        return (await run.communicate())[0]

    return _marking(at / "part-1"), lambda: _waited(told())


def _waited(work: Coroutine[Any, Any, bytes]) -> bytes:
    found = list[bytes]()
    thread = threading.Thread(target=lambda: found.append(asyncio.run(work)))
    thread.start()
    thread.join()
    return found[0]


def by_an_opened_pipe() -> tuple[Mark, Mark]:
    at = folder()

    def told() -> str:
        with _OS.popen(f"cat {at}/p*.md 2>/dev/null") as pipe:
            return pipe.read()

    return _marking(at / "part.md"), told


def by_the_code_of_a_shell() -> tuple[Mark, Mark]:
    path = folder() / "mode"
    command = f"test -e {path}"
    return _marking(path), lambda: _OS.system(command) == 0


def by_what_a_shell_is_given() -> tuple[Mark, Mark]:
    at = folder()
    return _marking(at / "part-1"), lambda: said(["sh"], at=at, given="cat part-* 2>/dev/null")


def by_a_spawned_process() -> tuple[Mark, Mark]:
    path = folder() / "mode"

    def told() -> bool:
        number = os.posix_spawn("/usr/bin/test", ["test", "-e", str(path)], os.environ)
        return os.waitpid(number, 0)[1] == 0

    return _marking(path), told


def by_a_forked_process() -> tuple[Mark, Mark]:
    path = folder() / "mode"
    command = f"[ -e {path} ]"
    return (
        _marking(path),
        lambda: _OS.spawnv(os.P_WAIT, "/bin/sh", ["sh", "-c", command]) == 0,
    )


def by_a_line_of_python() -> tuple[Mark, Mark]:
    at = folder()
    code = "import glob; print(*glob.glob('part-*'))"
    return _marking(at / "part-1"), lambda: said([sys.executable, "-S", "-c", code], at=at)


def in_the_folder_of_the_process() -> tuple[Mark, Mark]:
    at, before = folder(), Path.cwd()
    HELD_OPEN.callback(os.chdir, before)
    return lambda: os.chdir(at), lambda: said(["pwd"]) == str(at)


def in_the_mask_of_files() -> tuple[Mark, Mark]:
    before = os.umask(0o022)
    HELD_OPEN.callback(os.umask, before)
    return lambda: os.umask(0o077), lambda: said("umask") == "0077"


def in_an_archive() -> tuple[Mark, Mark]:
    at = folder()
    (at / "two").write_text("two", encoding="utf-8")
    said("tar cf all.tar --files-from=/dev/null", at=at)
    return lambda: said("tar rf all.tar two", at=at), lambda: said("tar tf *.tar", at=at)


COMMANDS = (
    parts_of_a_name,
    parts_of_a_name_in_a_folder,
    above_the_folder_it_goes_to,
    below_the_folder_it_goes_to,
    in_the_folder_of_an_option,
    names_that_are_echoed,
    names_that_are_walked,
    files_that_are_counted,
    a_mode_that_is_tested,
    a_mode_that_a_command_sets,
    a_mode_that_is_listed,
    a_time_that_is_told,
    a_time_that_a_command_sets,
    a_time_that_is_compared,
    a_link,
    a_link_that_a_command_makes,
    a_process_that_goes_on,
    a_process_that_a_shell_starts,
    a_variable_of_the_environment,
    by_an_asynchronous_command,
    by_an_opened_pipe,
    by_the_code_of_a_shell,
    by_what_a_shell_is_given,
    by_a_spawned_process,
    by_a_forked_process,
    by_a_line_of_python,
    in_the_folder_of_the_process,
    in_the_mask_of_files,
    in_an_archive,
)
