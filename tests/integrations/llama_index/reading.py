"""This module makes agents of LlamaIndex with a tool ``policy``, and explains them."""

import re
from collections.abc import Callable, Sequence
from typing import Any

from llama_index.core.agent.workflow import AgentWorkflow, ReActAgent
from llama_index.core.base.llms.types import CompletionResponse, CompletionResponseGen, LLMMetadata
from llama_index.core.llms import CustomLLM
from llama_index.core.llms.callbacks import llm_completion_callback
from llama_index.core.tools import FunctionTool
from llama_index_rag_rule_explainer import RuleExplainer

from rag_rule_explainer import calls_tool
from tests.agents.reading import MAILS, Omitted, cut, false_rules, next_call


class Scripted(CustomLLM):
    """A ``Scripted`` reads the inbox, asks for the policy, and goes by it. ``prompts``: gets each prompt,
    as a callback of the application does."""

    prompts: Any = None
    noting: bool = False
    """True if it calls ``remember`` after a mail with an account."""

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(context_window=100_000, num_output=256)

    @llm_completion_callback()
    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        said = prompt.rpartition("what is new?")[2]
        wanted = next_call(re.findall(r"Action: (\w+)", said), said, noting=self.noting)
        if self.prompts is not None:
            self.prompts(said)
        if wanted:
            return CompletionResponse(text=f"Thought: I look.\nAction: {wanted}\nAction Input: {{}}")
        return CompletionResponse(text="Thought: I can answer.\nAnswer: done")

    @llm_completion_callback()
    def stream_complete(
        self, prompt: str, formatted: bool = False, **kwargs: Any
    ) -> CompletionResponseGen:
        reply = self.complete(prompt).text
        yield CompletionResponse(text=reply, delta=reply)


def application(
    omitted: Omitted,
    ran: list[str],
    policy: Any,
    told: Any = None,
    state: Any = None,
    keep: Callable[[str], None] | None = None,
    more: Sequence[Any] = (),
) -> Any:
    """Returns an application that reads the inbox, asks for the policy, and blocks iff it says so.
    ``more``: further tools; then a mail with an account makes it call ``remember``."""

    def inbox() -> list[str]:
        """Reads."""
        return cut("inbox #1", MAILS, omitted)

    def block() -> str:
        """Blocks."""
        ran.append("block")
        return cut("block #1", "blocked", omitted)

    tools = [FunctionTool.from_defaults(each) for each in (inbox, block, *more)]
    tools.append(policy if isinstance(policy, FunctionTool) else FunctionTool.from_defaults(policy))
    agent = ReActAgent(
        name="a", description="a", tools=tools, llm=Scripted(prompts=keep, noting=bool(more))
    )
    workflow = AgentWorkflow(agents=[agent], initial_state=state or {})

    async def app(question: str) -> str:
        runs: Any = workflow
        return str(await runs.run(user_msg=question))

    return app


async def explained(make: Any, **options: Any) -> tuple[Any, list[str]]:
    """Returns the explanation of an application, and those of its rules that real runs contradict."""
    question = "what is new?"
    explainer = RuleExplainer(make((), []), calls_tool("block"), source_kinds=["tools"], **options)
    explanation = await explainer.aexplain(question)
    truth = dict[frozenset[str], bool]()
    ids = [each.id for each in explanation.sources]
    for chosen in range(2 ** len(ids)):
        omitted = frozenset(each for place, each in enumerate(ids) if chosen >> place & 1)
        ran: list[str] = []
        await make(omitted, ran)(question)
        truth[omitted] = bool(ran)
    return explanation, false_rules(explanation, lambda omitted: truth[frozenset(omitted)])
