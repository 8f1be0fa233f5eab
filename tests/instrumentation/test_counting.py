"""Numbers and flags that every run changes: harmless unless code goes by them."""

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from rag_rule_explainer.instrumentation.shared_state.counting import deciding, is_for_others
from rag_rule_explainer.instrumentation.shared_state.holdings import Holdings


@dataclass(frozen=True)
class Reply:
    number: int = 3


class Service:
    def __init__(self) -> None:
        self.number = 0
        self.limit = 1000
        self.seen: dict[str, int] = {}
        self.reply = Reply()
        self.said = ""

    def only_counts(self) -> None:
        self.number += 1

    def counts_in_full(self) -> None:
        self.number = self.number + 1

    def counts_by_key(self) -> None:
        self.seen["x"] = self.seen.get("x", 0) + 1

    def fails_beyond(self) -> None:
        self.number += 1
        if self.number > self.limit:
            raise RuntimeError

    def tells(self) -> str:
        self.number += 1
        return f"run {self.number}"

    def goes_by(self) -> str:
        self.number += 1
        return "odd" if self.number % 2 else "even"

    def goes_by_inside_a_text(self) -> str:
        self.number += 1
        return f"{'odd' if self.number % 2 else 'even'}"

    def adds_what_a_reply_counts(self) -> None:
        self.number += self.reply.number

    def adds_what_may_be_missing(self) -> None:
        self.number = self.number + (getattr(self.reply, "number", None) or 0)

    def adds_what_depends_on_it(self) -> None:
        self.number += self.asked(self.number)

    def asked(self, number: int) -> int:
        self.said = str(number)
        return 1


class Reported(Service):
    @property
    def share(self) -> float:
        return self.number / self.limit


def counted(run: Callable[[], object]) -> str:
    run()
    before = Holdings(run)
    run()
    found = deciding(before, Holdings(run), lambda _: False)
    return "" if found is None else found.place


# Each in a class of its own: any code of a class may be what a run calls.
def alone(name: str, base: type[Service] = Service) -> Callable[[], object]:
    methods = {each: vars(Service)[each] for each in (name, "asked")}
    made = type("Alone", (), {**methods, "__module__": __name__})()
    vars(made).update(vars(Service()))
    if base is Reported:
        type(made).share = Reported.share  # type: ignore[attr-defined] -- a new attribute, on purpose
    return getattr(made, name)


@pytest.mark.parametrize(
    "name",
    [
        *("only_counts", "counts_in_full", "counts_by_key", "fails_beyond", "tells"),
        *("adds_what_a_reply_counts", "adds_what_may_be_missing"),
    ],
)
def test_what_is_only_counted_or_told_is_harmless(name: str) -> None:
    assert not counted(alone(name))


@pytest.mark.parametrize("name", ["goes_by", "goes_by_inside_a_text", "adds_what_depends_on_it"])
def test_what_code_goes_by_is_told(name: str) -> None:
    assert counted(alone(name)) == "Alone.number"


def test_what_only_statistics_read_is_harmless() -> None:
    assert not counted(alone("only_counts", Reported))


def test_a_closures_number_is_told() -> None:
    turn = 0

    def run() -> bool:
        nonlocal turn
        turn += 1
        return turn > 3

    assert counted(run) == "run.turn"


class Unlike:
    """This class answers every comparison and every attribute with an error, as some arrays do."""

    def __eq__(self, other: object) -> bool:
        raise ValueError("ambiguous")

    __hash__ = object.__hash__

    def __getattr__(self, name: str) -> object:
        raise ValueError(name)


class Holding:
    table = Unlike()

    def method(self) -> None: ...

    @staticmethod
    def aliased() -> None: ...

    alias = aliased


def test_a_method_is_for_others_unless_it_is_held_under_another_name() -> None:
    """Attributes of the class are of any kind, and are neither compared nor asked for anything."""
    assert is_for_others(Holding(), Holding.method)
    assert not is_for_others(Holding, Holding.aliased)


class ChangedMeanwhile:
    """A class to which another thread adds an attribute while it is read."""

    def helps(self) -> None: ...


class Adding:
    """Does what another thread may do at the same moment: asked for its class, it adds an attribute."""

    @property
    def __class__(self) -> type:  # pyright: ignore[reportIncompatibleMethodOverride] -- only read here
        setattr(ChangedMeanwhile, f"added{len(vars(ChangedMeanwhile))}", 0)
        return Adding


def test_a_class_may_change_while_it_is_read() -> None:
    setattr(ChangedMeanwhile, "adding", Adding())  # noqa: B010 -- the class has no such attribute of its own
    before = len(vars(ChangedMeanwhile))
    assert is_for_others(ChangedMeanwhile, ChangedMeanwhile.helps)  # pyright: ignore[reportArgumentType] -- a function
    assert len(vars(ChangedMeanwhile)) > before
