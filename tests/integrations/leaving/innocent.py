"""Applications that keep something over their runs, and by which no run goes: their rules are true and
proved."""

import io
import logging
import queue
import sqlite3
import sys
import tempfile
import threading
import uuid
import weakref
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path

from tests.integrations.leaving.parts import HELD_OPEN, Answer, Ask, Search, mode_of, written
from tests.integrations.leaving.set_aside import Client

_Chain = Callable[[list[str]], str]
_ON_THE_PATH = Path(tempfile.mkdtemp())
_LOG = logging.getLogger("rag_rule_metrics")


class Chain:
    """Asks a model, with a template that it is made with."""

    def __init__(self, ask: Ask, template: str) -> None:
        self.ask, self.template = ask, template

    def run(self, found: list[str]) -> str:
        return written(self.ask, self.template or mode_of(found), found)


def a_chain_in_a_dict(search: Search, ask: Ask) -> Answer:
    chains = dict[str, Chain]()

    def chain() -> Chain:
        if "news" not in chains:
            chains["news"] = Chain(ask, "")
        return chains["news"]

    return lambda question: chain().run(search(question))


def a_chain_of_functions_in_a_dict(search: Search, ask: Ask) -> Answer:
    chains = dict[str, _Chain]()

    def answer(question: str) -> str:
        found = search(question)
        if "news" not in chains:
            chains["news"] = lambda given: written(ask, mode_of(given), given)
        return chains["news"](found)

    return answer


def a_partial_in_a_dict(search: Search, ask: Ask) -> Answer:
    chains = dict[str, _Chain]()

    def tell(template: str, given: list[str]) -> str:
        return written(ask, template or mode_of(given), given)

    def answer(question: str) -> str:
        found = search(question)
        return chains.setdefault("news", partial(tell, ""))(found)

    return answer


def a_chain_of_each_kind(search: Search, ask: Ask) -> Answer:
    """Each kind of question has its own, made of nothing but the kind."""
    chains = dict[str, Chain]()

    def answer(question: str) -> str:
        found = search(question)
        mode = mode_of(found)
        if mode not in chains:
            chains[mode] = Chain(ask, mode)
        return chains[mode].run(found)

    return answer


def a_client_of_each_thread(search: Search, ask: Ask) -> Answer:
    held = threading.local()

    def client() -> Client:
        if not hasattr(held, "client"):
            held.client = Client("http://localhost")
        return held.client

    def answer(question: str) -> str:
        found = search(question)
        return written(ask, mode_of(found) if client().host else "Calm", found)

    return answer


def connection() -> sqlite3.Connection:
    made = sqlite3.connect(":memory:", check_same_thread=False)
    HELD_OPEN.callback(made.close)
    made.execute("CREATE TABLE words (word TEXT)")
    made.execute("INSERT INTO words VALUES ('reader')")
    made.commit()
    return made


def a_pool_of_connections(search: Search, ask: Ask) -> Answer:
    pool = queue.LifoQueue[sqlite3.Connection]()
    for _ in range(3):
        pool.put(connection())

    def answer(question: str) -> str:
        found = search(question)
        taken = pool.get()
        try:
            words = taken.execute("SELECT word FROM words").fetchall()
        finally:
            pool.put(taken)
        return written(ask, mode_of(found) if words else "", found)

    return answer


def a_queue_of_connections(search: Search, ask: Ask) -> Answer:
    pool = queue.Queue[sqlite3.Connection]()
    for _ in range(3):
        pool.put(connection())

    def answer(question: str) -> str:
        found, taken = search(question), pool.get()
        try:
            words = taken.execute("SELECT word FROM words").fetchall()
        finally:
            pool.put(taken)
        return written(ask, mode_of(found) if words else "", found)

    return answer


class Template:
    def __init__(self, text: str) -> None:
        self.text = text


def a_weak_cache_of_templates(search: Search, ask: Ask) -> Answer:
    made = weakref.WeakValueDictionary[str, Template]()

    def template(name: str) -> Template:
        found = made.get(name)
        if found is None:
            found = made[name] = Template(name)
        return found

    def answer(question: str) -> str:
        found = search(question)
        mode = mode_of(found)
        return written(ask, template(mode).text, found)

    return answer


def a_metric_that_is_logged_at_times(search: Search, ask: Ask) -> Answer:
    metrics = {"runs": 0, "documents": 0}

    def answer(question: str) -> str:
        found = search(question)
        metrics["runs"] += 1
        metrics["documents"] += len(found)
        if metrics["runs"] % 10 == 0:
            _LOG.info("%d runs, %d documents", metrics["runs"], metrics["documents"])
        return written(ask, mode_of(found), found)

    return answer


