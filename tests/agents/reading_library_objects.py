"""This module holds agents with a tool that writes to an object of a library, and one that reads it. The
object is made before the run, so what the first run wrote is still there in replays."""

import asyncio
import itertools
import queue
import random
import threading
from array import array
from collections import ChainMap, UserDict, UserList, defaultdict
from collections.abc import Iterator
from functools import cache, lru_cache
from types import MappingProxyType, SimpleNamespace
from typing import Any
from weakref import WeakValueDictionary
from xml.etree import ElementTree

import numpy as np
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.runnables import RunnableLambda
from langchain_core.vectorstores import InMemoryVectorStore
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from typing_extensions import TypedDict

from tests.agents.reading import Omitted
from tests.agents.reading_agents import guilty, innocent
from tests.agents.reading_notes import NOTE, agent_with_notes


@guilty
def notes_in_a_queue(omitted: Omitted) -> Any:
    notes = queue.Queue[str]()
    return agent_with_notes(omitted, notes.put, lambda: "" if notes.empty() else notes.get())


@guilty
def notes_in_a_simple_queue(omitted: Omitted) -> Any:
    notes = queue.SimpleQueue[str]()
    return agent_with_notes(omitted, notes.put, lambda: NOTE if notes.qsize() else "")


@guilty
def notes_in_a_queue_by_priority(omitted: Omitted) -> Any:
    notes = queue.PriorityQueue[tuple[int, str]]()
    return agent_with_notes(
        omitted, lambda text: notes.put_nowait((1, text)), lambda: "" if notes.empty() else notes.get()
    )


@guilty
def notes_in_a_queue_of_asyncio(omitted: Omitted) -> Any:
    notes = asyncio.Queue[str]()
    return agent_with_notes(
        omitted, notes.put_nowait, lambda: "" if notes.empty() else notes.get_nowait()
    )


@guilty
def notes_in_layers_of_dicts(omitted: Omitted) -> Any:
    notes = ChainMap[str, str]({}, {"greeting": "hello"})
    return agent_with_notes(omitted, lambda text: notes.update({"today": text}), lambda: dict(notes))


@guilty
def notes_in_a_dict_of_python(omitted: Omitted) -> Any:
    notes = UserDict[str, str]()
    return agent_with_notes(omitted, lambda text: notes.update({"today": text}), lambda: dict(notes))


@guilty
def notes_in_a_list_of_python(omitted: Omitted) -> Any:
    notes = UserList[str]()
    return agent_with_notes(omitted, notes.append, lambda: list(notes))


@guilty
def notes_behind_a_view(omitted: Omitted) -> Any:
    notes = dict[str, str]()
    view = MappingProxyType(notes)
    return agent_with_notes(omitted, lambda text: notes.update({"today": text}), lambda: str(view))


@guilty
def notes_behind_the_values(omitted: Omitted) -> Any:
    notes = dict[str, str]()
    view = notes.values()
    return agent_with_notes(omitted, lambda text: notes.update({"today": text}), lambda: list(view))


@guilty
def notes_in_a_namespace(omitted: Omitted) -> Any:
    notes = SimpleNamespace(text="")

    def write(text: str) -> None:
        notes.text = text

    return agent_with_notes(omitted, write, lambda: notes.text)


@guilty
def notes_in_an_array(omitted: Omitted) -> Any:
    notes = array("i")
    return agent_with_notes(omitted, lambda _: notes.append(4711), lambda: list(notes))


@guilty
def notes_in_an_array_of_numpy(omitted: Omitted) -> Any:
    notes = np.zeros(3)

    def write(_: str) -> None:
        notes[1] = 4711

    return agent_with_notes(omitted, write, lambda: notes.tolist())


@guilty
def a_flag_of_threading(omitted: Omitted) -> Any:
    noted = threading.Event()
    return agent_with_notes(omitted, lambda _: noted.set(), lambda: NOTE if noted.is_set() else "")


@guilty
def a_flag_of_asyncio(omitted: Omitted) -> Any:
    noted = asyncio.Event()
    return agent_with_notes(omitted, lambda _: noted.set(), lambda: NOTE if noted.is_set() else "")


@guilty
def a_semaphore(omitted: Omitted) -> Any:
    left = threading.Semaphore(1)
    return agent_with_notes(
        omitted,
        lambda _: left.acquire(blocking=False),
        lambda: "" if left.acquire(blocking=False) else NOTE,
    )


@guilty
def a_count(omitted: Omitted) -> Any:
    number = itertools.count()
    return agent_with_notes(omitted, lambda _: next(number), lambda: NOTE if next(number) else "")


@guilty
def pages_of_a_list(omitted: Omitted) -> Any:
    pages = iter(["first page", NOTE, "third page"])
    return agent_with_notes(omitted, lambda _: next(pages), lambda: next(pages, ""))


@guilty
def pages_that_are_numbered(omitted: Omitted) -> Any:
    pages = enumerate(["first page", NOTE, "third page"])
    return agent_with_notes(omitted, lambda _: next(pages), lambda: next(pages, ""))


@guilty
def pages_that_go_round(omitted: Omitted) -> Any:
    pages = itertools.cycle(["first page", NOTE])
    return agent_with_notes(omitted, lambda _: next(pages), lambda: next(pages))


@guilty
def pages_of_a_generator(omitted: Omitted) -> Any:
    def turning() -> Iterator[str]:
        yield "first page"
        yield NOTE

    pages = turning()
    return agent_with_notes(omitted, lambda _: next(pages), lambda: next(pages, ""))


