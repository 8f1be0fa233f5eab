"""Streamed replies that report why they ended before their last chunk: recorded ones are whole too."""

from collections.abc import Generator
from typing import Any

import pytest
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import ChatResponse
from llama_index_rag_rule_explainer import RuleExplainer
from typing_extensions import override

from tests.agents.zoo.asking import runs_end_early
from tests.agents.zoo.of_llama_index import Scripted, tools_of
from tests.agents.zoo.shapes import PAYS, QUESTION, served
from tests.integrations.known import retention
from tests.integrations.llama_index.test_wire import llm_at
from tests.support.openai_server import OpenAIServer

pytestmark = [
    pytest.mark.waits,
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.skipif(not runs_end_early(), reason="older workflows have no next action"),
]


class ReportingEarly(Scripted):
    """Streams as Anthropic's models do: the last event of a stream is empty, and one before it has the
    reason."""

    @override
    def _chunks(self, response: ChatResponse) -> Generator[ChatResponse, None, None]:
        reason = "tool_use" if response.message.content is None else "end_turn"
        for raw in ({"type": "message_delta", "stop_reason": reason}, {"stop_reason": None}):
            yield response.model_copy(update={"delta": "", "raw": raw})


def is_explained(llm: Any) -> None:
    options: Any = {"source_kinds": ["tools"], "replay_of": "next_action"}
    agent = FunctionAgent(tools=tools_of(ran := []), llm=llm)
    explanation = RuleExplainer(agent, PAYS, **options).explain(QUESTION)
    assert retention(explanation) == {frozenset({"search_inbox #1, item 2", "calendar #1"})}
    assert not [each.error for each in explanation.probes if each.error]
    assert ran == ["search_inbox", "calendar", "pay"]


def test_of_openai() -> None:
    with OpenAIServer(served) as server, llm_at(server.base_url, keep_alive=False) as llm:
        is_explained(llm)


def test_as_of_anthropic() -> None:
    is_explained(ReportingEarly())
