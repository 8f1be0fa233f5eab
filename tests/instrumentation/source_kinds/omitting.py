"""This module removes the omitted parts of a prompt outside of a replay, for tests."""

from collections.abc import Callable, Collection, Sequence

from rag_rule_explainer.instrumentation.requests.volatile import Steady
from rag_rule_explainer.instrumentation.source_kinds.new_texts import NewTexts
from rag_rule_explainer.instrumentation.source_kinds.prompt_omitting import PromptOmitting
from rag_rule_explainer.instrumentation.source_kinds.prompt_sources import PromptSources
from rag_rule_explainer.instrumentation.source_kinds.taking_out import TakingOut


def ignored(_ids: Collection[str], _recorded: bool) -> None:
    pass


def refused(reason: str) -> None:
    raise AssertionError(reason)


def omitting(
    known: PromptSources,
    kept: Collection[str],
    deliver: Callable[[Collection[str], bool], None] = ignored,
    *,
    doubt: Callable[[str], None] = refused,
    note: Callable[[str], None] = print,
    said: Sequence[str] = (),
    given: Sequence[str] = (),
    ignore: Sequence[str] = (),
) -> PromptOmitting:
    """Omits from requests alone, as if nothing could be taken out of the application."""
    omitted = {each.id for each in known.sources}.difference(kept)
    new_texts = NewTexts(lambda: said, given, Steady(ignore), doubt, note)
    return PromptOmitting(
        known, frozenset(kept), deliver, TakingOut(known, frozenset(omitted)), new_texts
    )
