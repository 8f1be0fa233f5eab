"""The twins of applications that leave marks: they use the same functions, and keep nothing."""

import asyncio
import importlib
import json
import logging
import operator
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from tests.integrations.noticing.commands import folder, said

Used = Callable[[str, list[str]], object]
_LOG = logging.getLogger("rag_rule_harmless")
LIMITS = {"plain": 4, "loud": 5}
SETTING_OF_PLAIN = 3


def tell_plain(text: str) -> str:
    return text.strip()


def a_function_by_its_name() -> Used:
    return lambda question, found: globals()["_".join(["tell", "plain"])](question)


def a_constant_by_its_name() -> Used:
    return lambda question, found: vars(sys.modules[__name__])[f"SETTING_OF_{'plain'.upper()}"]


def a_module_by_its_name() -> Used:
    return lambda question, found: importlib.import_module("json").dumps(found)


def an_attribute_by_its_name() -> Used:
    settings = SimpleNamespace(limit_plain=3, limit_loud=4)
    return lambda question, found: getattr(settings, f"limit_{'plain'}")


def a_field_of_each_run() -> Used:
    def use(question: str, found: list[str]) -> int:
        state = SimpleNamespace()
        for number, text in enumerate(found):
            setattr(state, f"text_{number}", text)
        return len(vars(state))

    return use


def a_sum_that_is_evaluated() -> Used:
    def use(question: str, found: list[str]) -> Any:
        return eval(f"{len(found)} * 2", {"__builtins__": {}})  # noqa: S307 -- the case at hand

    return use


def code_that_is_executed() -> Used:
    def use(question: str, found: list[str]) -> Any:
        space: dict[str, Any] = {"found": found}
        exec("count = len(found)", space)  # noqa: S102 -- the case at hand
        return space["count"]

    return use


def a_getter_for_sorting() -> Used:
    return lambda question, found: sorted((Path(each) for each in found), key=operator.attrgetter("name"))


def all_fields_for_the_log() -> Used:
    settings = SimpleNamespace(limit=3)
    return lambda question, found: _LOG.debug("settings %s", vars(settings))


def a_module_that_is_there() -> Used:
    return lambda question, found: "json" in sys.modules and sys.modules["json"].dumps(found)


def the_words_of_a_file() -> Used:
    path = folder() / "words.md"
    path.write_text("words", encoding="utf-8")
    return lambda question, found: said(["cat", str(path)])


def the_files_of_a_name() -> Used:
    at = folder()
    (at / "part-1.md").write_text("words", encoding="utf-8")
    return lambda question, found: said("cat part-*.md", at=at)


def the_folder_it_goes_to() -> Used:
    at = folder()
    (at / "app").mkdir()
    (at / "words").write_text("words", encoding="utf-8")
    return lambda question, found: said(f"cd {at}/app && cat ../words")


def a_mode_that_stays() -> Used:
    path = folder() / "tool"
    path.write_text("", encoding="utf-8")
    return lambda question, found: said(f"test -x {path} && echo yes")


def a_time_that_stays() -> Used:
    path = folder() / "words"
    path.write_text("", encoding="utf-8")
    return lambda question, found: said(["stat", "-c", "%Y", str(path)])


def words_that_are_echoed() -> Used:
    return lambda question, found: said("echo words | tr a-z A-Z")


def a_count_of_words() -> Used:
    return lambda question, found: said(["wc", "-w"], given="\n".join(found))


def a_pipeline_of_what_was_found() -> Used:
    return lambda question, found: said("sort | uniq -c | head -3", given="\n".join(found))


def a_folder_of_each_run() -> Used:
    def use(question: str, found: list[str]) -> str:
        with tempfile.TemporaryDirectory() as name:
            for number, text in enumerate(found):
                Path(name, f"part-{number}.md").write_text(text, encoding="utf-8")
            return said("cat part-*.md | wc -w", at=Path(name))

    return use


def a_query_of_json() -> Used:
    code = "import json, sys; print(len(json.load(sys.stdin)))"
    return lambda question, found: said([sys.executable, "-S", "-c", code], given=json.dumps(found))


def an_asynchronous_command() -> Used:
    async def sorted_by_a_command(text: str) -> bytes:
        pipe = asyncio.subprocess.PIPE
        run = await asyncio.create_subprocess_exec("sort", stdin=pipe, stdout=pipe)
        return (await run.communicate(text.encode()))[0]

    def use(question: str, found: list[str]) -> None:
        work = lambda: asyncio.run(sorted_by_a_command("\n".join(found)))  # noqa: E731 -- a target
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()

    return use


def the_name_of_the_system() -> Used:
    return lambda question, found: said(["uname", "-s"])


def the_date() -> Used:
    return lambda question, found: said(["date", "+%Y"])


def a_variable_that_is_read() -> Used:
    return lambda question, found: said(["printenv", "HOME"])


NAMES_AND_COMMANDS = tuple(
    each
    for each in list(globals().values())
    if getattr(each, "__annotations__", {}).get("return") is Used
)
