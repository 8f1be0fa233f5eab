"""``~``, ``&`` and ``|`` over predicates, in Kleene's three-valued logic, and plain functions lifted.

UNKNOWN & BREAKS breaks and UNKNOWN | HOLDS holds, whatever the unknown part is; parts are asked from left
to right and the rest is not asked once the outcome is decided, so put the cheap part first.
"""

import inspect
import re
from collections.abc import Generator, Hashable
from dataclasses import dataclass

from ..allowed import named_function, takes, told
from ..errors import InvalidInput
from ..verdicts import Case, Judgement, Verdict
from .outcomes import ANONYMOUS, as_judgement, run
from .protocol import CaseFunction, Judged, Predicate, PredicateLike, answer_key

NOT_SO = "it is not so that"
"""How the negation of a sentence begins that nobody can turn around."""
_OPEN_ENDED = (NOT_SO, "at $")
_CASE_FOR_TEXT = re.compile(r"\b(?:Case|Answer)\b|^expected string or bytes-like object$")
"""Before Python 3.11, ``re`` does not say what it was given in place of a text."""
_TEXT_OF_CASE = "a predicate is given a Case, and the text of its answer is case.answer.text"


def both(first: Predicate, second: PredicateLike) -> "AllOf":
    """``first & second``."""
    return AllOf((first, as_predicate(second)))


def either(first: Predicate, second: PredicateLike) -> "AnyOf":
    """``first | second``."""
    return AnyOf((first, as_predicate(second)))


def no_truth(predicate: Predicate) -> bool:
    """Raises InvalidInput: ``first and second`` would be the second alone, and ``first or second`` the
    first."""
    raise InvalidInput(
        f"a condition ({predicate}) is neither true nor false by itself; combine conditions with &, | "
        "and ~, not with and, or and not"
    )


def negated(predicate: Predicate) -> Predicate:
    """``~predicate``; a double negation is taken away."""
    return predicate.inner if isinstance(predicate, Not) else opposite(predicate)


def opposite(predicate: Predicate) -> "Not":
    """``~predicate`` of what is no negation: typed so that it can be combined further."""
    return Not(predicate)


def unwrapped(predicate: Predicate) -> tuple[Predicate, bool]:
    """Returns the base predicate, and whether ``predicate`` is its negation.

    Judging the base once and turning the verdict around keeps a predicate and its negation consistent.
    """
    return (predicate.inner, True) if isinstance(predicate, Not) else (predicate, False)


def negation_of(predicate: Predicate) -> str:
    """Returns the clause of the negated predicate."""
    clause = getattr(predicate, "negation", None)
    return clause if isinstance(clause, str) else f"not ({predicate})"


@dataclass(frozen=True, slots=True)
class Not:
    """Holds where ``inner`` breaks, breaks where it holds."""

    inner: Predicate

    def __call__(self, case: Case) -> Judged:
        """Returns the opposite judgement."""
        return run(self._steps(case))

    def _steps(self, case: Case) -> Generator[Judged, Judgement, Judgement]:
        return ~(yield self.inner(case))

    def memo_key(self, case: Case) -> Hashable | None:
        """Returns the inner predicate's key."""
        return self.inner.memo_key(case)

    def __str__(self) -> str:
        return negation_of(self.inner)

    @property
    def negation(self) -> str:
        """Returns the inner predicate's own clause."""
        return str(self.inner)

    __and__, __or__, __invert__, __bool__ = both, either, negated, no_truth


@dataclass(frozen=True, slots=True)
class AllOf:
    """Holds where every part holds; breaks where any part breaks."""

    parts: tuple[Predicate, ...]

    def __call__(self, case: Case) -> Judged:
        """Returns the conjunction of the parts' judgements."""
        return run(_folded(self.parts, case, Verdict.BREAKS))

    def memo_key(self, case: Case) -> Hashable | None:
        """Returns all parts' keys; None if any of them is None."""
        return _joint_key(self.parts, case)

    def __str__(self) -> str:
        return " and ".join(_clause(part, AnyOf) for part in self.parts)

    @property
    def negation(self) -> str:
        """By De Morgan."""
        return " or ".join(_clause(negated(part), AllOf) for part in self.parts)

    __and__, __or__, __invert__, __bool__ = both, either, opposite, no_truth


@dataclass(frozen=True, slots=True)
class AnyOf:
    """Holds where any part holds; breaks where every part breaks."""

    parts: tuple[Predicate, ...]

    def __call__(self, case: Case) -> Judged:
        """Returns the disjunction of the parts' judgements."""
        return run(_folded(self.parts, case, Verdict.HOLDS))

    def memo_key(self, case: Case) -> Hashable | None:
        """Returns all parts' keys; None if any of them is None."""
        return _joint_key(self.parts, case)

    def __str__(self) -> str:
        return " or ".join(_clause(part, AllOf) for part in self.parts)

    @property
    def negation(self) -> str:
        """By De Morgan."""
        return " and ".join(_clause(negated(part), AnyOf) for part in self.parts)

    __and__, __or__, __invert__, __bool__ = both, either, opposite, no_truth


