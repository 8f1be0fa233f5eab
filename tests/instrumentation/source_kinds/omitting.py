"""This module removes the omitted parts of a prompt outside of a replay, for tests."""

from collections.abc import Callable, Collection, Sequence

from rag_rule_explainer.instrumentation.source_kinds.left_texts import LeftTexts
from rag_rule_explainer.instrumentation.source_kinds.prompt_omitting import PromptOmitting
from rag_rule_explainer.instrumentation.source_kinds.prompt_sources import PromptSources


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
    said: Sequence[str] = (),
    given: Sequence[str] = (),
) -> PromptOmitting:
    left = LeftTexts(known, lambda: said, given, doubt)
    return PromptOmitting(known, frozenset(kept), deliver, left)
