"""This module combines predicates by ``~`` (not), ``&`` (and) and ``|`` (or), and makes predicates of
functions. UNKNOWN & BREAKS is BREAKS, and UNKNOWN | HOLDS is HOLDS (Kleene's logic). Parts are judged
from left to right until the result is certain, so put the cheapest one first."""

import inspect
from collections.abc import Generator, Hashable
from dataclasses import dataclass

from ..allowed import brief, called_as, named_function, takes
from ..errors import InvalidInput
from ..late_patterns import compiled_late
from ..verdicts import Case, Judgement, Verdict, called_as_condition
from .outcomes import ANONYMOUS, as_judgement, joint_judgement, run
from .protocol import CaseFunction, Judged, Predicate, PredicateLike
from .remembered_case import RememberedCase, answers_key, check_not_refused, own_copy

NOT_SO = "it is not so that"
_OPEN_ENDED = (NOT_SO, "at $")
_CASE_FOR_TEXT = compiled_late(r"\b(?:Case|Answer)\b|^expected string or bytes-like object$")
"""Matches the errors of functions that use a Case as a text; the last one is that of Python 3.10."""
_TEXT_OF_CASE = "a predicate is given a Case, and the text of its answer is case.answer.text"
_OF_JUDGE = compiled_late("'Case' object has no attribute '(?:candidates|instructions|content|matter)'")
_JUDGE_GIVEN = "a function of a JudgeRequest is a judge: predicate=judged('says ...', judge)"


def both(first: Predicate, second: PredicateLike) -> "AllOf":
    """Returns the predicate ``first & second``."""
    return AllOf((first, as_predicate(second)))


def either(first: Predicate, second: PredicateLike) -> "AnyOf":
    """Returns the predicate ``first | second``."""
    return AnyOf((first, as_predicate(second)))


def both_after(second: Predicate, first: PredicateLike) -> "AllOf":
    """Returns ``first & second``. Python calls this if ``first`` is a function, which has no ``&``."""
    return AllOf((as_predicate(first), second))


def either_after(second: Predicate, first: PredicateLike) -> "AnyOf":
    """Returns ``first | second``. Python calls this if ``first`` is a function, which has no ``|``."""
    return AnyOf((as_predicate(first), second))


def no_truth(predicate: Predicate) -> bool:
    """Raises InvalidInput. Python calls this for ``and`` and ``or``, which would ignore one predicate."""
    raise InvalidInput(
        f"a condition ({predicate}) is neither true nor false by itself; combine conditions with &, | "
        "and ~, not with and, or and not"
    )


def negated(predicate: Predicate) -> Predicate:
    """Returns ``~predicate``. If ``predicate`` is itself a negation, returns the predicate inside it."""
    return predicate.inner if isinstance(predicate, Not) else opposite(predicate)


def opposite(predicate: Predicate) -> "Not":
    """Returns the negation ``~predicate``, even if ``predicate`` is itself a negation."""
    return Not(predicate)


def unwrapped(predicate: Predicate) -> tuple[Predicate, bool]:
    """Returns the predicate without ``~``, and True iff it had one. So a caller can judge the returned
    predicate and invert the verdict."""
    return (predicate.inner, True) if isinstance(predicate, Not) else (predicate, False)


def negation_of(predicate: Predicate) -> str:
    """Returns the opposite of a condition in words: "the answer does not contain 'zinc'"."""
    clause = getattr(predicate, "negation", None)
    return clause if isinstance(clause, str) else f"not ({predicate})"


class Combinable:
    """A ``Combinable`` is a predicate that ``&``, ``|`` and ``~`` combine with others. It raises
    InvalidInput for ``and``, ``or`` and ``not``."""

    __slots__ = ()
    __and__, __or__, __invert__, __bool__ = both, either, opposite, no_truth
    __rand__, __ror__ = both_after, either_after


@dataclass(frozen=True, slots=True)
class Not(Combinable):
    """This predicate negates ``inner``: it holds iff ``inner`` breaks, and breaks iff ``inner`` holds."""

    inner: Predicate

    def __call__(self, case: Case) -> Judged:
        """Returns the negated judgement of ``inner``."""
        return run(self._steps(case))

    def _steps(self, case: Case) -> Generator[Judged, Judgement, Judgement]:
        return ~(yield self.inner(case))

    def memo_key(self, case: Case) -> Hashable | None:
        """Returns the cache key of ``inner``, whose judgement only needs to be inverted; None if
        judgements of ``inner`` must not be cached."""
        return self.inner.memo_key(case)

    def __str__(self) -> str:
        return negation_of(self.inner)

    @property
    def negation(self) -> str:
        """Returns the words of ``inner``, because the opposite of this condition is ``inner`` itself."""
        return str(self.inner)

    __invert__ = negated


@dataclass(frozen=True, slots=True)
class AllOf(Combinable):
    """This predicate holds iff all ``parts`` hold, and breaks iff at least one of them breaks."""

    parts: tuple[Predicate, ...]

    def __call__(self, case: Case) -> Judged:
        """Returns the judgements of all parts, combined by "and"."""
        return run(joint_judgement(self.parts, case, Verdict.BREAKS))

    def memo_key(self, case: Case) -> Hashable | None:
        """Returns the cache keys of all parts; None, so that nothing is cached, if a part has none."""
        return _joint_key(self.parts, case)

    def __str__(self) -> str:
        return " and ".join(_clause(part, AnyOf) for part in self.parts)

    @property
    def negation(self) -> str:
        """Returns the opposite of this condition in words: the parts' opposites, joined by "or"."""
        return " or ".join(_clause(negated(part), AllOf) for part in self.parts)


