"""This module records the requests to models that the judging of one explanation makes: their tokens, and
which replies are incomplete, so that no verdict may use them."""

from collections.abc import Callable, Collection, Generator
from contextlib import contextmanager
from typing import Any

from ..probing.asked_models import reply_checks
from ..probing.prices import TokensByModel
from ..probing.wholeness import ANY
from .application import Application
from .watches import ModelWatch

ALL_FAILED = "a model failed, and none replied"


class JudgeWatch:
    """A ``JudgeWatch`` records the models that are called outside of replays. Only judges call such
    models; replays count the tokens of their own models.

    ``accepts``: finish reasons with which the user accepts a reply. Unknown finish reasons are accepted
    as well.
    """

    def __init__(self, application: Application[Any], accepts: Collection[str]) -> None:
        self._application, self._accepts = application, (ANY, *accepts)
        self._others = self._watch()
        self._spent: dict[str, dict[str, int]] = {}

    @property
    def models(self) -> TokensByModel:
        """Returns the tokens spent on judging so far, by the name of the model and by kind."""
        spent = {model: dict(tokens) for model, tokens in self._spent.items()}
        _add(spent, self._others.models)
        return spent

    @contextmanager
    def watching(self) -> Generator[None, None, None]:
        """Records the models that are called in this context during the block. Each judgement that runs
        the user's code is recorded by itself, so that its verdict depends on its own replies alone."""
        before = reply_checks.set(self._judging)
        try:
            with self._application.watching(self._others):
                yield
        finally:
            reply_checks.reset(before)

    @contextmanager
    def _judging(self) -> Generator[Callable[[], str], None, None]:
        watch = self._watch()
        try:
            with self._application.watching(watch):
                yield lambda: _fault_of(watch)
        finally:
            _add(self._spent, watch.models)

    def _watch(self) -> ModelWatch:
        return self._application.watch(accepts=self._accepts)


def _fault_of(watch: ModelWatch) -> str:
    if watch.failed and not watch.said:
        return ALL_FAILED
    return watch.fault


def _add(spent: dict[str, dict[str, int]], models: TokensByModel) -> None:
    for model, tokens in models.items():
        account = spent.setdefault(model, {})
        for kind, count in tokens.items():
            account[kind] = account.get(kind, 0) + count
