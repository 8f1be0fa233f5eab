"""This module calls the user's functions that read the question and the answer."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

from ..errors import InvalidInput, RagRuleError
from ..printable import with_article
from ..probing.judging import error_text


@dataclass(frozen=True, slots=True)
class UsersReading:
    """A ``UsersReading`` calls the function that the user gave as ``question_of`` or ``answer_of``. If
    the function fails, the error names this setting.

    ``name``: the name of the setting.
    """

    name: str
    function: Callable[[Any], Any]

    @classmethod
    def of(cls, name: str, function: Callable[[Any], Any]) -> "UsersReading":
        """Returns ``function`` if it is a ``UsersReading`` already; otherwise a ``UsersReading`` that
        calls it."""
        return function if isinstance(function, cls) else cls(name, function)

    def __call__(self, given: Any) -> Any:
        """Returns the result of the function. Raises InvalidInput if the function raises an error."""
        try:
            return self.function(given)
        except RagRuleError:
            raise
        except Exception as error:
            kind = type(cast("object", given)).__name__
            raise InvalidInput(
                f"{self.name} failed on {with_article(kind)}: {error_text(error)}"
            ) from error
