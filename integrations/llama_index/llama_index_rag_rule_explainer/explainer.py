"""RuleExplainer: explains an existing LlamaIndex application."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from typing_extensions import Unpack, override

from rag_rule_explainer import Answer, Explainer, Limiter, Progress, Settings, SettingsFields
from rag_rule_explainer.allowed import checked_flag, checked_function
from rag_rule_explainer.instrumentation.bounds import FACTOR
from rag_rule_explainer.instrumentation.call import Call
from rag_rule_explainer.instrumentation.engine import WantedScope
from rag_rule_explainer.instrumentation.options import (
    AnswerOf,
    Case,
    Manner,
    QuestionOf,
)
from rag_rule_explainer.instrumentation.recording.captured import OnNewQuery
from rag_rule_explainer.instrumentation.recording.exposure_checks import OnNoRetrieval
from rag_rule_explainer.instrumentation.rule_explainer import ApplicationExplainer
from rag_rule_explainer.instrumentation.runs import ApplicationRun
from rag_rule_explainer.instrumentation.showing import showing_settings
from rag_rule_explainer.predicates import PredicateLike

from .application import LlamaIndexApplication
from .brought import DocumentLike
from .entries import Engine, entry_of
from .nodes import Found
from .progressing import ProgressEvents
from .reading import answer_in, question_in


class RuleExplainer(ApplicationExplainer[Found, DocumentLike]):
    """Explains the answers of a LlamaIndex application, which it leaves as it is.

    ``application``: a query engine, a chat engine, an agent or another workflow, or a function of one
    input. Its retrieval is seen wherever it calls a query engine's or a retriever's ``retrieve`` or
    queries a vector store, however deep inside; for anything else there is ``gate``. A function without
    parameters makes one of these, anew for every run: for engines that cannot be run twice or at once.
    ``retrievers``: only these instances (query engines, retrievers, stores) are recorded and served; all
    others retrieve as ever.

    Its input is a question; for a chat engine also a dict of ``message`` and ``chat_history``; for a
    workflow also a dict of the arguments of its ``run``. ``documents=`` may be nodes, too.

    ``question_of`` and ``answer_of`` read the question out of its input and the answer out of its
    output; by default str, query bundles, messages, responses, and dicts with the usual keys are
    understood.

    ``scope``: "seen" explains by the nodes whose text was recognised in what the model was sent, and
    serves no others; "retrieved" by all that retrieval returned. ``on_new_query``: what a replay is
    served that asks what the baseline never asked: everything "kept" (the default for engines), what is
    kept of a live retrieval ("filter", the default where tools are called), or "error".
    ``on_no_retrieval``: whether the answer of a replay that retrieves nothing is an "error" or is to be
    accepted. ``stub_tools``: results of tools, by name, that are not to run. ``allow_length``: replies
    cut off at their length limit count. ``trace_replays=False`` keeps replays from the dispatcher's event
    and span handlers, and from LangSmith and OpenTelemetry. Where they are traced, an explanation is one
    span, "rag_rule_explanation", with a "rag_rule_replay" for each replay, which ends once it was judged
    and has the verdict; all that happens in it has the tag "rag-rule-replay", ``Explanation.id`` and the
    id of the explained run's span.
    ``ignore``: regular expressions of what may differ between the baseline's model requests and those of
    a replay on all sources, such as a request number. ``replay_bound``: a replay may make so many times
    the baseline's model requests, tool calls, retrievals and steps; past that its answer is
    unknown. ``print_replays=True`` shows what replays print and warn of, too; else only the first run is
    heard, and what goes to stderr or to a log.

    The rest is as for ``rag_rule_explainer.Explainer``, ``limiter`` too.

    The application runs once on the input, and what it retrieves is recorded. Then it is replayed, with
    subsets of the recorded nodes served instead of retrieving: through its sync entry under ``explain``
    (unless it has none), its async entry under ``aexplain``. A query engine that has a ``retrieve`` of
    its own is served after its postprocessors, so the sources are what its model sees; notes of the
    explanation say which of the two it was.

    Every run starts from what the application remembered when the first run came to it, and keeps to
    itself what it writes; ``explain`` and ``verify`` leave the real things as they were, while the
    forms that attach rules write to them what one ordinary run writes. This holds, wherever in the
    application they are used: for memories, chat stores, a workflow's ``ctx``, and key-value stores,
    with the document stores, index stores and caches that are built on them, wherever they keep what
    they hold; and for indices, simple vector stores, simple graph stores and blocks of memory of
    LlamaIndex's own, with their attributes. What a run makes itself belongs to it. Runs on copies
    persist nothing.

    Writes to other vector, graph and document stores, and to memory blocks of your own, are held back,
    and StateShared is raised where a run reads there after it has written; so it is where a
    conversation that one run began is used by another. A vector or graph store that is opened inside a
    run is taken for the run's own, and written to. Plain attributes of workflows and other objects of
    yours, globals and files are not kept apart: for these, pass a function that makes the application
    anew.

    Raises InvalidInput for what is no application.
    """

    @showing_settings
    def __init__(  # noqa: PLR0913 -- each a setting of its own
        self,
        application: Engine,
        predicate: PredicateLike | None = None,
        *,
        omission_predicate: PredicateLike | None = None,
        question_of: QuestionOf = question_in,
        answer_of: AnswerOf = answer_in,
        retrievers: Sequence[object] = (),
        scope: WantedScope = "seen",
        on_new_query: OnNewQuery | None = None,
        on_no_retrieval: OnNoRetrieval = "error",
        stub_tools: Mapping[str, Any] | None = None,
        allow_length: bool = False,
        trace_replays: bool = True,
        ignore: Sequence[str | re.Pattern[str]] = (),
        replay_bound: float | None = FACTOR,
        print_replays: bool = False,
        settings: Settings | None = None,
        progress: Progress | bool | None = None,
        limiter: Limiter | None = None,
        **fields: Unpack[SettingsFields],
    ) -> None:
        checked_function("question_of", question_of, "a function from an input to its question")
        checked_flag("allow_length", allow_length)
        self.entry = entry_of(application)
        chosen = Settings.of(settings, fields, type(self).__init__)
        chosen = chosen.accepting(length=allow_length)
        manner = Manner(
            answer_of,
            Manner.instances(retrievers),
            scope,
            on_new_query,
            on_no_retrieval,
            Manner.stubs(stub_tools),
            chosen.accept_finish_reasons,
            trace_replays,
            ignore,
            replay_bound,
            print_replays,
        )
        explainer = Explainer(
            predicate=predicate,
            omission_predicate=omission_predicate,
            settings=chosen,
            progress=progress,
            limiter=limiter,
        )
        super().__init__(application, question_of, manner, explainer)

    @property
    def retrievers(self) -> tuple[object, ...]:
        """Returns the only instances that are recorded and served; empty for all of them."""
        return self._manner.retrievers

    @property
    def accepts(self) -> tuple[str, ...]:
        """Names the finish reasons that count as those of whole replies, beside the known ones."""
        return self._manner.accepts

    def recorded_call(self, given: Any) -> Call[Found]:
        """Returns a call about a run that was made elsewhere, and is not made again."""
        return self._call(self._case(given))

    def live_call(self, given: Any) -> Call[Found]:
        """Returns a call whose baseline is the user's own run: it writes to real memories, and is made
        whether its question can be read or not."""
        return self._call(Case.of_the_users_run(given, self.question_of, forgiving=True))

    def text_of(self, output: Any) -> str:
        """Returns the answer in an output; else what it prints as."""
        try:
            return Answer.of(self._manner.answer_of(output)).text
        except Exception:  # whatever a function of the user's raises
            return str(output)

    @override
    def _call(self, case: Case) -> Call[Found]:
        run = ApplicationRun(LlamaIndexApplication(self.entry), case, self._manner)
        return Call(run, self._explainer, ProgressEvents())
