"""What the tests of the LlamaIndex integration rely on."""

import pytest


@pytest.fixture(autouse=True)
def _an_event_loop_that_is_closed(own_loop: None) -> None:
    """Whatever a test runs synchronously."""
