"""This module defines a judge for tests, which needs no model."""

import json
import threading
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias, cast

from ..predicates.judge import JudgeReply, JudgeRequest, Matter
from ..predicates.wording import near_exact

Decide: TypeAlias = Callable[[str], bool | str]
"""A function that gets an answer and returns the verdict: True, False, "yes", "no" or "unsure"."""


class OfflineJudge:
    """An ``OfflineJudge`` is a judge that only looks for words in an answer. So equal answers always get
    the same verdict.

    With ``words``, the verdict is "yes" iff one of the words occurs in the answer. Without ``words``, it
    is "yes" iff the known right answer in the request occurs in the answer, and "unsure" if the request
    has none. Capitals, punctuation and accents do not matter. ``requests``: the requests received, in
    order. ``peak``: the largest number of requests in progress at the same time. The class is
    thread-safe.
    """

    def __init__(self, words: Iterable[str] = ()) -> None:
        self.words = tuple(words)
        self.judge_name = f"the offline judge of {', '.join(self.words) or 'the truth'}"
        self.requests: list[JudgeRequest] = []
        self.peak = 0
        self._running = 0
        self._lock = threading.Lock()

    def __call__(self, request: JudgeRequest) -> JudgeReply:
        """Returns an opinion on each candidate (an answer to be judged) of the request. The reply also
        states a number of tokens; each word counts as one token."""
        with self._lock:
            self.requests.append(request)
            self._running += 1
            self.peak = max(self.peak, self._running)
        try:
            reply = reply_to(request.content, self.verdict_on(request.matter))
        finally:
            with self._lock:
                self._running -= 1
        input_tokens = len(f"{request.instructions} {request.content}".split())
        return JudgeReply(reply, {"input_tokens": input_tokens, "output_tokens": len(reply.split())})

    @property
    def answers(self) -> list[str]:
        """Returns every answer that was judged, in order."""
        return [each.answer for request in self.requests for each in request.candidates]

    def verdict_on(self, matter: Matter) -> Decide:
        """Returns a function that judges answers. ``matter``: what must be decided about each answer,
        such as whether it agrees with a known right answer."""
        if not self.words and matter.truth is None:
            return lambda _: "unsure"
        wanted = [f" {near_exact(words)} " for words in self.words or (matter.truth or "",)]
        return lambda answer: any(words in f" {near_exact(answer)} " for words in wanted)


def reply_to(content: str, decide: Decide) -> str:
    """Returns a judge's reply, as JSON. The reply has an opinion on each candidate in ``content``, the
    content of a request; ``decide`` gives the verdicts."""
    candidates = cast("list[Mapping[str, Any]]", json.loads(content)["candidates"])
    opinions = [
        {"id": each["id"], "reason": "by its words", "verdict": _word(decide(each["answer"]))}
        for each in candidates
    ]
    return json.dumps({"opinions": opinions})


def _word(verdict: bool | str) -> str:
    return verdict if isinstance(verdict, str) else "yes" if verdict else "no"
