"""This module audits a corpus by questions from a log: it explains the answers to all of them, and finds
out from the rules which documents cause bad answers."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterable
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field, replace
from importlib import import_module
from time import monotonic
from typing import Any, TypeVar

import anyio.to_thread
from typing_extensions import Unpack

from ..allowed import brief, showing
from ..errors import CallbackFailed, MissingExtra
from ..predicates import PredicateLike, as_predicate
from ..probing.judging import error_text
from ..storing.address import Address
from ..storing.store import Store
from .blame import BlameList
from .blaming import Blaming
from .engine import AuditEngine, AuditJob, MeteredEngine
from .folder import ANSWERS, AuditFolder, kept_texts
from .in_process import LocalMeter, ThisProcess
from .metering import Meter, SpentTogether
from .options import AskedLike, AuditFields, AuditOptions, logged_questions, split_options
from .questions import AuditedQuestion, LoggedQuestion
from .result import Audit
from .sameness import application_of, definition_of, settings_of

Returned = TypeVar("Returned")
_SECONDS_TO_NOTE = 1.0
"""The number of seconds between two times at which the audit writes its spending into its folder. If the
audit is killed, only the spending since the last of these times is not counted."""


@showing(AuditOptions, AuditFields)
def audit(
    application: Any,
    questions: Iterable[AskedLike],
    condition: PredicateLike,
    **fields: Unpack[AuditFields],
) -> Audit:
    """Returns which answers to many questions are bad, and which documents rules name as a cause. Blocks.

    ``application``: an application of a framework or a plain function, its name as ``module:object``, or
    an ``Explainer``, which needs documents with each question. ``questions``: texts, or dicts with the
    keys ``question``, ``id``, ``input`` and ``documents``. ``condition``: holds iff an answer is bad.
    The other keywords are those of ``AuditOptions``, and the settings of the explainer of the
    application, such as ``miner``, ``store`` and ``noise``.

    A question that fails is counted and named, and does not end the audit. With ``out``, each question
    is written to this folder as soon as it is explained. If the audit is started again, it asks only the
    missing questions. Ctrl-C ends the audit, and returns what was found so far. Raises InvalidInput,
    before any question is asked, for arguments that cannot be used.
    """
    from ..probing.loop import run_blocking

    run = _Run.of(application, questions, condition, dict(fields))
    try:
        return run_blocking(run.audit, run.interrupt)
    finally:
        run.leave()


@showing(AuditOptions, AuditFields)
async def aaudit(
    application: Any,
    questions: Iterable[AskedLike],
    condition: PredicateLike,
    **fields: Unpack[AuditFields],
) -> Audit:
    """Returns the audit of the answers to many questions: ``audit`` on the caller's event loop."""
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
    _settings: str = ""
    _began: float = field(default_factory=monotonic)
    _noted: float = 0.0

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
            try:
                store = _store_in(folder, job) if options.engine == "process" else None
                job = replace(job, identity=folder.identity, store=store, spent=folder.spent)
            except BaseException:
                folder.close()
                raise
        return cls(options, job, asked, folder, engine)

    def interrupt(self) -> bool:
        """Stops the audit: no further question is asked, and no further replay tests which documents are
        to blame. Returns False, and does nothing, if the audit has not begun; True otherwise."""
        if self._task is None:
            return False
        if not self._interrupted and self._may_end:
            self._task.cancel()
        self._interrupted = True
        return True

    async def audit(self) -> Audit:
        """Asks the questions that the audit's folder does not hold (all of them without a folder), writes
        the report into the folder, and returns the result."""
        self._task = asyncio.current_task()
        try:
            result = await self._found()
            await self._close()
            return result
        finally:
            try:
                self._note_spent()
            finally:
                self.leave()

    def leave(self) -> None:
        """Unlocks the audit's folder, so that another run may use it. Does nothing without a folder."""
        if self.folder is not None:
            self.folder.close()

    def _note_spent(self) -> None:
        spent = self.engine.spent if isinstance(self.engine, ThisProcess) else None
        if self.folder is not None and spent is not None:
            self.folder.note_spent(spent)
            self._noted = monotonic()

    async def _close(self) -> None:
        """Closes the store of the folder, because a process may audit in many folders, one after the
        other. After an interrupt the store stays open, because replays that cannot be stopped may still
        store their answers."""
        store = self.job.store
        was_asked = isinstance(self.engine, ThisProcess) and self.engine.spent is not None
        if store is not None and was_asked and not self._interrupted:
            from ..storing.opened import close_store

            await anyio.to_thread.run_sync(close_store, Address.of(store.url))

    async def _found(self) -> Audit:
        failed: CallbackFailed | None = None
        try:
            await self._until_interrupted(self._ask())
        except CallbackFailed as error:
            failed = error
        result = self._result()
        if failed is not None:
            failed.audit = result
            await self._report(result)
            raise failed
        if self.options.fdr is not None and not self._interrupted:
            blame = await self._until_interrupted(self._blamed(result))
            result = replace(result, blame=blame, interrupted=self._interrupted)
        await self._report(result)
        return result

    async def _report(self, result: Audit) -> None:
        if self.folder is not None and self.options.report:
            from .report.writing import write_report

            await anyio.to_thread.run_sync(write_report, result, self.folder.path)

    async def _until_interrupted(self, work: Coroutine[Any, Any, Returned]) -> Returned | None:
        """Awaits ``work`` and returns its result; None if the user interrupted it."""
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
            self._settings = folder.note_settings(settings_of(self.job))
            folder.rename(self.questions)
        by_id = {each.id: each for each in self.questions}
        waiting = [each for each in self.questions if folder is None or not folder.holds(each)]
        if not waiting:
            return
        answers = self.engine(self.job, waiting)
        async with aclosing(answers):
            async for answer in answers:
                mark = by_id[answer.question.id].mark
                kept = replace(answer.question, given=mark, settings=self._settings)
                if folder is not None:
                    kept = folder.keep(replace(answer, question=kept))
                self.found[kept.id] = kept
                self._report_question(kept)
                if monotonic() - self._noted > _SECONDS_TO_NOTE:
                    self._note_spent()

    def _report_question(self, question: AuditedQuestion) -> None:
        if self.options.on_question is None:
            return
        try:
            self.options.on_question(question)
        except Exception as error:
            where = "the attribute audit of this error" if self.folder is None else str(self.folder.path)
            raise CallbackFailed(
                f"on_question failed for the question {brief(question.id)}: {error_text(error)}; what "
                f"was explained by then is kept in {where}; mend the function and audit again"
            ) from error

    async def _blamed(self, result: Audit) -> BlameList:
        """Makes the fresh replays that test which documents are to blame, and returns these documents.
        ``result``: the audit without this test."""
        asked = {each.id: each for each in self.questions}
        async with self._metered(result) as meter:
            spent = await anyio.to_thread.run_sync(meter.spent)
            blaming = Blaming.of(self.options, self.job, result, meter, spent.replays)
            if self.options.on_plan is not None:
                self.options.on_plan(blaming.plan)
            return await blaming.found(asked, {each.id: each for each in result.questions})

    @asynccontextmanager
    async def _metered(self, result: Audit) -> AsyncGenerator[Meter, None]:
        """Yields, for the block, a meter that counts further replays. It starts with the spending for the
        questions, so that the audit's limits hold for questions and further replays together."""
        if isinstance(self.engine, MeteredEngine):
            async with self.engine.metered(self.job, self._began) as meter:
                yield meter
            return
        own = [(each.replays, each.tokens, each.cost) for each in result.questions]
        spent = SpentTogether(*map(sum, zip(*own, strict=True)))
        yield LocalMeter(self.job.limits, self._began, spent)

    def _result(self) -> Audit:
        known = {} if self.folder is None else self.folder.known
        held = {each.id: known[each.id] for each in self.questions if self._is_known(each)}
        held.update(self.found)
        folder, questions = self.folder, [held[each.id] for each in self.questions if each.id in held]
        return Audit(
            tuple(questions),
            str(self.job.condition),
            "" if self.job.good is None else str(self.job.good),
            len(self.questions),
            self._interrupted,
            None if self.folder is None else self.folder.path,
            {} if folder is None else kept_texts(folder.path),
            notes=() if folder is None else tuple(folder.mixed_settings(self._settings, questions)),
        )

    def _is_known(self, asked: LoggedQuestion) -> bool:
        return self.folder is not None and self.folder.holds(asked)


def _store_in(folder: AuditFolder, job: AuditJob) -> Store:
    """Returns the store in the folder, for an engine that runs on the machine with the folder. Its
    answers are used again only for the same application with the same code."""
    return Store(folder.path / ANSWERS, application_of(job))


def _about(job: AuditJob) -> dict[str, str]:
    return {
        "bad_outcome": str(as_predicate(job.condition)),
        "good_outcome": "" if job.good is None else str(job.good),
        "definition_of_the_outcomes": definition_of([job.condition, job.good]),
    }


def _engine(options: AuditOptions) -> AuditEngine:
    if callable(options.engine):
        return options.engine
    if options.engine == "process":
        return ThisProcess()
    try:
        return import_module(".cluster.on_ray", __package__).on_ray
    except ImportError as error:
        raise MissingExtra.naming(options.engine, f"engine={options.engine!r}") from error
