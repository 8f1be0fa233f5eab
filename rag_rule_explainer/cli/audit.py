"""This module runs ``rag-rules audit``. The command asks the questions in a file, and says which
answers are bad, and which documents rules name as a cause."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import typer

from ..audit import Audit, audit
from ..audit.folder import ANSWERS
from ..audit.questions import AuditedQuestion, LoggedQuestion
from ..errors import InvalidInput
from ..explainer import Explainer
from ..instrumentation.importing import load_application
from ..instrumentation.integration import Integration
from ..sources import SourceLike, SourceSet
from ..storing.store import Store
from ..testing.ranking import best_matches
from .applications import application_input
from .audit_options import (
    AuditedBlame,
    AuditedOutcomes,
    AuditedSubject,
    AuditedTogether,
    audit_settings,
)
from .audited_lines import load_audited
from .many_questions import capped
from .models import chat_model_replay, offline_replay
from .named_stores import namespace_of, with_a_namespace
from .options import ASK_ABOVE
from .questions import AskedQuestion
from .requests import AskingOptions, Condition, RecordingOptions, SearchRequest
from .searching import SearchOptions
from .sources import load_sources
from .terminal import counted, print_lines, say, stdout_kept


def audit_questions(
    subject: AuditedSubject,
    outcomes: AuditedOutcomes,
    asking: AskingOptions,
    recording: RecordingOptions,
    search: SearchOptions,
    together: AuditedTogether,
    blame: AuditedBlame,
) -> None:
    """Audit a corpus by many questions: which documents make answers bad, and which to remove.

    Each question is explained. The report in --out has a page for each document and each question, and
    tables. Started again, the audit goes on: questions that it holds are not asked again.

    Examples:
      rag-rules audit --questions q.txt --app my_module:chain --predicate P --out d/
      rag-rules audit --questions q.csv --sources texts/ --predicate P --out d/
      rag-rules audit --questions q.jsonl --app m:c --predicate P --good P --out d/

    Environment:
      OPENAI_API_KEY   key of --model and --judge-model (or see --key)
      OPENAI_BASE_URL  their endpoint

    Exit codes:
      0    decided: no answer is bad
      1    an answer is bad
      2    bad input; nothing was asked
      3    undecided or failed for some question, and no answer is bad
      130  interrupted; what was found so far is in the report
    """
    auditing = _Auditing(subject, asking, recording, search)
    result = auditing.audited(load_audited(subject.questions), outcomes, together, blame)
    _show(result, subject.out)
    raise typer.Exit(result.exit_code)


def _show(result: Audit, out: Path) -> None:
    print_lines(str(result).splitlines())
    say(f"the report is {out / 'index.html'}")


class _QuestionCounter:
    """A ``_QuestionCounter`` shows the user how many questions are done."""

    def __init__(self, show: Any, total: int) -> None:
        self._show, self._total, self._done = show, total, 0

    def __call__(self, _: AuditedQuestion) -> None:
        self._done += 1
        self._show(self._done, self._total)


class _Auditing:
    """An ``_Auditing`` makes the application and its questions from the options of the command. Raises
    InvalidInput for options that do not go together, before anything is asked."""

    def __init__(
        self,
        subject: AuditedSubject,
        asking: AskingOptions,
        recording: RecordingOptions,
        search: SearchOptions,
    ) -> None:
        if recording.baseline is not None:
            raise InvalidInput("--baseline is the answer to one question; leave it out")
        self._subject, self._recording, self._search = subject, recording, search
        self._request = SearchRequest(subject.asking("?"), Condition(), asking, recording)
        is_free = self._request.is_free
        settings = recording.of_agent(audit_settings(search, free=is_free))
        self._settings = capped(settings, agreed=asking.yes or is_free)
        if self._settings is not settings:
            say(f"at most {ASK_ABOVE} replays for each question; --yes lifts this limit")

    def audited(
        self,
        questions: list[AskedQuestion],
        outcomes: AuditedOutcomes,
        together: AuditedTogether,
        blame: AuditedBlame,
    ) -> Audit:
        """Returns the audit of the corpus by these questions."""
        subject = self._subject
        bad, good = outcomes.predicates()
        engine = together.engine_chosen()
        limits, blaming = together.limits(self._search.spending.price), blame.fields()
        with stdout_kept():
            asked = self.logged(questions)
            application, options = self.application()
            with counted("questions") as show:
                return audit(
                    application,
                    asked,
                    bad,
                    good=good,
                    out=subject.out,
                    workers=together.workers,
                    engine=engine,
                    audit_limits=limits,
                    framework=subject.framework,
                    explanations=None if subject.explanations == "none" else subject.explanations,
                    on_question=None if show is None else _QuestionCounter(show, len(asked)),
                    on_plan=lambda plan: say(f"to find whom to blame: {plan}"),
                    **blaming,
                    **options,
                )

    def application(self) -> tuple[Any, dict[str, Any]]:
        """Returns the name of the application, and the keywords of its explainer. Without ``--app``,
        returns an ``Explainer`` that runs ``--model`` or the offline reader, and no keywords."""
        asking, recording, name = self._request.asking, self._recording, self._subject.app
        if name is None:
            settings = with_a_namespace(self._settings, asking)
            if settings.store is None:
                # The namespace depends on the model, so that answers of another model are not taken from
                # the folder.
                store = Store(self._subject.out / ANSWERS, namespace_of(asking))
                settings = replace(settings, store=store)
            if asking.model is None:
                return Explainer(offline_replay, settings=settings), {}
            replay = chat_model_replay(asking.model, asking.base_url, asking.temperature, asking.key)
            return Explainer(replay, settings=settings), {}
        return name, {
            "settings": self._settings,
            **recording.keywords,
        }

    def logged(self, questions: list[AskedQuestion]) -> list[LoggedQuestion]:
        """Returns the questions: with ``--app``, each with the application's input; otherwise, each with
        the documents from which it is answered."""
        if self._subject.app is not None:
            application = load_application(self._subject.app)
            integration = Integration.of(application, self._subject.framework)
            return [self._of_application(each, integration) for each in questions]
        corpus = None if self._subject.sources is None else load_sources(self._subject.sources, "", None)
        return [
            LoggedQuestion(each.id, each.question, None, self._documents(each, corpus))
            for each in questions
        ]

    def _of_application(self, asked: AskedQuestion, integration: Integration) -> LoggedQuestion:
        subject = self._subject.asking(asked.question)
        request = replace(self._request, subject=subject)
        given, question = application_input(integration, request, asked.question)
        return LoggedQuestion(asked.id, question, given, _own(asked))

    def _documents(self, asked: AskedQuestion, corpus: SourceSet | None) -> tuple[SourceLike, ...]:
        own = _own(asked)
        if own is not None:
            return own
        if corpus is None:
            raise InvalidInput(
                "there is nothing to answer from; give --app, --sources, or sources on each line"
            )
        most = self._subject.top_k
        if most is None:
            return corpus.sources
        places = best_matches(asked.question, [each.passage for each in corpus], most)
        return tuple(corpus.sources[place] for place in places)


def _own(asked: AskedQuestion) -> tuple[SourceLike, ...] | None:
    """Returns the documents that a line gives for its question; None if it gives none. A document without
    an id gets no id here. It is later identified by its text, so that it counts as the same document if
    other lines give the same text."""
    if asked.sources is None:
        return None
    given: list[SourceLike] = []
    for line in asked.sources:
        source = line.source(line.id or "?")
        unnamed = {"text": source.text, "metadata": dict(source.metadata)}
        given.append(unnamed if line.id is None else source)
    SourceSet.of(given)
    return tuple(given)
