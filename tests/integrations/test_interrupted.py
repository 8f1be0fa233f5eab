"""Ctrl-C at random moments: before there is an answer nothing comes of it, after it an explanation that
can be read back; and nothing is asked afterwards."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.integrations.interrupted import ASKED, KINDS, WAYS

pytestmark = [
    pytest.mark.waits,
    pytest.mark.nightly,
    pytest.mark.skipif(os.name == "nt", reason="sends SIGINT"),
    pytest.mark.skipif(sys.version_info < (3, 11), reason="asyncio.run handles SIGINT from 3.11 on"),
]
TIMES = 25


def wait_for(number: int, file: Path) -> None:
    """Waits until so many requests are made."""
    patience = time.monotonic() + 60
    while number and time.monotonic() < patience:
        if file.exists() and len(file.read_text().splitlines()) >= number:
            return
        time.sleep(0.001)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", KINDS)
def test_at_random_moments(kind: str, way: str, tmp_path: Path) -> None:
    draw, asked, outcomes = random.Random(f"{kind} {way}"), tmp_path / "asked", list[str]()
    command = [sys.executable, "-m", "tests.integrations.interrupted", kind, way, str(TIMES)]
    with subprocess.Popen(
        command, env={**os.environ, ASKED: str(asked)}, stdout=subprocess.PIPE, encoding="utf-8"
    ) as program:
        assert program.stdout is not None
        for _ in range(TIMES):
            assert program.stdout.readline() == "BEGIN\n"
            wait_for(draw.choice([0, 1, 1, 1, 2, 3, 4, 5]), asked)
            time.sleep(draw.uniform(0, 0.02))
            program.send_signal(signal.SIGINT)
            how = json.loads(program.stdout.readline())
            assert how["later"] == 0, how
            # The first answer is there once something more was asked.
            assert how["read_back"] or (how["read_back"] is None and how["asked"] <= 1), how
            outcomes.append("explained" if how["read_back"] else "nothing")
    print({each: outcomes.count(each) for each in sorted(set(outcomes))})
    assert set(outcomes) == {"explained", "nothing"}
