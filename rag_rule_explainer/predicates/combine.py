"""This module combines predicates by ``~``, ``&`` and ``|``, and turns functions into predicates. It
follows Kleene's three-valued logic: UNKNOWN & BREAKS is BREAKS, and UNKNOWN | HOLDS is HOLDS.
Predicates are evaluated from left to right until the result is certain, so put the cheap one first."""

import inspect
import re
from collections.abc import Generator, Hashable
from dataclasses import dataclass

from ..allowed import brief, called_as, named_function, takes
from ..errors import InvalidInput
from ..verdicts import Case, Judgement, Verdict
from .outcomes import ANONYMOUS, as_judgement, run
from .protocol import CaseFunction, Judged, Predicate, PredicateLike, answer_key

NOT_SO = "it is not so that"
"""The first words of a clause that negates a sentence as a whole."""
_OPEN_ENDED = (NOT_SO, "at $")
_CASE_FOR_TEXT = re.compile(r"\b(?:Case|Answer)\b|^expected string or bytes-like object$")
"""Matches the errors of a function that uses a Case as a text; the last part is for Python 3.10."""
_TEXT_OF_CASE = "a predicate is given a Case, and the text of its answer is case.answer.text"
_OF_JUDGE = re.compile("'Case' object has no attribute '(?:candidates|instructions|content|matter)'")
_JUDGE_GIVEN = "a function of a JudgeRequest is a judge: predicate=judged('says ...', judge)"


def both(first: Predicate, second: PredicateLike) -> "AllOf":
    """Returns the predicate ``first & second``."""
    return AllOf((first, as_predicate(second)))


def either(first: Predicate, second: PredicateLike) -> "AnyOf":
    """Returns the predicate ``first | second``."""
    return AnyOf((first, as_predicate(second)))


def no_truth(predicate: Predicate) -> bool:
    """Raises InvalidInput, because ``and`` and ``or`` would silently ignore one of two predicates."""
    raise InvalidInput(
        f"a condition ({predicate}) is neither true nor false by itself; combine conditions with &, | "
        "and ~, not with and, or and not"
    )


def negated(predicate: Predicate) -> Predicate:
    """Returns ``~predicate``. For a negation, this is the predicate that was negated."""
    return predicate.inner if isinstance(predicate, Not) else opposite(predicate)


def opposite(predicate: Predicate) -> "Not":
    """Returns ``~predicate``, for a predicate that is not itself a negation."""
    return Not(predicate)


def unwrapped(predicate: Predicate) -> tuple[Predicate, bool]:
    """Returns the predicate without its negation, and True iff it was negated. A caller that judges
    only this base gets consistent verdicts for the predicate and its negation."""
    return (predicate.inner, True) if isinstance(predicate, Not) else (predicate, False)


def negation_of(predicate: Predicate) -> str:
    """Returns the words by which a rule says that the condition does not hold."""
    clause = getattr(predicate, "negation", None)
    return clause if isinstance(clause, str) else f"not ({predicate})"


@dataclass(frozen=True, slots=True)
class Not:
    """This predicate negates ``inner``: it holds iff ``inner`` breaks, and breaks iff ``inner`` holds."""

    inner: Predicate

    def __call__(self, case: Case) -> Judged:
        """Returns the negated judgement of ``inner``."""
        return run(self._steps(case))

    def _steps(self, case: Case) -> Generator[Judged, Judgement, Judgement]:
        return ~(yield self.inner(case))

    def memo_key(self, case: Case) -> Hashable | None:
        """Returns the memo key of ``inner``."""
        return self.inner.memo_key(case)

    def __str__(self) -> str:
        return negation_of(self.inner)

    @property
    def negation(self) -> str:
        """Returns the words of ``inner``, because a negation fails to hold iff ``inner`` holds."""
        return str(self.inner)

    __and__, __or__, __invert__, __bool__ = both, either, negated, no_truth


@dataclass(frozen=True, slots=True)
class AllOf:
    """This predicate holds iff all ``parts`` hold, and breaks iff at least one of them breaks."""

    parts: tuple[Predicate, ...]

    def __call__(self, case: Case) -> Judged:
        """Returns the judgements of all parts, combined by "and"."""
        return run(_folded(self.parts, case, Verdict.BREAKS))

    def memo_key(self, case: Case) -> Hashable | None:
        """Returns the memo keys of all parts; None if one of them is None."""
        return _joint_key(self.parts, case)

    def __str__(self) -> str:
        return " and ".join(_clause(part, AnyOf) for part in self.parts)

    @property
    def negation(self) -> str:
        """Returns the words of a rule for the opposite: the negations of the parts, joined by "or"."""
        return " or ".join(_clause(negated(part), AllOf) for part in self.parts)

    __and__, __or__, __invert__, __bool__ = both, either, opposite, no_truth


