"""This module holds agents with a tool that changes an object of the user's, and one that reads it in a
way that does not name what was changed."""

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from datetime import date
from enum import Enum
from functools import singledispatch
from operator import attrgetter
from typing import Any, ClassVar

from langchain.agents.middleware import before_model
from langchain_core.tools import tool
from pydantic import BaseModel, ConfigDict, Field

from tests.agents.reading import Omitted, cut, policy_for, told
from tests.agents.reading_agents import agent_of, guilty, innocent
from tests.agents.reading_notes import NOTE, agent_with_notes


class Stage(Enum):
    NEW = "new"
    DONE = "done"


class Named(str, Enum):
    NEW = "new"
    DONE = "done"


class User:
    def __init__(self, name: str) -> None:
        self.name = name


class Open:
    said = ""


class Closed:
    said = NOTE


class Desk:
    risky = False

    def __init__(self) -> None:
        self.stage, self.named, self.user, self.day = (
            Stage.NEW,
            Named.NEW,
            User("guest"),
            date(2026, 1, 1),
        )
        self.order: User | None = None
        self.mode: Any = Open

    def set(self, **values: Any) -> None:
        for name, value in values.items():
            setattr(self, name, value)


@guilty
def default_of_a_class(omitted: Omitted) -> Any:
    desk = Desk()

    def write(_: str) -> None:
        desk.risky = True

    return agent_with_notes(omitted, write, lambda: NOTE if desk.risky else "")


@guilty
def member_of_an_enumeration(omitted: Omitted) -> Any:
    desk = Desk()

    def write(_: str) -> None:
        desk.stage = Stage.DONE

    return agent_with_notes(omitted, write, lambda: NOTE if desk.stage is Stage.DONE else "")


@guilty
def member_of_an_enumeration_of_texts(omitted: Omitted) -> Any:
    desk = Desk()

    def write(_: str) -> None:
        desk.named = Named.DONE

    return agent_with_notes(omitted, write, lambda: NOTE if desk.named is Named.DONE else "")


@guilty
def another_object(omitted: Omitted) -> Any:
    desk = Desk()

    def write(_: str) -> None:
        desk.user = User("root")

    return agent_with_notes(omitted, write, lambda: NOTE if desk.user.name == "root" else "")


@guilty
def an_object_instead_of_none(omitted: Omitted) -> Any:
    desk = Desk()

    def write(_: str) -> None:
        desk.order = User("root")

    return agent_with_notes(omitted, write, lambda: NOTE if desk.order else "")


@guilty
def a_class_as_a_state(omitted: Omitted) -> Any:
    desk = Desk()

    def write(_: str) -> None:
        desk.mode = Closed

    return agent_with_notes(omitted, write, lambda: desk.mode.said)


@guilty
def a_date(omitted: Omitted) -> Any:
    desk = Desk()

    def write(_: str) -> None:
        desk.day = date(2026, 2, 2)

    return agent_with_notes(omitted, write, lambda: NOTE if desk.day.month == 2 else "")


@guilty
def an_attribute_whose_name_is_made(omitted: Omitted) -> Any:
    desk = Desk()

    def write(_: str) -> None:
        desk.set(risky=True)

    return agent_with_notes(omitted, write, lambda: NOTE if getattr(desk, "".join(["ris", "ky"])) else "")


@guilty
def a_getter_from_before(omitted: Omitted) -> Any:
    desk, get = Desk(), attrgetter("risky")

    def write(_: str) -> None:
        desk.risky = True

    return agent_with_notes(omitted, write, lambda: NOTE if get(desk) else "")


class Single:
    _made: "ClassVar[Single | None]" = None
    text: str

    def __new__(cls) -> "Single":
        if cls._made is None:
            cls._made = super().__new__(cls)
            cls._made.text = ""
        return cls._made


@guilty
def one_object_of_a_class(omitted: Omitted) -> Any:
    Single._made = None  # pyright: ignore[reportPrivateUsage] -- each application begins anew

    def write(text: str) -> None:
        Single().text = text

    return agent_with_notes(omitted, write, lambda: Single().text)


