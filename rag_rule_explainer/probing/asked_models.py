"""This module checks the replies of models that a user's own code asks while it judges an answer: in a
predicate of the user's, or in a judge that is a function.

The package sees such replies only through an integration, which sets ``reply_checks``. The models of an
integration's own judges are not seen here, because these judges check their replies themselves.
"""

from collections.abc import Callable, Collection, Generator, Mapping
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import Any, TypeAlias, cast

ReplyCheck: TypeAlias = Callable[[], AbstractContextManager[Callable[[], str]]]
"""A function that returns a context manager, which records the models that are called in its block. The
block gets a function, which returns the reason why a reply in the block cannot be used; the reason is
empty if all replies can be used."""

reply_checks: ContextVar[ReplyCheck | None] = ContextVar("rag_rule_reply_checks", default=None)
"""This function records the replies of models in the current context; None where no integration sees
these replies."""

_PREDICATES = f"{__name__.partition('.')[0]}.predicates."


@contextmanager
def whole_replies(refused: Callable[[str], Exception]) -> Generator[None, None, None]:
    """Raises an error at the end of the block if a model that was called in the block gave a reply
    that is not whole, or if all models failed. ``refused``: takes the reason, and returns the error to
    raise."""
    check = reply_checks.get()
    if check is None:
        yield
        return
    with check() as fault:
        yield
    if reason := fault():
        raise refused(reason)


def runs_users_code(part: Any) -> bool:
    """Returns True iff this predicate, or a part of it, is a function or another callable object that
    does not belong to this package. Such code may ask a model."""
    if isinstance(part, Mapping):
        part = tuple(cast("Mapping[Any, Any]", part).values())
    if isinstance(part, (tuple, list, set, frozenset)):
        return any(map(runs_users_code, cast("Collection[Any]", part)))
    if not type(part).__module__.startswith(_PREDICATES):
        return callable(part)
    held: Collection[str] = getattr(part, "__dataclass_fields__", ())
    return any(runs_users_code(getattr(part, each, None)) for each in held)
