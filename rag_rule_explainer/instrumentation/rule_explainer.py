"""This module defines the base class of the explainers of integrations."""

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any, Generic, TypeVar

from typing_extensions import Unpack

from ..allowed import called_as, taken
from ..citations.cite_options import CiteFields, CiteOptions, showing_cite_fields
from ..citations.cited_answer import CitedAnswer
from ..errors import InvalidInput
from ..explainer import Explainer
from ..explanation.explanation import Explanation
from ..explanation.verification import Verification
from ..predicates import PredicateLike
from ..session.estimate.assumptions import Assumptions
from ..session.estimate.estimate import Estimate
from .call import Call, RuleKindLike
from .citing import acited, cited
from .options import CallInput, Manner, QuestionOf, documents_in, ids_in
from .rechecking import (
    AfterChange,
    Recheck,
    RecheckFields,
    RecheckOptions,
    RecheckRun,
    arecheck_by,
    recheck_by,
    showing_recheck_fields,
)
from .run_context import participation, refused
from .several import AskReplays, Value, aasked_by, aexplained_each, explained_each

Item = TypeVar("Item")
UserDocument = TypeVar("UserDocument")
_CITED = ("input", "documents", "add_documents", "pinned", "baseline")


class ApplicationExplainer(Generic[Item, UserDocument]):
    """An ``ApplicationExplainer`` explains the answers of an application, whose code need not be changed.

    An integration derives its ``RuleExplainer`` from this class, and implements ``_call``.
    """

    def __init__(
        self, application: Any, question_of: QuestionOf, manner: Manner, explainer: Explainer
    ) -> None:
        self.application = application
        self.question_of = question_of
        self._manner = manner
        self._explainer = explainer

    @abstractmethod
    def _call(self, case: CallInput) -> Call[Item]:
        """Returns the ``Call`` that explains or checks the answer to this input."""

    @called_as("explain")
    def explain(
        self,
        input: Any,  # noqa: A002 -- all integrations name it ``input``
        *,
        documents: Sequence[UserDocument] | None = None,
        add_documents: Sequence[UserDocument] = (),
        pinned: Sequence[str] = (),
        baseline: Any = None,
    ) -> Explanation:
        """Returns the rules of the application's answer to ``input``. Blocks until the rules are found.

        ``documents``: the framework's documents, texts, or JSON objects from a log, which every search
        returns in place of its results. ``add_documents``: documents that are added to the result of
        every search. ``pinned``: ids of sources that are always retained and in no rule. ``baseline``: a
        logged answer (or output) to explain. If a condition judges the application's present answer
        differently, the first warning says so; if only the wording differs, a note says so.

        Raises NoSourcesCaptured if no retrieval was seen, ReplayMissedGate if a replay did not retrieve,
        SourceLeak if the model was sent an omitted source, StateShared if a run influences later runs,
        UnknownQuery if a replay must not make a new query, and the errors of ``Explainer.explain``.
        """
        case = self._case(input, documents, add_documents, pinned, baseline)
        return self._call(case).explained().explanation

    @called_as("aexplain")
    async def aexplain(
        self,
        input: Any,  # noqa: A002 -- all integrations name it ``input``
        *,
        documents: Sequence[UserDocument] | None = None,
        add_documents: Sequence[UserDocument] = (),
        pinned: Sequence[str] = (),
        baseline: Any = None,
    ) -> Explanation:
        """Returns the rules of the answer, as ``explain`` does, but on the caller's event loop."""
        case = self._case(input, documents, add_documents, pinned, baseline)
        return (await self._call(case).aexplained()).explanation

    @called_as("explain_each")
    def explain_each(
        self,
        input: Any,  # noqa: A002 -- all integrations name it ``input``
        conditions: Sequence[PredicateLike],
        *,
        documents: Sequence[UserDocument] | None = None,
        pinned: Sequence[str] = (),
        baseline: Any = None,
    ) -> tuple[Explanation, ...]:
        """Returns one explanation of the same answer for each condition, from the same replays. Blocks.

        The explainer's own condition is not used. The other arguments and errors are those of
        ``explain``.
        """
        return explained_each(self._call(self._case(input, documents, (), pinned, baseline)), conditions)

    @called_as("aexplain_each")
    async def aexplain_each(
        self,
        input: Any,  # noqa: A002 -- all integrations name it ``input``
        conditions: Sequence[PredicateLike],
        *,
        documents: Sequence[UserDocument] | None = None,
        pinned: Sequence[str] = (),
        baseline: Any = None,
    ) -> tuple[Explanation, ...]:
        """Returns one explanation for each condition, as ``explain_each``, on the caller's event loop."""
        case = self._case(input, documents, (), pinned, baseline)
        return await aexplained_each(self._call(case), conditions)

    async def aasked_by(
        self,
        input: Any,  # noqa: A002 -- all integrations name it ``input``
        ask: AskReplays[Value],
        *,
        documents: Sequence[UserDocument] | None = None,
    ) -> Value:
        """Runs the application, then ``ask``, which may replay the run. Returns the result of ``ask``.

        ``ask`` gets the explainer, the run's sources, and a function that makes replays. Nothing is
        explained. ``documents`` and the errors are those of ``explain``.
        """
        return await aasked_by(self._call(self._case(input, documents)), ask)

    @showing_cite_fields
    def cite(
        self,
        input: Any,  # noqa: A002 -- all integrations name it ``input``
        *,
        documents: Sequence[UserDocument] | None = None,
        add_documents: Sequence[UserDocument] = (),
        pinned: Sequence[str] = (),
        baseline: Any = None,
        **fields: Unpack[CiteFields],
    ) -> CitedAnswer:
        """Returns which citations are faithful, for each statement of the answer. Blocks.

        Citations are read from the answer's text and from data beside the text, such as the annotations
        of a message. The explainer's own condition is not used. See ``rag_rule_explainer.cite``; the
        other arguments and errors are those of ``explain``.
        """
        options = taken(CiteOptions, fields, type(self).explain, _CITED)
        case = self._case(input, documents, add_documents, pinned, baseline)
        return cited(self._call(case), options, baseline)

    @showing_cite_fields
    async def acite(
        self,
        input: Any,  # noqa: A002 -- all integrations name it ``input``
        *,
        documents: Sequence[UserDocument] | None = None,
        add_documents: Sequence[UserDocument] = (),
        pinned: Sequence[str] = (),
        baseline: Any = None,
        **fields: Unpack[CiteFields],
    ) -> CitedAnswer:
        """Returns which citations are faithful, as ``cite`` does, on the caller's event loop."""
        options = taken(CiteOptions, fields, type(self).explain, _CITED)
        case = self._case(input, documents, add_documents, pinned, baseline)
        return await acited(self._call(case), options, baseline)

    @showing_recheck_fields
    def recheck(
        self,
        input: Any,  # noqa: A002 -- all integrations name it ``input``
        **fields: Unpack[RecheckFields],
    ) -> Recheck:
        """Returns whether the bad answer to ``input`` is gone after a change of the corpus. Blocks.

        The application runs again, with its real searches, on the corpus with the change that ``fields``
        describe (see ``ChangeOptions``); by default, the documents of a fix are left out. Results that
        lose a document are filled up to their former length, as in production. The explainer's condition
        judges the new answer, with the old answer as the baseline, and the new answer is explained. If
        the bad answer is not gone, another round also leaves out a fix of the new answer.

        Raises NoBackfill if a search found a document that is left out, and the number of its results
        cannot be read, InvalidInput if no fix is sure (``Fix.is_sure``), and the errors of ``explain``.
        """
        options = taken(RecheckOptions, fields, type(self).explain, ("input",))

        def explained(run: RecheckRun) -> AfterChange:
            case = self._case(input, None, run.added, (), run.baseline)
            return run.explained(self._call(case))

        return recheck_by(options, explained)

    @showing_recheck_fields
    async def arecheck(
        self,
        input: Any,  # noqa: A002 -- all integrations name it ``input``
        **fields: Unpack[RecheckFields],
    ) -> Recheck:
        """Returns whether the bad answer is gone, as ``recheck`` does, on the caller's event loop."""
        options = taken(RecheckOptions, fields, type(self).explain, ("input",))

        async def explained(run: RecheckRun) -> AfterChange:
            case = self._case(input, None, run.added, (), run.baseline)
            return await run.aexplained(self._call(case))

        return await arecheck_by(options, explained)

    @called_as("verify")
    def verify(
        self,
        antecedent: Iterable[str],
        kind: RuleKindLike,
        input: Any,  # noqa: A002 -- all integrations name it ``input``
        *,
        documents: Sequence[UserDocument] | None = None,
        add_documents: Sequence[UserDocument] = (),
        pinned: Sequence[str] = (),
        baseline: Any = None,
    ) -> Verification:
        """Returns whether one rule of the answer to ``input`` holds. Blocks until this is known.

        ``antecedent``: the ids of the sources that are retained, or omitted, as ``kind`` says. The other
        arguments are those of ``explain``. Raises InvalidInput for an id that no retrieved source has.
        """
        case = self._case(input, documents, add_documents, pinned, baseline)
        return self._call(case).verified(antecedent, kind)

    @called_as("averify")
    async def averify(
        self,
        antecedent: Iterable[str],
        kind: RuleKindLike,
        input: Any,  # noqa: A002 -- all integrations name it ``input``
        *,
        documents: Sequence[UserDocument] | None = None,
        add_documents: Sequence[UserDocument] = (),
        pinned: Sequence[str] = (),
        baseline: Any = None,
    ) -> Verification:
        """Returns whether one rule holds, as ``verify`` does, on the caller's event loop."""
        case = self._case(input, documents, add_documents, pinned, baseline)
        return await self._call(case).averified(antecedent, kind)

    @called_as("estimate")
    def estimate(
        self,
        input: Any,  # noqa: A002 -- all integrations name it ``input``
        *,
        documents: Sequence[UserDocument] | None = None,
        add_documents: Sequence[UserDocument] = (),
        pinned: Sequence[str] = (),
        assuming: Assumptions | None = None,
    ) -> Estimate:
        """Returns the estimated cost of explaining the answer to ``input``: at best, typically and at
        worst.

        Runs the application once, and stops it before a model is sent the sources. Models that are called
        before that, for example to rewrite the question, are really called; the estimate says what they
        spent. ``assuming``: values that are unknown beforehand: the tokens of an answer, the seconds of a
        replay, and the prices. Raises the errors that ``explain`` raises before its first replay.
        """
        case = self._case(input, documents, add_documents, pinned, None)
        return self._call(case).estimate(assuming)

    def _case(
        self,
        given: Any,
        documents: Sequence[UserDocument] | None = None,
        add_documents: Sequence[UserDocument] = (),
        pinned: Sequence[str] = (),
        baseline: Any = None,
    ) -> CallInput:
        if participation() is not None:
            raise refused(
                InvalidInput(
                    "a RuleExplainer was asked inside an application that is being explained; "
                    "put the application it wraps (.application) in its place"
                )
            )
        question = self.question_of(given)
        return CallInput(
            given,
            question,
            None,
            None if documents is None else documents_in("documents", documents),
            documents_in("add_documents", add_documents),
            ids_in(pinned),
            baseline,
        )
