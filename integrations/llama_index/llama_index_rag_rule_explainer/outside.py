"""This module prevents replays from writing to stores outside of the process, such as a remote database.

A write of a replay is not carried out, so later reads of the store would give wrong results. A run that
reads a store after such a write raises StateShared. If the first run made a read before its first write,
a replay gets the recorded result of that read.
"""

import re
from typing import Any, NamedTuple, TypeAlias

from llama_index.core.graph_stores import SimpleGraphStore, SimplePropertyGraphStore
from llama_index.core.memory.memory_blocks import (
    FactExtractionMemoryBlock,
    StaticMemoryBlock,
    VectorMemoryBlock,
)
from llama_index.core.storage.docstore.keyval_docstore import KVDocumentStore
from llama_index.core.storage.index_store.keyval_index_store import KVIndexStore
from llama_index.core.vector_stores import SimpleVectorStore

from rag_rule_explainer import StateShared
from rag_rule_explainer.instrumentation.checks import type_said
from rag_rule_explainer.instrumentation.copies.copying import copied, described
from rag_rule_explainer.instrumentation.copies.patching import Interception
from rag_rule_explainer.instrumentation.copies.state import Same, State
from rag_rule_explainer.instrumentation.isolation.attributes import born
from rag_rule_explainer.instrumentation.isolation.isolating import MADE, Use, arguments
from rag_rule_explainer.instrumentation.run_context import refused

from .uses import Replacement, with_a

InProcess: TypeAlias = tuple[type, ...]


class ExternalStore(NamedTuple):
    """An ``ExternalStore`` names a base class of external stores, and the methods to replace.

    ``module``, ``owner``: the module and the name of the class. ``inside``: subclasses that keep their
    data in the process. Other modules isolate these. ``writes``, ``reads``: regular expressions that
    match the names of sync methods. An async method has the same name with an "a" in front; ``others``
    matches the async names that do not follow this rule. ``only_async``: True if the class has only async
    methods. ``is_protocol``: True for a Protocol, whose ``__init__`` must not be replaced.
    """

    module: str
    owner: str
    inside: InProcess
    writes: str
    reads: str = "(?!)"
    others: str = "(?!)"
    only_async: bool = False
    is_protocol: bool = False

    def interception(self) -> Interception:
        """Returns the interception for this class: it replaces each method of the class whose name
        matches one of the patterns ``writes``, ``reads`` and ``others``."""
        sync = f"{self.writes}|{self.reads}|persist"
        asynchronous = f"a({self.writes}|{self.reads})|{self.others}"
        added = () if self.is_protocol else ("__init__",)
        names = [*added, *([] if self.only_async else [sync]), asynchronous]
        return Interception(
            self.module, self.owner, re.compile("|".join(names)), self._wrapping, added=added
        )

    def _wrapping(self, name: str, method: Any) -> Any:
        if name == "__init__":
            return born(method)
        is_async = bool(re.fullmatch(f"a({self.writes}|{self.reads})|{self.others}", name)) and not (
            not self.only_async and re.fullmatch(f"{self.writes}|{self.reads}", name)
        )
        return Replacement(self._using, name, with_a).of(method, is_async=is_async)

    def _using(
        self,
        state: State,
        thing: Any,
        name: str,
        method: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Use:
        if not re.fullmatch(f"a?({self.reads})|persist", name):
            state.note_write(thing)
        if isinstance(thing, self.inside):
            return None if name == "persist" and not state.live else (yield MADE)
        if re.fullmatch(f"a?({self.reads})", name):
            return (yield from self._read(state, thing, name, (args, kwargs)))
        if state.live:
            state.aside[_written(thing)] = True
            return (yield MADE)
        state.own(_written(thing), object)
        return _as_if(name, arguments(method, thing, *args, **kwargs))

    def _read(self, state: State, thing: Any, name: str, given: object) -> Use:
        # If the first run made the same read before its first write, a replay gets the recorded result.
        key, written = ("outside", Same(thing), name, described(given)), _written(thing)
        if not state.live and not state.has(written) and key in state.aside:
            return copied(state.aside[key])
        refuse_after_writing(state, thing)
        found = yield MADE
        if written not in state.aside:
            state.kept(key, lambda: copied(found))
        return found


def refuse_after_writing(state: State, thing: object) -> None:
    """Raises StateShared if this run, or the baseline before it, has written to an external store."""
    if state.has(_written(thing)) or (not state.live and _written(thing) in state.aside):
        raise refused(
            StateShared(
                f"it wrote to {type_said(thing)} and read from it afterwards, and what is written "
                "there cannot be kept apart",
                f"{StateShared.WAYS_OUT}; if it is on a server, let the application make one in memory "
                "in its run instead",
            )
        )


def searching(name: str, method: Any) -> Any:
    """Returns the replacement of a vector store's ``query``.

    The replacement raises StateShared if the run has written to the store, because the right result
    cannot be known.
    """

    def using(state: State, store: Any, *_: Any) -> Use:
        if not isinstance(store, SimpleVectorStore):
            refuse_after_writing(state, store)
        return (yield MADE)

    return Replacement(using, name, with_a).of(method, is_async=name.startswith("a"))


def _written(thing: object) -> tuple[str, Same]:
    return "written", Same(thing)


def _as_if(name: str, given: dict[str, Any]) -> Any:
    """Returns the result that a write would have returned if it had been carried out."""
    nodes = given.get("nodes")
    return [node.node_id for node in nodes] if name in ("add", "async_add") and nodes else None


_OF_DOCUMENTS = (
    "get_document|document_exists|get_document_hash|get_all_document_hashes|get_(all_)?ref_doc_info"
    "|get_nodes?|get_node_dict"
)
OUTSIDE = (
    ExternalStore(
        "llama_index.core.vector_stores.types",
        "BasePydanticVectorStore",
        (SimpleVectorStore,),
        "add|delete|delete_nodes|clear",
        "get_nodes",
        "async_add",
    ),
    ExternalStore(
        "llama_index.core.storage.docstore.types",
        "BaseDocumentStore",
        (KVDocumentStore,),
        "add_documents|delete_document|delete_ref_doc|set_document_hash(es)?",
        _OF_DOCUMENTS,
        "async_add_documents",
    ),
    ExternalStore(
        "llama_index.core.storage.index_store.types",
        "BaseIndexStore",
        (KVIndexStore,),
        "add_index_struct|delete_index_struct",
        "index_structs|get_index_struct",
        "async_add_index_struct|async_index_structs",
    ),
    ExternalStore(
        "llama_index.core.graph_stores.types",
        "PropertyGraphStore",
        (SimplePropertyGraphStore,),
        "upsert_nodes|upsert_relations|upsert_llama_nodes|delete|delete_llama_nodes",
        "get|get_triplets|get_rel_map|get_llama_nodes|structured_query|vector_query|get_schema(_str)?",
    ),
    ExternalStore(
        "llama_index.core.graph_stores.types",
        "GraphStore",
        (SimpleGraphStore,),
        "upsert_triplet|delete",
        "get|get_rel_map|query",
        is_protocol=True,
    ),
    ExternalStore(
        "llama_index.core.memory.memory",
        "BaseMemoryBlock",
        (FactExtractionMemoryBlock, StaticMemoryBlock, VectorMemoryBlock),
        "put",
        "get",
        only_async=True,
    ),
)
INTERCEPTIONS = tuple(each.interception() for each in OUTSIDE)
