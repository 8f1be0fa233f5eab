"""This module defines a predicate on the values that a JSON path, such as ``$.dose.unit``, finds in an
answer."""

from collections.abc import Callable, Generator, Hashable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from ..allowed import called_as, checked_flag
from ..errors import InvalidInput
from ..printable import printable, shortened
from ..verdicts import Answer, Case, Judgement, Verdict
from .combine import AllOf, AnyOf, Combinable, as_predicate, negation_of, run, unwrapped
from .outcomes import as_judgement
from .protocol import Judged, Predicate
from .structured import (
    NO_JSON,
    as_answer,
    json_in,
    json_judged,
    json_of,
    parsed_json,
    said_in_json,
    same_json,
)

_MOST_DESCENTS = 2
"""The maximum number of descents (``..``) in one path. With more, the search in a deeply nested answer
could take too long."""


@lru_cache(maxsize=256)
def _compiled(path: str) -> Any:
    """Returns the compiled path. Raises InvalidInput if it is no JSON path of RFC 9535, or has too
    many descents (``..``)."""
    from jsonpath import JSONPathEnvironment
    from jsonpath.exceptions import JSONPathError

    try:
        compiled = JSONPathEnvironment(strict=True).compile(path)
    except (JSONPathError, RecursionError) as error:
        why = error.args[0] if error.args else type(error).__name__
        raise InvalidInput(
            f"{shortened(path, 200)!r} is not a JSON path: {why}; write one such as $.dose.unit, "
            "$.items[0] or $.items[*].name"
        ) from error
    if path.count("..") > _MOST_DESCENTS:
        raise InvalidInput(f"{shortened(path, 200)!r} descends with .. more than twice; name the steps")
    return compiled


def _found(path: str, text: str) -> list[Any]:
    """Returns all values that the path finds in the JSON ``text``. Raises ValueError if the path cannot
    be followed because the text is nested too deeply."""
    from jsonpath.exceptions import JSONPathError

    try:
        return [match.obj for match in _compiled(path).finditer(parsed_json(text))]
    except (JSONPathError, RecursionError) as error:
        raise ValueError(str(error.args[0]) if error.args else type(error).__name__) from error