class Sharing:
    shared: ClassVar[dict[str, Any]] = {}
    text: str

    def __init__(self) -> None:
        self.__dict__ = self.shared


@guilty
def objects_that_share_attributes(omitted: Omitted) -> Any:
    Sharing.shared.clear()
    Sharing().text = ""

    def write(text: str) -> None:
        Sharing().text = text

    return agent_with_notes(omitted, write, lambda: Sharing().text)


class Described:
    def __get__(self, instance: Any, owner: Any = None) -> str:
        return str(instance.held)

    def __set__(self, instance: Any, value: str) -> None:
        instance.held = value


class WithDescribed:
    text: Any = Described()

    def __init__(self) -> None:
        self.held = ""


@guilty
def a_descriptor(omitted: Omitted) -> Any:
    desk = WithDescribed()

    def write(text: str) -> None:
        desk.text = text

    return agent_with_notes(omitted, write, lambda: desk.text)


class Account(BaseModel):
    model_config = ConfigDict(extra="allow")
    text: str = ""


@guilty
def a_model_that_is_dumped(omitted: Omitted) -> Any:
    account = Account()

    def write(text: str) -> None:
        account.text = text

    return agent_with_notes(omitted, write, account.model_dump_json)


@guilty
def an_extra_field(omitted: Omitted) -> Any:
    account: Any = Account()

    def write(text: str) -> None:
        account.more = text

    return agent_with_notes(omitted, write, lambda: getattr(account, "more", ""))


def shown_of_a_number(_: int) -> str:
    return NOTE


@guilty
def a_function_that_is_registered(omitted: Omitted) -> Any:
    @singledispatch
    def shown(thing: Any) -> str:
        return ""

    def write(_: str) -> None:
        shown.register(int, shown_of_a_number)

    return agent_with_notes(omitted, write, lambda: shown(1))


@guilty
def an_entry_that_middleware_sets(omitted: Omitted) -> Any:
    flags = dict[str, str]()

    @before_model
    def note(state: Any, runtime: Any) -> None:
        if "4711" in told(state["messages"]):
            flags["note"] = NOTE

    @tool
    def policy() -> str:
        """Policy."""
        return cut("policy #1", policy_for(flags), omitted)

    return agent_of(omitted, policy, note)


@dataclass
class World:
    notes: list[str] = field(default_factory=list[str])
    pages: list[str] = field(default_factory=lambda: [NOTE])


@innocent
def a_record_that_is_not_shown(omitted: Omitted) -> Any:
    world = World()

    def write(text: str) -> None:
        world.notes.append(text)

    return agent_with_notes(omitted, write, lambda: list(world.pages))


class Basket(BaseModel):
    total: float = 0


class Shop(BaseModel):
    basket: Basket = Field(default_factory=Basket)

    def told(self) -> str:
        return self.model_dump_json()


@dataclass
class Cart:
    total: float = 0


@dataclass
class Till:
    cart: Cart = field(default_factory=Cart)


def _with_total(omitted: Omitted, inner: Any, read: Callable[[], str]) -> Any:
    def write(_: str) -> None:
        inner.total += 3

    return agent_with_notes(omitted, write, lambda: NOTE if "3" in read() else "")


@guilty
def model_inside_a_printed_model(omitted: Omitted) -> Any:
    shop = Shop()
    return _with_total(omitted, shop.basket, lambda: str(shop.model_dump()))


@guilty
def model_inside_a_model_that_prints_itself(omitted: Omitted) -> Any:
    shop = Shop()
    return _with_total(omitted, shop.basket, lambda: shop.told())


@guilty
def object_inside_a_printed_object(omitted: Omitted) -> Any:
    till = Till()
    return _with_total(omitted, till.cart, lambda: f"{till}")


@guilty
def object_inside_an_object_as_a_dict(omitted: Omitted) -> Any:
    till = Till()
    return _with_total(omitted, till.cart, lambda: str(asdict(till)))
