"""This module attaches rules, or the reason why there are none, to responses."""

from typing import Any

from llama_index.core.agent.workflow.workflow_events import AgentOutput
from llama_index.core.base.response.schema import PydanticResponse, Response
from llama_index.core.chat_engine.types import AgentChatResponse
from llama_index.core.schema import NodeWithScore

from rag_rule_explainer import InvalidInput
from rag_rule_explainer.instrumentation.outputs import KEY, Explained, Unexplained, rules_in

from .explainer import RuleExplainer

INSIDE = (
    "this engine was asked inside an application that is being explained; that explanation is about it, "
    "too"
)


def attach(response: Any, done: Explained[Any] | Unexplained[Any]) -> None:
    """Adds the rules to the metadata of a response, as JSON-like data under the key ``rag_rules``."""
    # Streamed chat responses have no attribute ``metadata``, so the attribute may have to be added.
    response.metadata = {**(getattr(response, "metadata", None) or {}), KEY: rules_in(done)}


def as_response(output: Any, text: str) -> Any:
    """Returns the output as one of LlamaIndex's response classes. ``text``: the text of the answer in
    the output."""
    if isinstance(output, (Response, PydanticResponse, AgentChatResponse)):
        return output
    nodes: list[NodeWithScore] = list(getattr(output, "source_nodes", None) or ())
    metadata = {"output": output} if isinstance(output, AgentOutput) else {}
    return Response(text, nodes, metadata)


def with_rules(explainer: RuleExplainer, done: Explained[Any] | Unexplained[Any]) -> Any:
    """Returns the output as one of LlamaIndex's response classes, with the rules in its metadata."""
    response = as_response(done.output, explainer.text_of(done.output))
    attach(response, done)
    return response


def inside(response: Any) -> Any:
    """Returns the response of an engine that runs as part of an application that is being explained.

    The response has no rules; its metadata says why.
    """
    attach(response, Unexplained(response, InvalidInput(INSIDE)))
    return response
