"""What the explainers of integrations have in common that ask about one input at a time."""

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any, Generic, TypeVar

from ..errors import InvalidInput
from ..estimate.assumptions import Assumptions
from ..estimate.estimate import Estimate
from ..explainer import Explainer
from ..explanation.explanation import Explanation
from ..explanation.verification import Verification
from .call import Call, RuleKindLike
from .options import Case, Manner, QuestionOf, documents_in, ids_in
from .run_context import participation, refused

Item = TypeVar("Item")
Document = TypeVar("Document")


class ApplicationExplainer(Generic[Item, Document]):
    """Explains the answers of an application, which it leaves as it is.

    An integration derives its ``RuleExplainer`` from this class, and says how a call is made.
    """

    def __init__(
        self, application: Any, question_of: QuestionOf, manner: Manner, explainer: Explainer
    ) -> None:
        self.application = application
        self.question_of = question_of
        self._manner = manner
        self._explainer = explainer

    @abstractmethod
    def _call(self, case: Case) -> Call[Item]:
        """Returns everything that one call needs."""

    def explain(
        self,
        input: Any,  # noqa: A002 -- as all integrations say
        *,
        documents: Sequence[Document] | None = None,
        add_documents: Sequence[Document] = (),
        pinned: Sequence[str] = (),
        baseline: Any = None,
    ) -> Explanation:
        """Returns the rules of the application's answer to ``input``, blocking; see
        ``Explainer.explain``.

        ``documents``: served instead of retrieving, so that nothing is searched: documents of the
        framework's own, texts, or JSON objects as they were logged. ``add_documents``: found by every
        retrieval as well. ``pinned``: ids of sources that are always retained and in no rule.
        ``baseline``: a logged answer (or output) to explain; if the application now answers otherwise,
        that is the first of the explanation's warnings.

        Raises NoSourcesCaptured where no retrieval was seen, ReplayMissedGate where a replay did not
        retrieve, SourceLeak where the model was sent a source that was left out, StateShared,
        UnknownQuery, and what ``Explainer.explain`` raises.
        """
        case = self._case(input, documents, add_documents, pinned, baseline)
        return self._call(case).explained().explanation

    async def aexplain(
        self,
        input: Any,  # noqa: A002 -- as all integrations say
        *,
        documents: Sequence[Document] | None = None,
        add_documents: Sequence[Document] = (),
        pinned: Sequence[str] = (),
        baseline: Any = None,
    ) -> Explanation:
        """Returns the same on the caller's loop, through the application's async entry."""
        case = self._case(input, documents, add_documents, pinned, baseline)
        return (await self._call(case).aexplained()).explanation

    def verify(
        self,
        antecedent: Iterable[str],
        kind: RuleKindLike,
        input: Any,  # noqa: A002 -- as all integrations say
        *,
        documents: Sequence[Document] | None = None,
        add_documents: Sequence[Document] = (),
        pinned: Sequence[str] = (),
        baseline: Any = None,
    ) -> Verification:
        """Returns whether one rule of the answer to ``input`` holds, blocking: "whenever the sources of
        these ids are retained" (or omitted); see ``Explainer.verify``.

        The rest is as for ``explain``. Raises InvalidInput for an id that nothing retrieved has.
        """
        case = self._case(input, documents, add_documents, pinned, baseline)
        return self._call(case).verified(antecedent, kind)

    async def averify(
        self,
        antecedent: Iterable[str],
        kind: RuleKindLike,
        input: Any,  # noqa: A002 -- as all integrations say
        *,
        documents: Sequence[Document] | None = None,
        add_documents: Sequence[Document] = (),
        pinned: Sequence[str] = (),
        baseline: Any = None,
    ) -> Verification:
        """Returns the same on the caller's loop, through the application's async entry."""
        case = self._case(input, documents, add_documents, pinned, baseline)
        return await self._call(case).averified(antecedent, kind)

    def estimate(
        self,
        input: Any,  # noqa: A002 -- as all integrations say
        *,
        documents: Sequence[Document] | None = None,
        add_documents: Sequence[Document] = (),
        pinned: Sequence[str] = (),
        assuming: Assumptions | None = None,
    ) -> Estimate:
        """Returns what explaining the answer to ``input`` would take at best, typically and at worst,
        before it is paid.

        Retrieves once, and stops where a model would first be shown what was retrieved; models that are
        asked before that, such as to rewrite the question, are, and the estimate says what they spent.
        ``assuming``: what nobody knows before: tokens of an answer, seconds of a replay, whose price.
        Raises what ``explain`` raises before it replays anything.
        """
        case = self._case(input, documents, add_documents, pinned, None)
        return self._call(case).estimate(assuming)

    def _case(
        self,
        given: Any,
        documents: Sequence[Document] | None = None,
        add_documents: Sequence[Document] = (),
        pinned: Sequence[str] = (),
        baseline: Any = None,
    ) -> Case:
        if participation() is not None:
            raise refused(
                InvalidInput(
                    "a RuleExplainer was asked inside an application that is being explained; "
                    "put the application it wraps (.application) in its place"
                )
            )
        question = self.question_of(given)
        return Case(
            given,
            question,
            None,
            None if documents is None else documents_in("documents", documents),
            documents_in("add_documents", add_documents),
            ids_in(pinned),
            baseline,
        )
