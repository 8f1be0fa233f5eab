"""RuleExplainer: a Runnable around an existing chain."""

from dataclasses import dataclass
from typing import Any, Generic, cast

from langchain_core.callbacks import AsyncCallbackManagerForChainRun, CallbackManagerForChainRun
from langchain_core.runnables import Runnable, RunnableConfig, RunnableSerializable
from langchain_core.runnables.base import RunnableLike, coerce_to_runnable
from langchain_core.runnables.utils import Input, Output
from pydantic import ConfigDict, PrivateAttr
from typing_extensions import Unpack, override

from rag_rule_explainer import (
    BaselineFailed,
    Explainer,
    Explanation,
    InvalidInput,
    Progress,
    Settings,
    SettingsFields,
)
from rag_rule_explainer.predicates import PredicateLike
from rag_rule_explainer.probing.loop import run_blocking
from rag_rule_explainer.probing.replaying import going_on

from .application import ApplicationRun, is_async_only
from .interception import intercepting
from .reading import AnswerOf, QuestionOf, answer_in, question_in


@dataclass(frozen=True, slots=True)
class Explained(Generic[Output]):
    """What the application put out, and the rules its answer obeys."""

    output: Output
    explanation: Explanation


class RuleExplainer(RunnableSerializable[Input, Explained[Output]]):
    """Explains the answers of a LangChain application, which it leaves as it is.

    ``application``: any Runnable, or what a chain can be made of, such as a function, whose retrieval
    goes through a ``BaseRetriever``, however deep inside.
    ``question_of`` and ``answer_of`` read the question out of its input and the answer out of its
    output; by default str, messages, and dicts with the usual keys are understood. The rest is as for
    ``rag_rule_explainer.Explainer``.

    The application runs once on the input, and what it retrieves is recorded. Then it is replayed, with
    subsets of the recorded documents served instead of retrieving: through its sync entry under
    ``explain`` and ``invoke`` (unless it has none), its async entry under ``aexplain`` and ``ainvoke``.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    application: Runnable[Any, Any]
    question_of: QuestionOf = question_in
    answer_of: AnswerOf = answer_in
    _explainer: Explainer = PrivateAttr()

    def __init__(
        self,
        application: RunnableLike[Input, Output],
        *,
        predicate: PredicateLike | None = None,
        omission_predicate: PredicateLike | None = None,
        question_of: QuestionOf = question_in,
        answer_of: AnswerOf = answer_in,
        settings: Settings | None = None,
        progress: Progress | None = None,
        **fields: Unpack[SettingsFields],
    ) -> None:
        coerced = cast("Runnable[Any, Any]", coerce_to_runnable(application))
        super().__init__(application=coerced, question_of=question_of, answer_of=answer_of)  # pyright: ignore[reportCallIssue] -- pydantic's own constructor
        self._explainer = Explainer(
            predicate=predicate,
            omission_predicate=omission_predicate,
            settings=settings,
            progress=progress,
            **fields,
        )

    def explain(self, input: Input, config: RunnableConfig | None = None) -> Explanation:  # noqa: A002 -- as Runnable says
        """The rules of the application's answer to ``input``, blocking; see ``Explainer.explain``.

        Raises NoSourcesCaptured where no retrieval was seen, ReplayMissedGate where a replay did not
        retrieve, and what ``Explainer.explain`` raises.
        """
        return self._explained(input, config).explanation

    async def aexplain(self, input: Input, config: RunnableConfig | None = None) -> Explanation:  # noqa: A002 -- as Runnable says
        """The same on the caller's loop, through the application's async entry."""
        return (await self._aexplained(input, config)).explanation

    @override
    def invoke(
        self,
        input: Input,
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> Explained[Output]:
        """Runs the application and explains its answer, as one traced run."""

        def explained(
            given: Input,
            run_manager: CallbackManagerForChainRun,  # noqa: ARG001 -- passed by name
            config: RunnableConfig,
        ) -> Explained[Output]:
            return self._explained(given, config)

        return self._call_with_config(explained, input, config, **kwargs)

    @override
    async def ainvoke(
        self,
        input: Input,
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> Explained[Output]:
        """Runs the application and explains its answer, as one traced run, on the caller's loop."""

        async def explained(
            given: Input,
            run_manager: AsyncCallbackManagerForChainRun,  # noqa: ARG001 -- passed by name
            config: RunnableConfig,
        ) -> Explained[Output]:
            return await self._aexplained(given, config)

        return await self._acall_with_config(explained, input, config, **kwargs)

    def _explained(self, given: Input, config: RunnableConfig | None) -> Explained[Output]:
        run = self._run(given, config)
        with intercepting():
            try:
                output, replay = run.baseline(), run.replay
            except BaselineFailed as failed:
                if not is_async_only(failed):
                    raise
                run = self._run(given, config)
                output, replay = run_blocking(run.abaseline()), run.areplay
            sources, baseline = run.recorded(output)
            explanation = self._explainer.explain(run.question, sources, baseline, replay=replay)
        return Explained(output, explanation)

    async def _aexplained(self, given: Input, config: RunnableConfig | None) -> Explained[Output]:
        run = self._run(given, config)
        with intercepting():
            output = await run.abaseline()
            sources, baseline = run.recorded(output)
            explanation = await self._explainer.aexplain(
                run.question, sources, baseline, replay=run.areplay
            )
        return Explained(output, explanation)

    def _run(self, given: Input, config: RunnableConfig | None) -> ApplicationRun:
        if going_on() is not None:
            raise InvalidInput(
                "a RuleExplainer was invoked inside an application that is being explained; "
                "put the application it wraps (.application) in its place"
            )
        return ApplicationRun(
            self.application, given, self.question_of(given), self.answer_of, config or {}
        )
