"""Answers and judgements as bytes, and back from bytes that anybody may have changed.

UTF-8 that lets lone surrogates pass, in columns of bytes: PostgreSQL's texts take neither those nor NUL.
An answer and a judgement end with a checksum of themselves and of the key they are stored under: a bit
that a disk has lost would else be another answer, and another rule.
"""

import json
import zlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from math import isfinite
from typing import Any, NamedTuple, TypeVar, cast

from ..jsonable import as_json
from ..verdicts import Answer, Judgement, Verdict

Read = TypeVar("Read")

_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode
_text_encoded = json.encoder.encode_basestring
"""What ``_encode`` does for a text, without asking what it is first."""
_DEEPEST = 100


class Corrupted(Exception):
    """What was read is nothing that this package wrote."""


class StoredAnswer(NamedTuple):
    """This class represents an answer that is committed, and the seconds it took; None where nobody
    measured."""

    answer: Answer
    latency: float | None


def packed(text: str) -> bytes:
    """Any text as bytes, without loss."""
    return text.encode("utf-8", "surrogatepass")


def unpacked(content: object) -> str:
    """Returns the text that was packed. Raises Corrupted."""
    if not isinstance(content, bytes):
        raise Corrupted(f"{type(content).__name__} where bytes were expected")
    try:
        return content.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError as error:
        raise Corrupted("bytes that are no text") from error


def packed_ids(ids: tuple[str, ...]) -> bytes:
    """Ids as bytes."""
    return packed(f"[{','.join(map(_text_encoded, ids))}]")


def unpacked_ids(content: object) -> tuple[str, ...]:
    """Returns the ids that were packed. Raises Corrupted."""
    return _ids(_parsed(content))


def storable(answer: Answer) -> Answer:
    """Returns the answer as it will come back: unchanged, but for a value that only ``as_json`` can
    say."""
    plain_usage = answer.usage is None or all(map(_is_count, answer.usage.items()))
    plain_models = answer.models is None or all(
        type(model) is str and all(map(_is_count, usage.items()))
        for model, usage in answer.models.items()
    )
    if answer.value is None and plain_usage and plain_models and _is_text(answer.finish_reason):
        return answer
    usage = {str(kind): n for kind, n in (answer.usage or {}).items() if type(n) is int}
    return replace(
        answer,
        value=answer.value if _is_json(answer.value) else as_json(answer.value),
        usage=None if answer.usage is None else usage,
        models=None if answer.models is None else _counted(answer.models),
        finish_reason=None if answer.finish_reason is None else str(answer.finish_reason),
    )


def _counted(models: Mapping[str, Mapping[str, int]]) -> dict[str, dict[str, int]]:
    return {
        str(model): {str(kind): count for kind, count in usage.items() if type(count) is int}
        for model, usage in models.items()
    }


def packed_answer(answer: Answer, key: str = "") -> bytes:
    """Returns a storable answer as bytes, to be stored under ``key``: its fields by name, but those that
    say nothing."""
    # One by one: for a plain text, the encoder has a much shorter way than for a dict with it.
    said = ['{"text":', _text_encoded(answer.text)]
    if answer.value is not None:
        said += ',"value":', _encode(answer.value)
    if answer.usage is not None:
        counts = [f"{_text_encoded(kind)}:{count}" for kind, count in answer.usage.items()]
        said += ',"usage":{', ",".join(counts), "}"
    if answer.finish_reason is not None:
        said += ',"finish_reason":', _text_encoded(answer.finish_reason)
    if answer.note:
        said += ',"note":', _text_encoded(answer.note)
    if answer.delivered is not None:
        said += ',"delivered":', _encode(answer.delivered)
    if answer.seen is not None:
        said += ',"seen":', _encode(answer.seen)
    if answer.models is not None:
        said += ',"models":', _encode({model: dict(usage) for model, usage in answer.models.items()})
    said.append("}")
    return _with_sum(packed("".join(said)), key)


def unpacked_answer(content: object, key: str = "") -> Answer:
    """Returns the answer that was packed. Raises Corrupted for anything that no answer is packed as, and
    for one that was packed for another key."""
    said = _fields(_without_sum(content, key))
    return Answer(
        text=_text(said.pop("text", None)),
        value=said.pop("value", None),
        usage=_maybe(_usage, said.pop("usage", None)),
        finish_reason=_maybe(_text, said.pop("finish_reason", None)),
        note=_text(said.pop("note", "")),
        delivered=_maybe(_ids, said.pop("delivered", None)),
        seen=_maybe(_ids, said.pop("seen", None)),
        models=_maybe(_models, said.pop("models", None)),
        **_nothing_left(said),
    )