@dataclass(frozen=True, slots=True)
class AnyOf:
    """This predicate holds iff at least one of ``parts`` holds, and breaks iff all of them break."""

    parts: tuple[Predicate, ...]

    def __call__(self, case: Case) -> Judged:
        """Returns the judgements of all parts, combined by "or"."""
        return run(_folded(self.parts, case, Verdict.HOLDS))

    def memo_key(self, case: Case) -> Hashable | None:
        """Returns the memo keys of all parts; None if one of them is None."""
        return _joint_key(self.parts, case)

    def __str__(self) -> str:
        return " or ".join(_clause(part, AllOf) for part in self.parts)

    @property
    def negation(self) -> str:
        """Returns the words of a rule for the opposite: the negations of the parts, joined by "and"."""
        return " and ".join(_clause(negated(part), AnyOf) for part in self.parts)

    __and__, __or__, __invert__, __bool__ = both, either, opposite, no_truth


@dataclass(frozen=True, slots=True)
class Function:
    """This class makes a predicate of a function of a Case.

    The function is called for every replay, unless ``remembered_as`` gives it a name. With a name, the
    caller promises two things: the result depends only on the question and both answers, and the name
    always means the same function. Each judgement is then made once and also kept in a store. A sync
    function runs in a worker thread, because it may block.
    """

    function: CaseFunction
    text: str = ""
    remembered_as: str | None = None

    async def __call__(self, case: Case) -> Judgement:
        """Returns the function's result as a Judgement. Raises InvalidInput if it is no truth value."""
        try:
            return as_judgement(await self._outcome(case), self)
        except (TypeError, AttributeError) as error:
            # Such an error means that the function used the Case as if it were a text.
            if not _CASE_FOR_TEXT.search(str(error)):
                raise
            way_out = _JUDGE_GIVEN if _OF_JUDGE.search(str(error)) else _TEXT_OF_CASE
            raise type(error)(f"{error}; {way_out}") from error

    async def _outcome(self, case: Case) -> object:
        if inspect.iscoroutinefunction(self.function):
            return await self.function(case)
        import anyio.to_thread  # imported late, so that importing the package loads no event loop

        # A function that takes too long is abandoned but keeps its thread. So it must not use one of the
        # few threads of anyio; the caller's concurrency limits the number of such functions.
        outcome = await anyio.to_thread.run_sync(
            self.function, case, abandon_on_cancel=True, limiter=anyio.CapacityLimiter(1)
        )
        return await outcome if inspect.isawaitable(outcome) else outcome

    def memo_key(self, case: Case) -> Hashable | None:
        """Returns the usual memo key if ``remembered_as`` is set, else None: nothing is then cached."""
        return None if self.remembered_as is None else answer_key(self, case)

    def __str__(self) -> str:
        return self.text or f"{self.name} is true"

    @property
    def negation(self) -> str:
        """Returns the words by which a rule says that the condition does not hold."""
        return f"not ({self.text})" if self.text else f"{self.name} is false"

    @property
    def name_in_errors(self) -> str:
        """Returns the predicate's name in error messages: its text, else the function's name."""
        return self.text or self.name

    @property
    def name(self) -> str:
        """Returns the name of the function."""
        name = getattr(self.function, "__name__", type(self.function).__name__)
        return ANONYMOUS if name == "<lambda>" else f"{name}(case)"

    __and__, __or__, __invert__, __bool__ = both, either, opposite, no_truth


@called_as("condition")
def condition(function: CaseFunction, text: str = "", *, remembered_as: str | None = None) -> Function:
    """Returns a predicate made of a function of a Case. ``text``: the words for the condition in rules.

    ``remembered_as``: a name for the judgements, such as "dosage judge 2 with gpt-4o". With a name, no
    answer is judged twice. Raises InvalidInput for an object that cannot be called, a ``text`` that is no
    str, or an empty name.
    """
    if not callable(function):
        raise InvalidInput(f"condition was given {brief(function)}; give a function of a Case")
    _check_arguments(function)
    if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance] -- users pass more
        raise InvalidInput(f"the text of a condition is {text!r}; give a str, such as 'it is short'")
    if remembered_as is not None and not (isinstance(remembered_as, str) and remembered_as.strip()):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInput(f"remembered_as is {remembered_as!r}; give a name, or leave it out")
    return Function(function, text, remembered_as)


def as_predicate(given: PredicateLike) -> Predicate:
    """Returns a predicate unchanged, and turns a function into a predicate. Raises InvalidInput for an
    object that cannot be called, and for a predicate that cannot be hashed."""
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
            f"the predicate is {brief(given)}; pass a predicate such as contains('...') or a "
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
    """Returns True iff the user passed what makes a predicate (a class or function) without calling
    it."""
    return isinstance(given, type) or (
        inspect.isfunction(given) and given.__module__.startswith(f"{__package__}.")
    )


def _folded(
    parts: tuple[Predicate, ...], case: Case, decisive: Verdict
) -> Generator[Judged, Judgement, Judgement]:
    """Returns the judgements of all parts, combined by "and" (``decisive`` is BREAKS) or by "or"
    (HOLDS). The first part with the verdict ``decisive`` decides. If there is none, an UNKNOWN part
    makes the result UNKNOWN; else the result is the opposite of ``decisive``, with the reasons of all
    parts."""
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
    """Returns the words for a part, in brackets if the whole sentence would be ambiguous without them."""
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
