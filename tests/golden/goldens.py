"""What a golden file is written of: explanations by name, and files by name that something else writes.

Whatever is here uses the public names of the package alone: its rooms may be rebuilt, and these files are
to say then that nothing else has changed.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from rag_rule_explainer import Answer, Explainer, Explanation, Source, contains
from rag_rule_explainer.testing import ScriptedReplay

Make: TypeAlias = Callable[[], Explanation]
Explanations: TypeAlias = dict[str, Make]
Write: TypeAlias = Callable[[], Mapping[str, str]]
"""Returns the contents of files by their names; it runs in an empty folder, which is the current one."""
Script: TypeAlias = Callable[[frozenset[str]], Answer | str | Exception]

FILES = Path(__file__).parent / "files"
QUESTION = "When is the release?"


def numbered(count: int, **metadata: Callable[[int], Any]) -> list[Source]:
    """D1, D2 and so on, each with a text of its own; ``metadata``: by key, a function of the number."""
    return [
        Source(f"D{n}", f"Text {n}.", {key: value(n) for key, value in metadata.items()})
        for n in range(1, count + 1)
    ]


def needs(*groups: Sequence[str]) -> Script:
    """A script that says yes iff all of one of these groups are shown."""
    wanted = [frozenset(group) for group in groups]
    return lambda ids: "yes" if any(group <= ids for group in wanted) else "no"


PAIR = needs(("D1", "D2"))


def explaining(
    script: Script,
    sources: int | Sequence[Any],
    predicate: Any = None,
    *,
    baseline: Answer | str | None = None,
    pinned: Sequence[str] = (),
    **settings: Any,
) -> Make:
    """Returns what explains it; one replay at a time, so that nothing hangs on which is the faster."""

    def make() -> Explanation:
        fields: dict[str, Any] = {"concurrency": 1, **settings}
        condition = contains("yes") if predicate is None else predicate
        explainer = Explainer(ScriptedReplay(script), condition, **fields)
        listed = numbered(sources) if isinstance(sources, int) else sources
        return explainer.explain(QUESTION, listed, baseline, pinned=pinned)

    return make
