"""This module makes judges of answers from LlamaIndex LLMs."""

from dataclasses import dataclass

from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.llms import LLM

from rag_rule_explainer import InvalidInput, JudgeReply, JudgeRequest
from rag_rule_explainer.instrumentation.engine import ANY, fault_of
from rag_rule_explainer.instrumentation.judges import no_opinions
from rag_rule_explainer.predicates.judge import judge_name_of

from .responses import said_in, spent_on
from .watching import Watch, watched_by

_ENDPOINTS = ("base_url", "api_base", "azure_endpoint", "endpoint_url", "endpoint", "region_name")
"""The attributes in which LLMs keep the URL of their endpoint. The first one with a URL is used."""


@dataclass(frozen=True, slots=True, eq=False)
class LLMJudge:
    """An ``LLMJudge`` is a judge that asks an LLM for JSON. It calls the LLM in the thread that calls the
    judge.

    Two judges are equal if they have the same LLM object and the same name.
    """

    llm: LLM
    judge_name: str | None
    model_name: str | None
    """The name by which tables of prices list the model; None if the model has no name."""

    def __call__(self, request: JudgeRequest) -> JudgeReply:
        """Returns the LLM's reply, which is not parsed yet.

        Raises the errors of the LLM, and UnusableReply for an incomplete reply.
        """
        messages = [
            ChatMessage(role=MessageRole.SYSTEM, content=request.instructions),
            ChatMessage(role=MessageRole.USER, content=request.content),
        ]
        # The judge has a ``Watch`` of its own, so that its tokens are not counted as tokens of the
        # application.
        with watched_by(Watch()):
            response = self.llm.chat(messages)
        fault = fault_of(said_in(response), (ANY,))
        if fault:
            raise no_opinions(fault, spent_on(response))
        return JudgeReply(response.message.content, models=spent_on(response))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LLMJudge) and self._identity == other._identity

    def __hash__(self) -> int:
        return hash(self._identity)

    @property
    def _identity(self) -> tuple[int, str | None]:
        return id(self.llm), self.judge_name


def judge_of(llm: LLM, name: str | None = None) -> LLMJudge:
    """Returns the LLM as a judge for ``judged``, ``consistent_with`` and ``same_answer``.

    ``name``: identifies the judge in stored judgements, so change it whenever the judge changes. By
    default it consists of the model's name, host, temperature, seed and other settings, but never of an
    API key. A judge whose model has no name has no default name. The LLM is called by ``chat`` in worker
    threads, so it works with any event loop. Raises InvalidInput if ``llm`` is not an LLM.
    """
    if not isinstance(llm, LLM):  # pyright: ignore[reportUnnecessaryIsInstance] -- users may pass values of other types
        raise InvalidInput(f"the judge is {type(llm).__name__}; give a LlamaIndex LLM")
    model = llm.metadata.model_name
    known = model if model and model != "unknown" else None
    return LLMJudge(llm, name or judge_name_of(llm, known, endpoints=_ENDPOINTS), known)
