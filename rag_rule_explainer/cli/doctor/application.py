"""This module examines whether an application can be found, and what one replay of it costs."""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from time import monotonic
from typing import Any

import typer

from ...errors import RagRuleError
from ...instrumentation.importing import load_application
from ...instrumentation.integration import Integration
from ...probing.limits import Limits
from ...probing.retries import Retries
from ...settings import Settings
from ..applications import (
    advice_on_input_key,
    application_explainer,
    application_input,
)
from ..conditions import parsed
from ..requests import AskingOptions, Condition, RecordingOptions, SearchRequest, SubjectOptions
from ..searching import parsed_prices
from ..terminal import exits_as_errors, stdout_kept
from .diagnosis import Diagnosis, split_advice

_ONCE = "--question '...' --yes runs it once, and says what one replay costs"


@dataclass(frozen=True, slots=True)
class ExaminedApplication:
    """An ``ExaminedApplication`` holds the options about the application to examine."""

    name: str
    question: str | None = None
    framework: str | None = None
    input_key: str | None = None
    input: str | None = None
    price: list[str] | None = None

    def check(self) -> None:
        """Raises InvalidInput for options that do not fit together."""
        _ = self.request

    @property
    def request(self) -> SearchRequest:
        """Returns these options as a request for an explanation."""
        subject = SubjectOptions(
            self.question,
            app=self.name,
            framework=self.framework,
            input_key=self.input_key,
            input=self.input,
        )
        return SearchRequest(subject, Condition(), AskingOptions(yes=True), RecordingOptions())


def examined_application(asked: ExaminedApplication, *, agreed: bool) -> Iterator[Diagnosis]:
    """Yields the findings about an application. ``asked``: the options that name it. ``agreed``: True if
    it may be run once without asking the user. Raises InvalidInput for options that do not fit together.
    """
    request, prices = asked.request, parsed_prices(asked.price)
    try:
        with stdout_kept():
            application = load_application(asked.name)
            integration = Integration.of(application, asked.framework)
    except RagRuleError as error:
        yield Diagnosis("application", "problem", *split_advice(str(error)))
        return
    yield Diagnosis("application", "ok", f"{asked.name} is there; the integration is {integration.name}")
    if asked.question is None and asked.input is None:
        yield Diagnosis("one replay", "ok", "not tried", _ONCE)
        return
    is_interactive = bool(sys.stdin and sys.stdin.isatty())
    if not agreed and not (
        is_interactive and typer.confirm("Run the application once? Its own models are paid.", err=True)
    ):
        yield Diagnosis("one replay", "warning", "not tried, because you did not agree to it", _ONCE)
        return
    settings = Settings(
        rules="omission",
        limits=Limits(replays=1),
        retries=Retries(0),
        check_repeatable=False,
        prices=prices,
    )
    yield _replayed(integration, application, request, settings)


def _replayed(
    integration: Integration, application: Any, request: SearchRequest, settings: Settings
) -> Diagnosis:
    """Runs the application once. Returns a diagnosis with the duration and the tokens of the run, or with
    the reason why it failed."""
    try:
        with stdout_kept(), exits_as_errors(), advice_on_input_key(request):
            given, _ = application_input(integration, request, request.subject.question)
            explainer = application_explainer(
                integration, application, request, settings, (parsed("same-answer"), None), None
            )
            begun = monotonic()
            explanation = explainer.explain(given)
            seconds = monotonic() - begun
    except RagRuleError as error:
        return Diagnosis("one replay", "problem", *split_advice(str(error)))
    spent = explanation.spent
    tokens = ", ".join(f"{count:,} {kind}" for kind, count in spent.replays.items())
    cost = "" if spent.replays_cost is None else f"; cost {spent.replays_cost:,.4f}"
    count = len(explanation.sources)
    sources = "1 source" if count == 1 else f"{count} sources"
    return Diagnosis(
        "one replay",
        "ok",
        f"{seconds:.1f} s; {tokens or 'it reports no tokens'}{cost}; {sources}",
        "rag-rules estimate, with the same --app and --question, says what an explanation takes",
    )
