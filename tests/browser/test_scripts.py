"""The scripts of the report have types, which the compiler of TypeScript checks."""

import subprocess
from pathlib import Path

import pytest

from tests.browser.opening import MODULES

pytestmark = pytest.mark.browser


def test_their_types_are_right() -> None:
    compiler = MODULES / "typescript" / "bin" / "tsc"
    settings = Path(__file__).with_name("tsconfig.json")
    checked = ["node", compiler, "-p", settings]
    done = subprocess.run(checked, check=False, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "")
