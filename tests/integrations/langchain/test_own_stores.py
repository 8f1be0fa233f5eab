"""Stores that an application reads and writes itself: every run finds them as the baseline did."""

import asyncio
import inspect
import json
import os
import sys
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, TypedDict

import pytest
from langchain_classic.storage import LocalFileStore
from langchain_core.caches import BaseCache, InMemoryCache
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.globals import set_llm_cache
from langchain_core.runnables import Runnable, RunnableLambda
from langchain_core.stores import BaseStore as KeyValueStore
from langchain_core.stores import InMemoryByteStore, InMemoryStore
from langchain_core.vectorstores import InMemoryVectorStore, VectorStore
from langchain_rag_rule_explainer import RuleExplainer, gate
from langgraph.config import get_store
from langgraph.graph import END, START, StateGraph
from langgraph.store.base import BaseStore, Item, Op, PutOp
from langgraph.store.memory import InMemoryStore as LongTermStore
from typing_extensions import override

from rag_rule_explainer import Explanation, StateShared
from tests.integrations.known import BAD, TEXTS, omission, retention, sets, shown_in
from tests.integrations.langchain.chains import Counting
from tests.integrations.langchain.models import Telling, facts
from tests.representing import SELDOM

pytestmark = pytest.mark.filterwarnings("ignore")
USER = ("users", "ada")
Ask = Callable[[str], str]


class Remembering:
    """An application that shows its model what it remembers, and hears its own bad answers."""

    def __init__(self, turn: Any) -> None:
        self.retriever = Counting(documents=facts("abcd"))
        self.shown: list[str] = []
        self._model = Telling(says=self._says)
        self._turn = turn

        async def aanswer(question: str) -> str:
            return await turn(self.ask)

        def answer(question: str) -> str:
            return turn(self.ask)

        awaits = inspect.iscoroutinefunction(turn)
        self.app: Runnable[Any, Any] = RunnableLambda(aanswer if awaits else answer)

    def ask(self, remembered: str) -> str:
        found = self.retriever.invoke("why?")
        return self._model.invoke(
            "\n".join([*(each.page_content for each in found), f"MEMORY {remembered}"])
        ).text

    def _says(self, messages: Any) -> str:
        context, _, remembered = messages[-1].text.rpartition("MEMORY ")
        self.shown.append(remembered)
        return "bad news" if "bad" in remembered or {"b", "d"} <= set(shown_in(context)) else "good news"


def is_the_truth(explanation: Explanation) -> bool:
    return (retention(explanation), omission(explanation)) == (sets("bd"), sets("b", "d"))


def run(app: Any, name: str, awaiting: bool, **settings: Any) -> Any:
    explainer: Any = RuleExplainer(app, predicate=BAD, **settings)
    if awaiting:
        return asyncio.run(getattr(explainer, f"a{name}")("why?"))
    return getattr(explainer, name)("why?")


Made = tuple[Any, Callable[[], Any]]
"""What an application does with its store in one run, and a dump of the store."""


def check(made: Callable[[], Made], awaiting: bool) -> None:
    """Explains the same application without and with the user's own run."""
    turn, dump = made()
    told = Remembering(turn)
    before = dump()
    assert is_the_truth(run(told.app, "explain", awaiting))
    assert dump() == before
    assert len(set(told.shown)) == 1
    plain_turn, plain = made()
    ordinary = Remembering(plain_turn)
    asyncio.run(ordinary.app.ainvoke("why?"))
    assert set(told.shown) == set(ordinary.shown)
    explained = run(told.app, "invoke", awaiting)
    assert is_the_truth(explained.explanation)
    assert set(told.shown) == set(ordinary.shown)
    assert dump() == plain() != before


def every_way(uses: Iterable[Any], kinds: Iterable[str]) -> list[Any]:
    """Returns each use of each kind of store, asked in both ways; the way that is not its own is slow."""
    return [
        pytest.param(
            use,
            kind,
            awaiting,
            id=f"{use.__name__}-{kind}-{'async' if awaiting else 'sync'}",
            marks=() if awaiting == ("awaited" in use.__name__) else pytest.mark.slow,
        )
        for use in uses
        for kind in kinds
        for awaiting in (False, True)
    ]


