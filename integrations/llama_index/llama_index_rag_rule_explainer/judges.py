"""A LlamaIndex LLM as a judge of answers."""

from dataclasses import dataclass

from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.llms import LLM

from rag_rule_explainer import InvalidInput, JudgeReply, JudgeRequest
from rag_rule_explainer.instrumentation.engine import ANY, fault_of
from rag_rule_explainer.instrumentation.run_context import no_opinions
from rag_rule_explainer.predicates.judge import judge_name_of

from .watching import Watch, said_in, spent_on, watched_by


@dataclass(frozen=True, slots=True, eq=False)
class LLMJudge:
    """Asks the LLM for JSON, in the thread it is called in. Equal for the same LLM."""

    llm: LLM
    judge_name: str | None
    model_name: str | None
    """What it is called in a table of prices."""

    def __call__(self, request: JudgeRequest) -> JudgeReply:
        """Returns what the LLM said, as it said it. Raises what the LLM raises, and UnusableReply for a
        reply that is not whole."""
        messages = [
            ChatMessage(role=MessageRole.SYSTEM, content=request.instructions),
            ChatMessage(role=MessageRole.USER, content=request.content),
        ]
        # Its own watch, so that what the judge spends is counted once, whoever else is watching.
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

    ``name``: says which judge it is, and what it says is stored under it: change it with the judge. By
    default it is made of the model's own name, the host that is asked, the temperature, the seed and
    what else decides what it says, and never of a key; an LLM without a name has none. It is asked
    through ``chat`` in worker threads, so any event loop will do. Raises InvalidInput for what is no LLM.
    """
    if not isinstance(llm, LLM):  # pyright: ignore[reportUnnecessaryIsInstance] -- users pass more
        raise InvalidInput(f"the judge is {type(llm).__name__}; give a LlamaIndex LLM")
    told = llm.metadata.model_name
    known = told if told and told != "unknown" else None
    return LLMJudge(llm, name or judge_name_of(llm, known), known)