@dataclass(frozen=True, slots=True)
class Function:
    """This class represents a function of a Case as a predicate.

    It is judged anew for every replay: nobody knows what it looks at. Unless ``remembered_as`` names it:
    that promises that it looks at the question and at both answers only, and that the same name always
    means the same function, so that each judgement is made once, also in a store. A sync function runs in
    a worker thread, because it may well wait for something.
    """

    function: CaseFunction
    text: str = ""
    remembered_as: str | None = None

    async def __call__(self, case: Case) -> Judgement:
        """Returns the function's outcome as a Judgement. Raises InvalidInput for any other outcome."""
        try:
            return as_judgement(await self._outcome(case), self)
        except (TypeError, AttributeError) as error:
            # "expected string or bytes-like object, got 'Case'": the function took it for a text.
            if not _CASE_FOR_TEXT.search(str(error)):
                raise
            raise type(error)(f"{error}; {_TEXT_OF_CASE}") from error

    async def _outcome(self, case: Case) -> object:
        if inspect.iscoroutinefunction(self.function):
            return await self.function(case)
        import anyio.to_thread  # here, because importing the package loads no event loop

        outcome = await anyio.to_thread.run_sync(self.function, case)
        return await outcome if inspect.isawaitable(outcome) else outcome

    def memo_key(self, case: Case) -> Hashable | None:
        """None, which is never remembered, unless it has a name."""
        return None if self.remembered_as is None else answer_key(self, case)

    def __str__(self) -> str:
        return self.text or f"{self.name} is true"

    @property
    def negation(self) -> str:
        """Returns the clause of its negation."""
        return f"not ({self.text})" if self.text else f"{self.name} is false"

    @property
    def name_in_errors(self) -> str:
        """Returns how errors name it: by the function's name, unless it has a text."""
        return self.text or self.name

    @property
    def name(self) -> str:
        """Returns what the function is called."""
        name = getattr(self.function, "__name__", type(self.function).__name__)
        return ANONYMOUS if name == "<lambda>" else f"{name}(case)"

    __and__, __or__, __invert__, __bool__ = both, either, opposite, no_truth


def condition(function: CaseFunction, text: str = "", *, remembered_as: str | None = None) -> Function:
    """Returns a function of a Case as a predicate that reads as ``text`` in rules.

    ``remembered_as``: a name of your own for what it judges, e.g. "dosage judge 2 with gpt-4o": then no
    answer is judged twice. Raises InvalidInput for what is no function, no text, or an empty name.
    """
    if not callable(function):
        raise InvalidInput(f"condition was given {told(function)}; give a function of a Case")
    _check_arguments(function)
    if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance] -- users pass more
        raise InvalidInput(f"the text of a condition is {text!r}; give a str, such as 'it is short'")
    if remembered_as is not None and not (isinstance(remembered_as, str) and remembered_as.strip()):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInput(f"remembered_as is {remembered_as!r}; give a name, or leave it out")
    return Function(function, text, remembered_as)


def as_predicate(given: PredicateLike) -> Predicate:
    """Returns a predicate as it is, a function as one.

    Raises InvalidInput for what cannot be called or, having a memo key, cannot be hashed.
    """
    if _is_uncalled(given):
        name = getattr(given, "__name__", type(given).__name__)
        raise InvalidInput(
            f"the predicate is {name} itself, which makes one; call it, as in same_answer() or "
            "contains('calcium')"
        )
    if isinstance(given, Predicate):
        return _hashable(given)
    if not callable(given):
        raise InvalidInput(
            f"the predicate is {told(given)}; pass a predicate such as contains('...') or a "
            "function of a Case that returns True or False"
        )
    _check_arguments(given)
    return _hashable(Function(given))


def _check_arguments(function: CaseFunction) -> None:
    if not takes(function, 1):
        raise InvalidInput(
            f"the predicate is {named_function(function)}, which cannot be called with one Case alone; "
            "pass a function of a Case that returns True or False, as lambda case: 'yes' in case does"
        )


def _is_uncalled(given: object) -> bool:
    """Returns True for a class, and for what makes predicates here."""
    return isinstance(given, type) or (
        inspect.isfunction(given) and given.__module__.startswith(f"{__package__}.")
    )


def _folded(
    parts: tuple[Predicate, ...], case: Case, decisive: Verdict
) -> Generator[Judged, Judgement, Judgement]:
    """One decisive part decides; else an unknown one leaves it open; else it is the opposite.

    Whatever decides gives its reason: where no part did alone, all of them do.
    """
    unknown, reasons = None, list[str]()
    for part in parts:
        judgement = yield part(case)
        if judgement.verdict is decisive:
            return judgement
        if judgement.verdict is Verdict.UNKNOWN:
            unknown = judgement
        reasons += [judgement.reason] if judgement.reason else []
    return unknown or Judgement(~decisive, "; ".join(dict.fromkeys(reasons)))


def _joint_key(parts: tuple[Predicate, ...], case: Case) -> Hashable | None:
    keys = tuple(part.memo_key(case) for part in parts)
    return None if None in keys else keys


def _clause(part: Predicate, other_joint: "type[AllOf | AnyOf]") -> str:
    """Returns the part's clause, in brackets where it is joined the other way, or would take in what
    follows."""
    base, is_negation = unwrapped(part)
    joint = {AllOf: AnyOf, AnyOf: AllOf}[other_joint] if is_negation else other_joint
    clause = str(part)
    return f"({clause})" if isinstance(base, joint) or clause.startswith(_OPEN_ENDED) else clause


def _hashable(predicate: Predicate) -> Predicate:
    try:
        hash(predicate)
    except TypeError as error:
        raise InvalidInput(
            f"judgements are remembered by predicate, but {type(predicate).__name__} cannot be "
            "hashed; make it a frozen dataclass"
        ) from error
    return predicate
