"""What is computed once for each class."""

import gc
from typing import Any, Literal
from weakref import ref

from rag_rule_explainer.instrumentation.rewinding.reachable import Reachable
from rag_rule_explainer.instrumentation.shared_state.per_class import per_class


def test_it_is_computed_once_and_keeps_no_class_alive() -> None:
    asked: list[str] = []

    @per_class
    def name(kind: type) -> str:
        asked.append(kind.__name__)
        return kind.__name__

    made: Any = type("Made", (), {})
    assert [name(made), name(made), name(int)] == ["Made", "Made", "int"]
    assert asked == ["Made", "int"]
    known = ref(made)
    del made
    gc.collect()
    assert known() is None


def test_a_class_without_a_hash_is_asked_every_time() -> None:
    class Unhashed(type):
        __hash__ = None  # pyright: ignore[reportAssignmentType] -- as a class with __eq__ alone has it

        def __eq__(cls, other: object) -> bool:
            raise RuntimeError("not to be compared")

    class Odd(metaclass=Unhashed):
        pass

    assert per_class(lambda kind: kind.__name__)(Odd) == "Odd"


def test_the_caches_of_annotations_are_no_state_of_an_application() -> None:
    kinds = {type(each.thing).__name__ for each in Reachable([Literal["a mode"]]).nodes}
    assert "_LiteralGenericAlias" in kinds
    assert "_lru_list_elem" not in kinds
