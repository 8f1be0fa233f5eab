"""This module asks the application of a server. It knows nothing of the protocol."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from ...errors import BaselineFailed, InvalidInput
from ...explanation.explanation import Explanation
from ...explanation.verification import Verification
from ...instrumentation.integration import Integration
from ...probing.limits import Limits
from ...probing.retries import Retries
from ...progress.report import Progress
from ...rules import RuleKind
from ...session.estimate.estimate import Estimate
from ...settings import Settings, SettingsFields
from ..applications import advice_on_input_key, application_explainer, application_input
from ..conditions import may_be_judged, parsed
from ..requests import AskingOptions, Condition, RecordingOptions, SearchRequest, SubjectOptions
from ..terminal import exits_as_errors
from .allowance import ReplayAllowance
from .calls import CallProgress
from .saved import SavedFolder, SavedPlace
from .served_options import ServedOptions

EntryOfExplainer: TypeAlias = Callable[[Any, Any], Any]
"""A function that gets an explainer and an input of the application, and returns what the explainer
returns for this input."""


@dataclass(frozen=True, slots=True)
class AskedOfServer:
    """An ``AskedOfServer`` holds the question, the condition and the limit of one call. ``condition``:
    written as on the command line. ``max_replays``: the client's own limit; None if it gives none."""

    question: str
    condition: str = "same-answer"
    rules: Literal["both", "retention", "omission"] = "both"
    max_replays: int | None = None


@dataclass(frozen=True, slots=True)
class ServedApplication:
    """A ``ServedApplication`` explains answers of one application, and saves explanations in one folder.

    ``settings``: the settings that are the same for all calls.
    """

    application: Any
    integration: Integration
    served: ServedOptions
    allowance: ReplayAllowance
    settings: SettingsFields
    folder: SavedFolder

    def estimate(self, asked: AskedOfServer) -> Estimate:
        """Returns the estimated cost of explaining the answer. The application runs once for this, which
        counts as one replay. Raises InvalidInput if all replays are used, or if ``explain`` would refuse
        the limit."""
        most = asked.max_replays or self.allowance.each
        self.allowance.cap(most or 1)
        limits = Limits(most)
        return self._spending(
            asked, limits, CallProgress(), lambda explainer, given: explainer.estimate(given)
        )

    def explain(self, asked: AskedOfServer, progress: CallProgress) -> tuple[Explanation, SavedPlace]:
        """Returns the rules of the answer, and the place where they are saved. ``progress``: the
        listener that gets reports during the search, and stops the search if the client cancels the
        call."""
        limits = Limits(self.allowance.cap(asked.max_replays))
        explanation: Explanation = self._spending(
            asked, limits, progress, lambda explainer, given: explainer.explain(given)
        )
        return explanation, self.folder.kept(explanation)

    def verify(
        self, asked: AskedOfServer, sources: list[str], kind: RuleKind, progress: CallProgress
    ) -> tuple[Verification, SavedPlace]:
        """Returns whether the rule with these ``sources`` holds, and the place where the evidence is
        saved. ``progress``: the listener that gets reports during the test."""
        limits = Limits(self.allowance.cap(asked.max_replays))
        verification: Verification = self._spending(
            replace(asked, rules=kind.value),
            limits,
            progress,
            lambda explainer, given: explainer.verify(sources, kind, given),
        )
        return verification, self.folder.kept(verification.explanation)

    def _spending(
        self, asked: AskedOfServer, limits: Limits, progress: CallProgress, entry: EntryOfExplainer
    ) -> Any:
        unreported = 0

        def counted(explainer: Any, given: Any) -> Any:
            # From here on, one replay is counted even if the search reports none. The application may run
            # and the call then fail before the first report, for example because no answer can be read.
            nonlocal unreported
            unreported = 1
            return entry(explainer, given)

        try:
            return self._explained(asked, limits, progress, counted)
        except BaselineFailed:
            most = 1 + Retries.of(Settings.of(Settings(), self.settings).retries).most
            unreported = min(most, limits.replays or most)
            raise
        finally:
            self.allowance.used += max(unreported, progress.replays)

    def _explained(
        self, asked: AskedOfServer, limits: Limits, progress: Progress, entry: EntryOfExplainer
    ) -> Any:
        request = self._request(asked)
        judge = request.condition.judge
        predicate = parsed(asked.condition, judge.judged_conditions(judge.judge()))
        settings = Settings.of(Settings(rules=asked.rules, limits=limits), self.settings)
        with exits_as_errors(), advice_on_input_key(request):
            explainer = application_explainer(
                self.integration, self.application, request, settings, (predicate, None), progress
            )
            given, _ = application_input(self.integration, request, asked.question)
            return entry(explainer, given)

    def _request(self, asked: AskedOfServer) -> SearchRequest:
        served, is_judged = self.served, may_be_judged(asked.condition)
        if not asked.question.strip():
            raise InvalidInput("the question is empty; give one")
        subject = SubjectOptions(
            question=asked.question,
            app=served.app,
            framework=served.framework,
            input_key=served.input_key,
        )
        condition = Condition(
            asked.condition,
            judge_model=served.judge_model if is_judged else None,
            judge_base_url=served.judge_base_url if is_judged else None,
        )
        return SearchRequest(subject, condition, AskingOptions(yes=True), RecordingOptions())
