"""The twins of applications that keep something harmless over their runs: they keep what a run found."""

import hashlib
import json
import logging
import queue
import sqlite3
import tempfile
import threading
import uuid
import weakref
from collections import OrderedDict, defaultdict
from collections.abc import Callable
from functools import partial
from pathlib import Path

from tests.integrations.leaving.innocent import Chain, Template, connection
from tests.integrations.leaving.parts import HELD_OPEN, Answer, Ask, Search, mode_of, written
from tests.integrations.leaving.set_aside import Client

_Chain = _Mode = Callable[[list[str]], str]
_LOG = logging.getLogger("rag_rule_metrics")


def a_chain_of_the_first_run(search: Search, ask: Ask, mode: _Mode = mode_of) -> Answer:
    """Each run would make it otherwise, but only the first one does."""
    chains = dict[str, Chain]()

    def answer(question: str) -> str:
        found = search(question)
        if "news" not in chains:
            chains["news"] = Chain(ask, mode(found))
        return chains["news"].run(found)

    return answer


def a_function_of_the_first_run(search: Search, ask: Ask) -> Answer:
    chains = dict[str, _Chain]()

    def answer(question: str) -> str:
        found = search(question)
        mode = mode_of(found)
        if "news" not in chains:
            chains["news"] = lambda given: written(ask, mode, given)
        return chains["news"](found)

    return answer


def a_partial_of_the_first_run(search: Search, ask: Ask, mode: _Mode = mode_of) -> Answer:
    chains = dict[str, _Chain]()

    def tell(template: str, given: list[str]) -> str:
        return written(ask, template, given)

    def answer(question: str) -> str:
        found = search(question)
        return chains.setdefault("news", partial(tell, mode(found)))(found)

    return answer


def a_chain_whose_second_build_differs(search: Search, ask: Ask) -> Answer:
    """Whoever builds second builds another one."""
    chains, built = dict[str, Chain](), list[str]()

    def answer(question: str) -> str:
        found = search(question)
        if len(found) > 1 and "news" not in chains:
            chains["news"] = Chain(ask, "Calm" if built else "Warn")
            built.append("one")
        return chains["news"].run(found) if "news" in chains else written(ask, "Calm", found)

    return answer


def a_client_of_each_thread_made_of_a_run(search: Search, ask: Ask) -> Answer:
    held = threading.local()

    def answer(question: str) -> str:
        found = search(question)
        if not hasattr(held, "mode"):
            held.mode = mode_of(found)
        return written(ask, held.mode, found)

    return answer


def a_pool_whose_connections_are_told(search: Search, ask: Ask) -> Answer:
    pool = queue.LifoQueue[sqlite3.Connection]()
    pool.put(connection())

    def answer(question: str) -> str:
        found = search(question)
        taken = pool.get()
        if len(found) > 1:
            taken.execute("INSERT INTO words VALUES ('two')")
        words = taken.execute("SELECT word FROM words").fetchall()
        pool.put(taken)
        return written(ask, "Warn" if len(words) > 1 else "Calm", found)

    return answer


def a_weak_cache_of_the_first_run(search: Search, ask: Ask) -> Answer:
    made = weakref.WeakValueDictionary[str, Template]()
    alive = list[Template]()

    def answer(question: str) -> str:
        found = search(question)
        if "news" not in made:
            alive.append(Template(mode_of(found)))
            made["news"] = alive[-1]
        return written(ask, made["news"].text, found)

    return answer


def a_cache_of_files_by_too_little(search: Search, ask: Ask) -> Answer:
    folder = Path(HELD_OPEN.enter_context(tempfile.TemporaryDirectory()))

    def answer(question: str) -> str:
        found = search(question)
        path = folder / f"{hashlib.sha256(question.encode()).hexdigest()}.json"
        if not path.exists():
            path.write_text(json.dumps(mode_of(found)), encoding="utf-8")
        return written(ask, json.loads(path.read_text(encoding="utf-8")), found)

    return answer


def a_metric_that_is_logged_and_decides(search: Search, ask: Ask) -> Answer:
    metrics = {"most": 0}

    def answer(question: str) -> str:
        found = search(question)
        if len(found) > metrics["most"]:
            metrics["most"] = len(found)
            _LOG.info("the most so far: %d", metrics["most"])
        return written(ask, "Warn" if metrics["most"] > 1 else "Calm", found)

    return answer


class SlotChain:
    """Keeps what it is made with where no dict of attributes shows it."""

    __slots__ = ("mode",)

    def __init__(self, mode: str) -> None:
        self.mode = mode


class DictChain(dict[str, str]):
    """Has the same entries as any other, and attributes beside them."""

    def __init__(self, mode: str) -> None:
        super().__init__(name="news")
        self.mode = mode


def _of_the_first_run(kind: Callable[[str], SlotChain | DictChain], search: Search, ask: Ask) -> Answer:
    chains = dict[str, SlotChain | DictChain]()

    def answer(question: str) -> str:
        found = search(question)
        if "news" not in chains:
            chains["news"] = kind(mode_of(found))
        return written(ask, chains["news"].mode, found)

    return answer


