"""This module defines the part of a ``RuleExplainer`` that explains one answer by several conditions,
which is needed to check the answer's citations."""

from collections.abc import Sequence
from typing import Any

from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.utils import Input, Output

from rag_rule_explainer import CitedAnswer, Explanation
from rag_rule_explainer.instrumentation.call import Call
from rag_rule_explainer.instrumentation.checks import showing
from rag_rule_explainer.instrumentation.citing import (
    acited,
    cite_options_from,
    cited,
    showing_cite_fields,
)
from rag_rule_explainer.instrumentation.several import (
    AskReplays,
    Value,
    aasked_by,
    aexplained_each,
    explained_each,
)
from rag_rule_explainer.predicates import PredicateLike

from .calls import QuestionOptions
from .explained_runs import ExplainedRuns
from .finding import Found


class CitingRuns(ExplainedRuns[Input, Output]):
    """This class is a Runnable that also explains an answer by several conditions, and checks its
    citations."""

    @showing(QuestionOptions, QuestionOptions)
    def explain_each(
        self,
        input: Input,  # noqa: A002 -- the base class Runnable has a parameter of this name
        conditions: Sequence[PredicateLike],
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> tuple[Explanation, ...]:
        """Returns one explanation of the same answer for each condition, from the same replays. Blocks.

        The explainer's own condition is not used. All other arguments and errors are those of
        ``explain``.
        """
        question = QuestionOptions.taken_from(kwargs)
        return self._asked(lambda call: explained_each(call, conditions), input, config, question, kwargs)

    @showing(QuestionOptions, QuestionOptions)
    async def aexplain_each(
        self,
        input: Input,  # noqa: A002 -- the base class Runnable has a parameter of this name
        conditions: Sequence[PredicateLike],
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> tuple[Explanation, ...]:
        """Returns one explanation of the same answer for each condition, as ``explain_each`` does, but
        calls async methods in the caller's event loop."""
        question = QuestionOptions.taken_from(kwargs)
        return await self._aasked(
            lambda call: aexplained_each(call, conditions), input, config, question, kwargs
        )

    @showing(QuestionOptions, QuestionOptions)
    async def aasked_by(
        self,
        input: Input,  # noqa: A002 -- the base class Runnable has a parameter of this name
        ask: AskReplays[Value],
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> Value:
        """Runs the application on ``input``, calls ``ask``, and returns the result of ``ask``.

        ``ask``: an async function that gets the sources of the run, and a function that replays the run.
        Nothing is explained, and the explainer's own condition is not used. All other arguments and
        errors are those of ``explain``.
        """
        question, said = QuestionOptions.taken_from(kwargs), list[Value]()

        async def asked(call: Call[Found]) -> tuple[()]:
            said.append(await aasked_by(call, ask))
            return ()  # nothing was explained, so ``_aasked`` has no rules to add to the trace

        await self._aasked(asked, input, config, question, kwargs)
        return said[0]

    @showing_cite_fields
    @showing(QuestionOptions, QuestionOptions)
    def cite(
        self,
        input: Input,  # noqa: A002 -- the base class Runnable has a parameter of this name
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> CitedAnswer:
        """Returns which citations of the answer to ``input`` are real, for each of its statements.
        Blocks.

        Citations are read from the answer's text and from the annotations of its message. The explainer's
        own condition is not used. The options are those of ``rag_rule_explainer.cite``; all other
        arguments and errors are those of ``explain``.
        """
        question, options = QuestionOptions.taken_from(kwargs), cite_options_from(kwargs)
        logged = question.baseline
        return self._asked(lambda call: cited(call, options, logged), input, config, question, kwargs)

    @showing_cite_fields
    @showing(QuestionOptions, QuestionOptions)
    async def acite(
        self,
        input: Input,  # noqa: A002 -- the base class Runnable has a parameter of this name
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> CitedAnswer:
        """Returns which citations of the answer to ``input`` are real, as ``cite`` does, but calls async
        methods in the caller's event loop."""
        question, options = QuestionOptions.taken_from(kwargs), cite_options_from(kwargs)
        logged = question.baseline
        return await self._aasked(
            lambda call: acited(call, options, logged), input, config, question, kwargs
        )
