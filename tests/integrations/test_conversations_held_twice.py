"""Conversations that an application has a second time: in its own objects, in what its functions enclose,
in files, or in the config. Beside each stands an application with other data there, whose rules are
proved."""

import base64
import json
import re
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from langchain_core.chat_history import BaseChatMessageHistory, InMemoryChatMessageHistory
from langchain_core.messages import BaseMessage, messages_from_dict, messages_to_dict
from langchain_core.prompts import ChatPromptTemplate, FewShotChatMessagePromptTemplate
from langchain_core.runnables import RunnableConfig, RunnableLambda
from langchain_core.runnables.history import RunnableWithMessageHistory
from langchain_rag_rule_explainer import RuleExplainer
from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.chat_engine import SimpleChatEngine
from llama_index.core.memory import ChatMemoryBuffer
from llama_index_rag_rule_explainer import RuleExplainer as OfLlamaIndex
from pydantic import BaseModel
from typing_extensions import override

from rag_rule_explainer import Explanation, contains
from tests.integrations.later_shapes import QUESTION, TURNS, Messages
from tests.integrations.test_texts_made_of_memories import read, remembered
from tests.integrations.test_texts_made_of_turns import Chatting, as_dicts, pairs
from tests.integrations.test_turns_left_in_the_application import BONN, as_it_is, claims

pytestmark = [pytest.mark.waits, pytest.mark.filterwarnings("ignore")]

TOLD = [text for _, text in TURNS]
EVENTS = ["It was started.", "Three rooms were loaded.", "It is done."]
DOCUMENTS = ["Refunds take fourteen days.", "The office opens at ten.", TURNS[1][1]]
"""A reply may say what one of several documents says."""
LOGS: dict[str, tuple[Any, str]] = {
    "texts": (TOLD, "unverified"),
    "JSON": (json.dumps(TOLD), "unverified"),
    "base64": (base64.b64encode("\n".join(TOLD).encode()), "unverified"),
    "a reply": ({"today": {"said": TURNS[3][1]}}, "unverified"),
    "events": (EVENTS, "unverified"),
    "JSON of events": (json.dumps(EVENTS), "unverified"),
    "a profile": ({"language": "German", "limit": 4711}, "proved"),
}


def explained(application: Any, given: Any, *config: Any, **options: Any) -> Explanation:
    settings: Any = {"source_kinds": ["turns", "memory"], "miner": "exact", "question_of": str, **options}
    chain = application if hasattr(application, "invoke") else RunnableLambda(application)
    return RuleExplainer(chain, contains("is paid"), **settings).explain(given, *config)


class Session:
    """A session that has a history of the framework, and something of its own."""

    def __init__(
        self, history: BaseChatMessageHistory, log: Any = None, documents: Sequence[str] = ()
    ) -> None:
        self.history, self.log, self.documents = history, log, documents

    def chain(self) -> Any:
        def answer(given: Any) -> str:
            assert self.log is not None or self.documents
            return as_it_is([*read(given["history"]), ("user", given["question"])])

        names = {"input_messages_key": "question", "history_messages_key": "history"}
        return RunnableWithMessageHistory(RunnableLambda(answer), lambda: self.history, **names)  # pyright: ignore[reportArgumentType] -- names of parameters


@pytest.mark.parametrize("name", LOGS)
def test_a_session_has_no_log_of_its_own(name: str) -> None:
    log, claim = LOGS[name]
    session = Session(InMemoryChatMessageHistory(messages=remembered()), log)
    explanation = explained(session.chain(), {"question": QUESTION[1]})
    assert claims(explanation) == {claim}
    if claim == "unverified":
        assert "'Session.log" in explanation.warnings[0]
        named = explained(session.chain(), {"question": QUESTION[1]}, ignore=[r"Session\.log"])
        assert claims(named) == {"proved"}


