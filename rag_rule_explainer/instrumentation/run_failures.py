"""This module makes the errors for runs whose answers must not be used."""

from collections.abc import Generator
from contextlib import contextmanager

from ..errors import RagRuleError
from ..probing.budget import summed
from ..probing.judging import error_text
from ..probing.replaying import UnusableReply
from .watches import ModelWatch


def unusable(reason: str, watch: ModelWatch, *, passing: bool | None = None) -> UnusableReply:
    """Returns the error for a run whose answer must not be used, with the tokens that the run spent.
    ``passing``: True if a repetition may help, False if it cannot, None if unknown."""
    models = watch.models
    return UnusableReply(reason, summed(models) or None, models or None, passing=passing)


def failed_reply(reason: str, watch: ModelWatch, cause: BaseException | None = None) -> UnusableReply:
    """Returns the error for a run that failed. If a model failed or its reply was incomplete, the error
    says that a repetition may help. ``cause``: the application's error, which becomes the ``__cause__``
    of the returned error; None if the application raised no error."""
    passing = True if watch.failed or watch.fault else None
    failure = unusable(reason, watch, passing=passing)
    failure.__cause__ = cause
    return failure


@contextmanager
def failing(watch: ModelWatch) -> Generator[None, None, None]:
    """Replaces an error of the application in the block by an UnusableReply, which has the tokens that
    the run spent."""
    try:
        yield
    except (RagRuleError, UnusableReply):
        raise
    except Exception as error:
        raise failed_reply(error_text(error), watch, error) from error