def packed_judgement(judgement: Judgement, key: str = "") -> bytes:
    """Returns a judgement as bytes, to be stored under ``key``."""
    return _with_sum(packed(_encode([judgement.verdict.value, judgement.reason])), key)


def unpacked_judgement(content: object, key: str = "") -> Judgement:
    """Returns the judgement that was packed. Raises Corrupted, also for one that was packed for another
    key."""
    match _parsed(_without_sum(content, key)):
        case [str(verdict), str(reason)] if verdict in _VERDICTS:
            return Judgement(_VERDICTS[verdict], reason)
        case _:
            raise Corrupted("something that is no judgement")


def unpacked_number(value: object) -> float | None:
    """Returns a number of a row, or None. Raises Corrupted."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not isfinite(value):
        raise Corrupted(f"{type(value).__name__} where a number was expected")
    return float(value)


def _with_sum(content: bytes, key: str) -> bytes:
    return content + b"#%08x" % zlib.crc32(content, zlib.crc32(packed(key)))


def _without_sum(content: object, key: str) -> object:
    """Returns the content itself. What was written before there were any has no sum, and ends as JSON
    does."""
    if not isinstance(content, bytes) or content[-1:] in (b"}", b"]"):
        return content
    plain = content[:-_SUM]
    if _with_sum(plain, key) != content:
        raise Corrupted("content that its checksum does not fit")
    return plain


_SUM = len(b"#00000000")
_VERDICTS = {verdict.value: verdict for verdict in Verdict}


def _parsed(content: object) -> object:
    text = unpacked(content)
    try:
        return json.loads(text, parse_constant=_refused)
    except (ValueError, RecursionError) as error:
        raise Corrupted("a text that is no JSON") from error


def _refused(constant: str) -> object:
    raise ValueError(f"{constant} is no JSON")


def _fields(content: object) -> dict[str, Any]:
    said = _parsed(content)
    if not isinstance(said, dict):
        raise Corrupted("something that is no answer")
    return cast("dict[str, Any]", said)


def _nothing_left(said: Mapping[str, Any]) -> dict[str, Any]:
    if said:
        raise Corrupted("an answer with fields that no answer has")
    return {}


def _maybe(read: Callable[[object], Read], value: object) -> Read | None:
    return None if value is None else read(value)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise Corrupted(f"{type(value).__name__} where a text was expected")
    return value


def _ids(value: object) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise Corrupted(f"{type(value).__name__} where ids were expected")
    return tuple(map(_text, cast("list[object]", value)))


def _usage(value: object) -> dict[str, int]:
    if not isinstance(value, dict):
        raise Corrupted(f"{type(value).__name__} where counts were expected")
    counts = cast("dict[str, object]", value)
    if not all(type(count) is int for count in counts.values()):
        raise Corrupted("counts that are none")
    return cast("dict[str, int]", counts)


def _models(value: object) -> dict[str, dict[str, int]]:
    if not isinstance(value, dict):
        raise Corrupted(f"{type(value).__name__} where counts by model were expected")
    return {str(model): _usage(usage) for model, usage in cast("dict[object, object]", value).items()}


def _is_text(value: object) -> bool:
    return value is None or type(value) is str


def _is_count(item: tuple[object, object]) -> bool:
    return type(item[0]) is str and type(item[1]) is int


def _is_json(value: object) -> bool:
    """Returns True iff JSON gives the very same back. Runs no code of the value's."""
    open_ones = [(value, 0)]
    while open_ones:
        each, depth = open_ones.pop()
        kind = type(each)
        if kind is list:
            inner: Any = each
        elif kind is dict and all(type(key) is str for key in cast("dict[object, object]", each)):
            inner = cast("dict[str, object]", each).values()
        elif _is_json_scalar(each):
            continue
        else:
            return False
        if depth == _DEEPEST:
            return False
        open_ones += [(item, depth + 1) for item in inner]
    return True


def _is_json_scalar(value: object) -> bool:
    kind = type(value)
    if kind is float:
        return isfinite(cast("float", value))
    if kind is int:
        return cast("int", value).bit_length() < 10_000  # Python itself parses no 4,300 digits
    return value is None or kind is bool or kind is str