def a_chain_with_slots_of_the_first_run(search: Search, ask: Ask) -> Answer:
    return _of_the_first_run(SlotChain, search, ask)


def a_dict_with_attributes_of_the_first_run(search: Search, ask: Ask) -> Answer:
    return _of_the_first_run(DictChain, search, ask)


def a_chain_of_each_kind_made_of_more(search: Search, ask: Ask) -> Answer:
    """The kind of question is the same in all runs, and the chain is made of what they found."""
    chains = dict[int, Chain]()

    def answer(question: str) -> str:
        found = search(question)
        kind = len(question)
        if kind not in chains:
            chains[kind] = Chain(ask, mode_of(found))
        return chains[kind].run(found)

    return answer


def a_cache_of_the_latest_by_too_little(search: Search, ask: Ask) -> Answer:
    kept = OrderedDict[str, str]()

    def mode_for(text: str, found: list[str]) -> str:
        if text in kept:
            kept.move_to_end(text)
            return kept[text]
        kept[text] = mode_of(found)
        if len(kept) > 50:
            kept.popitem(last=False)
        return kept[text]

    def answer(question: str) -> str:
        found = search(question)
        modes = {mode_for(each, found) for each in found}
        return written(ask, "Warn" if "Warn" in modes else "Calm", found)

    return answer


def a_client_of_each_thread_that_is_told(search: Search, ask: Ask) -> Answer:
    held = threading.local()

    def answer(question: str) -> str:
        found = search(question)
        if not hasattr(held, "client"):
            held.client = Client("Calm")
        if len(found) > 1:
            held.client.host = "Warn"
        return written(ask, held.client.host, found)

    return answer


def a_list_of_each_thread(search: Search, ask: Ask) -> Answer:
    held = threading.local()

    def answer(question: str) -> str:
        found = search(question)
        if not hasattr(held, "seen"):
            held.seen = list[str]()
        if len(found) > 1:
            held.seen.append("two")
        return written(ask, "Warn" if held.seen else "Calm", found)

    return answer


def a_metric_that_another_function_reads(search: Search, ask: Ask) -> Answer:
    class Metrics:
        def __init__(self) -> None:
            self.most = 0

        def note(self, found: list[str]) -> None:
            if len(found) > self.most:
                self.most = len(found)
                _LOG.info("the most so far: %d", self.most)

        def mode(self) -> str:
            return "Warn" if self.most > 1 else "Calm"

    metrics = Metrics()

    def answer(question: str) -> str:
        found = search(question)
        metrics.note(found)
        return written(ask, metrics.mode(), found)

    return answer


def a_chat_of_each_run_that_all_read(search: Search, ask: Ask) -> Answer:
    chats = defaultdict[str, list[str]](list)

    def answer(question: str) -> str:
        session = uuid.uuid4().hex
        found = search(question)
        chats[session].append(mode_of(found))
        return written(ask, max(chat[0] for chat in chats.values()), found)

    return answer


class Tuned:
    def __init__(self, mode: str) -> None:
        self.mode = mode


def _from_a_pool(pool: "queue.Queue[Tuned] | queue.SimpleQueue[Tuned]") -> Callable[..., Answer]:
    for mode in ("", "Warn", "Warn", "Warn", "Warn"):
        pool.put(Tuned(mode))

    def shape(search: Search, ask: Ask) -> Answer:
        def answer(question: str) -> str:
            found = search(question)
            if len(found) > 3:
                return written(ask, mode_of(found), found)
            taken = pool.get()
            try:
                return written(ask, taken.mode or mode_of(found), found)
            finally:
                pool.put(taken)

        return answer

    return shape


def a_queue_of_models(search: Search, ask: Ask) -> Answer:
    """Each run takes the next one, and gives it back at the end of the queue."""
    return _from_a_pool(queue.Queue())(search, ask)


def a_simple_queue_of_models(search: Search, ask: Ask) -> Answer:
    return _from_a_pool(queue.SimpleQueue())(search, ask)


GUILTY = (
    a_queue_of_models,
    a_simple_queue_of_models,
    a_chat_of_each_run_that_all_read,
    a_chain_with_slots_of_the_first_run,
    a_dict_with_attributes_of_the_first_run,
    a_chain_of_each_kind_made_of_more,
    a_cache_of_the_latest_by_too_little,
    a_client_of_each_thread_that_is_told,
    a_list_of_each_thread,
    a_metric_that_another_function_reads,
    a_chain_of_the_first_run,
    a_function_of_the_first_run,
    a_partial_of_the_first_run,
    a_chain_whose_second_build_differs,
    a_client_of_each_thread_made_of_a_run,
    a_pool_whose_connections_are_told,
    a_weak_cache_of_the_first_run,
    a_cache_of_files_by_too_little,
    a_metric_that_is_logged_and_decides,
)
