"""This module scores one answer of an application. It knows no evaluation framework."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, TypeAlias, cast

from rag_rule_explainer import Explanation, InvalidInput, MissingExtra, RagRuleError
from rag_rule_explainer.instrumentation.checks import brief

_INTERRUPTED = "interrupted"
Asking: TypeAlias = Callable[[Any, Any], Any]
"""A function that explains the answer to an input, or checks its citations. The second argument is the
logged output, or None."""
Checking: TypeAlias = Callable[[Any, Any], str]
"""A function that returns the reason why the answer passes. Its arguments are the result of ``Asking``
and the result of ``Expecting``. Raises AssertionError if the answer fails, and Undecided if it is not
certain whether the answer passes or fails."""
Expecting: TypeAlias = Callable[[Any], Any]
"""A function that checks what a record expects of an answer, before anything is paid. Returns what is
expected. Raises InvalidInput or Undecided if no answer can be compared with it."""


@dataclass(frozen=True, slots=True)
class RuleScore:
    """A ``RuleScore`` says whether an answer passed a check of its rules.

    ``name``: the name of the check. ``value``: 1.0 if it passed, 0.0 if it failed, None if this is
    undecided. ``reason``: the rules and answers that show why it passed or failed, or the reason why this
    is undecided.
    """

    name: str
    value: float | None
    reason: str

    @property
    def undecided(self) -> bool:
        """Returns True iff there is no score. Such an answer counts neither as passed nor as failed."""
        return self.value is None


@dataclass(frozen=True, slots=True)
class RuleScorer:
    """A ``RuleScorer`` scores the answers of one application by one check.

    ``name``: the name of the check. ``expects``: the key under which a record of a data set has what is
    expected of its answer, such as "documents"; None if nothing is expected.
    """

    name: str
    expects: str | None
    _ask: Asking = field(repr=False)
    _check: Checking = field(repr=False)
    _expect: Expecting = field(repr=False, default=lambda expected: expected)

    def score(self, given: Any, expected: Any = None, answer: Any = None) -> RuleScore:
        """Returns the score of the application's answer to an input. Blocks; may be called in threads.

        ``given``: the input of the application. ``expected``: what the check expects of this answer, such
        as the ids of documents. ``answer``: the answer or the whole output to explain, if the framework
        has already run the application; None to run it for a new answer. If the application now gives
        another answer than ``answer``, the reason begins with a warning.

        If the answer cannot be explained, the score is undecided, and its reason is the error. Raises
        KeyboardInterrupt if the user interrupted the search.
        """
        warning = ""
        try:
            wanted = self._expect(expected)
            found = self._ask(given, answer)
            warning = _first_warning(found)
            value, reason = 1.0, self._check(found, wanted)
        except AssertionError as failed:
            value, reason = 0.0, str(failed)
        except RagRuleError as undecided:
            value, reason = None, str(undecided)
        return RuleScore(self.name, value, f"WARNING: {warning}\n{reason}" if warning else reason)

    def of_record(self, inputs: Any, key: str | None, outputs: Any, reference: Any) -> RuleScore:
        """Returns the score of one record of a data set.

        ``inputs``: the inputs of the record. ``key``: the key of the application's input in them; None if
        the application gets all of them. ``outputs``: what the application returned; None or an empty
        mapping if it returned nothing. ``reference``: what is expected of the answer, or a mapping that
        may have this under the key that ``expects`` names. Raises InvalidInput if ``key`` is not in the
        inputs.
        """
        given = inputs
        if key is not None and isinstance(inputs, Mapping):
            named = cast("Mapping[str, Any]", inputs)
            if key not in named:
                known = brief(list(named))
                raise InvalidInput(f"a record has {known} and no {key!r}; say key=, or key=None for all")
            given = named[key]
        # An empty answer is an answer, too. If the application ran again instead, the score would be
        # about an answer that the user never got.
        is_none = outputs is None or (isinstance(outputs, Mapping) and not outputs)
        return self.score(given, self._expected(reference), None if is_none else outputs)

    def _expected(self, reference: Any) -> Any:
        if self.expects is None:
            return None
        if isinstance(reference, Mapping):
            return cast("Mapping[str, Any]", reference).get(self.expects)
        return reference


def framework(module: str, distribution: str) -> Any:
    """Returns a module of an evaluation framework, which is imported now. ``distribution``: the name
    under which the framework is installed. Raises MissingExtra if it is not installed."""
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingExtra(f"this scorer needs {module}: pip install {distribution}") from error


def _first_warning(found: Any) -> str:
    """Returns the first warning of an explanation, or of the explanations of an answer's statements;
    empty if there is none.

    Raises KeyboardInterrupt if Ctrl-C ended a search. Such a search still returns an explanation, so
    without the error the framework would go on with the next record.
    """
    explained = [found] if isinstance(found, Explanation) else [each.explanation for each in found]
    if any(each.stop_reason == _INTERRUPTED for each in explained):
        raise KeyboardInterrupt
    return next((warning for each in explained for warning in each.warnings), "")