def test_one_of_the_documents_of_a_session_may_say_what_a_reply_says() -> None:
    session = Session(InMemoryChatMessageHistory(messages=remembered()), documents=DOCUMENTS)
    assert claims(explained(session.chain(), {"question": QUESTION[1]})) == {"proved"}


@pytest.mark.parametrize("name", LOGS)
def test_what_a_function_encloses_is_no_second_conversation(name: str) -> None:
    log, claim = LOGS[name]

    def answer(given: Any) -> str:
        assert log
        return as_it_is(pairs(given))

    assert claims(explained(answer, as_dicts([*TURNS, QUESTION]))) == {claim}


messages = list(TOLD)
"""A variable of the module with the name of an attribute that an application reads."""
LOG = list(TOLD)


class Body(BaseModel):
    messages: list[dict[str, Any]]


@pytest.mark.parametrize(("reads", "claim"), [(False, "proved"), (True, "unverified")])
def test_a_variable_of_the_module_counts_if_code_reads_it(reads: bool, claim: str) -> None:
    def answer(body: Body) -> str:
        return as_it_is(pairs(body.messages))

    def going_by_it(body: Body) -> str:
        return as_it_is([("system", f"{len(LOG)} texts"), *pairs(body.messages)])

    body = Body(messages=as_dicts([*TURNS, QUESTION]))
    assert claims(explained(going_by_it if reads else answer, body)) == {claim}


@pytest.mark.parametrize("name", ["JSON", "base64", "a reply", "events", "a profile"])
def test_a_config_has_no_second_conversation(name: str) -> None:
    log, claim = LOGS[name]

    def answer(given: Any, config: RunnableConfig) -> str:
        assert config.get("configurable", {})["log"]
        return as_it_is(pairs(given))

    config = {"configurable": {"log": log, "user_id": "u-17"}}
    assert claims(explained(RunnableLambda(answer), as_dicts([*TURNS, QUESTION]), config)) == {claim}


def of_json(path: Path, texts: Sequence[str]) -> None:
    path.write_text(json.dumps({"rows": texts}))


def of_sqlite(path: Path, texts: Sequence[str]) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("create table said (text text)")
        connection.executemany("insert into said values (?)", [(each,) for each in texts])


def rows_of(path: Path) -> list[str]:
    if path.suffix == ".json":
        return json.loads(path.read_text())["rows"]
    with closing(sqlite3.connect(path)) as connection:
        return [text for (text,) in connection.execute("select text from said")]


@pytest.mark.parametrize(
    ("stem", "texts", "claim"),
    [("manual", TOLD, "unverified"), ("manual", EVENTS, "proved"), ("a", EVENTS, "unverified")],
)
@pytest.mark.parametrize(("name", "put"), [(".json", of_json), (".db", of_sqlite)])
def test_a_file_has_no_second_conversation(
    stem: str,
    texts: Sequence[str],
    claim: str,
    name: str,
    put: Callable[[Path, Sequence[str]], None],
    tmp_path: Path,
) -> None:
    put(path := tmp_path / f"{stem}{name}", texts)

    def answer(given: Any) -> str:
        assert rows_of(path)
        return as_it_is(pairs(given))

    explanation = explained(answer, as_dicts([*TURNS, QUESTION]))
    assert claims(explanation) == {claim}
    if claim == "unverified":
        assert str(path) in explanation.warnings[0]
        ignored = explained(answer, as_dicts([*TURNS, QUESTION]), ignore=[re.escape(str(path))])
        assert claims(ignored) == {"proved"}