class Elsewhere(BaseStore):
    """A long-term store whose items are not in the process, as far as anybody can tell."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def _all(self) -> dict[str, Any]:
        return json.loads(self.path.read_text(encoding="utf-8")) if self.path.exists() else {}

    def batch(self, ops: Iterable[Op]) -> list[Any]:
        store, ops = LongTermStore(), list(ops)
        for place, value in self._all().items():
            namespace, _, key = place.rpartition("/")
            store.put(tuple(namespace.split("/")), key, value)
        found = store.batch(ops)
        if any(isinstance(op, PutOp) for op in ops):
            items = [(item, "/".join((*item.namespace, item.key))) for item in store.search((), limit=99)]
            self.path.write_text(json.dumps({place: item.value for item, place in items}))
        return found

    async def abatch(self, ops: Iterable[Op]) -> list[Any]:
        return self.batch(ops)


def items(store: BaseStore) -> str:
    found = store.search((), limit=99)
    return repr(sorted((item.namespace, item.key, json.dumps(item.value)) for item in found))


def told(item: Item | None) -> str:
    return "nothing" if item is None else item.value["said"]


def put_and_get(store: BaseStore) -> Any:
    def turn(ask: Ask) -> str:
        store.put(USER, "asked", {"said": "why?"})
        last, asked = told(store.get(USER, "last")), told(store.get(USER, "asked"))
        answer = ask(f"{last}, {asked}, {store.list_namespaces()}")
        store.put(USER, "last", {"said": answer})
        store.put((*USER, "more"), "last", {"said": answer})
        assert told(store.get(USER, "last")) == answer
        return answer

    return turn


def search_and_delete(store: BaseStore) -> Any:
    def turn(ask: Ask) -> str:
        remembered = sorted(told(item) for item in store.search(USER))
        answer = ask(str(remembered))
        store.delete(USER, "last")
        store.put(USER, "new", {"said": answer})
        assert [item.key for item in store.search(USER, filter={"said": answer})] == ["new"]
        assert {item.key for item in store.search(("users",))} == {"first", "new"}
        assert store.list_namespaces(prefix=("users",)) == [USER]
        return answer

    return turn


def awaited(store: BaseStore) -> Any:
    async def turn(ask: Ask) -> str:
        found = sorted(told(item) for item in await store.asearch(USER))
        assert await store.aget(USER, "none") is None
        answer = ask(str(found))
        await store.aput(USER, "last", {"said": answer})
        await store.adelete(USER, "first")
        assert [told(each) for each in await store.asearch(USER)] == [answer]
        assert await store.alist_namespaces() == [USER]
        return answer

    return turn


def changed_in_place(store: BaseStore) -> Any:
    def turn(ask: Ask) -> str:
        item = store.get(USER, "last")
        assert item is not None
        answer = ask(item.value["said"])
        item.value["said"] = answer
        store.put(USER, "last", item.value)
        return answer

    return turn


@pytest.mark.spread(fast=4, slow=3)
@pytest.mark.parametrize(
    ("use", "kind", "awaiting"),
    every_way(
        [put_and_get, search_and_delete, awaited, changed_in_place],
        ["in memory", "elsewhere", "elsewhere, made anew"],
    ),
)
def test_a_long_term_store(use: Any, kind: str, awaiting: bool, tmp_path: Path) -> None:
    numbers = iter(range(9))

    def made() -> Made:
        path = tmp_path / f"{next(numbers)}.json"
        store: BaseStore = LongTermStore() if kind == "in memory" else Elsewhere(path)
        store.put(USER, "first", {"said": "her first words"})
        store.put(USER, "last", {"said": "her last words"})
        if kind.endswith("anew"):
            # Made in each run, for what is outside of all of them.
            if use is awaited:

                async def aturn(ask: Ask) -> str:
                    return await use(Elsewhere(path))(ask)

                return aturn, lambda: items(store)
            return (lambda ask: use(Elsewhere(path))(ask)), lambda: items(store)
        return use(store), lambda: items(store)

    check(made, awaiting)


class Talk(TypedDict, total=False):
    question: str
    answer: str


@pytest.mark.spread(fast=2)
@pytest.mark.parametrize("explaining", ["explain", "invoke"])
def test_the_store_of_a_graph(explaining: str) -> None:
    store = LongTermStore()
    store.put(USER, "last", {"said": "hello"})
    told_by = Remembering(None)

    def reply(state: Talk) -> Talk:
        memory = get_store()
        memory.put(USER, "asked", {"said": state.get("question", "")})
        answer = told_by.ask(repr([told(item) for item in memory.search(USER)]))
        memory.put(USER, "last", {"said": answer})
        return {"answer": answer}

    graph: Any = StateGraph(Talk)
    graph.add_node("reply", reply)
    graph.add_edge(START, "reply")
    graph.add_edge("reply", END)
    explainer: Any = RuleExplainer(graph.compile(store=store), predicate=BAD)
    before = items(store)
    found = getattr(explainer, explaining)({"question": "why?"})
    assert is_the_truth(getattr(found, "explanation", found))
    assert set(told_by.shown) == {"['hello', 'why?']"}
    assert (items(store) == before) == (explaining == "explain")
    assert told(store.get(USER, "last")) == ("hello" if explaining == "explain" else "bad news")


def test_a_search_by_meaning_of_what_was_written_elsewhere_is_refused(tmp_path: Path) -> None:
    store = Elsewhere(tmp_path / "it")
    store.put(USER, "last", {"said": "hello"})

    def turn(ask: Ask) -> str:
        answer = ask(repr([told(each) for each in store.search(USER, query="why?")]))
        store.put(USER, "last", {"said": answer})
        store.search(USER, query="why?")
        return answer

    before = items(store)
    with pytest.raises(StateShared, match=r"(?s)Elsewhere was written to.*session id"):
        run(Remembering(turn).app, "explain", False)
    assert items(store) == before


def in_bytes(store: Any) -> Any:
    def turn(ask: Ask) -> str:
        (last,) = store.mget(["last"])
        answer = ask(repr((last, sorted(store.yield_keys()))))
        store.mset([("last", answer.encode()), ("more/of_it", b"?")])
        store.mdelete(["first"])
        assert store.mget(["last", "first"]) == [answer.encode(), None]
        assert sorted(store.yield_keys()) == ["last", "more/of_it"]
        return answer

    return turn


def in_bytes_awaited(store: Any) -> Any:
    async def turn(ask: Ask) -> str:
        await store.amset([("asked", b"why?")])
        keys = sorted([key async for key in store.ayield_keys()])
        answer = ask(repr((await store.amget(["last", "asked"]), keys)))
        await store.amset([("last", answer.encode())])
        await store.amdelete(["first"])
        assert sorted([key async for key in store.ayield_keys()]) == ["asked", "last"]
        return answer

    return turn


@pytest.mark.spread(fast=3, slow=2)
@pytest.mark.parametrize(
    ("use", "kind", "awaiting"),
    every_way([in_bytes, in_bytes_awaited], ["in memory", "in files", "in files, made anew"]),
)
def test_a_key_value_store(use: Any, kind: str, awaiting: bool, tmp_path: Path) -> None:
    numbers = iter(range(9))

    def made() -> Made:
        place = tmp_path / f"{next(numbers)}"
        store: KeyValueStore[str, bytes] = (
            InMemoryByteStore() if kind == "in memory" else LocalFileStore(place)
        )
        store.mset([("first", b"1"), ("last", b"hello")])
        dump: Callable[[], Any] = lambda: sorted(  # noqa: E731 -- short
            zip(store.yield_keys(), store.mget(list(store.yield_keys())), strict=True)
        )
        if kind.endswith("anew"):
            if use is in_bytes_awaited:

                async def aturn(ask: Ask) -> str:
                    return await use(LocalFileStore(place))(ask)

                return aturn, dump
            return (lambda ask: use(LocalFileStore(place))(ask)), dump
        return use(store), dump

    check(made, awaiting)


@pytest.mark.parametrize("otherwise", SELDOM)
def test_a_list_in_a_key_value_store_that_is_changed_in_place(otherwise: bool) -> None:
    def made() -> Made:
        store = InMemoryStore()
        store.mset([("turns", ["hello"])])

        def turn(ask: Ask) -> str:
            turns: Any = store.mget(["turns"])[0]
            turns.append("why?")
            answer = ask(repr(turns))
            turns.append(answer)
            assert store.mget(["turns"]) == [turns]
            store.store["asked"] = True
            return answer

        return turn, lambda: repr(store.store)

    check(made, otherwise)


def index_of(names: str) -> InMemoryVectorStore:
    store = InMemoryVectorStore(DeterministicFakeEmbedding(size=8))
    store.add_documents(facts(names))
    return store


def held(store: InMemoryVectorStore) -> str:
    return json.dumps(sorted(each["text"] for each in store.store.values()))


@pytest.mark.spread(fast=2)
@pytest.mark.parametrize("otherwise", SELDOM)
@pytest.mark.parametrize("awaits", [False, True])
def test_what_is_written_to_an_index_in_memory_is_found_in_the_same_run_only(
    awaits: bool, otherwise: bool
) -> None:
    def made() -> Made:
        store = index_of("a")

        def turn(ask: Ask) -> str:
            assert [each.id for each in store.get_by_ids(["a"])] == ["a"]
            answer = ask(f"{len(store.get_by_ids(['last', 'a']))}")
            ids = store.add_texts([f"What was said last: {answer}"], ids=["last"])
            assert ids == ["last"]
            store.delete(["a"])
            assert [each.id for each in store.get_by_ids(["last", "a"])] == ["last"]
            return answer

        async def aturn(ask: Ask) -> str:
            answer = ask(f"{len(await store.aget_by_ids(['last', 'a']))}")
            await store.aadd_documents([Document(id="last", page_content=f"said: {answer}")])
            await store.adelete(["a"])
            assert [each.id for each in await store.aget_by_ids(["last", "a"])] == ["last"]
            return answer

        return (aturn if awaits else turn), lambda: held(store)

    check(made, awaits != otherwise)


@pytest.mark.parametrize("by_retriever", [False, True])
def test_searches_of_a_runs_own_copy_are_recorded_and_served(by_retriever: bool) -> None:
    store = index_of("abc")
    model = Telling()

    def answer(question: str) -> str:
        store.add_documents(facts("d"))
        if by_retriever:
            found = store.as_retriever(search_kwargs={"k": 9}).invoke(question)
        else:
            found = store.similarity_search(question, k=9)
        return model.invoke("\n".join(each.page_content for each in found) or "nothing").text

    before = held(store)
    explanation = run(RunnableLambda(answer), "explain", False)
    assert is_the_truth(explanation)
    assert {source.id for source in explanation.sources} == set("abcd")
    assert held(store) == before
    assert len(model.asked[0]) == 4


class Remote(VectorStore):
    """A store that nobody can copy, and what was written to it."""

    def __init__(self, held: list[str]) -> None:
        self._client = held.append
        self._held: Callable[[], Sequence[str]] = lambda: list(held)

    @override
    def add_texts(self, texts: Iterable[str], metadatas: Any = None, **kwargs: Any) -> list[str]:
        for text in texts:
            self._client(text)
        return [f"id{len(self._held())}"]

    @override
    def similarity_search(self, query: str, k: int = 4, **kwargs: Any) -> list[Document]:
        return [Document(id=text, page_content=TEXTS.get(text, text)) for text in self._held()]

    @classmethod
    @override
    def from_texts(
        cls, texts: list[str], embedding: Any = None, metadatas: Any = None, **kwargs: Any
    ) -> "Remote":
        store = cls([])
        store.add_texts(texts)
        return store


@pytest.mark.spread(fast=2)
@pytest.mark.parametrize("gated", [False, True])
@pytest.mark.parametrize("awaiting", SELDOM)
def test_what_is_written_to_any_other_index_is_held_back(awaiting: bool, gated: bool) -> None:
    held = list("abcd")
    store: Any = gate(Remote(held)) if gated else Remote(held)
    model = Telling()

    def answer(question: str) -> str:
        found = store.similarity_search(question)
        said = model.invoke("\n".join(each.page_content for each in found) or "nothing").text
        assert len(store.add_documents([Document(page_content=said)])) == 1
        store.add_texts([said, said])
        return said

    assert is_the_truth(run(RunnableLambda(answer), "explain", awaiting))
    assert held == list("abcd")
    assert is_the_truth(run(RunnableLambda(answer), "invoke", awaiting).explanation)
    assert held == [*"abcd", "bad news", "bad news", "bad news"]


@pytest.mark.parametrize("explaining", ["explain", "invoke"])
def test_a_search_after_what_was_held_back_is_refused(explaining: str) -> None:
    held = list("abcd")
    store, model = Remote(held), Telling()

    def answer(question: str) -> str:
        store.add_texts(["a note"])
        try:
            found = store.similarity_search(question)
        except Exception:
            return "bad luck"
        return model.invoke("\n".join(each.page_content for each in found) or "nothing").text

    with pytest.raises(StateShared, match="Remote and then searched it"):
        run(RunnableLambda(answer), explaining, False)
    assert held == ([*"abcd"] if explaining == "explain" else [*"abcd", "a note"])


def test_what_the_users_own_run_wrote_elsewhere_is_read_by_no_replay() -> None:
    class Readable(Remote):
        @override
        def get_by_ids(self, ids: Sequence[str], /) -> list[Document]:
            return [Document(id=each, page_content=each) for each in self._held() if each in ids]

    def turn(ask: Ask) -> str:
        answer = ask(repr(store.get_by_ids(["bad news"])))
        store.add_texts([answer])
        return answer

    store = Readable([])
    assert is_the_truth(run(Remembering(turn).app, "explain", False))
    with pytest.raises(StateShared, match="Readable holds what the first run wrote"):
        run(Remembering(turn).app, "invoke", False)


@pytest.mark.parametrize("kind", [Remote, InMemoryVectorStore])
def test_an_index_that_is_made_in_a_run_is_that_runs_own(kind: Any) -> None:
    retriever, model = Counting(documents=facts("abcd")), Telling()
    sizes: list[int] = []

    def answer(question: str) -> str:
        found = retriever.invoke(question)
        own = kind.from_texts([each.page_content for each in found], DeterministicFakeEmbedding(size=8))
        own.add_texts(["one more"])
        sizes.append(len(own._held() if kind is Remote else own.store))
        return model.invoke("\n".join(each.page_content for each in found) or "nothing").text

    assert is_the_truth(run(RunnableLambda(answer), "explain", False))
    assert max(sizes) == 5
    assert set(sizes) == {1, 2, 3, 4, 5}


def test_an_index_that_the_first_run_made_for_all_is_refused_when_it_is_written_to() -> None:
    made: list[InMemoryVectorStore] = []

    def turn(ask: Ask) -> str:
        if not made:
            made.append(index_of("a"))
        made[0].add_texts([answer := ask("nothing")])
        return answer

    with pytest.raises(StateShared, match="InMemoryVectorStore that the first run made"):
        run(Remembering(turn).app, "explain", False)


@pytest.fixture
def docstore_class(monkeypatch: pytest.MonkeyPatch) -> type:
    """A root class of docstores in the shape of langchain_community's, which is not installed."""

    class Docstore(ABC):
        @abstractmethod
        def search(self, search: str) -> Any: ...

        def delete(self, ids: list[str]) -> None:
            raise NotImplementedError

    module: Any = ModuleType("langchain_community.docstore.base")
    module.Docstore = Docstore
    monkeypatch.setitem(sys.modules, module.__name__, module)
    return Docstore


