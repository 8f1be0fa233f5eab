"""Measures what llama.cpp's own prompt cache evaluates, in prompt tokens, beside the token trie of all
prompts, which is what a cache without bounds would evaluate.

The model is asked about all subsets of sources of about 60 tokens, and answers in one token, so that
nearly all of its time is spent on prompts. ``python -m tests.model.prompt_cache CELL...`` measures cells
such as ``ours,8,4,off`` (or ``ours,8,4,off,1``: with one layer) that are not in the file yet.
"""

import asyncio
import json
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime, timezone
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import httpx

from demos.real_model.asked import read_questions
from demos.real_model.runtime import Endpoint, of_the_runtime, served, weights
from rag_rule_explainer import Explainer, Source, equals
from rag_rule_explainer.lattice import Lattice, Mask
from tests.model.fewer_layers import with_layers

FILE = Path(__file__).with_suffix(".json")
SENTENCES = 4
"""Sentences of a source; together they have about 60 tokens."""
QUESTION = "\n\nWhat is said about the ferry? In one word:"
RAM = {"off": 0, "on": 8192}
"""MiB for prompts that are in no slot; on is llama.cpp's usual value."""
ALL_LAYERS = 30


class Cell(NamedTuple):
    """What is measured: who orders the prompts, of how many sources, and what serves them."""

    way: str
    sources: int
    slots: int
    ram: str
    layers: int = ALL_LAYERS

    @classmethod
    def of(cls, written: str) -> "Cell":
        way, sources, slots, ram, *layers = written.split(",")
        return cls(way, int(sources), int(slots), ram, *map(int, layers))


@dataclass(frozen=True)
class Found:
    """``evaluated``: prompt tokens that the server evaluated. ``trie``: the least possible. ``cpu``:
    seconds of a processor, of the server and of what asks it."""

    evaluated: int
    trie: int
    seconds: float
    cpu: float

    @property
    def ratio(self) -> float:
        return self.evaluated / self.trie


def texts(count: int) -> list[str]:
    facts = [text for each in read_questions() for text in each.documents.values()]
    sentences = iter(facts * 2)
    return [" ".join(islice(sentences, SENTENCES)) for _ in range(count)]


@dataclass
class Asking:
    """One server, and what it said of the prompts."""

    root: str
    lattice: Lattice
    sources: Sequence[str]
    client: httpx.AsyncClient
    evaluated: int = 0
    asked: list[Mask] = field(default_factory=list[Mask])

    def prompt(self, mask: Mask) -> str:
        return "\n".join(self.sources[unit] for unit in self.lattice.units(mask)) + QUESTION

    async def ask(self, mask: Mask) -> str:
        assert mask not in self.asked
        self.asked.append(mask)
        body = {"prompt": self.prompt(mask), "n_predict": 1, "temperature": 0, "cache_prompt": True}
        reply = await self.post("completion", body)
        self.evaluated += reply["timings"]["prompt_n"]
        # What the model says in one token may be empty, which would be no answer, and be asked again.
        return "said"

    async def post(self, path: str, body: dict[str, Any]) -> Any:
        return (await self.client.post(f"{self.root}/{path}", json=body)).raise_for_status().json()

    async def trie(self) -> int:
        """How many tokens all prompts have, with a beginning that several share counted once."""
        prefixes = set[int]()
        for mask in self.asked:
            beginning = 0
            for token in (await self.post("tokenize", {"content": self.prompt(mask)}))["tokens"]:
                beginning = hash((beginning, token))
                prefixes.add(beginning)
        return len(prefixes)


async def in_order(asking: Asking, order: Sequence[Mask], slots: int) -> None:
    """Asks in this order, and about as many at once as there are slots."""
    masks: Iterator[Mask] = iter(order)

    async def work() -> None:
        for mask in masks:
            await asking.ask(mask)

    await asyncio.gather(*(work() for _ in range(slots)))


