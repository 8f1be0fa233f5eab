"""This module makes a ``Call`` object from the arguments of a method of ``RuleExplainer``."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from langchain_core.runnables import Runnable, RunnableConfig

from rag_rule_explainer import InvalidInput
from rag_rule_explainer.instrumentation.call import Call
from rag_rule_explainer.instrumentation.engine import TracedExplanation
from rag_rule_explainer.instrumentation.options import CallInput, Manner, QuestionOf, documents_in, ids_in
from rag_rule_explainer.instrumentation.run_context import participation, refused
from rag_rule_explainer.instrumentation.runs import ApplicationRun

from .application import LangChainApplication
from .bounded_explainers import BoundedExplainers
from .brought import DocumentLike
from .finding import Found
from .graphs import STREAM_ONLY
from .keywords import check_config, check_keywords
from .progressing import ProgressEvents


@dataclass(frozen=True, slots=True, eq=False)
class QuestionOptions:
    """A ``QuestionOptions`` holds the sources and the logged answer that a caller gives together with an
    input. The fields mean the same as the parameters of ``RuleExplainer.explain`` with these names."""

    documents: Sequence[DocumentLike] | None = None
    add_documents: Sequence[DocumentLike] = ()
    pinned: Sequence[str] = ()
    baseline: Any = None

    @classmethod
    def taken_from(cls, keywords: dict[str, Any]) -> "QuestionOptions":
        """Removes ``documents``, ``add_documents``, ``pinned`` and ``baseline`` from ``keywords``, as far
        as they are there, and returns them. An option that is not there has its default."""
        return cls(**{name: keywords.pop(name) for name in _OF_QUESTIONS if name in keywords})


_OF_QUESTIONS = tuple(each.name for each in fields(QuestionOptions))


@dataclass(frozen=True, slots=True, eq=False)
class Calls:
    """This class makes a ``Call`` for each input of one application.

    ``settings``: the names of all settings of the explainer. If a keyword of a call is similar to one of
    these names, an error says that it must be given to the explainer.
    """

    application: Runnable[Any, Any]
    question_of: QuestionOf
    manner: Manner
    explainers: BoundedExplainers
    settings: tuple[str, ...]

    def of(
        self,
        given: Any,
        config: RunnableConfig | None,
        trace: TracedExplanation | None = None,
        question: QuestionOptions | None = None,
        keywords: Mapping[str, Any] | None = None,
    ) -> Call[Found]:
        """Returns a call for the input ``given``.

        ``trace``: the object that collects the metadata of the explanation for tracers; None to make a
        new object. ``question``: the sources and the logged answer that the caller gave; None for none.
        ``keywords``: keyword arguments that every run of the application receives. Raises InvalidInput
        for a config, a keyword or an option that cannot be used.
        """
        self._check(config, keywords or {})
        options = question or QuestionOptions()
        documents = options.documents
        case = CallInput(
            given,
            self.question_of(given),
            config or {},
            None if documents is None else documents_in("documents", documents),
            documents_in("add_documents", options.add_documents),
            ids_in(options.pinned),
            options.baseline,
            keywords=dict(keywords or {}),
        )
        return self._call(case, config, trace)

    def of_the_users_run(
        self,
        given: Any,
        config: RunnableConfig,
        trace: TracedExplanation,
        keywords: Mapping[str, Any],
        *,
        streams: bool = False,
        forgiving: bool = False,
    ) -> Call[Found]:
        """Returns a call that runs the application once for the user, and explains this run. As it is the
        user's own run, it may change real state, such as a message history.

        ``streams``: True if the output is streamed. ``forgiving``: True to run the application even if
        the question cannot be read from its input.
        """
        stream_only = STREAM_ONLY if streams else ()
        of_streams = {name: value for name, value in keywords.items() if name in stream_only}
        rest = {name: value for name, value in keywords.items() if name not in stream_only}
        self._check(config, rest)
        more: dict[str, Any] = {"config": config, "keywords": rest, "forgiving": forgiving}
        case = CallInput.of_the_users_run(given, self.question_of, **more)
        call = self._call(case, config, trace, of_streams)
        call.events = ProgressEvents(config)
        return call

    def _check(self, config: RunnableConfig | None, keywords: Mapping[str, Any]) -> None:
        if participation() is not None:
            raise refused(
                InvalidInput(
                    "a RuleExplainer was invoked inside an application that is being explained; "
                    "put the application it wraps (.application) in its place"
                )
            )
        check_config(config)
        check_keywords(keywords, self.application, _OF_QUESTIONS, self.settings)

    def _call(
        self,
        case: CallInput,
        config: RunnableConfig | None,
        trace: TracedExplanation | None,
        of_streams: Mapping[str, Any] | None = None,
    ) -> Call[Found]:
        application = LangChainApplication(self.application, of_streams or {})
        run = ApplicationRun(application, case, self.manner, trace)
        return Call(run, self.explainers.for_config(config), ProgressEvents())