@pytest.mark.spread(fast=2)
@pytest.mark.parametrize("otherwise", SELDOM)
@pytest.mark.parametrize("elsewhere", [False, True])
def test_a_docstore(elsewhere: bool, docstore_class: Any, otherwise: bool) -> None:
    class Documents(docstore_class):
        def __init__(self, held: dict[str, Document]) -> None:
            self.held = held

        def search(self, search: str) -> Any:
            return self.held.get(search, f"ID {search} not found.")

        def add(self, texts: dict[str, Document]) -> None:
            self.held.update(texts)

        def delete(self, ids: list[str]) -> None:
            for each in ids:
                del self.held[each]

    class DocumentsElsewhere(Documents):
        def where(self) -> str:
            return os.environ.get("DOCUMENTS", "")

    def made() -> Made:
        held = {"first": Document("hello"), "last": Document("hi")}
        store = (DocumentsElsewhere if elsewhere else Documents)(held)

        def turn(ask: Ask) -> str:
            last: Any = store.search("last")
            answer = ask(f"{last.page_content}, {store.search('new')}")
            last.metadata["answer"] = answer
            store.add({"new": Document(answer)})
            store.delete(["first"])
            found: Any = store.search("new")
            assert found.page_content == answer
            assert store.search("first") == "ID first not found."
            return answer

        return turn, lambda: repr(held)

    check(made, otherwise)


