"""This module defines every error that the package raises on purpose.

    RagRuleError
    ├── InvalidInput (ValueError)       a value given to the package cannot be used
    │   ├── NotInTrace                  a trace lacks the question, the answer or the documents
    │   └── TooManySources              an exact search over so many sources cannot finish
    ├── MissingExtra (ImportError)      an optional dependency is not installed
    ├── BaselineFailed                  the application failed on all sources, before any replay
    ├── ConditionFalse                  the answer to be explained does not meet the condition
    ├── AnswerNotRepeatable             the predicate disagrees with itself on the same sources
    ├── NoSourcesCaptured               the application's retrieval could not be seen
    ├── NoBackfill                      what would be retrieved in place of a document is not known
    ├── CallbackFailed                  a function that a caller gave to an audit raised an error
    ├── Undecided                       neither yes nor no: verdicts that decide it are missing
    ├── NotSent                         a tracing tool did not take annotations
    ├── StoreFailed                     the store of paid answers cannot be used
    │   └── ApplicationChanged          its answers come from an application that sent other requests
    └── UntrueReplay                    a replay did not show the model the intended sources
        ├── ReplayMissedGate            the replay never requested its sources
        ├── SourceLeak                  an omitted source reached the model
        ├── StateShared                 the application passes state from run to run
        ├── SourcesReordered            the application reorders the sources
        ├── UnseenSourcesNeeded         sources that the model was not shown influence the answer
        └── UnknownQuery                a replay ran a query that the baseline did not

Each message names the wrong value and a way out. If a class has a ``PAGE``, the message ends with the
command that prints its page. An error that an application raises inside a replay is
not listed here: it becomes an UNKNOWN verdict with a reason. Texts that look like keys are masked.
"""

from typing import Any, ClassVar

from typing_extensions import override

from .printable import shortened, without_secrets


class RagRuleError(Exception):
    """This class is the root of the error tree: ``except RagRuleError`` catches every error that this
    package raises on purpose.

    ``PAGE``: the name of the help page that the error's message mentions; empty if the message mentions
    none. ``rag-rules help`` has a page for every class.
    """

    PAGE: ClassVar[str] = ""

    def __init__(self, *arguments: object) -> None:
        super().__init__(
            *(without_secrets(each) if isinstance(each, str) else each for each in arguments)
        )

    @override
    def __str__(self) -> str:
        said = super().__str__()
        return f"{said.removesuffix('.')}. More: rag-rules help {self.PAGE}" if self.PAGE else said


class InvalidInput(RagRuleError, ValueError):
    """This error says that a value given to the package cannot be used. The message names the value
    and says which values are allowed."""


class NotInTrace(InvalidInput):
    """This error says that a trace does not hold the question, the answer or the documents. The message
    names the places that were looked at."""

    PAGE = "NotInTrace"


class TooManySources(InvalidInput):
    """This error says that there are too many sources for an exact search, which would not finish."""

    PAGE = "TooManySources"


class MissingExtra(RagRuleError, ImportError):
    """This error says that an optional dependency is not installed. The message names the extra that
    installs it."""

    @classmethod
    def naming(cls, extra: str, what: str) -> "MissingExtra":
        """Returns the error that says that ``what`` needs the optional dependencies ``extra``."""
        return cls(f"{what} needs: pip install 'rag-rule-explainer[{extra}]'")


class BaselineFailed(RagRuleError):
    """This error says that the application raised an error when it ran on all sources. There is then
    no answer to explain."""


class ConditionFalse(RagRuleError):
    """This error says that the baseline's answer does not meet the condition. It is raised only with the
    setting ``false_condition="error"``; without it, the explanation has a warning instead.

    ``finding``: a sentence that says this about the answer.
    """

    PAGE = "ConditionFalse"

    def __init__(self, finding: str) -> None:
        self.finding = finding
        super().__init__(
            f"{finding}. Nothing else was asked. Give a condition that the answer meets, or pass "
            "false_condition='warn' (--yes) to look for its rules all the same"
        )

    def __reduce__(self) -> tuple[type["ConditionFalse"], tuple[str]]:
        return type(self), (self.finding,)


