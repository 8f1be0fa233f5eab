"""Every error this package raises on purpose.

    RagRuleError
    ├── InvalidInput (ValueError)       something given to the package cannot be used as it is
    │   └── TooManySources              an exact search over so many sources could never finish
    ├── MissingExtra (ImportError)      an optional dependency is not installed
    ├── BaselineFailed                  the application failed on the very question to be explained
    ├── AnswerNotRepeatable             the predicate disagrees with itself on the same sources
    ├── NoSourcesCaptured               the application's retrieval could not be seen
    ├── StoreFailed                     the store of paid answers cannot be used
    └── UntrueReplay                    a replay showed the model something else than it was to show
        ├── ReplayMissedGate            it was answered without the sources it was given
        ├── SourceLeak                  a source that was left out reached the model all the same
        └── UnknownQuery                it asked a query that the baseline never asked

Each message gives the value that is wrong and a way out. What an application raises inside a replay
is not here: it becomes an UNKNOWN verdict with its reason.
"""

from .printable import shortened


class RagRuleError(Exception):
    """The root of the tree: ``except RagRuleError`` catches what this package raises on purpose."""


class InvalidInput(RagRuleError, ValueError):
    """Something given to the package cannot be used; the message names it and says what to do."""


class TooManySources(InvalidInput):
    """An exact search was asked for over more sources than it could ever finish with."""


class MissingExtra(RagRuleError, ImportError):
    """An optional dependency is missing; the message names the extra that installs it."""

    @classmethod
    def naming(cls, extra: str, what: str) -> "MissingExtra":
        """The error for *what*, which the optional dependencies *extra* bring."""
        return cls(f"{what} needs: pip install 'rag-rule-explainer[{extra}]'")


class BaselineFailed(RagRuleError):
    """The application raised on all its sources, so there is no answer to explain."""


class AnswerNotRepeatable(RagRuleError):
    """The same sources were replayed once more and the predicate's verdict was another one.

    ``answers`` holds the two answers, the baseline's first.
    """

    def __init__(self, condition: str, answers: tuple[str, str], remarks: tuple[str, ...] = ()) -> None:
        self.condition = condition
        self.answers = answers
        first, second = (shortened(answer, 200) for answer in answers)
        super().__init__(
            f"the same sources were replayed twice and the condition {condition!r} came out "
            f"differently, so no rule about it could be trusted. First answer: {first!r}. "
            f"Second answer: {second!r}. Judge what matters instead of the wording (contains, "
            "matches, consistent_with, or a function of your own), lower the model's temperature, "
            "or pass check_repeatable=False (--no-repeat-check) to mine this run's verdicts as they come."
            + "".join(f" Note: {remark}." for remark in remarks)
        )


class NoSourcesCaptured(RagRuleError):
    """The baseline ran, but nothing it retrieved could be seen; no guess is made."""


class StoreFailed(RagRuleError):
    """The store of paid answers cannot be used; the message names it and says what to do."""


class UntrueReplay(RagRuleError):
    """A replay showed the model something else than it was to show, so no rule could be trusted."""


class ReplayMissedGate(UntrueReplay):
    """A replay never asked for the sources it was to be given, so its answer says nothing."""


class SourceLeak(UntrueReplay):
    """The text of a source that was left out reached the model in a replay."""


class UnknownQuery(UntrueReplay):
    """A replay asked a query that the baseline never asked, under ``on_new_query="error"``."""
