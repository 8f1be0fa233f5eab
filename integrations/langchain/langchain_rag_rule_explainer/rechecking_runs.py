"""This module defines the part of a ``RuleExplainer`` that rechecks answers after a change of the
corpus."""

from typing import Any

from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.utils import Input, Output

from rag_rule_explainer.instrumentation.rechecking import (
    AfterChange,
    Recheck,
    RecheckRun,
    arecheck_by,
    recheck_by,
    recheck_options_from,
    showing_recheck_fields,
)

from .calls import QuestionOptions
from .citing_runs import CitingRuns


class RecheckingRuns(CitingRuns[Input, Output]):
    """This class is a Runnable that also rechecks the application's answers: whether a bad answer is gone
    after a change of the corpus."""

    @showing_recheck_fields
    def recheck(
        self,
        input: Input,  # noqa: A002 -- the base class Runnable has a parameter of this name
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> Recheck:
        """Returns whether the bad answer to ``input`` is gone after a change of the corpus. Blocks.

        The application runs again without the documents of the first fix (documents whose removal ends
        the bad answer). Its retrievers and stores really search, and fill each result up with further
        documents to its former length, as in production. The explainer's condition judges the new answer,
        with the old answer as the baseline, and the new answer is explained. As long as the bad answer is
        not gone, a further round also leaves out the documents of the next fix.
        ``kwargs``: as for ``explain``.

        Raises NoBackfill if a search found a document that is left out, and it is not known which
        document would come in its place. Raises InvalidInput if no fix is sure (proved, or passed its
        votes or tests), and the errors of ``explain``.
        """
        options = recheck_options_from(kwargs)

        def explained(run: RecheckRun) -> AfterChange:
            question = QuestionOptions(None, run.added, (), run.baseline)
            return self._asked(run.explained, input, config, question, kwargs)

        return recheck_by(options, explained)

    @showing_recheck_fields
    async def arecheck(
        self,
        input: Input,  # noqa: A002 -- the base class Runnable has a parameter of this name
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> Recheck:
        """Returns whether the bad answer to ``input`` is gone after a change of the corpus, as
        ``recheck`` does, but calls async methods in the caller's event loop."""
        options = recheck_options_from(kwargs)

        async def explained(run: RecheckRun) -> AfterChange:
            question = QuestionOptions(None, run.added, (), run.baseline)
            return await self._aasked(run.aexplained, input, config, question, kwargs)

        return await arecheck_by(options, explained)
