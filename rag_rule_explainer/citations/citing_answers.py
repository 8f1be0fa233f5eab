"""This module checks all citations of an answer, statement by statement, from the same replays."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from typing_extensions import Unpack

from ..allowed import taken
from ..explainer import Explainer
from ..probing.replaying import Baseline
from ..session.call_options import CallFields
from ..sources import Source, SourceLike, SourceSet
from ..verdicts import Answer
from .cite_options import CiteFields, CiteOptions, showing_cite_fields
from .cited_answer import CitedAnswer, StatementChecks
from .reading import CitableSources
from .several_conditions import aexplain_each, explain_each


@showing_cite_fields
def cite(
    explainer: Explainer,
    question: str,
    sources: Iterable[SourceLike],
    baseline: Baseline | Answer | str | None = None,
    *,
    pinned: Iterable[str] = (),
    **fields: Unpack[CiteFields],
) -> CitedAnswer:
    """Returns which citations of the application's answer are real, for each of its statements. Blocks.

    Each statement is one condition, and all of them are explained from the same replays: if two of them
    need the same answer, the application is run for it only once. ``explainer``: runs the application;
    its own condition is not used. The other parameters and errors are those of ``Explainer.explain`` and
    of ``CiteOptions``.
    """
    options = taken(CiteOptions, fields, cite, ("explainer", "question", "sources", "baseline", "pinned"))
    named, kept = SourceSet.of(sources, pinned).sources, tuple(pinned)
    checks = _checks(options, named, baseline)
    found = explain_each(explainer, question, named, checks.conditions, baseline, pinned=kept)
    return checks.cited_answer(found)


@showing_cite_fields
async def acite(
    explainer: Explainer,
    question: str,
    sources: Iterable[SourceLike],
    baseline: Baseline | Answer | str | None = None,
    *,
    pinned: Iterable[str] = (),
    **fields: Unpack[CiteFields],
) -> CitedAnswer:
    """Returns which citations of the answer are real, as ``cite`` does, but runs on the caller's event
    loop."""
    options = taken(CiteOptions, fields, cite, ("explainer", "question", "sources", "baseline", "pinned"))
    named, kept = SourceSet.of(sources, pinned).sources, tuple(pinned)
    checks = _checks(options, named, baseline)
    found = await aexplain_each(explainer, question, named, checks.conditions, baseline, pinned=kept)
    return checks.cited_answer(found)


def asking_citations(
    explainer: Explainer, options: CiteOptions, logged: Any, output: Any, *, of_next_action: bool = False
) -> Callable[..., CitedAnswer]:
    """Returns a function with the parameters of ``Explainer.explain`` that checks the citations of a
    recorded answer.

    ``output``: the output of the application. ``logged``: the logged answer or output that is checked
    instead; None to check ``output``. ``of_next_action``: True if only a model's last reply is replayed,
    in the recorded conversation.
    """

    def ask(
        question: str, sources: Sequence[Source], baseline: Baseline, **fields: Unpack[CallFields]
    ) -> CitedAnswer:
        checks = _checks(options, sources, baseline, output if logged is None else logged)
        checks.of_next_action = of_next_action
        found = explain_each(explainer, question, sources, checks.conditions, baseline, **fields)
        return replace(checks.cited_answer(found), output=output)

    return ask


def aasking_citations(
    explainer: Explainer, options: CiteOptions, logged: Any, output: Any, *, of_next_action: bool = False
) -> Callable[..., Awaitable[CitedAnswer]]:
    """Returns an async function that checks the citations of a recorded answer. The function has the
    parameters of ``Explainer.explain``, and runs on the caller's event loop."""

    async def ask(
        question: str, sources: Sequence[Source], baseline: Baseline, **fields: Unpack[CallFields]
    ) -> CitedAnswer:
        checks = _checks(options, sources, baseline, output if logged is None else logged)
        checks.of_next_action = of_next_action
        found = await aexplain_each(explainer, question, sources, checks.conditions, baseline, **fields)
        return replace(checks.cited_answer(found), output=output)

    return ask


def _checks(
    options: CiteOptions, named: Sequence[Source], baseline: object, output: Any = None
) -> StatementChecks:
    is_recorded = isinstance(baseline, Baseline)
    held_out = baseline.held_out if is_recorded else ()
    found = CitableSources(tuple(named), held_out, options.numbers_from)
    if is_recorded:
        found = found.as_seen(baseline.answer.seen)
    return StatementChecks(options, found, output)
