"""What the tests of traces rely on."""

import pytest


@pytest.fixture(autouse=True)
def _an_event_loop_that_is_closed(own_loop: None) -> None:
    """Some replays run LlamaIndex, which makes a loop where there is none."""