async def by_explaining(asking: Asking, slots: int) -> None:
    """Asks as this package does."""
    named = [Source(str(unit), text) for unit, text in enumerate(asking.sources)]

    async def replay(_question: str, shown: Sequence[Source]) -> str:
        return await asking.ask(asking.lattice.mask(int(source.id) for source in shown))

    explainer = Explainer(
        replay,
        predicate=equals("never said"),
        rules="retention",
        miner="exhaustive",
        concurrency=slots,
        check_repeatable=False,
    )
    await explainer.aexplain("What is said?", named, "never said")


def level_order(lattice: Lattice) -> list[Mask]:
    return sorted(lattice.masks(), key=lambda mask: (-mask.bit_count(), mask))


def random_order(lattice: Lattice) -> list[Mask]:
    return random.Random(0).sample(lattice.masks(), len(lattice.masks()))


ORDERS: dict[str, Callable[[Lattice], list[Mask]]] = {"level": level_order, "random": random_order}


def measured(cell: Cell) -> Found:
    """Measures one cell, on a server of its own."""

    async def main(endpoint: Endpoint) -> Found:
        async with httpx.AsyncClient(timeout=600) as client:
            root = endpoint.url.removesuffix("/v1")
            asking = Asking(root, Lattice(cell.sources), texts(cell.sources), client)
            began, cpu = time.monotonic(), time.process_time()
            if cell.way == "ours":
                await by_explaining(asking, cell.slots)
            else:
                await in_order(asking, ORDERS[cell.way](asking.lattice), cell.slots)
            took = round(time.monotonic() - began, 1), round(time.process_time() - cpu, 1)
            assert len(asking.asked) == 1 << cell.sources
            return Found(asking.evaluated, await asking.trie(), *took)

    with tempfile.TemporaryDirectory() as folder:
        whole = weights()
        gguf = (
            whole
            if cell.layers == ALL_LAYERS
            else with_layers(whole, cell.layers, Path(folder) / "few.gguf")
        )
        with served(gguf, cell.slots, RAM[cell.ram]) as endpoint:
            found = asyncio.run(main(endpoint))
    print(f"{cell}: {found}, {found.ratio:.3f} of the trie", flush=True)
    return found


def known() -> dict[Cell, Found]:
    """What is in the file."""
    told: Any = json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {"cells": []}
    return {Cell(*each["cell"]): Found(**each["found"]) for each in told["cells"]}


def write(cells: dict[Cell, Found]) -> None:
    about = {
        "measured": datetime.now(timezone.utc).date().isoformat(),
        "weights_sha256": sha256(weights().read_bytes()).hexdigest(),
        "runtime": of_the_runtime(),
        "cells": [{"cell": cell, "found": asdict(found)} for cell, found in sorted(cells.items())],
    }
    FILE.write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")


def tables() -> Iterator[str]:
    """The lines of the page about all of this."""
    cells = known()
    yield "| sources | slots, and at once | other prompts | ours | level order | random order |"
    yield "|---|---|---|---|---|---|"
    for sources, slots, ram in sorted({each[1:4] for each in cells if each.sources >= 8}):
        found = [with_most_layers(cells, way, sources, slots, ram) for way in ("ours", *ORDERS)]
        told = [f"{each.evaluated:,} ({each.ratio:.2f})" if each else "-" for each in found]
        kept = "kept" if ram == "on" else "not kept"
        yield f"| {sources} | {slots} | {kept} | {' | '.join(told)} |"


def with_most_layers(
    cells: dict[Cell, Found], way: str, sources: int, slots: int, ram: str
) -> Found | None:
    """What was found with the most layers that were measured."""
    of = [each for each in cells if each[:4] == (way, sources, slots, ram)]
    return cells[max(of)] if of else None


if __name__ == "__main__":
    for each in map(Cell.of, sys.argv[1:]):
        if each not in known():
            write({**known(), each: measured(each)})
