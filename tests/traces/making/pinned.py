"""What differs from run to run in a trace, taken out: random ids, times, paths of this machine."""

import json
import re
from base64 import b64encode
from collections.abc import Callable
from typing import Any

_NUMBERED: tuple[tuple[str, Callable[[int], str]], ...] = (
    (
        r"(?<![0-9a-f])[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b",
        lambda n: f"00000000-0000-7000-8000-{n:012x}",
    ),
    (r"(?<![.\w])[0-9a-f]{32}\b", lambda n: f"{n:032x}"),
    (r"(?<![.\w])[0-9a-f]{16}\b", lambda n: f"{n:016x}"),
    (r"(?<=\")[A-Za-z0-9+/]{22}==(?=\")", lambda n: b64encode(n.to_bytes(16, "big")).decode()),
    (r"(?<=\")[A-Za-z0-9+/]{11}=(?=\")", lambda n: b64encode(n.to_bytes(8, "big")).decode()),
)
_TIMES: tuple[tuple[str, Callable[[int], str]], ...] = (
    (r"\b1[78]\d{17}\b", lambda n: f"{1_790_000_000_000_000_000 + n * 1_000_000}"),
    (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+", lambda n: f"2026-01-01T00:00:00.{n:06d}"),
    (r"\b\d{8}T\d{12}Z", lambda n: f"20260101T000000{n:06d}Z"),
)
_DROPPED = ("runtime", "revision_id", "execution_duration_ms", "execution_duration", "seq")
_BLANKED = re.compile(
    r"mlflow\.(source\.|user|artifactLocation|trace\.size)|LANGSMITH|langgraph_.*_ns|checkpoint_ns"
)


def pinned(text: str, first: int = 1) -> str:
    """The trace with running numbers instead, from ``first`` on; times keep their order."""
    for pattern, made in _NUMBERED:
        known: dict[str, str] = {}

        def numbered(found: re.Match[str], known: Any = known, made: Any = made) -> str:
            return known.setdefault(found[0], made(len(known) + first))

        text = re.sub(pattern, numbered, text)
    for pattern, made in _TIMES:
        places = {time: made(n) for n, time in enumerate(sorted(set(re.findall(pattern, text))), start=1)}
        text = re.sub(pattern, lambda found, places=places: places[found[0]], text)
    text = re.sub(r"0x7f[0-9a-f]{10}", "0x0", text)
    text = re.sub(r"(llamaindex\.run_id\W{1,8})[\w-]{10}(?=\W)", r"\1RUN", text)
    text = re.sub(r"(time_to_first_chunk\W+value\W+doubleValue\W+)[\d.e-]+", r"\g<1>0.5", text)
    lines = [each for each in text.split("\n") if each]
    lines = lines if _is_json(lines[0]) else [text]
    return "".join(f"{json.dumps(_scrubbed(json.loads(line)))}\n" for line in lines)


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def _scrubbed(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            key: "" if _BLANKED.match(key) else _scrubbed(each)
            for key, each in value.items()
            if key not in _DROPPED
        }
    return [_scrubbed(each) for each in value] if isinstance(value, list) else value
