"""Reading a collection succeeds while another thread changes it. Here, an element of the collection
changes it when the element is touched."""

import sys
import threading
import warnings
from collections import OrderedDict, deque
from collections.abc import Callable, Coroutine, Generator
from queue import Queue
from types import ModuleType
from typing import Any

import pytest
from typing_extensions import override

from rag_rule_explainer.instrumentation.copies.copying import copied, described, own_attributes
from rag_rule_explainer.instrumentation.copies.hidden_warnings import warnings_hidden
from rag_rule_explainer.instrumentation.copies.live import entries_now, members_now, unchanged
from rag_rule_explainer.instrumentation.copies.state import State
from rag_rule_explainer.instrumentation.copies.twins import Twins
from rag_rule_explainer.instrumentation.isolation.attributes import data_copy
from rag_rule_explainer.instrumentation.rewinding.before_earlier import comparable_form
from rag_rule_explainer.instrumentation.rewinding.going_on import variables_of
from rag_rule_explainer.instrumentation.rewinding.rewinding import Rewinding
from rag_rule_explainer.instrumentation.shared_state.positions import position_of, state_text_of

CHANGED = RuntimeError("dictionary changed size during iteration")
FIRST, SECOND = "langchain_core.leaving_first", "langchain_core.leaving_second"


class Meddling:
    """An element that changes its collection when it is touched, as another thread may at that moment."""

    __slots__ = ("change", "times")

    def __init__(self, change: Callable[[str], object], times: int = 1000) -> None:
        self.change, self.times = change, times

    def meddle(self) -> None:
        if self.times:
            self.times -= 1
            self.change(f"new {self.times}")

    @property
    def __class__(self) -> type:  # pyright: ignore[reportIncompatibleMethodOverride] -- only read here
        self.meddle()
        return Meddling

    @override
    def __repr__(self) -> str:
        self.meddle()
        return "meddling"

    @override
    def __hash__(self) -> int:
        return 1

    @override
    def __eq__(self, other: object) -> bool:
        self.meddle()
        return self is other

    def __deepcopy__(self, _: object) -> str:
        self.meddle()
        return "deep"


def in_a_dict(times: int = 1000) -> dict[Any, Any]:
    held: dict[Any, Any] = {"a": 1}
    held.update({"b": Meddling(lambda new: held.update({new: 0}), times), "c": 3})
    return held


def in_a_set() -> set[Any]:
    held = set[Any]()
    held |= {Meddling(held.add), "a"}
    return held


def in_a_queue() -> Queue[Any]:
    held = Queue[Any]()
    for each in ("a", Meddling(held.put), "b"):
        held.put(each)
    return held


def in_a_generator() -> Generator[Any, None, None]:
    frame, b, _c = sys._getframe(), Meddling(lambda new: frame.f_locals.update({new: 0})), 3  # pyright: ignore[reportPrivateUsage] -- no public way to it
    yield b


async def in_a_coroutine() -> None:
    frame, b, _c = sys._getframe(), Meddling(lambda new: frame.f_locals.update({new: 0})), 3  # pyright: ignore[reportPrivateUsage] -- no public way to it
    await Pausing(b)


class Pausing:
    def __init__(self, held: object) -> None:
        self.held = held

    def __await__(self) -> Generator[None, None, None]:
        yield


def begun(coroutine: Coroutine[Any, Any, Any]) -> Any:
    coroutine.send(None)
    return coroutine


def begun_generator() -> Any:
    generator = in_a_generator()
    next(generator)
    return generator


def is_told_of_three(queue: Queue[Any]) -> bool:
    return state_text_of(queue).startswith("qsize 3 ")


@pytest.mark.parametrize(
    ("read", "made"),
    [
        (described, in_a_dict),
        (described, in_a_set),
        (comparable_form, in_a_dict),
        (comparable_form, in_a_set),
        (is_told_of_three, in_a_queue),
        (position_of, begun_generator),
        (variables_of, lambda: begun(in_a_coroutine())),
    ],
)
def test_another_thread_may_change_it_while_it_is_read(
    read: Callable[[Any], Any], made: Callable[[], Any]
) -> None:
    assert read(made())


def of_data(held: Any) -> Any:
    return data_copy(held, (dict,))


def of_state(held: Any) -> Any:
    """Returns what a run has of a memory whose own reading may fail."""
    return State().read("memory", lambda: {name: repr(each) and each for name, each in held.items()})


@pytest.mark.parametrize("copy", [copied, of_data, of_state])
def test_a_deep_copy_stays_one(copy: Callable[[Any], Any]) -> None:
    """Else a run would share with others what it is to have of its own."""
    assert copy(in_a_dict(times=2))["b"] == "deep"


