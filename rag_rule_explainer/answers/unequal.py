"""This module says what happens if an answer is compared with an object that is no text and no answer."""

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, cast

from ..sources import Source

_in_condition: ContextVar[bool] = ContextVar("rag_rule_explainer_in_condition", default=False)
_COLLECTED = (dict, list, tuple, set, frozenset)
_OF_RECORDS = ("__pydantic_fields__", "__dataclass_fields__")
_TEXT = "write case.answer.text == '...', or case.answer.value == ... for a structured output"


@contextmanager
def called_as_condition() -> Generator[None]:
    """Within this context, a comparison of an answer with None raises TypeError, because a condition that
    makes such a comparison is a mistake.

    Everywhere else, the comparison is False: other code may have an answer or None, and a check such as
    ``if answer == None`` is right there.
    """
    token = _in_condition.set(True)
    try:
        yield
    finally:
        _in_condition.reset(token)


def not_its_text(answer: object, other: object) -> bool:
    """Returns the result of comparing an answer with ``other``, which is no str and no answer.

    The result is NotImplemented, after which Python treats the two as unequal, or the result of the
    comparison by the class of ``other``. Raises TypeError for an object that no answer can equal, such as
    a number, a dict or a dataclass object: a condition that compares an answer with it would always be
    False.
    """
    if isinstance(other, (int, float, bytes, Source)):
        raise TypeError(_compared_with(other))
    kind = type(other)
    if issubclass(kind, _COLLECTED) or any(hasattr(kind, name) for name in _OF_RECORDS):
        # A class that the user wrote may define in ``__eq__`` that its objects equal some answers.
        said: Any = cast("Any", type(other)).__eq__(other, answer)
        if said is NotImplemented:
            raise TypeError(f"{_compared_with(other)}; for JSON, json.loads(case.answer.text) == ...")
        return said
    if other is None and _in_condition.get():
        raise TypeError(
            "an answer is never None, so it is not compared with None; write case.answer.text == '', or "
            "case.answer.value is None for a structured output"
        )
    return NotImplemented


def _compared_with(other: object) -> str:
    return f"an answer is compared with a str, not with {type(other).__name__}; {_TEXT}"
