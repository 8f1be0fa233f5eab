"""This module makes judges that reply with a list of booleans, one for each candidate, as the paper's
judge does. This form of reply is weaker than the package's own, because nothing in it says which boolean
belongs to which candidate.

A reply is a verdict only if it is one list, exactly as long as the candidates, and nothing else. A reply
that was cut off gives no verdict, because more might have followed. The list may be written as in Python
or JSON, as one boolean per line (perhaps numbered), or with commas; it may be in a code fence or after
"Output:". If a reasoning model writes its thoughts between <think> and </think> before the list, they
are skipped.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from ..errors import InvalidInput
from ..late_patterns import compiled_late
from ..predicates import JudgeReply, JudgeRequest
from ..printable import printable, shortened
from ..probing.replaying import UnusableReply
from ..probing.wholeness import Ending, ending_of
from ..sources import Source
from ..verdicts import Answer
from .prompts import JudgePrompt

_LONGEST: Final = 100_000
_SHOWN: Final = 100
_THOUGHTS: Final = compiled_late(r"\A<think>.*</think>\s*", re.DOTALL)
_FENCE: Final = "```"
_OPENS: Final = compiled_late(r"```[ \t]*(?:json|python|text)?[ \t]*", re.IGNORECASE)
_LABEL: Final = compiled_late(r"\Aoutput[ \t]*:\s*", re.IGNORECASE)
_LIST: Final = compiled_late(r"\[([^\[\]()]*)\]|\(([^\[\]()]*)\)")
_BOOLEAN: Final = compiled_late(r"""(["']?)(true|false)\1""", re.IGNORECASE)
_LINE: Final = compiled_late(r"(?:(\d{1,6})[.):][ \t]*|[-*][ \t]+)?(.*)")

PromptSender = Callable[[str, Sequence[Source]], Answer]


@dataclass(frozen=True, slots=True, eq=False)
class ListJudge:
    """A ``ListJudge`` is a judge that sends a prompt of the user's choice.

    ``ask``: sends a prompt, and returns the reply. ``judge_name``: identifies the judge in stored
    judgements. ``is_unmarked``: always True. The prompt does not mark answers as data, so no rule that
    depends on its judgements is called proved.
    """

    ask: PromptSender = field(repr=False)
    prompt: JudgePrompt
    judge_name: str | None
    model_name: str | None
    is_unmarked: bool = True

    def __call__(self, request: JudgeRequest) -> JudgeReply:
        """Returns the verdicts on the candidates. Raises UnusableReply for a reply that is no list of
        booleans of the right length, and InvalidInput for a condition without a truth."""
        matter = request.matter
        if matter.truth is None:
            raise InvalidInput(
                "a judge with a list of booleans compares answers with a truth; use consistent_with"
            )
        texts = [candidate.answer for candidate in request.candidates]
        answer = self.ask(self.prompt.filled(matter.question, matter.truth, texts), ())
        is_cut_off = ending_of(answer.finish_reason) is Ending.LENGTH
        verdicts = None if is_cut_off else booleans_in(answer.text, len(texts))
        if verdicts is None:
            begins = shortened(printable(answer.text), _SHOWN)
            what = "is cut off" if is_cut_off else f"is no list of {len(texts)} booleans"
            raise UnusableReply(
                f"the judge's reply {what}; it begins with {begins!r}", answer.usage, passing=False
            )
        return JudgeReply(dict(zip(request.ids, verdicts, strict=True)), answer.usage)


def booleans_in(reply: str, count: int) -> tuple[bool, ...] | None:
    """Returns the booleans of a reply; None unless the reply is one list of exactly ``count`` booleans
    and nothing else. Never raises."""
    if len(reply) > _LONGEST:
        return None
    text = _THOUGHTS.sub("", reply.strip())
    found = _values(_unfenced(_LABEL.sub("", text)))
    return found if found is not None and len(found) == count else None


def _unfenced(text: str) -> str:
    # A regular expression that matches a whole fence would take quadratic time on a reply with many
    # tabs.
    first, _, rest = text.partition("\n")
    fenced = _OPENS.fullmatch(first) and rest.endswith(_FENCE)
    return (rest.removesuffix(_FENCE) if fenced else text).strip()


def _values(text: str) -> tuple[bool, ...] | None:
    listed = _LIST.fullmatch(text)
    if listed:
        return _read(_separated(listed[1] if listed[1] is not None else listed[2]))
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if len(lines) == 1 and "," in text:
        return _read(_separated(text))
    parts = [_LINE.fullmatch(line) for line in lines]
    numbers = [part[1] for part in parts if part]
    in_order = [str(place) for place in range(1, len(lines) + 1)]
    if any(numbers) and numbers != in_order:
        return None
    return _read([part[2].strip().removesuffix(",").strip() for part in parts if part])


def _separated(text: str) -> list[str]:
    parts = [part.strip() for part in text.split(",")]
    # Python allows a comma after the last value, so an empty last part is dropped.
    return parts[:-1] if len(parts) > 1 and not parts[-1] else parts


def _read(parts: Sequence[str]) -> tuple[bool, ...] | None:
    found = [_BOOLEAN.fullmatch(part) for part in parts]
    read = [match[2].lower() == "true" for match in found if match]
    return tuple(read) if read and len(read) == len(parts) else None
