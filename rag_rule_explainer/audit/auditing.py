"""This module audits a corpus by the questions that people asked: it asks them all, and reads from their
rules what the documents do."""

import asyncio
from collections.abc import Callable, Coroutine, Iterable
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from importlib import import_module
from time import monotonic
from typing import Any, TypeVar

import anyio.to_thread
from typing_extensions import Unpack

from ..allowed import showing
from ..errors import MissingExtra
from ..predicates import PredicateLike, as_predicate
from .blame import BlameList
from .blaming import Blaming
from .engine import AuditEngine, AuditJob
from .folder import AuditFolder, kept_texts
from .options import AskedLike, AuditFields, AuditOptions, logged_questions, split_options
from .questions import AuditedQuestion, LoggedQuestion
from .result import Audit
from .sameness import definition_of

Found = TypeVar("Found")
_ENGINES = {"process": ("in_process", "in_process"), "ray": ("cluster.on_ray", "on_ray")}
"""The module of each engine, and its name there."""


@showing(AuditOptions, AuditFields)
def audit(
    application: Any,
    questions: Iterable[AskedLike],
    condition: PredicateLike,
    **fields: Unpack[AuditFields],
) -> Audit:
    """Returns what the documents of a corpus do in the answers to many questions. Blocks.

    ``application``: an application of a framework or a plain function, its name as ``module:object``, or
    an ``Explainer``, which needs documents with each question. ``questions``: texts, or dicts with the
    keys ``question``, ``id``, ``input`` and ``documents``. ``condition``: holds iff an answer is bad.
    The other keywords are those of ``AuditOptions``, and the settings of the explainer of the
    application, such as ``miner``, ``store`` and ``noise``.

    A question that fails is counted and named. With ``out``, each question is written there as soon as it
    is explained, and an audit that is started again asks only what is missing. Ctrl-C ends the audit: the
    result says what is known by then. Raises InvalidInput for what cannot be read, before anything is
    asked.
    """
    from ..probing.loop import run_blocking

    run = _Run.of(application, questions, condition, dict(fields))
    return run_blocking(run.audit, run.interrupt)


@showing(AuditOptions, AuditFields)
async def aaudit(
    application: Any,
    questions: Iterable[AskedLike],
    condition: PredicateLike,
    **fields: Unpack[AuditFields],
) -> Audit:
    """Returns the same as ``audit``, but runs on the caller's event loop."""
    return await _Run.of(application, questions, condition, dict(fields)).audit()


@dataclass(slots=True)
class _Run:
    """A ``_Run`` is one call of ``audit``."""

    options: AuditOptions
    job: AuditJob
    questions: list[LoggedQuestion]
    folder: AuditFolder | None
    engine: AuditEngine
    found: dict[str, AuditedQuestion] = field(default_factory=dict[str, AuditedQuestion])
    _task: "asyncio.Task[Any] | None" = None
    _interrupted: bool = False
    _may_end: bool = False
    _began: float = field(default_factory=monotonic)

    @classmethod
    def of(
        cls,
        application: Any,
        questions: Iterable[AskedLike],
        condition: PredicateLike,
        fields: dict[str, Any],
    ) -> "_Run":
        options, rest = split_options(fields)
        job = options.job(application, condition, rest)
        asked = logged_questions(questions, application)
        engine = _engine(options)
        folder = None
        if options.folder is not None:
            folder = AuditFolder.of(options.folder, _about(job), options.explanations)
            job = replace(job, identity=folder.identity)
        return cls(options, job, asked, folder, engine)

    def interrupt(self) -> bool:
        """Ends the questions, or the replays for whom to blame; what was found is kept. Returns False if
        the audit has not begun."""
        if self._task is None:
            return False
        if not self._interrupted and self._may_end:
            self._task.cancel()
        self._interrupted = True
        return True

    async def audit(self) -> Audit:
        """Asks the questions that the folder does not hold, and writes the report."""
        self._task = asyncio.current_task()
        await self._until_interrupted(self._ask())
        result = self._result()
        if self.options.fdr is not None and not self._interrupted:
            blame = await self._until_interrupted(self._blamed(result))
            result = replace(result, blame=blame, interrupted=self._interrupted)
        if self.folder is not None and self.options.report:
            from .report.writing import write_report

            await anyio.to_thread.run_sync(write_report, result, self.folder.path)
        return result

    async def _until_interrupted(self, work: Coroutine[Any, Any, Found]) -> Found | None:
        """Returns what ``work`` returns; None if the user interrupted it."""
        self._may_end = True
        try:
            return await work
        except asyncio.CancelledError:
            if not self._interrupted:
                raise
            uncancel: Callable[[], Any] | None = getattr(self._task, "uncancel", None)
            if uncancel is not None:
                uncancel()
            return None
        finally:
            self._may_end = False

    async def _ask(self) -> None:
        folder = self.folder
        if folder is not None:
            folder.rename(self.questions)
        by_id = {each.id: each for each in self.questions}
        waiting = [each for each in self.questions if folder is None or not folder.holds(each)]
        if not waiting:
            return
        answers = self.engine(self.job, waiting)
        async with aclosing(answers):
            async for answer in answers:
                kept = replace(answer.question, given=by_id[answer.question.id].mark)
                if folder is not None:
                    kept = folder.keep(replace(answer, question=kept))
                self.found[kept.id] = kept
                if self.options.on_question is not None:
                    self.options.on_question(kept)

    async def _blamed(self, result: Audit) -> BlameList:
        """Returns the documents to blame, after fresh replays."""
        asked = {each.id: each for each in self.questions}
        blaming = Blaming.of(self.options, self.job, result, self._began)
        if self.options.on_plan is not None:
            self.options.on_plan(blaming.plan)
        return await blaming.found(asked, {each.id: each for each in result.questions})

    def _result(self) -> Audit:
        known = {} if self.folder is None else self.folder.known
        held = {each.id: known[each.id] for each in self.questions if self._is_known(each)}
        held.update(self.found)
        return Audit(
            tuple(held[each.id] for each in self.questions if each.id in held),
            str(self.job.condition),
            "" if self.job.good is None else str(self.job.good),
            len(self.questions),
            self._interrupted,
            None if self.folder is None else self.folder.path,
            {} if self.folder is None else kept_texts(self.folder.path),
        )

    def _is_known(self, asked: LoggedQuestion) -> bool:
        return self.folder is not None and self.folder.holds(asked)


def _about(job: AuditJob) -> dict[str, str]:
    return {
        "bad_outcome": str(as_predicate(job.condition)),
        "good_outcome": "" if job.good is None else str(job.good),
        "definition_of_the_outcomes": definition_of([job.condition, job.good]),
    }


def _engine(options: AuditOptions) -> AuditEngine:
    if callable(options.engine):
        return options.engine
    module, name = _ENGINES[options.engine]
    try:
        return getattr(import_module(f".{module}", __package__), name)
    except ImportError as error:
        raise MissingExtra.naming(options.engine, f"engine={options.engine!r}") from error
