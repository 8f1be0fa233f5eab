"""This module decides whether a model's reply is whole, by the finish reason in the provider's data.

    finish reason, as providers write it                         the reply
    stop, end_turn, STOP_SEQUENCE, eos, COMPLETE, completed ...   is whole
    tool_calls, tool_use, function_call                           calls a tool: a step, no answer
    length, max_tokens, max_output_tokens ...                     was cut off at its length limit
    content_filter, SAFETY, RECITATION, guardrail_intervened ...  was cut off, or held back, by a filter
    refusal                                                       refuses to answer
    incomplete, error, pause_turn, MALFORMED_FUNCTION_CALL ...    ended before its end
    none, from a provider that always gives one                   is incomplete: the connection broke
    any other reason                                              is not known to be whole

Only a whole reply is an answer; a tool call is a step before the answer. Case and separators do not
matter: ``FinishReason.MAX_TOKENS`` means the same as ``max-tokens``. Gemini's older clients give numbers
as reasons. If each chunk of a stream gives the reason, clients join them to words such as ``STOPSTOP``.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum, IntEnum
from functools import lru_cache
from typing import Any, cast

from ..allowed import brief
from ..errors import InvalidInput
from ..printable import printable, shortened
from ..tool_calls import ToolCall

EMPTY_REPLY = "a model reply was empty"
AT_LENGTH = "a model reply was cut off at its length limit"
CUT_OFF = f"{AT_LENGTH} (allow_length=True takes it as an answer)"
HALF = "a model reply ended without a finish_reason, as it does where a connection breaks"
CALLS = "the last model reply calls a tool, where an answer was due"
"""The text of the error for a last reply that calls a tool, and so is no answer. A model's replies vary,
so a retry may give an answer."""

ANY = "*"
"""The entry of ``accept_finish_reasons`` by which the user accepts all finish reasons that this module
does not know."""
_LONGEST = 80


class Ending(IntEnum):
    """An Ending is the meaning of a finish reason. The members are in order from best to worst, so
    ``max`` finds the worst of several endings."""

    UNSAID = 0
    WHOLE = 1
    CALLS = 2
    UNKNOWN = 3
    UNFINISHED = 4
    LENGTH = 5
    FILTERED = 6
    REFUSED = 7


_WORDS: Mapping[Ending, str] = {
    Ending.UNSAID: "none null unspecified",
    Ending.WHOLE: """stop stopsequence stopsequences stopword stopwords stopbefore endturn endofturn
        endoftext endtoken end eos eostoken eot complete completed finish finished done normal
        alternativestatusfinal""",
    Ending.CALLS: "toolcall toolcalls tooluse functioncall functioncalls",
    Ending.UNFINISHED: """incomplete inprogress queued pauseturn paused failed error errorlimit timeout
        timelimit cancel cancelled canceled usercancel abort aborted interrupted notfinished other
        imageother noimage language malformedfunctioncall malformedtooluse malformedmodeloutput
        malformedresponse unexpectedtoolcall newtoolcall toomanytoolcalls missingthoughtsignature
        insufficientsystemresource networkerror""",
    Ending.LENGTH: """length maxtokens maximumtokens maxoutput maxoutputtokens maxcompletiontokens
        maxnewtokens maxlen maxlength modellength maxcontext tokenlimit truncated
        modelcontextwindowexceeded alternativestatustruncatedfinal""",
    Ending.FILTERED: """contentfilter contentfiltered filtered moderation safety imagesafety recitation
        imagerecitation blocklist blocked prohibitedcontent imageprohibitedcontent spii modelarmor
        jailbreak blacklist sensitive alternativestatuscontentfilter errortoxic guardrail
        guardrails guardrailintervened intervened""",
    Ending.REFUSED: "refusal refused",
}
_KNOWN = {word: ending for ending, words in _WORDS.items() for word in words.split()}
_NUMBERS = {
    "0": Ending.UNSAID,
    "1": Ending.WHOLE,
    "2": Ending.LENGTH,
    "3": Ending.FILTERED,
    "4": Ending.FILTERED,
}
"""The meanings of numbers as finish reasons: unspecified, STOP, MAX_TOKENS, SAFETY and RECITATION. Only
numbers that mean the same in all of Gemini's clients are listed."""
_SEVERAL = re.compile("|".join(sorted(_KNOWN, key=len, reverse=True)))
_BLOCKED = "blockreason"
_BEFORE = re.compile("^(finish|stop)?reason")
"""The prefixes that the protocols of Google and xAI put before the reason itself."""


@dataclass(frozen=True, slots=True)
class Said:
    """A ``Said`` holds the data of one reply of a model that show whether the reply is whole.

    ``reason``: the finish reason, as the provider writes it; None if it gives none. ``refuses``: True if
    a field other than the text marks the reply as a refusal. ``more``: True if the reply has content
    that is not text, such as an image. ``reports``: True if the provider gives a finish reason for every
    reply, so that a reply without one is incomplete. ``shown_as``: the text that the framework may show
    in place of an empty reply.

    ``calls``: True if the reply calls a tool. ``called``: its tool calls, as far as they can be read.
    ``run_elsewhere``: those tool calls that the application does not run, because the provider has run
    them or because they are a structured answer. ``apart``: True if the model was called within a call
    of another model or within a retrieval; its tool calls are then not counted as the application's.
    ``within``: the names of the tools inside which the model was called, the outermost first.
    """

    text: str
    reason: str | None = None
    calls: bool = False
    refuses: bool = False
    more: bool = False
    reports: bool = False
    shown_as: str = ""
    called: tuple[ToolCall, ...] = ()
    run_elsewhere: tuple[ToolCall, ...] = ()
    apart: bool = False
    within: tuple[str, ...] = ()

    @property
    def to_run(self) -> tuple[ToolCall, ...]:
        """Returns the reply's tool calls that the application may run: all but those in
        ``run_elsewhere``."""
        return tuple(each for each in self.called if each not in self.run_elsewhere)

    @property
    def is_call(self) -> bool:
        """Returns True if the reply calls a tool, so it is not the answer."""
        return self.calls or ending_of(self.reason) is Ending.CALLS


