"""This module explains one answer by several conditions, from the same replays."""

from collections.abc import Callable, Iterable, Sequence

from typing_extensions import Unpack

from ..explainer import Explainer
from ..explanation.explanation import Explanation
from ..predicates import PredicateLike
from ..probing.replaying import Baseline
from ..session.call_options import CallFields
from ..sources import SourceLike
from ..verdicts import Answer


def explain_each(
    explainer: Explainer,
    question: str,
    sources: Iterable[SourceLike],
    conditions: Callable[[Answer], Sequence[PredicateLike]],
    baseline: Baseline | Answer | str | None = None,
    **fields: Unpack[CallFields],
) -> tuple[Explanation, ...]:
    """Returns one explanation of the same answer for each condition, from the same replays. Blocks.

    If the searches for two conditions need the same answer, the application is run for it only once; no
    other replays are made. Limits apply to all searches together. The counts of an explanation, such as
    its tokens, are those of the replays that its own search made. ``conditions``: a function that gets
    the answer to explain, and returns the conditions. The other parameters and errors are those of
    ``Explainer.explain``.
    """
    from ..probing.loop import run_blocking

    series = explainer.series(question, sources, baseline, conditions, fields)
    return run_blocking(series.explanations, series.interrupt)


async def aexplain_each(
    explainer: Explainer,
    question: str,
    sources: Iterable[SourceLike],
    conditions: Callable[[Answer], Sequence[PredicateLike]],
    baseline: Baseline | Answer | str | None = None,
    **fields: Unpack[CallFields],
) -> tuple[Explanation, ...]:
    """Returns one explanation of the same answer for each condition, as ``explain_each`` does, but runs
    on the caller's event loop."""
    return await explainer.series(question, sources, baseline, conditions, fields).explanations()
