"""This module gives each run its own copy of those attributes in which objects of LlamaIndex keep
state."""

import re
from collections.abc import Mapping
from typing import Any

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.graph_stores.types import LabelledNode, Relation
from llama_index.core.memory.types import BaseMemory
from llama_index.core.schema import BaseNode
from llama_index.core.storage.chat_store import BaseChatStore, SimpleChatStore

from rag_rule_explainer.instrumentation.copies.patching import Interception
from rag_rule_explainer.instrumentation.isolation.attributes import ADDED, Attributes

_STRUCTS = "llama_index.core.data_structs.data_structs"
_SIMPLE = "llama_index.core.vector_stores.simple"
_LABELLED = "llama_index.core.graph_stores"
ROOTS = (
    ("llama_index.core.memory.types", "BaseMemory"),
    ("llama_index.core.memory.memory", "BaseMemoryBlock"),
    ("llama_index.core.storage.chat_store.base", "BaseChatStore"),
    ("llama_index.core.indices.base", "BaseIndex"),
    (_STRUCTS, "IndexStruct"),
    (_SIMPLE, "SimpleVectorStore"),
    (_SIMPLE, "SimpleVectorStoreData"),
    ("llama_index.core.objects.base_node_mapping", "BaseObjectNodeMapping"),
    (f"{_LABELLED}.simple", "SimpleGraphStore"),
    (f"{_LABELLED}.simple", "SimpleGraphStoreData"),
    (f"{_LABELLED}.simple_labelled", "SimplePropertyGraphStore"),
    (f"{_LABELLED}.types", "LabelledPropertyGraph"),
)


def _said(thing: Any, attributes: Mapping[str, Any]) -> Any:
    """Returns the conversations in a simple chat store as JSON-like data; None for other objects.

    A stored answer is used again only if the conversations, on which it depends, are still the same.
    """
    if not issubclass(type(thing), SimpleChatStore):
        return None
    held: Mapping[str, list[ChatMessage]] = attributes.get("store", {})
    return {
        key: [message.model_dump(mode="json") for message in messages]
        for key, messages in sorted(held.items())
    }


def _is_a_conversation(thing: Any) -> bool:
    return issubclass(type(thing), (BaseMemory, BaseChatStore))


_ATTRIBUTES = Attributes((ChatMessage, BaseNode, LabelledNode, Relation), _said, _is_a_conversation)
INTERCEPTIONS = tuple(
    Interception(*root, re.compile("__init__"), _ATTRIBUTES.wrapping, added=ADDED) for root in ROOTS
)
