"""``rag-rules``, run in this process."""

import io
import json
import os
from collections.abc import Iterable, Mapping
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any
from unittest.mock import patch

from rag_rule_explainer.cli import main

_WISHES = ("OPENAI_API_KEY", "OPENAI_BASE_URL", "FORCE_COLOR", "GITHUB_ACTIONS", "PY_COLORS")


def rag_rules(*arguments: object) -> tuple[int, str]:
    """The exit code, and what is printed to stdout; without a key, and without a wish for colours."""
    out, plain = io.StringIO(), {name: told for name, told in os.environ.items() if name not in _WISHES}
    code: object = 0
    with (
        patch.dict(os.environ, plain, clear=True),
        redirect_stdout(out),
        redirect_stderr(io.StringIO()) as err,
    ):
        try:
            main([str(argument) for argument in arguments])
        except SystemExit as end:
            code = end.code
    if code == 2:
        raise ValueError(f"rag-rules {' '.join(map(str, arguments))}: {err.getvalue()}")
    return int(str(code or 0)), out.getvalue()


def jsonl(name: str, records: Iterable[Mapping[str, Any]]) -> Path:
    """A file of so many lines, in the current folder."""
    Path(name).write_text("".join(f"{json.dumps(each)}\n" for each in records), encoding="utf-8")
    return Path(name)
