"""What is read of an application a second time, where an earlier reading is known."""

from collections import deque
from collections.abc import Callable
from contextvars import ContextVar
from functools import partial
from queue import Queue
from threading import Event, Lock
from types import FunctionType, SimpleNamespace
from typing import Any

import pytest
from langchain_core.tools import StructuredTool

from rag_rule_explainer.instrumentation.shared_state.held import Held
from rag_rule_explainer.instrumentation.shared_state.holdings import Holdings, changed_values

MODE = "calm"
SHARED = {"a": 1}
CHATS: ContextVar[list[str] | None] = ContextVar("CHATS", default=None)


class Slotted:
    __slots__ = ("count", "inner")

    def __init__(self) -> None:
        self.count, self.inner = 0, ["x"]


class BaseLanguageModel:
    """Named like a base class of the frameworks' models."""

    def __init__(self, held: list[str]) -> None:
        self.held = held


class Shop:
    limit = 3

    def __init__(self) -> None:
        self.count, self.name, self.rate = 0, "shop", 0.5
        self.list: list[Any] = ["one", ["two"], None]
        self.dict: dict[Any, Any] = {"k": "v", "inner": {"x": 1}, 7: [7]}
        self.set, self.deque, self.tuple = {"s"}, deque(["d"]), ("t", ["u"])
        self.slotted, self.space, self.maybe = Slotted(), SimpleNamespace(x=1), None
        self.queue, self.event, self.lock, self.buffer = Queue[int](), Event(), Lock(), bytearray(b"b")
        self.stream = iter([1, 2, 3])
        self.many, self.bound, self.chats = list(range(300)), partial(print, "p", end="e"), CHATS
        self.model = BaseLanguageModel(["said"])
        self.flags = {"on": True}

    def answer(self, question: str, known: list[str] = []) -> str:  # noqa: B006 -- calls share it
        return f"{question} {MODE} {SHARED} {known}"


def closing() -> tuple[Callable[[], None], Callable[[], int]]:
    count, seen = 0, list[int]()

    def run() -> int:
        seen.append(count)
        return count

    def counted() -> None:
        nonlocal count
        count += 1000

    return counted, run


def setting(name: str, value: Any) -> Callable[[Shop], None]:
    return lambda shop: setattr(shop, name, value)


def defaults_of(shop: Shop) -> list[str]:
    defaults = type(shop).answer.__defaults__
    assert defaults
    return defaults[0]


CHANGES: dict[str, Callable[[Shop], Any]] = {
    "nothing": lambda shop: None,
    "a number": setting("count", 1),
    "a large number": setting("count", 10**9),
    "a text": setting("name", "store"),
    "an equal text": setting("name", "".join(["sh", "op"])),
    "True for 1": lambda shop: shop.dict["inner"].update(x=True),
    "a new attribute": setting("mode", "calm"),
    "an attribute less": lambda shop: delattr(shop, "rate"),
    "an attribute of the class": lambda shop: setattr(type(shop), "limit", 4),
    "a text in a list": lambda shop: shop.list.append("more"),
    "an object in a list": lambda shop: shop.list.append(["new"]),
    "an inner list": lambda shop: shop.list[1].append("deep"),
    "a list less": lambda shop: shop.list.pop(1),
    "an entry for None": lambda shop: shop.list.__setitem__(2, Slotted()),
    "a value of a dict": lambda shop: shop.dict.update(k="w"),
    "a key of a dict": lambda shop: shop.dict.update(new="v"),
    "another key": lambda shop: shop.dict.update(j=shop.dict.pop("k")),
    "an inner dict": lambda shop: shop.dict["inner"].update(y=2),
    "a set": lambda shop: shop.set.add("t"),
    "a deque": lambda shop: shop.deque.append("e"),
    "a list in a tuple": lambda shop: shop.tuple[1].append("v"),
    "another tuple": setting("tuple", ("t", ["u"])),
    "a slot": lambda shop: setattr(shop.slotted, "count", 1),
    "a namespace": lambda shop: setattr(shop.space, "x", 2),
    "an object for None": setting("maybe", SimpleNamespace(y=1)),
    "a queue": lambda shop: shop.queue.put(1),
    "an event": lambda shop: shop.event.set(),
    "a buffer": lambda shop: shop.buffer.extend(b"c"),
    "an iterator": lambda shop: next(shop.stream),
    "an object for a lock": setting("lock", Slotted()),
    "another lock": setting("lock", Lock()),
    "a text for a lock": setting("lock", "open"),
    "an entry beyond those that are read": lambda shop: shop.many.append(7),
    "an argument": lambda shop: shop.bound.keywords.update(end="f"),
    "a model's list": lambda shop: shop.model.held.append("again"),
    "a model's list that the shop holds": lambda shop: setattr(shop, "count", shop.model.held),
    "a default": lambda shop: defaults_of(shop).append("known"),
    "a global": lambda shop: SHARED.update(a=2),
    "a flag": lambda shop: shop.flags.update(on=False),
    "an order": lambda shop: shop.dict.update(inner=shop.dict.pop("inner")),
}


