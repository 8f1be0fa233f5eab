"""State that an explanation leaves is known to later explanations of applications that share the state,
and to no others."""

import sys
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from rag_rule_explainer.instrumentation.rewinding.outlasting import LeftFiles, note_files
from rag_rule_explainer.instrumentation.rewinding.rewinding import Rewinding

_MADE = "rag_rule_made_module"


def rewinding_of(application: Any) -> Rewinding:
    return Rewinding(application, lambda _: False, tuple)


def explained(run: Callable[[], object], application: Any) -> Rewinding:
    """Returns the state watch of a later explanation, after one whose runs did ``run``."""
    first = rewinding_of(application)
    run()
    first.remember("", ())
    return rewinding_of(lambda: application())


def remembering() -> tuple[SimpleNamespace, Callable[[], object]]:
    """Returns an object, and an application that adds the object's mode to what the object was told."""
    held = SimpleNamespace(mode="", told=list[str]())

    def application() -> object:
        held.told.append(held.mode)
        return held.told

    return held, application


def test_a_later_explanation_begins_with_the_state_from_before_the_first() -> None:
    held, application = remembering()

    def run() -> None:
        held.mode = "Warn"
        held.told.append("Warn")

    later = explained(run, application)
    assert later.is_useful()
    with later.earlier():
        assert (held.mode, held.told) == ("", [])
    assert (held.mode, held.told) == ("Warn", ["Warn"])
    held.mode, held.told[:] = "Calm", []
    assert not rewinding_of(application).is_useful(), "somebody else has changed it since"


def test_an_estimate_after_an_explanation_puts_back_its_own_changes_alone() -> None:
    held, application = remembering()

    def run() -> None:
        held.mode = "Warn"

    later = explained(run, application)
    held.told.append("a run of the estimate")
    with later.undone(tuple):
        pass
    assert (held.mode, held.told) == ("Warn", [])


def test_the_users_own_run_is_meant_to_leave_what_it_leaves() -> None:
    held = SimpleNamespace(mode="")
    first = rewinding_of(lambda: held.mode)
    first.is_live = True
    held.mode = "Warn"
    first.remember("", ())
    assert not rewinding_of(lambda: held.mode).is_useful()


def test_caches_and_modules_are_known_too(monkeypatch: pytest.MonkeyPatch) -> None:
    @lru_cache
    def mode(_: str) -> str:
        return "Calm"

    assert explained(lambda: mode("a"), lambda: mode("a")).is_useful()
    made = ModuleType(_MADE)
    made.__spec__ = None

    def run() -> None:
        monkeypatch.setitem(sys.modules, _MADE, made)

    later = explained(run, lambda: _MADE in sys.modules)
    assert later.is_useful()
    with later.earlier():
        assert _MADE not in sys.modules
    assert sys.modules[_MADE] is made


def test_a_setting_concerns_applications_that_may_have_set_it() -> None:
    before = sys.getrecursionlimit()

    def application() -> None:
        sys.setrecursionlimit(before + 77)

    try:
        left = explained(application, application).left()
        assert left is not None
        assert left.place == "sys.setrecursionlimit"
        assert rewinding_of(lambda: before).left() is None
    finally:
        sys.setrecursionlimit(before)
    assert rewinding_of(application).left() is None, "it is as before all explanations"


def test_a_file_concerns_applications_that_read_or_can_name_it(tmp_path: Path) -> None:
    flag = tmp_path / "alert.flag"
    flag.touch()
    note_files({str(flag): True})
    left = LeftFiles.now()
    assert left.read([str(tmp_path / "other"), str(flag)]) == str(flag)
    assert left.named([str(tmp_path), "alert.flag"]) == str(flag)
    assert left.named(["alert.flag"]) == "", "the folder has a name that nobody knows"
    assert left.named([str(tmp_path), "other.flag"]) == ""
    flag.write_text("written since", encoding="utf-8")
    assert LeftFiles.now().read([str(flag)]) == ""
