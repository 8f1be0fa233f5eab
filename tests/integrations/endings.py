"""How the replies of many providers end, and applications whose models' replies are cut off at random.

The half of the one answer is the other answer: a reply that is cut off and passes for a whole one makes a
rule that is not true.
"""

import random
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from typing_extensions import override

from rag_rule_explainer import Explanation, Retries
from rag_rule_explainer.session.final_comparison import NOT_COMPARED_AGAIN
from tests.integrations.known import omission, retention
from tests.integrations.spoilt import BAD_NEWS, CONDITIONS, GOOD_NEWS, PREDICATE, Spoilt, subsets

QUICK = Retries(most=12, first_wait=0.0, longest_wait=0.0)

ANTHROPIC = ("max_tokens", "refusal", "pause_turn", "model_context_window_exceeded")
GEMINI = (
    "MAX_TOKENS",
    "SAFETY",
    "RECITATION",
    "LANGUAGE",
    "OTHER",
    "BLOCKLIST",
    "PROHIBITED_CONTENT",
    "SPII",
    "MALFORMED_FUNCTION_CALL",
    "IMAGE_SAFETY",
    "IMAGE_PROHIBITED_CONTENT",
    "IMAGE_RECITATION",
    "IMAGE_OTHER",
    "NO_IMAGE",
    "UNEXPECTED_TOOL_CALL",
    "TOO_MANY_TOOL_CALLS",
    "MODEL_ARMOR",
    "UNKNOWN_23",
)
BLOCKED = ("SAFETY", "OTHER", "BLOCKLIST", "PROHIBITED_CONTENT", "IMAGE_SAFETY", "JAILBREAK")
BEDROCK = (
    "max_tokens",
    "guardrail_intervened",
    "content_filtered",
    "model_context_window_exceeded",
    "malformed_model_output",
    "malformed_tool_use",
)
OPENAI = ("length", "content_filter")
OTHERS = (
    "model_length",
    "error",
    "ERROR_TOXIC",
    "USER_CANCEL",
    "insufficient_system_resource",
    "sensitive",
    "abort",
    "wobbly",
)
"""Of Mistral, Cohere, DeepSeek, Zhipu, vLLM, and one that nobody knows."""


@dataclass(eq=False)
class Cutting:
    """Decides which replies are cut off, and how, by the documents shown and how often they were.

    ``ends``: the ways in which replies may be cut off. ``clean``: how many replies to everything are
    whole beforehand, so that there is a baseline.
    """

    case: Spoilt
    ends: tuple[str, ...]
    clean: int = 0
    cut: Counter[str] = field(default_factory=Counter[str])
    hit: set[str] = field(default_factory=set[str])
    _came: Counter[str] = field(default_factory=Counter[str])
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def end(self, shown: str) -> str | None:
        """How the next reply to these is cut off; None where it is whole."""
        with self._lock:
            before = self._came[shown]
            self._came[shown] += 1
            draw = random.Random(f"{self.case.seed} {shown} {before}")
            # All are shown to the baseline, the repeat check and, at the end, the last comparison.
            if (shown == self.case.names and self.clean) or draw.random() >= self.case.share:
                return None
            end = draw.choice(self.ends)
            self.cut[end] += 1
            if self._came[shown] == 1 or shown == self.case.names:
                # A subset that comes again is the last comparison, of which no probe is made.
                self.hit.add(shown)
            return end


@dataclass(eq=False)
class Always(Cutting):
    """Cuts off every reply to the first document alone, in the one way there is."""

    @override
    def end(self, shown: str) -> str | None:
        return self.ends[0] if shown == self.case.names[0] else None


COUNTS = [r"\._came\b"]
"""This pattern matches what a ``Cutting`` counts. It decides when a reply is cut off, and is no memory of
an application."""


def half(text: str) -> str:
    """As much as arrives of a reply that is cut off."""
    return text[: (len(text) + 1) // 2]


def check_retried(cutting: Cutting, explanation: Explanation) -> None:
    """That every reply that was cut off was asked for again, and the rules are those of a clean run."""
    case = cutting.case
    assert case.is_the_truth(explanation), (case, cutting.cut, str(explanation))
    # Of the last comparison, whose replays find the counts as they were, all tries may be cut off.
    given_up = sum(each.startswith(NOT_COMPARED_AGAIN) for each in explanation.notes)
    assert explanation.counts.retries + given_up >= cutting.cut.total()
    assert not any(probe.error for probe in explanation.probes)
    assert all(
        answer.text in (BAD_NEWS, GOOD_NEWS) and answer.finish_reason in _WHOLE
        for probe in explanation.probes
        for answer in probe.answers
    )


_WHOLE = ("stop", "STOP", "end_turn", "COMPLETE", "completed", None)


def check_unknown(cutting: Cutting, explanation: Explanation) -> None:
    """That the probes whose replies were cut off are UNKNOWN, and no rule is untrue."""
    case = cutting.case
    for probe in explanation.probes:
        assert bool(probe.error) is ("".join(probe.kept) in cutting.hit), (case, cutting.hit, probe)
    bad = {kept for kept in subsets(case.names) if case.answer(kept) == BAD_NEWS}
    for rule in retention(explanation):
        assert all(kept in bad for kept in subsets(case.names) if rule <= kept), (case, rule)
    for rule in omission(explanation):
        assert not any(kept in bad for kept in subsets(case.names) if not rule & kept), (case, rule)


def cases(count: int, start: int = 0, share: float = 0.3) -> Iterator[Spoilt]:
    """Different ones."""
    for seed in range(start, start + count):
        yield Spoilt("abcd"[: 2 + seed % 3], list(CONDITIONS)[seed // 3 % 4], seed=seed, share=share)


def explained_all(
    explain: Callable[[Cutting, Retries], Explanation],
    ends: Iterable[str],
    count: int,
    start: int,
    share: float = 0.3,
) -> Counter[str]:
    """Explains so many times with replies cut off in these ways, half of them without trying again."""
    cut = Counter[str]()
    for number, case in enumerate(cases(count, start, share)):
        retried = number % 2 == 0
        # The repeat check, too, asks about everything.
        cutting = Cutting(case, tuple(ends), clean=0 if retried else 2)
        explanation = explain(cutting, QUICK if retried else Retries(0))
        (check_retried if retried else check_unknown)(cutting, explanation)
        cut += cutting.cut
    return cut


def unknown_of(explain: Callable[[Cutting, Retries], Explanation], end: str) -> str:
    """Why the only probe is UNKNOWN whose reply is always cut off in that way."""
    cutting = Always(Spoilt("ab", "pair"), (end,))
    explanation = explain(cutting, Retries(1, first_wait=0))
    (failed,) = [probe for probe in explanation.probes if probe.error]
    assert failed.kept == ("a",)
    assert not explanation.complete
    assert explanation.counts.retries == 1
    assert {each.reason for each in explanation.unresolved} <= {failed.error}
    return failed.error


__all__ = ["PREDICATE", "Always", "Cutting", "explained_all", "half", "unknown_of"]
