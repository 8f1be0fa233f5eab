"""Attributes that each run has for itself, and what a run does instead of using the real thing."""

import copy
import pickle
import re
from collections import deque
from typing import Any

from pydantic import BaseModel, PrivateAttr

from rag_rule_explainer.instrumentation.copies.patching import Interception, Patches
from rag_rule_explainer.instrumentation.copies.state import State
from rag_rule_explainer.instrumentation.isolation.attributes import ADDED, Attributes, data_copy
from rag_rule_explainer.instrumentation.isolation.isolating import (
    MADE,
    Real,
    Use,
    carried_out,
    current_state,
    reading_real,
)
from rag_rule_explainer.instrumentation.recording.recorder import Recording
from rag_rule_explainer.instrumentation.run_context import participating
from rag_rule_explainer.instrumentation.run_record import Participation
from tests.integrations.classes import changed, entries


class Plain:
    """Holds what it is given."""

    def __init__(self) -> None:
        self.held: list[Any] = []
        self.client = object()


class Model(BaseModel):
    """The same as a pydantic model, with a private attribute."""

    held: list[int] = []
    _told: dict[str, int] = PrivateAttr(default_factory=dict[str, int])

    def tell(self) -> None:
        self._told["times"] = self._told.get("times", 0) + 1

    @property
    def told(self) -> int:
        return self._told.get("times", 0)


def patches() -> Patches:
    wrapping = Attributes().wrapping
    return Patches(
        Interception(__name__, owner, re.compile("__init__"), wrapping, added=ADDED)
        for owner in ("Plain", "Model")
    )


def run(state: State) -> Participation:
    # As little of a run as is needed.
    return Participation(Recording(lambda batches: [[] for _ in batches]), Any, state)  # type: ignore[arg-type]


def test_each_run_has_its_own_attributes_and_the_real_ones_stay() -> None:
    plain, model, first = Plain(), Model(), State()
    before = entries((Plain, Model))
    with patches().intercepting():
        for state in (first, first.of_a_replay(), first.of_a_replay()):
            with participating(run(state)):
                assert (plain.held, model.held, model.told) == ([], [], 0)
                plain.held.append(1)
                plain.new = True  # type: ignore[attr-defined] -- a new attribute, on purpose
                model.held = [1]
                model.tell()
                assert (plain.held, model.held, model.told) == ([1], [1], 1)
                assert model.model_dump() == {"held": [1]}
                assert model.model_copy(deep=True).held == copy.deepcopy(plain).held == [1]
                assert pickle.loads(pickle.dumps(model)).held == [1]  # noqa: S301 -- our own
                client = plain.client
                del plain.client
                assert not hasattr(plain, "client")
                with reading_real():
                    assert plain.client is client
            assert (plain.held, model.held, model.told) == ([], [], 0)
            assert not hasattr(plain, "new")
            assert model.model_fields_set == set()
    assert changed(before, (Plain, Model)) == []


def test_a_live_run_has_the_real_ones_and_replays_what_was_there_before_it() -> None:
    plain, live = Plain(), State(live=True)
    with patches().intercepting():
        with participating(run(live)):
            plain.held.append("said")
        with participating(run(live.of_a_replay())):
            assert plain.held == []
        assert plain.held == ["said"]


def test_what_a_run_makes_is_its_own_afterwards_too() -> None:
    with patches().intercepting():
        with participating(run(State())):
            plain, model = Plain(), Model()
            plain.held.append(1)
            model.held.append(1)
        assert plain.held == model.held == [1]


def test_what_is_told_in_the_same_way_is_told_apart_by_its_place() -> None:
    places = list[Any]()
    for state in (State(), State()):
        things = [object(), object(), object()]
        for thing, told in zip(things, ("a", "a", "b"), strict=True):
            state.note_birth(thing, told)
            state.note_birth(thing, "again")
        places.append([state.key_of(thing) for thing in things])
    assert places[0] == places[1] == [("a", 0), ("a", 1), ("b", 0)]


def test_copies_go_all_the_way_down_but_for_vectors_and_what_is_no_data() -> None:
    client = object()
    held: dict[str, Any] = {
        "list": [[1], {"x": {1}}],
        "deque": deque([[1]]),
        "tuple": ([1], client),
        "vector": [0.5] * 20,
    }
    held["circle"] = held
    made = data_copy(held)
    made["list"][0].append(2)
    made["list"][1]["x"].add(2)
    made["deque"][0].append(2)
    made["tuple"][0].append(2)
    assert held["list"] == [[1], {"x": {1}}]
    assert held["deque"] == deque([[1]])
    assert held["tuple"] == ([1], client)
    assert made["tuple"][1] is client
    assert made["vector"] is held["vector"]
    assert made["circle"] is made


def test_a_use_reads_the_real_thing_out_of_the_run_and_writes_to_it_inside() -> None:
    seen = list[Any]()

    def use() -> Use:
        first = yield Real("get")
        second = yield MADE
        return first, second

    def call(real: Real) -> str:
        seen.append((real.reading, current_state() is None))
        return real.reading or "made"

    with participating(run(State())):
        assert carried_out(use(), call) == ("get", "made")
    assert seen == [("get", True), ("", False)]
