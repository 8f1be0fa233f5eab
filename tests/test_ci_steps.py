"""A merge's run: steps beside others fail it as they would alone, and what they print is in one piece."""

import os
import re
import subprocess
from pathlib import Path
from select import select

import pytest

pytestmark = pytest.mark.waits
CI = Path(__file__).parents[1] / ".ci"
SLOWLY = 'slowly() { for each in 1 2 3; do echo "$1 $each"; sleep 0.02; done; }\n'


def run(tmp_path: Path, lines: str, *held: int) -> tuple[int, str]:
    if not CI.is_dir():
        pytest.skip("not a checkout")
    script = f'set -euo pipefail\nsource "{CI / "beside"}"\n{lines}\necho "all of it"\n'
    own = {**os.environ, "TMPDIR": str(tmp_path)}
    done = subprocess.run(
        ["bash", "-c", script],
        capture_output=True,
        text=True,
        env=own,
        pass_fds=held,
        check=False,
        timeout=200,
    )
    assert list(tmp_path.glob("tmp.*")) == []
    assert done.stderr == ""
    return done.returncode, done.stdout


def test_what_steps_print_is_not_mixed(tmp_path: Path) -> None:
    code, out = run(tmp_path, f"{SLOWLY}beside one slowly a\nbeside two slowly b\njoined two\njoined one")
    one, two = ("".join(f"{name} {place}\n" for place in (1, 2, 3)) for name in "ab")
    assert (code, out) == (0, f"--- two:\n{two}--- one:\n{one}all of it\n")


@pytest.mark.parametrize("failing", ["bash -c 'echo said >&2; exit 7'", "step"])
def test_a_step_that_fails_fails_the_run(tmp_path: Path, failing: str) -> None:
    step = "step() { bash -c 'echo said >&2; exit 7'; echo later; }\n"
    lines = f"{step}beside it {failing}\necho main\njoined it"
    assert run(tmp_path, lines) == (7, "main\n--- it:\nsaid\n")


def test_what_runs_beside_a_failure_is_ended_with_all_its_processes(tmp_path: Path) -> None:
    ends, held = os.pipe()
    step = "beside it bash -c 'echo begun; sleep 1000; echo never'"
    waiting = 'until [ -s "$_printed/it" ]; do sleep 0.02; done'
    code, out = run(tmp_path, f"{step}\n{waiting}\n(exit 3)\njoined it", held)
    assert (code, out) == (3, "--- it, when the run ended:\nbegun\n")
    os.close(held)
    # Its end comes when no process has the other end of the pipe any more.
    with os.fdopen(ends, "rb") as reading:
        assert select([reading], [], [], 100)[0]
        assert reading.read() == b""


def test_every_step_that_is_begun_is_joined() -> None:
    if not CI.is_dir():
        pytest.skip("not a checkout")
    script = (CI / "run").read_text(encoding="utf-8")
    begun, joined = (re.findall(rf'^{word} ("[^"]*"|\S+)', script, re.M) for word in ("beside", "joined"))
    assert len(begun) > 2
    assert sorted(begun) == sorted(joined)