class InAFile(BaseChatMessageHistory):
    """A history whose file is read anew each time."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    @override
    def messages(self) -> list[BaseMessage]:  # pyright: ignore[reportIncompatibleVariableOverride] -- read alone
        return messages_from_dict(json.loads(self.path.read_text()))

    @override
    def add_messages(self, messages: Iterable[BaseMessage]) -> None:
        self.path.write_text(json.dumps(messages_to_dict([*self.messages, *messages])))

    @override
    def clear(self) -> None:
        self.path.write_text("[]")


def test_a_file_that_a_history_reads_is_none(tmp_path: Path) -> None:
    path = tmp_path / "history.json"
    path.write_text(json.dumps(messages_to_dict(remembered())))
    session = Session(InAFile(path), documents=EVENTS)
    explanation = explained(session.chain(), {"question": QUESTION[1]})
    assert claims(explanation) == {"proved"}, explanation.warnings


KINDS: Any = ["turns", "memory", "examples"]


def test_turns_that_are_read_somewhere_are_no_constant_examples(tmp_path: Path) -> None:
    path = tmp_path / "said.json"
    path.write_text(json.dumps(TURNS))

    def answer(question: Any) -> str:
        said: Messages = [(role, text) for role, text in json.loads(path.read_text())]
        return as_it_is([*said, ("user", str(question))])

    explanation = explained(answer, QUESTION[1], source_kinds=KINDS)
    assert [each.id for each in explanation.sources] == ["example 1", "example 2"]
    assert claims(explanation) == {"unverified"}
    assert "has read it somewhere" in explanation.warnings[0]
    named = explained(answer, QUESTION[1], source_kinds=KINDS, ignore=[r"said\.json"])
    assert claims(named) == {"proved"}


def test_turns_in_a_body_of_bytes_are_no_constant_examples() -> None:
    def answer(body: Any) -> str:
        return as_it_is([(role, text) for role, text in json.loads(body)])

    body = json.dumps([*TURNS, QUESTION]).encode()
    assert claims(explained(answer, body, source_kinds=KINDS)) == {"unverified"}


EXAMPLES = [("Who is it?", "It is Ann of Bonn."), ("When is it?", "At ten in the morning.")]


def of_a_template(_: Any) -> Messages:
    shown = ChatPromptTemplate.from_messages([("human", "Question: {asked}"), ("ai", "Answer: {said}")])
    examples = [{"asked": asked, "said": said} for asked, said in EXAMPLES]
    few = FewShotChatMessagePromptTemplate(examples=examples, example_prompt=shown)
    return read(few.format_messages())


def of_a_variable(_: Any) -> Messages:
    return [each for asked, said in EXAMPLES for each in (("user", asked), ("assistant", said))]


def of_formats(_: Any) -> Messages:
    names = (("who", "Ann of Bonn"), ("when", "ten in the morning"))
    asked = [("user", f"Please tell me {each} it is.") for each, _ in names]
    said = [("assistant", f"I think that it is {each}.") for _, each in names]
    return [each for pair in zip(asked, said, strict=True) for each in pair]


@pytest.mark.parametrize("examples", [of_a_template, of_a_variable, of_formats])
def test_examples_in_code_are_constant(examples: Callable[[Any], Messages]) -> None:
    def answer(question: Any) -> str:
        return BONN.invoke([*examples(question), ("user", str(question))]).text

    explanation = explained(answer, QUESTION[1], source_kinds=KINDS)
    assert [each.id for each in explanation.sources] == ["example 1", "example 2"]
    assert claims(explanation) == {"proved"}


@pytest.mark.parametrize("name", ["texts", "events", "a profile"])
def test_a_session_around_an_engine_of_llama_index(name: str) -> None:
    log, claim = LOGS[name]
    said = [ChatMessage(text, role=MessageRole(role)) for role, text in TURNS]
    llm = Chatting(tell=lambda messages: "It is paid." if "Bonn" in str(messages) else "It is open.")

    class Support:
        def __init__(self) -> None:
            memory = ChatMemoryBuffer.from_defaults(chat_history=said, token_limit=10_000)
            self.engine = SimpleChatEngine.from_defaults(llm=llm, memory=memory)
            self.log = log

        def answer(self, question: Any) -> str:
            return str(self.engine.chat(str(question)))

    options: Any = {"source_kinds": ["memory"], "miner": "exact"}
    explainer: Any = OfLlamaIndex(Support().answer, contains("is paid"), **options)
    assert claims(explainer.explain(QUESTION[1])) == {claim}