def ending_of(reason: object) -> Ending:
    """Returns the meaning of a finish reason. ``reason``: a word, a member of an enumeration, a number,
    or None."""
    return _meaning(canonical(reason))


@lru_cache(maxsize=1024)
def _meaning(word: str) -> Ending:
    known = _KNOWN.get(word) or _NUMBERS.get(word)
    if known is not None:
        return known
    if not word:
        return Ending.UNSAID
    if word.startswith(_BLOCKED):
        return Ending.FILTERED
    words = _SEVERAL.findall(word)
    if "".join(words) != word:
        return Ending.UNKNOWN
    return max(_KNOWN[word] for word in words)


def fault_of(said: Said, accepts: Collection[str] = ()) -> str:
    """Returns a text that says why a reply is not whole. The text is empty if the reply is whole, or if
    it calls a tool, because it is then a usual step before the answer.

    ``accepts``: finish reasons with which a reply is regarded as whole, in addition to the usual ones.
    "length" means every length limit, ``ANY`` all unknown reasons.
    """
    ending = ending_of(said.reason)
    if said.refuses:
        return "a model refused to answer"
    if ending not in _FINE and not _accepted(said.reason, ending, accepts):
        return _worded(ending, said.reason, "a model reply")
    if not (said.text.strip() or said.is_call or said.more):
        return EMPTY_REPLY
    if ending is Ending.UNSAID and said.reports:
        return HALF
    return ""


def answer_fault(reason: str | None, *, structured: bool, accepts: Collection[str] = ()) -> str:
    """Returns a text that says why an answer with this finish reason is not whole; empty if it is whole.
    ``structured``: True if the answer has a value in addition to its text. A model may give such a value
    by a tool call. So a finish reason that means a tool call is then no fault."""
    ending = ending_of(reason)
    if ending is Ending.CALLS:
        return "" if structured else CALLS
    if ending in _FINE or _accepted(reason, ending, accepts):
        return ""
    if ending is Ending.LENGTH:
        return "the answer was cut off at its length limit (accept_finish_reasons=('length',) takes it)"
    return _worded(ending, reason, "the answer")


def checked_reasons(given: object) -> tuple[str, ...]:
    """Returns the user's ``accept_finish_reasons`` as a tuple. Raises InvalidInput for a reason that is
    known to mean that a reply is not whole."""
    listed: Any = (given,) if isinstance(given, str) else given
    if not isinstance(listed, (tuple, list, set, frozenset)):
        raise InvalidInput(f"accept_finish_reasons is {brief(given)}; give reasons, such as ('length',)")
    reasons = tuple(cast("Iterable[object]", listed))
    for reason in reasons:
        if not isinstance(reason, str) or not canonical(reason):
            raise InvalidInput(
                f"accept_finish_reasons has {reason!r}; give a reason as its model writes it"
            )
        if ending_of(reason) in (Ending.UNFINISHED, Ending.FILTERED, Ending.REFUSED):
            raise InvalidInput(
                f"accept_finish_reasons has {reason!r}, and a reply that ends for it is not whole; leave "
                "it out"
            )
    return cast("tuple[str, ...]", reasons)


_FINE = (Ending.UNSAID, Ending.WHOLE, Ending.CALLS)


def _accepted(reason: object, ending: Ending, accepts: Collection[str]) -> bool:
    if not accepts:
        return False
    if ending is Ending.UNKNOWN and ANY in accepts:
        return True
    word = canonical(reason)
    return any(word == canonical(each) or ending_of(each) is ending is Ending.LENGTH for each in accepts)


def _worded(ending: Ending, reason: object, what: str) -> str:
    word = repr(shortened(printable(written(reason)), _LONGEST))
    if ending is Ending.LENGTH:
        return CUT_OFF
    if ending is Ending.FILTERED:
        return f"{what} was cut off, or held back, by a content filter (finish reason {word})"
    if ending is Ending.REFUSED:
        return f"a model refused to answer (finish reason {word})"
    if ending is Ending.UNFINISHED:
        return f"{what} is not whole (finish reason {word})"
    return (
        f"{what} ended for a reason that is not known to mean that it is whole: {word} "
        f"(accept_finish_reasons=({word},) takes it as whole)"
    )


def written(reason: object) -> str:
    """Returns a finish reason as its provider writes it: the name of an enumeration's member, or else the
    reason as a text."""
    return reason.name if isinstance(reason, Enum) else str(reason)


def canonical(reason: object) -> str:
    """Returns a reason in the form in which reasons are compared: its letters and digits in lower case,
    without the name of its enumeration and a prefix such as "finish_reason"."""
    if reason is None:
        return ""
    return _plain(written(reason).strip())


@lru_cache(maxsize=1024)
def _plain(word: str) -> str:
    plain = "".join(letter for letter in word.rpartition(".")[2].lower() if letter.isalnum())
    # A reason such as "???" has no letters or digits. It is returned unchanged, since an empty text would
    # mean that there is no reason.
    return _BEFORE.sub("", plain) or plain or word
