"""Graphs that stop in the middle to ask a human: their output is no answer yet."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from rag_rule_explainer.wrapping.showing import shortened

_INTERRUPT = "__interrupt__"
_WAY_OUT = (
    "Explain a function that gives the answer: def ask(question): graph.invoke(question, config); return "
    "graph.invoke({resume}, config). Or make the graph without what stops it while it is explained"
)


def asked_a_human(runnable: object, output: Any, *, unreadable: bool = False) -> str:
    """Returns that a graph stopped to ask a human, and what to do; nothing where it did not.

    ``unreadable``: the output holds no answer. Only then a graph that is made with breakpoints is known
    to have stopped at one, as its output does not tell.
    """
    asked: Any = cast("Mapping[str, Any]", output).get(_INTERRUPT) if isinstance(output, Mapping) else ()
    if asked:
        listed = cast("list[Any]", asked if isinstance(asked, (list, tuple)) else [asked])
        said = shortened(repr(getattr(listed[0], "value", listed[0])), 200)
        resume = _WAY_OUT.format(resume="Command(resume=...)")
        return f"the application stopped to ask a human ({said}), so there is no answer yet. {resume}"
    names = ("interrupt_before_nodes", "interrupt_after_nodes")
    set_at = [each for name in names for each in _listed(getattr(runnable, name, ()))]
    if unreadable and set_at:
        resume = _WAY_OUT.format(resume="None")
        return (
            f"the application stopped at a breakpoint (interrupt_before or interrupt_after: "
            f"{', '.join(set_at)}), so there is no answer yet. {resume}"
        )
    return ""


def _listed(nodes: object) -> list[str]:
    if isinstance(nodes, str):
        return [nodes]
    return [str(each) for each in cast("Sequence[Any]", nodes)] if isinstance(nodes, Sequence) else []
