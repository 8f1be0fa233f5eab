"""Every error this package raises on purpose.

    RagRuleError
    ├── InvalidInput (ValueError)       something given to the package cannot be used as it is
    │   └── TooManySources              an exact search over so many sources could never finish
    ├── MissingExtra (ImportError)      an optional dependency is not installed
    ├── BaselineFailed                  the application failed on the very question to be explained
    ├── ConditionFalse                  the condition is not true of the answer to be explained
    ├── AnswerNotRepeatable             the predicate disagrees with itself on the same sources
    ├── NoSourcesCaptured               the application's retrieval could not be seen
    ├── StoreFailed                     the store of paid answers cannot be used
    │   └── ApplicationChanged          its answers were given by an application that asked otherwise
    └── UntrueReplay                    a replay showed the model something else than it was to show
        ├── ReplayMissedGate            it was answered without the sources it was given
        ├── SourceLeak                  a source that was left out reached the model all the same
        ├── StateShared                 the application keeps state that carries over from run to run
        ├── SourcesReordered            the application shows sources in an order of its own
        ├── UnseenSourcesNeeded         sources that no model saw steer what it is shown, or the answer
        └── UnknownQuery                it asked a query that the baseline never asked

Each message gives the value that is wrong and a way out. What an application raises inside a replay
is not here: it becomes an UNKNOWN verdict with its reason. No message shows a key that looks like one.
"""

from .printable import shortened, without_secrets


class RagRuleError(Exception):
    """The root of the tree: ``except RagRuleError`` catches what this package raises on purpose.

    Its message may repeat that of a provider; what looks like a key in it is masked.
    """

    def __init__(self, *told: object) -> None:
        super().__init__(*(without_secrets(each) if isinstance(each, str) else each for each in told))


class InvalidInput(RagRuleError, ValueError):
    """Something given to the package cannot be used; the message names it and says what to do."""


class TooManySources(InvalidInput):
    """An exact search was asked for over more sources than it could ever finish with."""


class MissingExtra(RagRuleError, ImportError):
    """An optional dependency is missing; the message names the extra that installs it."""

    @classmethod
    def naming(cls, extra: str, what: str) -> "MissingExtra":
        """Returns the error for *what*, which the optional dependencies *extra* bring."""
        return cls(f"{what} needs: pip install 'rag-rule-explainer[{extra}]'")


class BaselineFailed(RagRuleError):
    """The application raised on all its sources, so there is no answer to explain."""


class ConditionFalse(RagRuleError):
    """The condition is not true of the baseline's answer, and ``false_condition="error"`` was set.

    ``told``: what was seen, which is a warning of the explanation otherwise.
    """

    def __init__(self, told: str) -> None:
        self.told = told
        super().__init__(
            f"{told}. Nothing else was asked. Give a condition that the answer meets, or pass "
            "false_condition='warn' (--yes) to look for its rules all the same"
        )

    def __reduce__(self) -> tuple[type["ConditionFalse"], tuple[str]]:
        return type(self), (self.told,)


class AnswerNotRepeatable(RagRuleError):
    """The same sources were replayed once more and the predicate's verdict was another one.

    ``answers`` holds the two answers, the baseline's first. ``about_wording``: the condition compares
    answers as a whole, so that another wording is another answer.
    """

    def __init__(
        self,
        condition: str,
        answers: tuple[str, str],
        remarks: tuple[str, ...] = (),
        *,
        about_wording: bool = False,
    ) -> None:
        self.condition = condition
        self.answers = answers
        self.about_wording = about_wording
        first, second = (shortened(answer, 200) for answer in answers)
        super().__init__(
            f"the same sources were replayed twice and the condition {condition!r} came out "
            f"differently, so no rule about it could be trusted. First answer: {first!r}. "
            f"Second answer: {second!r}. {_WORDING if about_wording else _VOTES}, lower the model's "
            "temperature, or pass check_repeatable=False (--no-repeat-check) to mine this run's verdicts "
            "as they come." + "".join(f" Note: {remark}." for remark in remarks)
        )


_WORDING = (
    "Judge what matters instead of the wording (contains, matches, consistent_with, or a function of "
    "your own), put several answers to the vote with noise=Noise(samples=9) (--samples 9)"
)
_VOTES = "Put several answers to the vote with noise=Noise(samples=9) (--samples 9)"


class NoSourcesCaptured(RagRuleError):
    """The baseline ran, but nothing it retrieved could be seen; no guess is made."""


class StoreFailed(RagRuleError):
    """The store of paid answers cannot be used; the message names it and says what to do."""


class ApplicationChanged(StoreFailed):
    """The store's answers to this question were given by an application that sent its models another
    request."""


class UntrueReplay(RagRuleError):
    """A replay showed the model something else than it was to show, so no rule could be trusted."""


class ReplayMissedGate(UntrueReplay):
    """A replay never asked for the sources it was to be given, so its answer says nothing."""


class SourceLeak(UntrueReplay):
    """The text of a source that was left out reached the model in a replay."""


class StateShared(UntrueReplay):
    """The application keeps state of its own that would carry over from run to run.

    ``seen``: what gave it away. ``ways_out``: what to do about it, in sentences; the message ends with
    it.
    """

    WAYS_OUT = (
        "Give each run a session id or a memory of its own, or pass a function that makes the "
        "application anew for every run"
    )

    def __init__(self, seen: str, ways_out: str = WAYS_OUT) -> None:
        self.seen = seen
        self.ways_out = ways_out
        super().__init__(
            f"the application keeps state of its own that would carry over from run to run: {seen}. "
            f"{ways_out}"
        )

    def __reduce__(self) -> tuple[type["StateShared"], tuple[str, str]]:
        return type(self), (self.seen, self.ways_out)


class SourcesReordered(UntrueReplay):
    """A replay was to show its sources in one order, and its model was shown them in another: no rule
    about orders could be trusted. Rules about which sources are retained are not affected.

    ``wanted``, ``shown``: the ids in either order.
    """

    def __init__(self, wanted: tuple[str, ...], shown: tuple[str, ...], where: str) -> None:
        self.wanted, self.shown, self.where = wanted, shown, where
        asked, came = (shortened(", ".join(each), 200) for each in (wanted, shown))
        super().__init__(
            f"the application orders sources itself: {where} {came}, where the order was to be {asked}. "
            "Take out what sorts or reorders documents between the search and the prompt, or wrap the "
            "function that does it in gate(...), so that what it returns is what is put in order; where "
            "several searches bring the sources, wrap the function that makes them all"
        )

    def __reduce__(self) -> tuple[type["SourcesReordered"], tuple[tuple[str, ...], tuple[str, ...], str]]:
        return type(self), (self.wanted, self.shown, self.where)


class UnseenSourcesNeeded(UntrueReplay):
    """Without the sources that no model saw, the application goes another way than the baseline, or makes
    another answer of the same replies."""


class UnknownQuery(UntrueReplay):
    """A replay asked a query that the baseline never asked, under ``on_new_query="error"``."""
