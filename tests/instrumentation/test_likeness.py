"""Which searches are taken for the same one."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import langchain_rag_rule_explainer as of_langchain
import llama_index_rag_rule_explainer as of_llama_index
import plain_rag_rule_explainer as of_plain
import pytest
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.language_models.chat_models import SimpleChatModel
from langchain_core.messages import BaseMessage
from langchain_core.retrievers import BaseRetriever
from langchain_core.vectorstores import InMemoryVectorStore
from llama_index.core import MockEmbedding, VectorStoreIndex
from llama_index.core.schema import TextNode
from plain_rag_rule_explainer import gate as plain_gate
from plain_rag_rule_explainer import offline_client
from pydantic import BaseModel, SecretStr
from sqlalchemy import column, select, table
from typing_extensions import override

from rag_rule_explainer import Explanation, InvalidInput, contains
from tests.integrations.llama_index.models import Telling

TEXTS = {
    "owner": "The launch belongs to the department Zeta.",
    "other": "Beta paints walls.",
    "date": "Zeta: the launch was postponed by a month.",
}
SHELVES = {"directory": ("owner", "other"), "zeta": ("date",), "beta": ("other",)}
Search = Callable[[str, str], list[str]]
"""A search of a shelf for a query."""


class Shelf(BaseRetriever):
    """Finds all that it holds, whatever is asked."""

    held: tuple[str, ...]

    @override
    def _get_relevant_documents(self, query: str, *, run_manager: object) -> list[Document]:
        return [Document(id=each, page_content=TEXTS[each]) for each in self.held]


class Client:
    """As a client of one collection; it holds texts as well as their names."""

    def __init__(self, name: str) -> None:
        self.name = name

    def query(self, query: str) -> list[str]:
        return found_in(self.name)


def found_in(shelf: str) -> list[str]:
    return [TEXTS[each] for each in SHELVES[shelf]]


def by_shelf(shelf: str, query: str) -> list[str]:
    return found_in(shelf)


def store(shelf: str) -> InMemoryVectorStore:
    made = InMemoryVectorStore(DeterministicFakeEmbedding(size=8))
    made.add_documents([Document(id=each, page_content=TEXTS[each]) for each in SHELVES[shelf]])
    return made


def index(shelf: str) -> VectorStoreIndex:
    nodes = [TextNode(id_=each, text=TEXTS[each]) for each in SHELVES[shelf]]
    return VectorStoreIndex(nodes, embed_model=MockEmbedding(embed_dim=8))


def contents(found: Any) -> list[str]:
    return [each.page_content for each in found]


def made_before(make: Callable[[str], Callable[[str], list[str]]]) -> Search:
    """One search a shelf, made once."""
    made = {shelf: make(shelf) for shelf in SHELVES}
    return lambda shelf, query: made[shelf](query)


def made_when_asked(make: Callable[[str], Callable[[str], list[str]]]) -> Search:
    """A search is made for each request."""
    return lambda shelf, query: make(shelf)(query)


def retriever(shelf: str) -> Callable[[str], list[str]]:
    made = Shelf(held=SHELVES[shelf])
    return lambda query: contents(made.invoke(query))


def store_search(shelf: str) -> Callable[[str], list[str]]:
    made = store(shelf)
    return lambda query: contents(made.similarity_search(query))


def index_search(shelf: str) -> Callable[[str], list[str]]:
    made = index(shelf).as_retriever()
    return lambda query: [each.text for each in made.retrieve(query)]


def method(shelf: str) -> Callable[[str], list[str]]:
    return plain_gate(Client(shelf).query)


def closure(shelf: str) -> Callable[[str], list[str]]:
    return plain_gate(lambda query: found_in(shelf) if query else [])


def part(shelf: str) -> Callable[[str], list[str]]:
    return plain_gate(partial(by_shelf, shelf))


class Secret(BaseModel):
    """A query of which the ``repr`` does not say all."""

    shelf: SecretStr


def one_client_that_is_set() -> Search:
    client = Client("directory")
    search = plain_gate(client.query)

    def find(shelf: str, query: str) -> list[str]:
        client.name = shelf
        try:
            return search(query)
        finally:
            client.name = "directory"

    return find


def secret_argument() -> Search:
    def of_shelf(asked: Secret) -> list[str]:
        return found_in(asked.shelf.get_secret_value())

    search = plain_gate(of_shelf)
    return lambda shelf, query: search(Secret(shelf=SecretStr(shelf)))


def statement() -> Search:
    shelves = table("shelves", column("name"))

    def run(asked: Any) -> list[str]:
        return found_in(asked.compile().params["name_1"])

    search = plain_gate(run)
    return lambda shelf, query: search(select(shelves).where(shelves.c.name == shelf))


def said_to(text: str) -> str:
    if "Whose" in text:
        return "zeta" if TEXTS["owner"] in text else "beta"
    return "It was postponed." if TEXTS["date"] in text else "It is on Friday."


class ChatModel(SimpleChatModel):
    """Answers what ``said_to`` says."""

    @property
    @override
    def _llm_type(self) -> str:
        return "told"

    @override
    def _call(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> str:
        return said_to(messages[-1].text)


def model_of(package: Any) -> Callable[[str], str]:
    """A model that the package's own framework calls."""
    if package is of_langchain:
        chat = ChatModel()
        return lambda text: chat.invoke(text).text
    if package is of_llama_index:
        llm = Telling(says=said_to)
        return lambda text: llm.complete(text).text
    client = offline_client(lambda body: said_to(body["messages"][-1]["content"]))

    def say(text: str) -> str:
        asked = client.chat.completions.create(model="m", messages=[{"role": "user", "content": text}])
        return asked.choices[0].message.content or ""

    return say


