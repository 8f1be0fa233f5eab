"""This module defines a predicate that holds iff an answer's JSON is valid for a type."""

import hashlib
import inspect
import json
from collections.abc import Hashable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, get_origin

from ..allowed import brief, called_as
from ..errors import InvalidInput
from ..printable import shortened
from ..verdicts import Case, Judgement, Verdict
from .combine import Combinable
from .structured import NO_JSON, json_in, json_judged


@dataclass(frozen=True, slots=True)
class IsValid(Combinable):
    """This predicate holds iff pydantic accepts the answer's JSON as a value of a type. ``name``: the
    name of the type. ``adapter``: pydantic's validator for the type; two predicates with the same
    validator are equal. ``schema``: a hash of the type's JSON schema; None if the type has none."""

    name: str
    adapter: Any = field(repr=False)
    schema: str | None

    def __call__(self, case: Case) -> Judgement:
        """Returns HOLDS, or BREAKS with the first validation error as the reason."""
        from pydantic import ValidationError

        text = json_judged(case)
        if text is None:
            return NO_JSON
        try:
            self.adapter.validate_json(text)
        except ValidationError as error:
            return Judgement(Verdict.BREAKS, _first(error))
        return Judgement(Verdict.HOLDS)

    def memo_key(self, case: Case) -> Hashable | None:
        """Returns the cache key of the judgement: the question, the JSON of the answer and of the
        baseline, and the hash of the type's JSON schema. Returns None, so that nothing is cached, if the
        type has no JSON schema."""
        if self.schema is None:
            return None
        return case.question, json_in(case.baseline), json_in(case.answer), self.schema

    def __str__(self) -> str:
        return f"the answer is a valid {self.name}"

    @property
    def negation(self) -> str:
        """Returns the opposite of this condition in words, as in "the answer is not a valid Dose"."""
        return f"the answer is not a valid {self.name}"


def _first(error: Any) -> str:
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    place = ".".join(map(str, first["loc"]))
    return shortened(f"{place}: {first['msg']}" if place else first["msg"], 160)


_VALUES = (dict, str, bytes, bool, int, float, list, tuple, set)


def _adapter_of(kind: Any) -> Any:
    from pydantic import TypeAdapter
    from pydantic.errors import PydanticUndefinedAnnotation, PydanticUserError

    # For a function, pydantic would check the arguments of a call instead of a value.
    if inspect.isroutine(kind):
        raise InvalidInput(
            f"is_valid was given the function {shortened(repr(kind), 200)}; give a pydantic model or "
            "another type, or use condition(function)"
        )
    if type(kind) in _VALUES:
        what = "a JSON schema" if type(kind) in _VALUES[:1] else "a value"
        raise InvalidInput(
            f"is_valid was given {brief(kind)}, {what}; give a pydantic model, a dataclass, or "
            "another type such as list[int]"
        )
    try:
        adapter = TypeAdapter[Any](kind)
    except (PydanticUserError, PydanticUndefinedAnnotation) as error:
        why = str(error).splitlines()[0]
        raise InvalidInput(
            f"is_valid was given {shortened(repr(kind), 200)}, which pydantic cannot validate: {why}; "
            "give a pydantic model, a dataclass or another type"
        ) from error
    if not getattr(adapter, "pydantic_complete", True):
        raise InvalidInput(
            f"is_valid was given {shortened(repr(kind), 200)}, which names a type that is not defined; "
            "define it first, or call model_rebuild()"
        )
    return adapter


_remembered_adapter_of = lru_cache(maxsize=256)(_adapter_of)


def _adapter(kind: Any) -> Any:
    try:
        hash(kind)
    # A type that cannot be hashed, such as ``Annotated[int, Field(gt=0)]``, is not cached.
    except TypeError:
        return _adapter_of(kind)
    return _remembered_adapter_of(kind)


def _schema_of(adapter: Any) -> str | None:
    try:
        schema = json.dumps(adapter.json_schema(), sort_keys=True, default=str)
    except Exception:
        return None  # Some types have no JSON schema, and a user's hook may raise any error.
    return hashlib.sha256(schema.encode("utf-8", "surrogatepass")).hexdigest()[:16]


@called_as("is_valid")
def is_valid(kind: Any) -> IsValid:
    """Returns a predicate that holds iff the answer's JSON is valid for ``kind``, a pydantic model or any
    type that pydantic knows, such as ``list[int]``. Raises InvalidInput for other types."""
    adapter = _adapter(kind)
    plain = isinstance(kind, type) and get_origin(kind) is None
    return IsValid(kind.__name__ if plain else str(kind), adapter, _schema_of(adapter))