def content(held: Held) -> tuple[object, ...]:
    return (
        id(held.thing),
        *(held.name, held.holder, held.is_users, held.is_code, held.size, held.is_of_model),
        *([(name, type(value), value) for name, value in held.plain], held.states, held.values),
    )


def everything(holdings: Holdings) -> tuple[object, ...]:
    outer = [(name, id(thing)) for name, thing in holdings.outer.items()]
    return [content(each) for each in holdings.all], outer, holdings.complete


@pytest.fixture
def shop(monkeypatch: pytest.MonkeyPatch) -> Shop:
    """A shop whose class, defaults and globals no other test changes."""
    made = type("Shop", (Shop,), {"__module__": __name__, "limit": 3})
    answer = Shop.answer
    again = FunctionType(answer.__code__, globals(), "answer", ([],))
    monkeypatch.setattr(made, "answer", again, raising=False)
    monkeypatch.setitem(globals(), "SHARED", {"a": 1})
    return made()


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_a_second_reading_finds_what_a_first_one_would_find(
    shop: Shop, change: Callable[[Shop], Any]
) -> None:
    application = [shop, shop.answer]
    before = Holdings(application)
    change(shop)
    again = Holdings(application, earlier=before)
    assert everything(again) == everything(Holdings(application))
    # Nor does a third one, of which nothing is new but what is read again each time.
    assert everything(Holdings(application, earlier=again)) == everything(again)


def test_all_changes_one_after_the_other(shop: Shop) -> None:
    application = [shop, shop.answer]
    latest = before = Holdings(application)
    for change in CHANGES.values():
        change(shop)
        whole = everything(Holdings(application))
        latest = Holdings(application, earlier=latest)
        assert everything(latest) == whole
        assert everything(Holdings(application, earlier=before)) == whole


def test_a_second_reading_leaves_out_what_tools_at_rest_hold(shop: Shop) -> None:
    sent = ["sent"]

    def send(text: str) -> str:
        """Sends a text."""
        sent.append(text)
        return text

    application, tools = [shop, shop.answer, StructuredTool.from_function(send)], frozenset[str]()
    before = Holdings(application)
    assert before.of(sent) is not None
    for change in CHANGES.values():
        again = Holdings(application, tools, earlier=before)
        assert again.of(sent) is None
        assert everything(again) == everything(Holdings(application, tools))
        change(shop)
        sent.append("again")
    running = Holdings(application, frozenset({"send"}), earlier=before)
    assert everything(running) == everything(Holdings(application))


def test_variables_of_an_outer_function_and_of_a_context() -> None:
    counted, run = closing()
    CHATS.set(None)
    before = Holdings([run, {"chats": CHATS}])
    counted()
    run()
    CHATS.set(["hello"])
    application = [run, {"chats": CHATS}]
    assert everything(Holdings(application, earlier=before)) == everything(Holdings(application))
    CHATS.set(None)


def test_what_has_not_changed_is_not_read_again(shop: Shop) -> None:
    before = Holdings(shop)
    shop.list[1].append("deep")
    again = Holdings(shop, earlier=before)
    anew = [held for held in again.all if held is not before.of(held.thing)]
    assert [held.thing for held in anew] == [shop.list[1]]
    assert [value for _, _, value in changed_values(before, again, lambda _: True)] == ["deep"]


def test_what_is_not_searched_is_not_kept_alive() -> None:
    ended = list[str]()

    class Session:
        def __del__(self) -> None:
            ended.append("ended")

    def streaming() -> Any:
        session = Session()
        yield session

    holder = SimpleNamespace(stream=streaming(), others=[streaming()])
    assert [type(next(stream)) for stream in (holder.stream, *holder.others)] == [Session, Session]
    before = Holdings(holder)
    holder.stream = None
    holder.others.clear()
    assert ended == ["ended", "ended"]
    assert before.complete
