"""A replay never puts back objects that the process itself uses, such as its list of threads."""

import threading
from collections.abc import Callable, Generator
from types import ModuleType
from typing import Any

import pytest
from typing_extensions import override

from rag_rule_explainer.instrumentation.rewinding.rewinding import Rewinding

state = {"runs": 0}


@pytest.fixture(autouse=True)
def as_before() -> Generator[None, None, None]:
    yield
    state.update(runs=0)


def application() -> object:
    state["runs"] += 1
    return threading.current_thread().name, library.found, library.kinds


library: Any = ModuleType("numpy.a_library")
library.found, library.kinds = dict[str, Any](), list[Any]()


def test_threads_that_begin_meanwhile_stay_known() -> None:
    """Else such a thread would never have begun for whoever waits for that."""
    python: Any = threading
    register: dict[object, object] = python._limbo
    rewinding, begun = Rewinding(application, lambda _: False, tuple), object()
    application()
    register[begun] = begun
    try:
        with rewinding.earlier():
            assert state == {"runs": 0}
            assert begun in register
    finally:
        del register[begun]
    assert state == {"runs": 1}


def test_what_a_library_keeps_for_itself_stays_there() -> None:
    rewinding, own = Rewinding(application, lambda _: False, tuple), object()
    application()
    library.found.update(own=own, mode="alert")
    library.kinds.append(own)
    with rewinding.earlier():
        assert library.found == {"own": own}
        assert library.kinds == [own]
    assert library.found == {"own": own, "mode": "alert"}


class Looking:
    """A key that looks into its dict whenever it is looked up, as another thread may at that moment."""

    def __init__(self, look: Callable[[], object]) -> None:
        self.look = look

    @override
    def __hash__(self) -> int:
        self.look()
        return 1


def test_entries_that_stay_are_not_taken_out_for_a_while() -> None:
    kept, seen = dict[Any, int](), list[bool]()
    kept |= {Looking(lambda: seen.append("stays" in kept)): 1, "stays": 1, "changes": 1}
    rewinding = Rewinding(lambda: kept, lambda _: False, tuple)
    kept.update(changes=2, new=3)
    seen.clear()
    with rewinding.earlier():
        assert (kept["changes"], "new" in kept) == (1, False)
    assert (kept["changes"], kept["new"]) == (2, 3)
    assert seen
    assert all(seen)


class Service:
    """An application that a server has, with what other threads keep on it."""

    def __init__(self) -> None:
        self.mode, self.last, self.users = "calm", "nobody", {"ada": ["hello"]}

    def run(self) -> str:
        return self.mode + str(self.users)


def test_what_other_threads_set_during_a_replay_stays() -> None:
    service = Service()
    rewinding = Rewinding(service.run, lambda _: False, tuple)
    service.mode = "alert"
    service.users["bob"] = ["hi"]
    with rewinding.earlier():
        assert service.run() == "calm{'ada': ['hello']}"
        # What other threads do meanwhile.
        service.last, service.users["ada"], service.users["eve"] = "ada", ["bye"], ["who?"]
        service.__dict__["failed"] = "once"
    assert (service.mode, service.last, service.__dict__["failed"]) == ("alert", "ada", "once")
    assert service.users == {"ada": ["bye"], "bob": ["hi"], "eve": ["who?"]}