@dataclass(frozen=True, slots=True)
class AnyOf(Combinable):
    """This predicate holds iff at least one of ``parts`` holds, and breaks iff all of them break."""

    parts: tuple[Predicate, ...]

    def __call__(self, case: Case) -> Judged:
        """Returns the judgements of all parts, combined by "or"."""
        return run(joint_judgement(self.parts, case, Verdict.HOLDS))

    def memo_key(self, case: Case) -> Hashable | None:
        """Returns the cache keys of all parts; None, so that nothing is cached, if a part has none."""
        return _joint_key(self.parts, case)

    def __str__(self) -> str:
        return " or ".join(_clause(part, AllOf) for part in self.parts)

    @property
    def negation(self) -> str:
        """Returns the opposite of this condition in words: the parts' opposites, joined by "and"."""
        return " and ".join(_clause(negated(part), AnyOf) for part in self.parts)


@dataclass(frozen=True, slots=True)
class Function(Combinable):
    """This predicate holds iff the user's ``function`` returns True for the Case.

    The function is called for every replay, unless ``remembered_as`` gives it a name. With a name, the
    function is called once for equal answers, and a store keeps its judgements. So the function must
    depend only on the question, the answer and the baseline, and the name must always stand for the same
    function. A sync function runs in a worker thread, because it may block.
    """

    function: CaseFunction
    text: str = ""
    remembered_as: str | None = None

    async def __call__(self, case: Case) -> Judgement:
        """Returns the function's result as a Judgement. Raises InvalidInput if it is no truth value."""
        given = own_copy(case) if self.remembered_as is None else RememberedCase.of(own_copy(case))
        try:
            with called_as_condition():
                judgement = as_judgement(await self._outcome(given), self)
        except (TypeError, AttributeError) as error:
            # If the message shows that the function used the Case as a text, advice is added to it.
            if not _CASE_FOR_TEXT.search(str(error)):
                raise
            way_out = _JUDGE_GIVEN if _OF_JUDGE.search(str(error)) else _TEXT_OF_CASE
            raise type(error)(f"{error}; {way_out}") from error
        check_not_refused(given)
        return judgement

    async def _outcome(self, case: Case) -> object:
        if inspect.iscoroutinefunction(self.function):
            return await self.function(case)
        import anyio.to_thread  # imported late, so that importing the package loads no event loop

        # A slow function that is given up keeps its thread, so it must not use anyio's small pool.
        outcome = await anyio.to_thread.run_sync(
            self.function, case, abandon_on_cancel=True, limiter=anyio.CapacityLimiter(1)
        )
        return await outcome if inspect.isawaitable(outcome) else outcome

    def memo_key(self, case: Case) -> Hashable | None:
        """Returns the cache key of this judgement. Without ``remembered_as``, None: nothing is cached."""
        return None if self.remembered_as is None else answers_key(self, case)

    def __str__(self) -> str:
        return self.text or f"{self.name} is true"

    @property
    def negation(self) -> str:
        """Returns the opposite of this condition in words, as in "is_short(case) is false"."""
        return f"not ({self.text})" if self.text else f"{self.name} is false"

    @property
    def name_in_errors(self) -> str:
        """Returns the predicate's name for error messages: its text, or else the function's name."""
        return self.text or self.name

    @property
    def name(self) -> str:
        """Returns the name of the function."""
        name = getattr(self.function, "__name__", type(self.function).__name__)
        return ANONYMOUS if name == "<lambda>" else f"{name}(case)"


@called_as("condition")
def condition(function: CaseFunction, text: str = "", *, remembered_as: str | None = None) -> Function:
    """Returns a predicate that holds iff ``function`` returns True. ``text``: its words in rules.

    ``remembered_as``: a name under which each judgement is stored and used again. The function may then
    use only the question, the answer and the baseline, and needs a new name if it changes. Raises
    InvalidInput for an object that cannot be called, a ``text`` that is no str, or an empty name.
    """
    if not callable(function):
        raise InvalidInput(f"condition was given {brief(function)}; give a function of a Case")
    _check_arguments(function)
    if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance] -- users may pass other types
        raise InvalidInput(f"the text of a condition is {text!r}; give a str, such as 'it is short'")
    # Users may pass a value of another type than the annotation says.
    if remembered_as is not None and not (isinstance(remembered_as, str) and remembered_as.strip()):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInput(f"remembered_as is {remembered_as!r}; give a name, or leave it out")
    return Function(function, text, remembered_as)


def as_predicate(given: PredicateLike) -> Predicate:
    """Returns a predicate unchanged, and turns a function into a predicate. Raises InvalidInput for any
    other object, and for a predicate that cannot be hashed."""
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
    """Returns True iff ``given`` is a class, or a function of this package, as ``contains`` itself is."""
    return isinstance(given, type) or (
        inspect.isfunction(given) and given.__module__.startswith(f"{__package__}.")
    )


def _joint_key(parts: tuple[Predicate, ...], case: Case) -> Hashable | None:
    keys = tuple(part.memo_key(case) for part in parts)
    return None if None in keys else keys


def _clause(part: Predicate, other_joint: "type[AllOf | AnyOf]") -> str:
    """Returns the words for a part, in brackets if the whole sentence could be misread without them.
    ``other_joint``: ``AnyOf`` if "and" joins the parts, else ``AllOf``."""
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
