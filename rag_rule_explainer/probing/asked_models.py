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
"""A function that records the models that are called in a block. The block gets a function that returns
why a reply in it cannot be used; an empty text if all replies can."""

reply_checks: ContextVar[ReplyCheck | None] = ContextVar("rag_rule_reply_checks", default=None)
"""Records the replies of models in this context; None where no integration sees them."""

_PREDICATES = f"{__name__.partition('.')[0]}.predicates."


@contextmanager
def whole_replies(refused: Callable[[str], Exception]) -> Generator[None, None, None]:
    """Raises an error at the end of the block if a reply in the block is unusable: a model that was
    called gave a reply that is not whole, or all models failed. ``refused``: makes the error from the
    reason."""
    check = reply_checks.get()
    if check is None:
        yield
        return
    with check() as fault:
        yield
    if reason := fault():
        raise refused(reason)


def runs_users_code(part: Any) -> bool:
    """Returns True iff this predicate, or a part of it, is a function or another callable object that is
    not this package's. Such code may ask a model."""
    if isinstance(part, Mapping):
        part = tuple(cast("Mapping[Any, Any]", part).values())
    if isinstance(part, (tuple, list, set, frozenset)):
        return any(map(runs_users_code, cast("Collection[Any]", part)))
    if not type(part).__module__.startswith(_PREDICATES):
        return callable(part)
    held: Collection[str] = getattr(part, "__dataclass_fields__", ())
    return any(runs_users_code(getattr(part, each, None)) for each in held)
