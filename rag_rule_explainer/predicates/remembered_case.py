"""This module defines the case that is given to a condition with ``remembered_as``.

The judgement of such a condition is used again for every case with the same question, answer and
baseline. So the condition must not depend on other data, such as the sources. The case that is given to
the condition has no other data, and an attempt to read other data raises an error.
"""

import json
from collections.abc import Hashable
from dataclasses import fields, replace
from typing import Any, cast

from ..errors import InvalidInput
from ..printable import as_json
from ..verdicts import Answer, Case, Kept
from .protocol import answer_key
from .values import NotRead, own_value


class RememberedAnswer(Answer):
    """A ``RememberedAnswer`` has only the text and the value of an answer. Reading anything else raises
    InvalidInput."""

    __slots__ = ("refused",)


class RememberedCase(Case):
    """A ``RememberedCase`` has only the question, the answer and the baseline of a case. Reading anything
    else raises InvalidInput.

    ``refused``: the errors that were raised, which are stored because the condition may catch them.
    """

    __slots__ = ("refused",)
    refused: list[InvalidInput]

    @classmethod
    def of(cls, case: Case) -> "RememberedCase":
        """Returns ``case`` reduced to its question, answer and baseline. Of the answers, only text and
        value are left."""
        refused = list[InvalidInput]()
        parts = {"question": case.question, "refused": refused}
        for name, answer in (("baseline", case.baseline), ("answer", case.answer)):
            known = {"text": answer.text, "value": answer.value, "refused": refused}
            parts[name] = _made(RememberedAnswer, known)
        return _made(cls, parts)


def _made(kind: Any, parts: dict[str, Any]) -> Any:
    made: Any = object.__new__(kind)
    for name, value in parts.items():
        object.__setattr__(made, name, value)
    return made


def _refusing(name: str) -> property:
    def read(self: Any) -> object:
        error = InvalidInput(
            f"the condition reads {name}, but with remembered_as it is judged once for all cases with "
            "the same question and answers; leave remembered_as out"
        )
        self.refused.append(error)
        raise error

    return property(read)


for _kind, _own, _words in (
    (RememberedAnswer, ("text", "value"), "case.answer.{}"),
    (RememberedCase, ("question", "baseline", "answer"), "case.{}"),
):
    for _field in fields(cast("Any", _kind)):
        if _field.name not in _own:
            setattr(_kind, _field.name, _refusing(_words.format(_field.name)))


def check_not_refused(case: Case) -> None:
    """Raises InvalidInput if the condition has read a part of a ``RememberedCase`` that it must not read,
    such as the sources. Reading this part has already raised an error, but the condition may have caught
    this error and returned a verdict."""
    if isinstance(case, RememberedCase) and case.refused:
        raise case.refused[0]


def answers_key(function: object, case: Case) -> Hashable | None:
    """Returns the cache key of a condition with ``remembered_as``: the question, and the text and value
    of the answer and the baseline. Returns None, so that nothing is cached, if JSON cannot represent a
    value exactly."""
    values = (case.baseline.value, case.answer.value)
    if all(value is None for value in values):
        return answer_key(function, case)
    try:
        if any(as_json(value) != value for value in values):
            return None
    except Exception:  # for example, comparing two NumPy arrays gives neither True nor False
        return None
    return (*answer_key(function, case), *(json.dumps(value, sort_keys=True) for value in values))


def own_copy(case: Case) -> Case:
    """Returns the case with copies of those values of its answers that are dicts or lists. So a condition
    that changes a value changes only its own copy.

    The retained sources become a ``Kept``. If a condition compares these sources with a list, it gets a
    TypeError. Without a ``Kept``, the comparison would always be False.
    """
    changes: dict[str, Any] = {
        name: replace(answer, value=NotRead(answer.unread) if value is None else own_value(value))
        for name, answer in (("baseline", case.baseline), ("answer", case.answer))
        if isinstance(value := answer.value, (dict, list)) or (value is None and answer.unread)
    }
    return replace(case, kept=Kept(case.kept), **changes)
