"""This module recognises when a graph has stopped to ask a human, so that its output is no answer yet."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from langchain_core.runnables import RunnableConfig

from rag_rule_explainer.instrumentation.showing import shortened

from .reading import is_graph_output

_INTERRUPT = "__interrupt__"
_WAY_OUT = (
    "Explain a function that gives the answer: def ask(question): graph.invoke(question, config); return "
    "graph.invoke({resume}, config). Or make the graph without what stops it while it is explained"
)
_NO_CHECKPOINTER = ". To be resumed, a graph needs a checkpointer, and this one has none"


@dataclass(frozen=True, slots=True)
class Paused:
    """A ``Paused`` wraps the output of a graph that has stopped before its end, to ask a human.

    ``before``: the nodes that would run next. ``interrupts``: the questions that the graph asked a
    human.
    """

    output: Any
    before: tuple[str, ...]
    interrupts: tuple[Any, ...]

    @classmethod
    def or_ended(cls, graph: Any, config: RunnableConfig, output: Any) -> Any:
        """Returns the output of a run, wrapped in a ``Paused`` if the graph has nodes that have not run
        yet.

        Without a checkpointer, this cannot be known, so the output is returned unchanged.
        """
        return cls._of(graph.get_state(_latest(config)) if _keeps_threads(graph) else None, output)

    @classmethod
    async def or_aended(cls, graph: Any, config: RunnableConfig, output: Any) -> Any:
        """Returns the output of a run, wrapped in a ``Paused`` if the graph has nodes that have not run
        yet. Calls async methods in the caller's event loop."""
        return cls._of(await graph.aget_state(_latest(config)) if _keeps_threads(graph) else None, output)

    @classmethod
    def _of(cls, state: Any, output: Any) -> Any:
        if state is None or not state.next:
            return output
        return cls(output, state.next, tuple(each for task in state.tasks for each in task.interrupts))


def _latest(config: RunnableConfig) -> RunnableConfig:
    """Returns the config without ``checkpoint_id``; it then refers to the thread's newest checkpoint."""
    place = {k: v for k, v in config.get("configurable", {}).items() if k != "checkpoint_id"}
    return {**config, "configurable": place}


def _keeps_threads(graph: Any) -> bool:
    """Returns True iff the graph has a checkpointer, which saves the state of a run that has stopped."""
    return hasattr(getattr(graph, "checkpointer", None), "get_tuple")


def asked_a_human(
    runnable: object, output: Any, keywords: Mapping[str, Any], *, unreadable: bool = False
) -> str:
    """Returns a message with advice if a graph stopped to ask a human; an empty text if it did not.

    ``keywords``: the keyword arguments of the run. ``unreadable``: True if no answer could be read from
    the output. Without a checkpointer, the output does not show whether the graph stopped at a
    breakpoint. The breakpoints of such a graph are therefore reported only if ``unreadable`` is True.
    """
    paused = output if isinstance(output, Paused) else None
    output = output if paused is None else paused.output
    interrupts: Any = () if paused is None else paused.interrupts
    if not interrupts and isinstance(output, Mapping):
        interrupts = cast("Mapping[str, Any]", output).get(_INTERRUPT)
    elif not interrupts and is_graph_output(output):
        interrupts = output.interrupts
    if interrupts:
        listed = cast("list[Any]", interrupts if isinstance(interrupts, (list, tuple)) else [interrupts])
        question = shortened(repr(getattr(listed[0], "value", listed[0])), 200)
        resume = _WAY_OUT.format(resume="Command(resume=...)")
        return f"the application stopped to ask a human ({question}), so there is no answer yet. {resume}"
    set_by = {
        name: _listed(keywords.get(name) or getattr(runnable, f"{name}_nodes", ()))
        for name in ("interrupt_before", "interrupt_after")
    }
    named = " and ".join(f"{name}={nodes}" for name, nodes in set_by.items() if nodes)
    if paused is None and not (unreadable and named):
        return ""
    is_before = paused is None or not named or named.startswith("interrupt_before")
    by = named or "interrupt_before or interrupt_after"
    place = f"before {', '.join(paused.before)}; set by {by}" if paused and is_before else f"set by {by}"
    given = [name for name in set_by if keywords.get(name)]
    leave_out = f"Leave out {' and '.join(given)} for an answer, or explain" if given else "Explain"
    resume = _WAY_OUT.format(resume="None").replace("Explain", leave_out, 1)
    keeps = "" if paused or _keeps_threads(runnable) else _NO_CHECKPOINTER
    return (
        f"the application stopped at a breakpoint ({place}), so there is no answer yet. {resume}{keeps}"
    )


def _listed(nodes: object) -> list[str]:
    if isinstance(nodes, str):
        return [nodes]
    return [str(each) for each in cast("Sequence[Any]", nodes)] if isinstance(nodes, Sequence) else []