class CacheElsewhere(BaseCache):
    """A cache that is not in the process, as far as anybody can tell."""

    def __init__(self, held: dict[Any, Any]) -> None:
        self._get: Callable[[Any], Any] = held.get
        self._set: Callable[[Any, Any], None] = held.__setitem__

    @override
    def lookup(self, prompt: str, llm_string: str) -> Any:
        return self._get((prompt, llm_string))

    @override
    def update(self, prompt: str, llm_string: str, return_val: Any) -> None:
        self._set((prompt, llm_string), return_val)

    @override
    def clear(self, **kwargs: Any) -> None:
        raise NotImplementedError


@pytest.mark.spread(fast=2)
@pytest.mark.parametrize("awaiting", SELDOM)
@pytest.mark.parametrize("elsewhere", [False, True])
def test_a_cache_of_replies_is_read_by_all_and_written_by_none(elsewhere: bool, awaiting: bool) -> None:
    held: dict[Any, Any] = {}
    in_memory = InMemoryCache()
    size = lambda: len(held if elsewhere else vars(in_memory)["_cache"])  # noqa: E731 -- short
    set_llm_cache(CacheElsewhere(held) if elsewhere else in_memory)
    try:
        told_by = Remembering(lambda ask: ask("nothing") if ask("nothing") else "")
        assert is_the_truth(run(told_by.app, "explain", awaiting))
        assert size() == 0
        assert len(told_by.shown) == 18  # twice in each run, where its own reply was found again
        assert is_the_truth(run(told_by.app, "invoke", awaiting).explanation)
        assert size() == 1
        assert len(told_by.shown) == 36
    finally:
        set_llm_cache(None)


