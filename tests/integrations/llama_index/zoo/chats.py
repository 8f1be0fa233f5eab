"""Chat engines, with and without a past."""

from collections.abc import Callable
from typing import Any

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.chat_engine import (
    CondensePlusContextChatEngine,
    CondenseQuestionChatEngine,
    ContextChatEngine,
    SimpleChatEngine,
)
from llama_index.core.memory import ChatMemoryBuffer, Memory
from llama_index.core.postprocessor import SimilarityPostprocessor
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import NodeWithScore

from rag_rule_explainer import Explanation, NoSourcesCaptured
from tests.integrations.known import ids
from tests.integrations.llama_index.engines import engine_of, retriever_of
from tests.integrations.llama_index.models import Telling, bad_where_both_are_shown
from tests.integrations.llama_index.zoo.queries import vector_index
from tests.integrations.llama_index.zoo.shapes import QUESTION, Built, Shape, asked

PAST = [
    ChatMessage(role="user", content="Good morning."),
    ChatMessage(role="assistant", content="Good morning to you."),
]


def condensing() -> Telling:
    return Telling(says=bad_where_both_are_shown, script=[("tandalone question", "why exactly?")])


def chatting(kind: Any, memory: Callable[[], Any], **parameters: Any) -> Callable[[], Built]:
    """A chat engine with a past."""

    def build() -> Built:
        retriever, own = retriever_of(), memory()
        engine = kind.from_defaults(retriever=retriever, llm=condensing(), memory=own, **parameters)
        return Built(engine, asked(retriever), memory=lambda: list(own.get_all()))

    return build


def buffered() -> ChatMemoryBuffer:
    return ChatMemoryBuffer.from_defaults(chat_history=list(PAST), token_limit=3000)


def remembered() -> Memory:
    memory = Memory.from_defaults(session_id="s", token_limit=3000)
    memory.put_messages(list(PAST))
    return memory


def condensed() -> Built:
    retriever, memory = retriever_of(), buffered()
    engine = CondenseQuestionChatEngine.from_defaults(
        query_engine=engine_of(retriever), llm=condensing(), memory=memory
    )
    return Built(engine, asked(retriever), memory=lambda: list(memory.get_all()))


def condensed_streaming() -> Built:
    retriever, memory = retriever_of(), buffered()
    engine = CondenseQuestionChatEngine.from_defaults(
        query_engine=engine_of(retriever, streaming=True), llm=condensing(), memory=memory
    )
    return Built(engine, asked(retriever), memory=lambda: list(memory.get_all()))


def of_an_index(mode: str) -> Callable[[], Built]:
    def build() -> Built:
        index, live = vector_index()
        engine = index.as_chat_engine(chat_mode=mode, llm=condensing(), similarity_top_k=4)
        return Built(engine, live, memory=lambda: list(engine.chat_history))

    return build


def with_a_history() -> Built:
    """The history is part of the input."""
    retriever = retriever_of()
    engine = ContextChatEngine.from_defaults(retriever=retriever, llm=Telling())
    given = {"message": QUESTION, "chat_history": list(PAST)}
    return Built(engine, asked(retriever), given, memory=lambda: list(engine.chat_history))


def cut() -> Built:
    """Postprocessing comes after the gate."""
    retriever, memory = retriever_of("abdc"), buffered()
    engine = ContextChatEngine.from_defaults(
        retriever=retriever,
        llm=Telling(),
        memory=memory,
        node_postprocessors=[SimilarityPostprocessor(similarity_cutoff=0.3)],
    )
    return Built(engine, asked(retriever), memory=lambda: list(memory.get_all()))


def saw_three_of_four(explanation: Explanation) -> None:
    assert ids(explanation) == ["a", "b", "d"]
    assert [source.id for source in explanation.held_out] == ["c"]


class Judging(BaseNodePostprocessor):
    """Shows a model all nodes, and lets all but c pass."""

    llm: Any

    def _postprocess_nodes(self, nodes: list[NodeWithScore], query_bundle: Any = None) -> Any:
        self.llm.complete("\n\n".join(each.node.get_content() for each in nodes) or "nothing")
        return [each for each in nodes if each.node.node_id != "c"]


def judged() -> Built:
    """The model of a postprocessor after the gate is shown more than the answering one."""
    retriever, memory = retriever_of("abdc"), buffered()
    engine = ContextChatEngine.from_defaults(
        retriever=retriever,
        llm=Telling(says=bad_where_both_are_shown),
        memory=memory,
        node_postprocessors=[Judging(llm=Telling())],
    )
    return Built(engine, asked(retriever), memory=lambda: list(memory.get_all()))


def simple() -> Built:
    return Built(SimpleChatEngine.from_defaults(llm=Telling()), lambda: 0)


def shape(name: str, build: Callable[[], Built], **known: Any) -> Shape:
    return Shape(name, build, streams=build, by="gate", **known)


SHAPES = (
    shape("ContextChatEngine", chatting(ContextChatEngine, buffered)),
    shape("ContextChatEngine with a Memory", chatting(ContextChatEngine, remembered)),
    shape("ContextChatEngine with a history in its input", with_a_history),
    shape("ContextChatEngine, a cutoff after the gate", cut, more=saw_three_of_four),
    shape("ContextChatEngine, a model that judges after the gate", judged, more=saw_three_of_four),
    shape("CondensePlusContextChatEngine", chatting(CondensePlusContextChatEngine, buffered)),
    shape(
        "CondensePlusContextChatEngine with a Memory",
        chatting(CondensePlusContextChatEngine, remembered),
    ),
    Shape("CondenseQuestionChatEngine", condensed, streams=condensed_streaming),
    shape("as_chat_engine(context)", of_an_index("context")),
    shape("as_chat_engine(condense_plus_context)", of_an_index("condense_plus_context")),
    Shape("as_chat_engine(condense_question)", of_an_index("condense_question")),
    shape(
        "SimpleChatEngine: no retrieval",
        simple,
        refusal=NoSourcesCaptured,
        says="a SimpleChatEngine retrieves nothing",
        live=0,
    ),
)
