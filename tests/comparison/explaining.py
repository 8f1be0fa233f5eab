"""Explanations to compare."""

from collections.abc import Callable, Sequence
from typing import Any

from rag_rule_explainer import Answer, Comparison, Explainer, Explanation, Source, contains
from rag_rule_explainer.testing import ScriptedReplay

RETENTION: dict[str, Any] = {"rules": "retention"}


def explained(
    says_yes: Callable[[frozenset[str]], Answer | str | Exception | bool],
    sources: Sequence[str | Source] = ("D1", "D2", "D3"),
    **options: Any,
) -> Explanation:
    """Of an application that says yes or no; the sources are named, and say who they are."""
    pinned = options.pop("pinned", ())
    question = options.pop("question", "question?")

    def script(shown: frozenset[str]) -> Answer | str | Exception:
        said = says_yes(shown)
        return ("yes" if said else "no") if isinstance(said, bool) else said

    given = [each if isinstance(each, Source) else Source(each, f"text of {each}") for each in sources]
    fields: dict[str, Any] = {
        "predicate": contains("yes"),
        "retries": 0,
        "check_repeatable": False,
        **options,
    }
    explainer = Explainer(ScriptedReplay(script), **fields)
    return explainer.explain(question, given, Answer("the baseline says yes"), pinned=pinned)


def needs(*names: str) -> Callable[[frozenset[str]], bool]:
    return lambda shown: shown.issuperset(names)


def told(comparison: Comparison) -> list[str]:
    """Its lines; what stands below a change follows it, after a dash and then semicolons."""
    lines: list[str] = []
    below = False
    for line in str(comparison).splitlines():
        if line.startswith("  "):
            lines[-1] += f"{'; ' if below else ' — '}{line.strip()}"
        else:
            lines.append(line)
        below = line.startswith("  ")
    return lines