@guilty
def a_seeded_generator_of_numbers(omitted: Omitted) -> Any:
    dice = random.Random(4)
    (first, second) = (random.Random(4).random(), dice.random())
    assert first == second
    dice.seed(4)
    return agent_with_notes(
        omitted, lambda _: dice.random(), lambda: "" if dice.random() == first else NOTE
    )


@guilty
def a_cached_function(omitted: Omitted) -> Any:
    @lru_cache
    def looked_up(key: str) -> list[str]:
        return []

    return agent_with_notes(
        omitted, lambda text: looked_up("notes").append(text), lambda: list(looked_up("notes"))
    )


class Holder:
    text = NOTE


@guilty
def notes_that_are_held_weakly(omitted: Omitted) -> Any:
    notes, holder = WeakValueDictionary[str, Holder](), Holder()

    def write(text: str) -> None:
        notes[text] = holder

    return agent_with_notes(omitted, write, lambda: list(notes))


@guilty
def one_object_in_a_cache(omitted: Omitted) -> Any:
    @cache
    def notes() -> dict[str, str]:
        return {}

    return agent_with_notes(omitted, lambda text: notes().update({"today": text}), lambda: str(notes()))


@guilty
def an_inner_list(omitted: Omitted) -> Any:
    inner = list[str]()
    notes = {"today": inner}
    return agent_with_notes(omitted, inner.append, lambda: str(notes))


@guilty
def an_inner_object(omitted: Omitted) -> Any:
    today = SimpleNamespace(text="")
    notes = [today]

    def write(text: str) -> None:
        today.text = text

    return agent_with_notes(omitted, write, lambda: notes[0].text)


@guilty
def an_outer_dict(omitted: Omitted) -> Any:
    inner = list[str]()
    notes = {"today": inner}
    return agent_with_notes(omitted, lambda text: notes["today"].append(text), lambda: list(inner))


class Note:
    def __init__(self) -> None:
        self.text, self.color = "", "yellow"


@guilty
def an_object_in_a_list(omitted: Omitted) -> Any:
    today = Note()
    notes = [today]

    def write(text: str) -> None:
        today.text = text

    return agent_with_notes(omitted, write, lambda: "".join(each.text for each in notes))


@guilty
def a_list_of_objects(omitted: Omitted) -> Any:
    today = Note()
    notes = [today]

    def write(text: str) -> None:
        for each in notes:
            each.text = text

    return agent_with_notes(omitted, write, lambda: today.text)


@innocent
def another_attribute(omitted: Omitted) -> Any:
    today = Note()

    def write(text: str) -> None:
        today.text = text

    return agent_with_notes(omitted, write, lambda: NOTE + today.color)


@innocent
def another_list_of_a_dict(omitted: Omitted) -> Any:
    today, known = list[str](), [NOTE]
    notes = {"today": today, "known": known}
    return agent_with_notes(omitted, lambda text: notes["today"].append(text), lambda: list(known))


@guilty
def notes_in_a_tree(omitted: Omitted) -> Any:
    tree = ElementTree.Element("notes")

    def write(text: str) -> None:
        ElementTree.SubElement(tree, "note").text = text

    return agent_with_notes(omitted, write, lambda: ElementTree.tostring(tree, encoding="unicode"))


@guilty
def a_lock(omitted: Omitted) -> Any:
    lock = threading.Lock()
    return agent_with_notes(
        omitted, lambda _: lock.acquire(blocking=False), lambda: NOTE if lock.locked() else ""
    )


@guilty
def bytes_behind_a_view(omitted: Omitted) -> Any:
    notes = bytearray(len(NOTE))
    view = memoryview(notes)

    def write(text: str) -> None:
        notes[:] = text.encode()

    return agent_with_notes(omitted, write, lambda: bytes(view).decode())


@guilty
def a_vector_store(omitted: Omitted) -> Any:
    store = InMemoryVectorStore(DeterministicFakeEmbedding(size=3))
    return agent_with_notes(omitted, lambda text: store.add_texts([text]), lambda: str(store.store))


@guilty
def a_list_behind_a_runnable(omitted: Omitted) -> Any:
    notes = list[str]()
    read = RunnableLambda[str, str](lambda _: str(notes))
    return agent_with_notes(omitted, notes.append, lambda: read.invoke(""))


class Notes(TypedDict):
    text: str


def as_given(state: Notes) -> Notes:
    return state


@guilty
def a_graph_with_a_memory(omitted: Omitted) -> Any:
    building: Any = StateGraph(Notes)
    building.add_node("keep", as_given)
    building.add_edge(START, "keep")
    graph = building.compile(checkpointer=InMemorySaver())
    thread: Any = {"configurable": {"thread_id": "notes"}}
    return agent_with_notes(
        omitted,
        lambda text: graph.invoke({"text": text}, thread),
        lambda: str(graph.get_state(thread).values),
    )


@innocent
def a_queue_that_no_other_tool_fills(omitted: Omitted) -> Any:
    notes, known = queue.Queue[str](), queue.Queue[str]()
    known.put(NOTE)
    return agent_with_notes(omitted, notes.put, lambda: list(known.queue))


@innocent
def layers_of_dicts_that_nothing_changes(omitted: Omitted) -> Any:
    notes, known = list[str](), ChainMap({"today": NOTE}, defaultdict[str, str](str))
    return agent_with_notes(omitted, notes.append, lambda: dict(known))


@innocent
def numbers_that_nothing_changes(omitted: Omitted) -> Any:
    notes, known = list[str](), np.array([4711])
    return agent_with_notes(omitted, notes.append, lambda: known.tolist())