class Member:
    """Tells of what it is in when it is copied, where that grows."""

    __slots__ = ("inside", "meddling")

    def __init__(self, inside: Any) -> None:
        self.inside, self.meddling = len(inside), "no"


class Group:
    def __init__(self, members: Any) -> None:
        self.members = members


def unset(_: object, value: object) -> None:
    """A twin keeps nothing of it."""


@pytest.mark.parametrize("members", [set[Any](), deque[Any]()])
def test_a_twin_may_be_made_of_what_another_thread_fills(
    members: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    add = getattr(members, "add", None) or members.append
    add(Member(members))
    monkeypatch.setattr(Member, "inside", property(lambda _: add(f"new {len(members)}"), unset))
    assert len(Twins((__name__,), lambda: ()).of(Group(members)).members) == 1


def test_a_dict_is_read_as_it_is() -> None:
    ordered = OrderedDict[str, int](a=1, b=2, c=3)
    ordered.move_to_end("a")
    assert list(entries_now(ordered)) == ["b", "c", "a"]
    assert list(entries_now(ordered, 2)) == ["b", "c"]
    assert entries_now({1: 2, 3: 4}, 1) == {1: 2}
    assert members_now(deque("abc"), 2) == ["a", "b"]
    assert entries_now(vars(Member))["__slots__"] == Member.__slots__


class Hiding(dict[str, int]):
    @override
    def items(self) -> Any:
        raise ValueError("not told")

    @override
    def keys(self) -> Any:
        raise ValueError("not told")


def test_code_of_a_dict_of_the_users_is_not_called() -> None:
    assert entries_now(Hiding(a=1)) == {"a": 1}


def test_keys_may_change_the_dict_while_they_are_compared() -> None:
    held: dict[Any, Any] = {each: each for each in range(100)}
    for _ in range(2):
        held[Meddling(lambda new: held.update({new: 0}), 3)] = 0
    for each in range(99):
        del held[each]
    assert len(entries_now(held)) >= 3


def test_what_fails_for_another_reason_is_not_tried_again() -> None:
    tries = list[int]()

    def read(error: Exception, fails: int) -> int:
        tries.append(1)
        if len(tries) <= fails:
            raise error
        return len(tries)

    assert unchanged(lambda: read(CHANGED, 3)) == 4
    tries.clear()
    with pytest.raises(RuntimeError, match="ends"):
        unchanged(lambda: read(RuntimeError("ends"), 3))
    assert len(tries) == 1
    with pytest.raises(RuntimeError, match="changed size"):
        unchanged(lambda: read(CHANGED, 1000))


def test_attributes_may_be_added_between_two_of_them() -> None:
    held = Group(())
    attributes = own_attributes(held)
    next(attributes)
    held.later = 1  # pyright: ignore[reportAttributeAccessIssue] -- as another thread sets it
    assert list(attributes) == []


class Leaving(ModuleType):
    """A module that takes another one out of ``sys.modules`` when it is looked at."""

    def __init__(self, name: str, other: str) -> None:
        super().__init__(name)
        self.other = other

    @property
    def __spec__(self) -> None:  # pyright: ignore[reportIncompatibleVariableOverride] -- only read here
        sys.modules.pop(self.other, None)


def test_modules_may_go_while_they_are_compared() -> None:
    rewinding = Rewinding(lambda: None, lambda _: False, tuple)
    for name, other in ((FIRST, SECOND), (SECOND, FIRST)):
        sys.modules[name] = Leaving(name, other)
    try:
        assert rewinding.is_useful()
        with rewinding.earlier(["a"]):
            assert not {FIRST, SECOND} & sys.modules.keys()
    finally:
        for name in (FIRST, SECOND):
            sys.modules.pop(name, None)


def test_a_setting_may_go_while_an_application_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    its: Any = sys
    monkeypatch.setattr(sys, "rag_rule_setting", 1, raising=False)
    kept = Rewinding(lambda: its.rag_rule_setting, lambda _: False, tuple)
    monkeypatch.delattr(sys, "rag_rule_setting")
    left = kept.left()
    assert left is not None
    assert "rag_rule_setting" in left.place


@pytest.mark.waits
def test_filters_of_warnings_stay_the_users_where_two_threads_hide_theirs() -> None:
    before, entered, may_end = list(warnings.filters), threading.Event(), threading.Event()

    def hide() -> None:
        with warnings_hidden():
            entered.set()
            assert may_end.wait(120)

    thread = threading.Thread(target=hide)
    with warnings_hidden():
        thread.start()
        assert not entered.wait(0.05)
    may_end.set()
    thread.join(120)
    assert list(warnings.filters) == before