class AnswerNotRepeatable(RagRuleError):
    """This error says that the predicate gave another verdict when the same sources were replayed a
    second time.

    ``answers``: the texts of the baseline's answer and of the repeated answer. ``about_wording``: True
    iff the condition compares whole answers, so that different wording alone changes the verdict.
    ``equal``: with votes (several answers from the same sources), a pair: the number of answers that are
    worded like the most frequent one, and the number of all answers; None without votes.
    """

    PAGE = "AnswerNotRepeatable"

    def __init__(
        self,
        condition: str,
        answers: tuple[str, str],
        remarks: tuple[str, ...] = (),
        *,
        about_wording: bool = False,
        equal: tuple[int, int] | None = None,
    ) -> None:
        self.condition = condition
        self.answers = answers
        self.about_wording = about_wording
        self.equal = equal
        first, second = (shortened(answer, 200) for answer in answers)
        if equal is not None:
            super().__init__(
                f"the application words its answer in many ways: of {equal[1]} answers to all sources, "
                f"{equal[0]} have the most frequent wording, so no vote on {condition!r} could be "
                f"trusted. One answer: {first!r}. Another: {second!r}. {_MATTERS}, or lower the model's "
                "temperature"
            )
            return
        super().__init__(
            f"the same sources were replayed twice and the condition {condition!r} came out "
            f"differently, so no rule about it could be trusted. First answer: {first!r}. "
            f"Second answer: {second!r}. {_WORDING if about_wording else _VOTES}, lower the model's "
            "temperature, or pass check_repeatable=False (--no-repeat-check) to mine this run's verdicts "
            "as they come." + "".join(f" Note: {remark}." for remark in remarks)
        )


_MATTERS = "Judge what matters instead of the wording (contains, matches, consistent_with, a function)"
_WORDING = f"{_MATTERS}, put several answers to the vote with noise=Noise(samples=9) (--samples 9)"
_VOTES = "Put several answers to the vote with noise=Noise(samples=9) (--samples 9)"


class NoSourcesCaptured(RagRuleError):
    """This error says that the baseline ran, but that no retrieval of sources could be observed."""

    PAGE = "NoSourcesCaptured"


class NoBackfill(RagRuleError):
    """This error says that it is not known which document a search returns if one of its results is
    removed. Only a search for more results shows this. ``search``: the name of the search. ``why``: why
    it returned no more; empty if it is not known how many results it returns."""

    PAGE = "NoBackfill"

    def __init__(self, search: str, why: str = "") -> None:
        self.search, self.why = search, why
        unread = "it cannot be read how many documents it returns"
        mend = "Give the search a parameter k, or the retriever an attribute k"
        super().__init__(
            f"{search} found a document that is left out, and {why or unread}, so what would come in its "
            f"place is not known. {'Let it return more' if why else mend}, or remove the document from "
            "the index and explain again"
        )

    def __reduce__(self) -> tuple[type["NoBackfill"], tuple[str, str]]:
        return type(self), (self.search, self.why)


class CallbackFailed(RagRuleError):
    """This error says that a function which a caller gave to an audit raised an error, which ended the
    audit. ``audit``: the ``Audit`` with the results so far; None if they are not known."""

    PAGE = "CallbackFailed"
    audit: Any = None


class Undecided(RagRuleError):
    """This error says that an explanation does not decide a question, such as whether a rule is valid.
    The message names the question, the reason, and what would decide it."""


class NotSent(RagRuleError):
    """This error says that a tracing tool did not take annotations. The message names the reason, and
    says how many annotations were sent before the failure."""

    PAGE = "NotSent"


class StoreFailed(RagRuleError):
    """This error says that the store of paid answers cannot be used. The message names the store and
    says what to do."""


class ApplicationChanged(StoreFailed):
    """This error says that the stored answers come from an application that sent different requests to
    its models."""

    PAGE = "ApplicationChanged"


class UntrueReplay(RagRuleError):
    """This error says that a replay did not show the model the intended sources. Rules from such
    replays would be wrong."""

    PAGE = "UntrueReplay"


class ReplayMissedGate(UntrueReplay):
    """This error says that a replay never requested the sources that it was given."""

    PAGE = "ReplayMissedGate"


class SourceLeak(UntrueReplay):
    """This error says that the text of an omitted source reached the model in a replay."""

    PAGE = "SourceLeak"


class StateShared(UntrueReplay):
    """This error says that one run of the application leaves state that influences a later run.

    ``seen``: the observation that proves it. ``ways_out``: sentences on what to do, which end the
    message.
    """

    PAGE = "StateShared"
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
    """This error says that the application showed its model the sources in another order than the
    replay's.

    Rules about orders would then be wrong. Rules about retained and omitted sources are not affected.
    ``wanted``: the ids in the order of the replay. ``shown``: the ids in the order that the model got.
    """

    PAGE = "SourcesReordered"

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
    """This error says that a source which the model was not shown still influences the application.
    Without this source, the application takes another path than in the baseline, or makes another answer
    from the same replies of the model."""

    PAGE = "UnseenSourcesNeeded"


class UnknownQuery(UntrueReplay):
    """This error says that a replay ran a query that the baseline did not run. It is raised only with
    the setting ``on_new_query="error"``."""

    PAGE = "UnknownQuery"