def explained(package: Any, search: Search, **settings: Any) -> Explanation:
    say = model_of(package)

    def application(question: str) -> str:
        first = search("directory", question)
        department = say("Whose is it? " + " ".join(first))
        return say(question + " " + " ".join([*first, *search(department, question)]))

    made = package.RuleExplainer(application, predicate=contains("postponed"), **settings)
    return made.explain("When is the launch?")


SEARCHES = [
    *(
        pytest.param(package, partial(how, make), id=f"{make.__name__}-{how.__name__}")
        for package, make in [
            (of_langchain, retriever),
            (of_langchain, store_search),
            (of_llama_index, index_search),
            (of_plain, method),
            (of_plain, closure),
            (of_plain, part),
        ]
        for how in (made_before, made_when_asked)
    ),
    pytest.param(of_plain, one_client_that_is_set, id="one client that is set"),
    pytest.param(of_plain, secret_argument, id="a secret argument"),
    pytest.param(of_plain, statement, id="a statement"),
]


@pytest.mark.spread(fast=3, slow=2)
@pytest.mark.parametrize("on_new_query", [None, "filter"])
@pytest.mark.parametrize(("package", "make"), SEARCHES)
def test_a_search_is_not_served_what_another_one_found(
    package: Any, make: Callable[[], Search], on_new_query: str | None
) -> None:
    """The same words, asked of another shelf where the first document is left out. Both documents are
    needed: to say that the date alone will do was proved, and false."""
    found = explained(package, make(), on_new_query=on_new_query)
    named = {each.id: each.text for each in found.sources}
    assert set(named.values()) == set(TEXTS.values())
    for rule in found.retention_rules:
        texts = {named[each] for each in rule.sources}
        assert rule.claim == "unverified" or {TEXTS["owner"], TEXTS["date"]} <= texts
    if on_new_query is None:
        assert "searched for what the baseline never searched for" in found.warnings[0]
    assert found.rules


def of_the_first(shelves: Iterable[str]) -> list[str]:
    return found_in(next(iter(shelves)))


def test_what_can_be_read_only_once_is_refused() -> None:
    search = plain_gate(of_the_first)
    with pytest.raises(InvalidInput, match="a generator, which can be read only once"):
        explained(of_plain, lambda shelf, query: search(each for each in [shelf]))


def test_a_fetch_is_refused() -> None:
    class Cursor:
        def execute(self, sql: str) -> None: ...

        def fetchall(self) -> list[str]:
            return []

    with pytest.raises(InvalidInput, match="gate was given fetchall, whose calls do not"):
        plain_gate(Cursor().fetchall)
