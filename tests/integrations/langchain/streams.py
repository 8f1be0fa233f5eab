"""What graphs stream, so that it can be compared."""

from typing import Any

from langchain_core.messages import AIMessage, BaseMessage


def shape(chunk: Any) -> Any:
    """What a chunk says, without ids and times."""
    if isinstance(chunk, tuple):
        return tuple(map(shape, chunk))
    if isinstance(chunk, BaseMessage):
        return chunk.content
    if isinstance(chunk, dict):
        return sorted(chunk) if "langgraph_step" not in chunk else chunk["langgraph_node"]
    return chunk


def rules_in(last: Any) -> Any:
    if isinstance(last, tuple):
        message = last[-2] if isinstance(last[-2], AIMessage) else None
        last = last[-1] if message is None else message.response_metadata
    return [each["sources"] for each in last["rag_rules"]["retention_rules"]]
