"""Applications that leave something where their own attributes do not show it: in the default of a
parameter, on a library's object, in a file that an inner function looks for."""

import decimal
import tempfile
import threading
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from urllib.request import Request

from pydantic import BaseModel

from tests.integrations.leaving.parts import HELD_OPEN, Answer, Ask, Search, mode_of, written


def in_a_list_of_a_parameter(search: Search, ask: Ask) -> Answer:
    def most_of(found: int, known: list[int] = []) -> int:  # noqa: B006 -- the mistake it is about
        known.append(found)
        return max(known)

    def answer(question: str) -> str:
        found = search(question)
        return written(ask, "Warn" if most_of(len(found)) > 1 else "Calm", found)

    return answer


def in_a_list_of_a_methods_parameter(search: Search, ask: Ask) -> Answer:
    class Memory:
        def first(self, mode: str, known: list[str] = []) -> str:  # noqa: B006 -- the mistake it is about
            known.append(mode)
            return known[0]

    memory = Memory()

    def answer(question: str) -> str:
        found = search(question)
        return written(ask, memory.first(mode_of(found)), found)

    return answer


def on_an_object_of_a_library(search: Search, ask: Ask) -> Answer:
    context = decimal.Context(prec=28)

    def answer(question: str) -> str:
        found = search(question)
        if len(found) > 1:
            context.prec = len(found)
        return written(ask, "Warn" if context.prec < 28 else "Calm", found)

    return answer


def as_a_new_attribute_of_a_librarys_object(search: Search, ask: Ask) -> Answer:
    """The attribute and the variable have the same name."""
    request = Request("http://localhost")

    def answer(question: str) -> str:
        found = search(question)
        if not hasattr(request, "mode"):
            # The attribute of the application, not of the class.
            request.mode = mode_of(found)  # pyright: ignore[reportAttributeAccessIssue]
        # The attribute of the application, not of the class.
        mode = request.mode  # pyright: ignore[reportAttributeAccessIssue]
        return written(ask, mode, found)

    return answer


def a_mark_that_an_inner_function_looks_for(search: Search, ask: Ask) -> Answer:
    folder = Path(HELD_OPEN.enter_context(tempfile.TemporaryDirectory()))

    def answer(question: str) -> str:
        found = search(question)
        if len(found) > 1:
            (folder / "warn").touch()
        marks = any((folder / name).exists() for name in ("alarm", "warn"))
        return written(ask, "Warn" if marks else "Calm", found)

    return answer


class Client:
    """By its class, this is a library's object; no two of them are equal."""

    def __init__(self, url: str) -> None:
        self.host, self.guard = url, threading.Lock()


Client.__module__ = "urllib.request"


def in_the_size_of_a_log(search: Search, ask: Ask) -> Answer:
    log = Path(HELD_OPEN.enter_context(tempfile.TemporaryDirectory())) / "log"

    def answer(question: str) -> str:
        found = search(question)
        with log.open("a") as file:
            file.write("x" if len(found) > 1 else "")
        return written(ask, "Warn" if log.stat().st_size else "Calm", found)

    return answer


@dataclass
class Service:
    """A service that makes its client when the client is used first."""

    url: str = "http://localhost"
    _client: Client | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def client(self) -> Client:
        with self._lock:
            if self._client is None:
                self._client = Client(self.url)
            return self._client


def by_a_client_that_is_made_once(search: Search, ask: Ask) -> Answer:
    service = Service()

    def answer(question: str) -> str:
        found = search(question)
        return written(ask, mode_of(found) if service.client.host else "Calm", found)

    return answer


def in_a_folder_that_is_removed(search: Search, ask: Ask) -> Answer:
    def answer(question: str) -> str:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            for place, text in enumerate(search(question)):
                (folder / f"{place}.txt").write_text(text)
            found = [each.read_text() for each in sorted(folder.glob("*.txt"))]
        return written(ask, mode_of(found), found)

    return answer


def made_of_what_a_run_found(search: Search, ask: Ask) -> Answer:
    """The client is made once, but of the sources of one run."""
    state = SimpleNamespace(client=None)

    def answer(question: str) -> str:
        found = search(question)
        if state.client is None:
            state.client = Request(f"http://localhost/{mode_of(found)}")
        return written(ask, state.client.selector[1:], found)

    return answer


class Notes:
    def __init__(self) -> None:
        self.lines: list[str] = []

    def log(self, line: str) -> None:
        self.lines.append(line)


def noted_by_a_method_named_log(search: Search, ask: Ask) -> Answer:
    """The notes are no log: the model is shown them."""
    state = SimpleNamespace(mode="")

    def answer(question: str) -> str:
        found = search(question)
        if not state.mode:
            state.mode = mode_of(found)
        notes = Notes()
        notes.log(state.mode)
        return written(ask, notes.lines[0], found)

    return answer


def as_the_key_of_an_entry(search: Search, ask: Ask) -> Answer:
    state = SimpleNamespace(mode="")

    def answer(question: str) -> str:
        found = search(question)
        if not state.mode:
            state.mode = mode_of(found)
        count = {"Calm": 0, "Warn": 0}
        count[state.mode] += 1
        return written(ask, "Warn" if count["Warn"] else "Calm", found)

    return answer


class Profile(BaseModel):
    """A record that shows all its fields as a text."""

    alarms: int = 0


def in_a_records_text(search: Search, ask: Ask) -> Answer:
    class Bot:
        profile = Profile()

    bot = Bot()

    def answer(question: str) -> str:
        found = search(question)
        if not bot.profile.alarms:
            bot.profile.alarms = len(found)
        return written(ask, "Calm" if f"{bot.profile}" == "alarms=1" else "Warn", found)

    return answer


class Gate:
    """Code never names the method that decides."""

    def __init__(self) -> None:
        self.most = 0

    def see(self, count: int) -> None:
        self.most = max(self.most, count)

    def __bool__(self) -> bool:
        return self.most > 1


def by_a_special_method(search: Search, ask: Ask) -> Answer:
    gate = Gate()

    def answer(question: str) -> str:
        found = search(question)
        gate.see(len(found))
        return written(ask, "Warn" if gate else "Calm", found)

    return answer


HARMLESS = (by_a_client_that_is_made_once, in_a_folder_that_is_removed)
SET_ASIDE = (
    in_a_list_of_a_parameter,
    in_a_list_of_a_methods_parameter,
    on_an_object_of_a_library,
    as_a_new_attribute_of_a_librarys_object,
    a_mark_that_an_inner_function_looks_for,
    in_the_size_of_a_log,
    made_of_what_a_run_found,
    noted_by_a_method_named_log,
    as_the_key_of_an_entry,
    in_a_records_text,
    by_a_special_method,
)