@dataclass(frozen=True, slots=True)
class JsonPath(Combinable):
    """This predicate holds iff at least one value at ``path`` passes the test; without a test, iff there
    is a value.

    At most one of the following four tests is set. ``expected``: JSON that the value must equal.
    ``inner``: a predicate that must hold of the value. ``inner`` judges the value as if it were the
    answer. If ``inner`` compares answers with the baseline, the value is compared with the first value at
    ``path`` in the baseline. ``test``: a function of the value that must return True. ``absent``: True if
    the answer's JSON must have no value at ``path``.
    """

    path: str
    expected: str | None = None
    inner: Predicate | None = None
    test: Callable[[Any], Any] | None = None
    absent: bool = False

    def __post_init__(self) -> None:
        _compiled(self.path)

    def __call__(self, case: Case) -> Judged:
        """Returns the judgement of the first value that passes the test. If none passes, returns UNKNOWN
        if a value was judged UNKNOWN, else BREAKS with the reason. With ``absent``, returns HOLDS iff
        there is no value."""
        return run(self._steps(case))

    def _steps(self, case: Case) -> Generator[Judged, Judgement, Judgement]:
        text = json_judged(case)
        if text is None:
            return NO_JSON
        try:
            values = _found(self.path, text)
        except ValueError as error:
            return Judgement(Verdict.BREAKS, f"{self._path} cannot be followed: {error}")
        if self.absent:
            return Judgement(Verdict.of(not values), f"there is a {self._path}" if values else "")
        outcome = Judgement(Verdict.BREAKS, f"there is no {self._path}")
        for value in values:
            judgement = yield self._judged(value, case)
            if judgement.verdict is Verdict.HOLDS:
                return judgement
            if outcome.verdict is not Verdict.UNKNOWN:
                outcome = judgement
        return outcome

    def _judged(self, value: Any, case: Case) -> Judged:
        if self.inner is not None:
            return self.inner(self._inside(value, case))
        if self.test is not None:
            return as_judgement(self.test(value), self)
        if self.expected is None or same_json(value, parsed_json(self.expected)):
            return Judgement(Verdict.HOLDS)
        return Judgement(Verdict.BREAKS, f"{self._path} is {shortened(json_of(value), 80)}")

    def _inside(self, value: Any, case: Case) -> Case:
        before = self._values(case.baseline)
        baseline = as_answer(before[0]) if before else Answer("")
        return replace(case, baseline=baseline, answer=as_answer(value))

    def _values(self, answer: Answer) -> list[Any]:
        text = json_in(answer)
        try:
            return [] if text is None else _found(self.path, text)
        except ValueError:
            return []

    def memo_key(self, case: Case) -> Hashable | None:
        """Returns the cache key of the judgement: the question, the JSON of the answer and of the
        baseline, and the keys of ``inner``. Returns None if there is a ``test``, because the judgement of
        a function is not cached."""
        if self.test is not None:
            return None
        said = case.question, json_in(case.baseline), json_in(case.answer)
        if self.inner is None:
            return said
        inside = [self.inner.memo_key(self._inside(each, case)) for each in self._values(case.answer)]
        return None if None in inside else (*said, *inside)

    @property
    def _path(self) -> str:
        return printable(self.path)

    @property
    def _test(self) -> str:
        name = getattr(self.test, "__name__", type(self.test).__name__)
        return f"the given function of {self._path}" if name == "<lambda>" else f"{name}({self._path})"

    def __str__(self) -> str:
        if self.inner is not None:
            return f"at {self._path}, {_bracketed(self.inner, str(self.inner))}"
        if self.test is not None:
            return f"{self._test} is true"
        if self.expected is not None:
            return f"the answer's {self._path} is {self.expected}"
        return (
            f"the answer is JSON without {self._path}" if self.absent else f"the answer has {self._path}"
        )

    @property
    def negation(self) -> str:
        """Returns the opposite of this condition in words, as in "the answer has no $.dose.unit"."""
        if self.inner is not None:
            return f"at {self._path}, {_bracketed(self.inner, negation_of(self.inner))}"
        if self.test is not None:
            return f"{self._test} is false"
        if self.expected is not None:
            return f"the answer's {self._path} is not {self.expected}"
        has = f"has {self._path}"
        return f"the answer is no JSON, or {has}" if self.absent else f"the answer has no {self._path}"


def _bracketed(inner: Predicate, clause: str) -> str:
    base, _ = unwrapped(inner)
    return f"({clause})" if isinstance(base, (AllOf, AnyOf)) else clause


_ANYTHING = object()


@called_as("json_path")
def json_path(
    path: str,
    *,
    equals: object = _ANYTHING,
    is_: Callable[[Any], Any] | None = None,
    exists: bool = True,
) -> JsonPath:
    """Returns a predicate on the values at ``path`` in the answer's JSON. ``path`` is a JSON path (RFC
    9535) such as ``$.dose.unit``. If the path finds several values, at least one of them must pass the
    test.

    At most one test may be given. ``equals``: an object that the value must equal, compared as JSON.
    ``is_``: a predicate, such as ``is_=contains("zinc")``, or a function of the value that returns True
    or False. Without a test, the predicate holds if there is a value, even null. ``exists``: False if the
    answer must be JSON without a value at ``path``.

    The predicate breaks for an answer without JSON. Unless ``exists`` is False, it also breaks for an
    answer without a value at ``path``. Raises InvalidInput for a malformed path, an ``equals`` that JSON
    cannot represent, or more than one test.
    """
    if not isinstance(path, str):  # pyright: ignore[reportUnnecessaryIsInstance] -- users may pass other types
        raise InvalidInput(f"a JSON path was given as {path!r}; give a str such as '$.dose.unit'")
    checked_flag("exists", exists)
    if (equals is not _ANYTHING) + (is_ is not None) + (not exists) > 1:
        raise InvalidInput("json_path takes one of equals, is_ and exists=False; combine two with &")
    if isinstance(is_, Predicate):
        return JsonPath(path, inner=as_predicate(is_))
    if is_ is not None and not callable(is_):
        raise InvalidInput(f"is_ is {is_!r}; give a predicate or a function of the value, or use equals=")
    if equals is _ANYTHING:
        return JsonPath(path, test=is_, absent=not exists)
    said = said_in_json(equals)
    if said is None:
        raise InvalidInput(f"equals is {equals!r}, which JSON cannot say; give what it can")
    return JsonPath(path, expected=said)
