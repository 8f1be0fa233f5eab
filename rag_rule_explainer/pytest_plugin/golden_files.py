"""This module defines the assertion that the rules of an answer are the same as in a golden file."""

import json
import os
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from pydantic import ValidationError

from ..allowed import brief
from ..comparison import diff
from ..comparison.comparing import kinds_left_out
from ..errors import InvalidInput, Undecided
from ..explanation.explanation import Explanation
from ..printable import shortened
from .running import RUNNING_TEST

_REWRITE = "pytest --update-explanations writes it"
_A_FILE = "give assert_stable the path of a file that can be read and written"


def assert_stable(explanation: Explanation, golden: str | os.PathLike[str]) -> None:
    """Passes iff the explanation has the same rules, with the same evidence, as the explanation in a
    golden file. The two are compared as ``rag-rules diff`` compares them: their times, their costs and
    the version of this package are ignored.

    ``golden``: the path of the file. A relative path starts at the folder of the test. With ``pytest
    --update-explanations``, nothing is asserted: the file is written if its rules differ.

    Raises AssertionError, with the changes, if the rules differ, and also if the file does not exist.
    Raises Undecided if the explanations do not decide whether the rules differ, for example because they
    are about other questions, conditions or pinned sources. Raises InvalidInput for a file that cannot be
    read, or that contains no explanation.
    """
    __tracebackhide__ = True
    if not isinstance(explanation, Explanation):  # pyright: ignore[reportUnnecessaryIsInstance] -- users may pass other types
        raise InvalidInput(f"an Explanation is needed, and {brief(explanation)} was given")
    path = RUNNING_TEST.path(os.fspath(golden))
    if RUNNING_TEST.rewrites:
        _rewrite(explanation, path)
        return
    saved = _read(path)
    if saved is None:
        raise AssertionError(f"there is no golden file {path}; {_REWRITE}")
    if unlike := _why_unlike(saved, explanation):
        raise Undecided(f"undecided whether the rules are those of {path.name}: {unlike}")
    comparison = diff(saved, explanation)
    if comparison.fails() is None:
        raise Undecided(f"undecided whether the rules are those of {path.name}:\n{comparison}")
    if comparison.fails():
        raise AssertionError(f"other rules than in {path.name} ({_REWRITE} anew):\n{comparison}")


def _why_unlike(saved: Explanation, explanation: Explanation) -> str:
    """Returns the reason why the two explanations cannot be compared; empty if at least one kind of rule
    (retention or omission) can be compared."""
    reasons = dict(kinds_left_out(saved, explanation))
    kinds = {*saved.predicates, *explanation.predicates} - reasons.keys()
    return "" if kinds else "; ".join(f"{kind.value} rules: {why}" for kind, why in reasons.items())


def _read(path: Path) -> Explanation | None:
    """Returns the explanation in a golden file; None if there is no such file."""
    try:
        return Explanation.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror}; {_A_FILE}") from error
    except ValidationError as error:
        said = shortened(str(error.errors(include_url=False)[0]["msg"]), 300)
        raise InvalidInput(f"{path} has no explanation: {said}; {_REWRITE} anew") from error


def _rewrite(explanation: Explanation, path: Path) -> None:
    itself = diff(explanation, explanation)
    if itself.fails() is None:
        raise Undecided(f"{path.name} was not written: undecided which rules there are:\n{itself}")
    if _is_same(path, explanation):
        return
    written = json.dumps(_lasting(explanation).model_dump(mode="json"), indent=1)
    # Several processes of pytest-xdist may write this file at the same time, and a process may end while
    # it writes. So each process writes a file of its own, and renames it when it is complete.
    begun = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        begun.write_text(f"{written}\n", encoding="ascii")
        begun.replace(path)
    except OSError as error:
        with suppress(OSError):
            begun.unlink()
        raise InvalidInput(f"{path} cannot be written: {error.strerror}; {_A_FILE}") from error


def _is_same(path: Path, explanation: Explanation) -> bool:
    try:
        saved = _read(path)
        return saved is not None and diff(saved, explanation).fails() is False
    except InvalidInput:
        return False


def _lasting(explanation: Explanation) -> Explanation:
    """Returns the explanation without the values that differ from run to run. These are its id, its time,
    the durations of the replays, and the tokens that models used."""
    probes = tuple(replace(probe, latency=None) for probe in explanation.probes)
    return explanation.model_copy(update={"id": "", "made_at": "", "models": (), "probes": probes})