def test_a_method_that_the_application_replaces_on_its_store_is_replaced_in_that_run_alone(
    tmp_path: Path,
) -> None:
    store: Any = LocalFileStore(tmp_path)

    def turn(ask: Ask) -> str:
        store.mget = lambda keys: [f"replaced for {key}" for key in keys]
        return ask(repr(store.mget(["last"])))

    told = Remembering(turn)
    assert is_the_truth(run(told.app, "explain", awaiting=False))
    assert set(told.shown) == {"['replaced for last']"}
    assert "mget" not in vars(store)
    run(told.app, "invoke", awaiting=False)
    assert "mget" in vars(store)


@pytest.mark.waits
def test_other_traffic_on_the_same_stores_goes_to_the_real_ones() -> None:
    store, index, values = LongTermStore(), index_of(""), InMemoryStore()
    index.add_texts(["what was there"])
    asked, answered = threading.Event(), threading.Event()

    def others() -> None:
        assert asked.wait(120)
        assert store.get(USER, "last") is None
        assert values.mget(["last"]) == [None]
        store.put(USER, "other", {"said": "others"})
        values.mset([("other", "others")])
        index.add_texts(["others"])
        assert len(index.similarity_search("?", k=9)) == 2
        answered.set()

    def turn(ask: Ask) -> str:
        store.put(USER, "last", {"said": "mine"})
        values.mset([("last", "mine")])
        index.add_texts(["mine"])
        asked.set()
        assert answered.wait(120)
        return ask(repr((items(store), sorted(values.yield_keys()), held(index))))

    traffic = threading.Thread(target=others)
    traffic.start()
    told_by = Remembering(turn)
    assert is_the_truth(run(told_by.app, "explain", False))
    traffic.join(120)
    assert len(set(told_by.shown)) == 1
    assert "others" not in told_by.shown[0]
    assert [item.key for item in store.search(())] == ["other"]
    assert list(values.store) == ["other"]
    assert "mine" not in held(index)
    assert "others" in held(index)