def a_metric_that_warns(search: Search, ask: Ask) -> Answer:
    class Metrics:
        def __init__(self) -> None:
            self.runs = 0
            self.most = 0

        def note(self, found: list[str]) -> None:
            self.runs += 1
            if len(found) > self.most:
                self.most = len(found)
                _LOG.info("the most so far: %d", self.most)
            if self.runs > 100:
                _LOG.warning("many runs: %d", self.runs)

    metrics = Metrics()

    def answer(question: str) -> str:
        found = search(question)
        metrics.note(found)
        return written(ask, mode_of(found), found)

    return answer


def a_cache_of_the_latest(search: Search, ask: Ask) -> Answer:
    kept = OrderedDict[str, int]()

    def length_of(text: str) -> int:
        if text in kept:
            kept.move_to_end(text)
            return kept[text]
        kept[text] = len(text)
        if len(kept) > 50:
            kept.popitem(last=False)
        return kept[text]

    def answer(question: str) -> str:
        found = search(question)
        long = [each for each in found if length_of(each) > 3]
        return written(ask, mode_of(long), found)

    return answer


def spans_that_are_kept(search: Search, ask: Ask) -> Answer:
    spans = deque[dict[str, object]](maxlen=100)

    def answer(question: str) -> str:
        found = search(question)
        spans.append({"name": "search", "found": len(found)})
        said = written(ask, mode_of(found), found)
        spans.append({"name": "ask", "said": len(said)})
        return said

    return answer


def a_database_that_was_filled_before(search: Search, ask: Ask) -> Answer:
    path = Path(tempfile.mkdtemp(), "words.db")
    made = sqlite3.connect(path)
    made.execute("CREATE TABLE words (word TEXT)")
    made.execute("INSERT INTO words VALUES ('reader')")
    made.commit()
    made.close()

    def answer(question: str) -> str:
        found = search(question)
        connection = sqlite3.connect(path)
        try:
            words = connection.execute("SELECT word FROM words").fetchall()
        finally:
            connection.close()
        return written(ask, mode_of(found) if words else "", found)

    return answer


def a_log_that_is_open(search: Search, ask: Ask) -> Answer:
    """What is held and never changed says nothing."""
    log = Path(tempfile.mkdtemp(), "log").open("w", encoding="utf-8")  # noqa: SIM115 -- it stays open
    HELD_OPEN.callback(log.close)

    def answer(question: str) -> str:
        found = search(question)
        log.write(f"{len(found)}\n")
        log.flush()
        return written(ask, mode_of(found), found)

    return answer


def a_log_in_memory(search: Search, ask: Ask) -> Answer:
    log = io.StringIO()

    def answer(question: str) -> str:
        found = search(question)
        log.write(f"{len(found)}\n")
        return written(ask, mode_of(found), found)

    return answer


def a_chat_of_each_run(search: Search, ask: Ask) -> Answer:
    chats = defaultdict[str, list[str]](list)

    def answer(question: str) -> str:
        session = uuid.uuid4().hex
        found = search(question)
        chats[session].append(mode_of(found))
        return written(ask, chats[session][-1], found)

    return answer


def a_module_that_is_looked_for(search: Search, ask: Ask) -> Answer:
    """Python lists the folders of its path for that, of which one has another new file in each run."""
    if str(_ON_THE_PATH) not in sys.path:
        sys.path.append(str(_ON_THE_PATH))

    def answer(question: str) -> str:
        found = search(question)
        (_ON_THE_PATH / uuid.uuid4().hex).touch()
        find_spec("no_module_has_this_name")
        return written(ask, mode_of(found), found)

    return answer


INNOCENT = (
    a_module_that_is_looked_for,
    a_chat_of_each_run,
    a_log_in_memory,
    a_chain_in_a_dict,
    a_chain_of_functions_in_a_dict,
    a_partial_in_a_dict,
    a_chain_of_each_kind,
    a_client_of_each_thread,
    a_pool_of_connections,
    a_queue_of_connections,
    a_weak_cache_of_templates,
    a_metric_that_is_logged_at_times,
    a_metric_that_warns,
    a_cache_of_the_latest,
    spans_that_are_kept,
    a_database_that_was_filled_before,
    a_log_that_is_open,
)
