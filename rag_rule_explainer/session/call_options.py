"""This module defines the options of one call of ``explain``, other than its question, its sources and
its baseline."""

from collections.abc import Iterable
from dataclasses import dataclass

from typing_extensions import TypedDict

from ..allowed import Callee, called_as, checked_function, named_function, showing, takes
from ..errors import InvalidInput
from ..probing.replaying import Baseline, Replay
from ..progress.report import Progress
from ..verdicts import Answer, logged_answer


class CallFields(TypedDict, total=False):
    """A ``CallFields`` is a TypedDict that gives the keywords ``**fields`` their types: those of the
    fields of ``CallOptions``."""

    replay: Replay | None
    pinned: Iterable[str]
    progress: Progress | bool | None


@dataclass(frozen=True, slots=True)
class CallOptions:
    """A ``CallOptions`` holds the options of one call only.

    ``replay``: the replay to use; None for the explainer's own replay. ``pinned``: ids of sources that
    are retained in every replay and appear in no rule. ``progress``: receives the progress of this call,
    in addition to the explainer's own listener.
    """

    replay: Replay | None = None
    pinned: Iterable[str] = ()
    progress: Progress | bool | None = None


def showing_call_fields(method: Callee) -> Callee:
    """Decorates a method that takes the options of ``CallOptions`` as ``**fields``. The method's
    signature then lists each option. A call with a wrong name raises InvalidInput, which suggests the
    nearest correct name."""
    return called_as(method.__name__)(showing(CallOptions, CallFields)(method))


def check_question(question: object, *, may_be_empty: bool = False) -> None:
    """Raises InvalidInput unless the question is a text. ``may_be_empty``: True if it may be empty."""
    if not isinstance(question, str):
        raise InvalidInput(f"the question is {type(question).__name__}; give a str")
    if not (may_be_empty or question.strip()):
        raise InvalidInput("the question is empty; give the one that the answer is to")


def checked_replay(replay: Replay) -> Replay:
    """Returns the replay unchanged. Raises InvalidInput if it is no function of two arguments."""
    what = "a function of (question, sources) that returns the answer"
    checked_function("replay", replay, what)
    if not takes(replay, 2):
        raise InvalidInput(
            f"replay is {named_function(replay)}, which cannot be called with two arguments; give {what}"
        )
    return replay


def chosen_replay(given: Replay | None, own: Replay | None) -> Replay:
    """Returns the replay of a call: the given one, or else the explainer's own. Raises InvalidInput if
    there is none."""
    chosen = own if given is None else checked_replay(given)
    if chosen is None:
        raise InvalidInput("nothing to replay; pass replay=, a function of (question, sources)")
    return chosen


def as_baseline(given: Baseline | Answer | str | None) -> Baseline | None:
    """Returns a logged answer as a baseline; a baseline and None are returned unchanged. Raises
    InvalidInput for a logged answer that is empty."""
    if given is None or isinstance(given, Baseline):
        return given
    return Baseline(logged_answer(given), logged=True)


def as_listener(given: Progress | bool | None) -> Progress | None:
    """Returns the object that gets reports of the progress: the shared progress bar if the user passed
    True, None for False or None, and a function unchanged. Raises InvalidInput for anything else. For
    None, the module of the progress bar is not imported."""
    if given is None:
        return None
    from ..progress import as_progress

    return as_progress(given)
