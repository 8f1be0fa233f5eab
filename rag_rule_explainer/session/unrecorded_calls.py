"""This module advises what to do if a condition is about tool calls that were not recorded."""

from .baseline import Established

_NO_CALLS = (
    "the condition is about tool calls, and those of the baseline were not recorded; return "
    "Answer(text, calls=(ToolCall(name, arguments), ...)), or let the models' replies be recorded"
)
_STORED = (
    "the condition is about tool calls, and the store has its answers to this question without them, as "
    "an older version stored them"
)
_ANEW = (
    "give the store another namespace (Store(url, namespace), --namespace), or prune this one (rag-rules "
    "store prune)"
)


def without_calls(established: Established, *, is_stored: bool) -> str:
    """Returns the warning about a baseline whose tool calls are not known.

    ``is_stored``: True if the answer was read from the store. The advice in the warning then depends on
    the answer that the application gave during this call of ``explain``, if there is one: this answer
    shows whether the application's tool calls are recorded now.
    """
    if established.baseline.logged or not is_stored:
        return _NO_CALLS
    if established.now is not None and established.now.calls is not None:
        return f"{_STORED}; {_ANEW}"
    return f"{_NO_CALLS}. As the store keeps this answer, then also {_ANEW}"
