"""This module defines the options of an audit, and reads the questions that a caller gives."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal, TypeAlias, cast

from ..allowed import (
    brief,
    checked_flag,
    checked_function,
    checked_list,
    checked_whole,
    did_you_mean,
    unknown_name,
)
from ..errors import InvalidInput
from ..explainer import Explainer
from ..instrumentation.explainer_options import ExplainerFields
from ..predicates import PredicateLike, as_predicate
from ..printable import encodable
from ..probing.limits import Limits
from ..settings import Settings
from ..sources.given import check_list_of_sources
from .blame_plan import BlamePlan, check_rate
from .engine import WORKERS, AuditEngine, AuditJob
from .folder import SavedForm
from .questions import AuditedQuestion, LoggedQuestion

EngineName: TypeAlias = Literal["process", "ray"]
AskedLike: TypeAlias = str | Mapping[str, Any] | LoggedQuestion
"""A question of an audit, as a caller gives it: a text, a ``LoggedQuestion``, or a dict whose keys are
names of the fields of ``LoggedQuestion``."""
_QUESTION_KEYS = tuple(each.name for each in fields(LoggedQuestion))


class AuditFields(ExplainerFields, total=False):
    """An ``AuditFields`` is a TypedDict that gives the keywords ``**fields`` of ``audit`` their types:
    the fields of ``AuditOptions`` and the settings of explainers."""

    good: PredicateLike | None
    out: str | os.PathLike[str] | None
    engine: EngineName | AuditEngine
    workers: int
    audit_limits: Limits | int | None
    framework: str | None
    explanations: SavedForm | None
    report: bool
    on_question: Callable[[AuditedQuestion], object] | None
    fdr: float | None
    deterministic: bool
    blame_replays: int | None
    on_plan: Callable[[BlamePlan], object] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditOptions:
    """An ``AuditOptions`` says how an audit is carried out.

    ``good``: holds iff an answer is good; None if every answer that is not bad is good. ``out``: a
    folder for the report, in which a stopped audit can be continued; if no store is set, it also keeps
    the paid answers. ``engine``: "process", "ray", or an engine of your own. ``workers``: the number of
    questions that are explained at the same time.

    ``audit_limits``: caps on what all questions together may spend, as ``Limits`` or as a number of
    replays, including the replays that test which documents are to blame. What earlier runs in the same
    folder have spent counts as well, except for seconds, which are those of one run. ``limits`` caps
    each explanation.

    ``framework``: the name of the application's integration, if it cannot be found. ``explanations``:
    the form in which each explanation is saved in the folder; None to save none. ``report``: False to
    write no pages and tables. ``on_question``: is called with the result of each question as soon as it
    is known; if it raises an error, the audit ends with CallbackFailed.

    ``fdr``: the false discovery rate of a list of documents to blame, such as 0.05; None for no list.
    The documents that rules name are then tested by fresh replays. ``deterministic``: True if the
    application is known never to vary, so that a document which a proved rule names needs no test.
    ``blame_replays``: the largest number of these replays; None for as many as the test needs.
    ``on_plan``: is called with the plan of these replays, which says how many they are, before the first
    of them.
    """

    good: PredicateLike | None = None
    out: str | os.PathLike[str] | None = None
    engine: EngineName | AuditEngine = "process"
    workers: int = WORKERS
    audit_limits: Limits | int | None = None
    framework: str | None = None
    explanations: SavedForm | None = "html"
    report: bool = True
    on_question: Callable[[AuditedQuestion], object] | None = None
    fdr: float | None = None
    deterministic: bool = False
    blame_replays: int | None = None
    on_plan: Callable[[BlamePlan], object] | None = None

    def __post_init__(self) -> None:
        checked_whole("workers", self.workers, 1, 10_000)
        if self.out is not None and not isinstance(self.out, (str, os.PathLike)):  # pyright: ignore[reportUnnecessaryIsInstance] -- users may pass values of other types
            raise InvalidInput(f"out is {brief(self.out)}; give the path of a folder")
        checked_flag("report", self.report)
        checked_flag("deterministic", self.deterministic)
        if self.fdr is not None:
            check_rate(self.fdr)
        if self.blame_replays is not None:
            checked_whole("blame_replays", self.blame_replays, 0)
        if self.on_plan is not None:
            checked_function("on_plan", self.on_plan, "a function of a BlamePlan", 1)
        if self.explanations not in {"html", "json", None}:
            raise InvalidInput(f"explanations is {brief(self.explanations)}; give 'html', 'json' or None")
        if not callable(self.engine) and self.engine not in {"process", "ray"}:
            near = did_you_mean(str(self.engine), ("process", "ray"))
            raise InvalidInput(f"engine is {brief(self.engine)}; {near}give 'process' or 'ray'")
        if self.on_question is not None:
            checked_function("on_question", self.on_question, "a function of an AuditedQuestion", 1)

    @property
    def folder(self) -> Path | None:
        """Returns the folder of the audit; None if there is none."""
        return None if self.out is None else Path(self.out)

    def job(self, application: Any, condition: PredicateLike, rest: Mapping[str, Any]) -> AuditJob:
        """Returns the ``AuditJob``. ``rest``: the settings of the explainer. Raises InvalidInput for
        settings that do not exist, or that an audit sets itself."""
        for name in rest:
            if name in {"limiter", "omission_predicate", "false_condition"}:
                raise InvalidInput(f"{name} is set by the audit itself; leave it out")
            if name not in ExplainerFields.__annotations__ and name not in Settings.__dataclass_fields__:
                known = {*_OPTIONS, *ExplainerFields.__annotations__, *Settings.__dataclass_fields__}
                raise InvalidInput(unknown_name(name, "keyword of audit", known))
        _check_rules(application, rest)
        limits = Limits(failures=None) if self.audit_limits is None else Limits.of(self.audit_limits)
        return AuditJob(
            application=application,
            condition=as_predicate(condition),
            good=None if self.good is None else as_predicate(self.good),
            options=dict(rest),
            framework=self.framework,
            limits=limits,
            workers=self.workers,
        )


def _check_rules(application: Any, rest: Mapping[str, Any]) -> None:
    """Raises InvalidInput if only one kind of rule is looked for, because documents that only the other
    kind names would then be reported as never needed."""
    settings: Any = getattr(application, "settings", None) if isinstance(application, Explainer) else None
    settings = rest.get("settings", settings)
    if rest.get("rules", getattr(settings, "rules", "both")) != "both":
        raise InvalidInput("an audit needs rules of both kinds; leave rules out")


_OPTIONS = tuple(each.name for each in fields(AuditOptions))


def split_options(given: Mapping[str, Any]) -> tuple[AuditOptions, dict[str, Any]]:
    """Returns the options of the audit among the keywords of a call, and the other keywords."""
    rest = dict(given)
    return AuditOptions(**{name: rest.pop(name) for name in _OPTIONS if name in rest}), rest


def logged_questions(given: Iterable[AskedLike], application: Any) -> list[LoggedQuestion]:
    """Returns the questions that a caller gave. A question without an id gets its position as id, from
    1.

    Raises InvalidInput for anything that is no question, for an id that occurs twice, if there is no
    question, and if an ``Explainer`` is to answer a question that has no documents.
    """
    questions = list(_read(checked_list("questions", given, "questions")))
    if not questions:
        raise InvalidInput("there is no question; give at least one")
    seen = set[str]()
    for each in questions:
        if each.id in seen:
            raise InvalidInput(f"two questions have the id {each.id!r}; give each its own")
        seen.add(each.id)
        if isinstance(application, Explainer) and each.documents is None:
            raise InvalidInput(
                f"the question {each.id!r} has no documents, and an Explainer retrieves none; give "
                "documents with each question, or an application that retrieves"
            )
    return questions


def _read(given: Iterable[Any]) -> Iterator[LoggedQuestion]:
    for place, each in enumerate(given, start=1):
        if isinstance(each, LoggedQuestion):
            yield _checked(each)
        elif isinstance(each, str):
            yield _checked(LoggedQuestion(str(place), each))
        elif isinstance(each, Mapping):
            yield _checked(_of_mapping(cast("Mapping[str, Any]", each), place))
        else:
            raise InvalidInput(
                f"question {place} is {brief(each)}; give a text, or a dict with a 'question'"
            )


def _of_mapping(given: Mapping[str, Any], place: int) -> LoggedQuestion:
    for name in given:
        if name not in _QUESTION_KEYS:
            raise InvalidInput(unknown_name(str(name), "key of a question", _QUESTION_KEYS))
    documents: Any = given.get("documents")
    if documents is not None:
        check_list_of_sources(documents)
    return LoggedQuestion(
        str(place if given.get("id") is None else given["id"]),
        given.get("question", ""),
        given.get("input"),
        None if documents is None else tuple(documents),
    )


def _checked(asked: LoggedQuestion) -> LoggedQuestion:
    if asked.documents is not None:
        check_list_of_sources(asked.documents)
    identity: Any = asked.id
    if not isinstance(identity, str) or not identity.strip() or identity != encodable(identity):
        raise InvalidInput(
            f"the id of a question is {brief(identity)}; give a text that is not empty and has no lone "
            "surrogate, or leave it out"
        )
    question: Any = asked.question
    if not isinstance(question, str) or not question.strip():
        raise InvalidInput(f"the question {asked.id!r} is {brief(question)}; give its text")
    return asked
