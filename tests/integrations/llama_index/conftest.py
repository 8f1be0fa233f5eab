"""What the tests of the LlamaIndex integration rely on."""

from collections.abc import Iterator
from typing import Any

import pytest
from llama_index.core import Settings
from llama_index.core.indices.prompt_helper import PromptHelper
from workflows import utils, workflow


@pytest.fixture(autouse=True)
def _an_event_loop_that_is_closed(own_loop: None) -> None:
    """Whatever a test runs synchronously."""


@pytest.fixture(autouse=True, scope="session")
def _tokens_are_words() -> Iterator[None]:
    """The tokenizer that LlamaIndex would load takes a second, and no test asks how it splits."""
    before = Settings._tokenizer  # pyright: ignore[reportPrivateUsage] -- nothing public shows it
    Settings.tokenizer = str.split
    yield
    Settings._tokenizer = before  # pyright: ignore[reportPrivateUsage] -- nothing public shows it


@pytest.fixture(autouse=True)
def prompts_that_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every prompt here fits: to count that, LlamaIndex starts threads with event loops for each of them.

    ``test_wire`` lets it count.
    """

    def room(*_: Any, **__: Any) -> int:
        return 4096

    monkeypatch.setattr(PromptHelper, "_get_available_chunk_size", room)


@pytest.fixture(autouse=True)
def steps_that_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """A workflow looks for its steps among all its attributes, a dozen times in each run: here, once.

    ``test_wire`` lets it look.
    """
    found: dict[type, list[str]] = {}

    def steps_of(of: object) -> dict[str, Any]:
        if type(of) not in found:
            found[type(of)] = list(utils.get_steps_from_instance(of))
        return {name: getattr(of, name) for name in found[type(of)]}

    # Some releases name it otherwise, and look as often as they like.
    monkeypatch.setattr(workflow, "get_steps_from_instance", steps_of, raising=False)
