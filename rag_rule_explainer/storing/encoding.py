"""This module encodes answers and judgements as bytes, and decodes them. Everything that is decoded is
checked first, because other programs or a faulty disk may have changed the bytes.

Texts are encoded as UTF-8 and may contain lone surrogates. They are stored in columns of bytes, because
text columns of PostgreSQL accept neither lone surrogates nor NUL. The bytes of an answer or judgement end
with a checksum over its content and its key. Without the checksum, a single changed bit could lead to a
wrong rule.
"""

import json
import zlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from math import isfinite
from typing import Any, NamedTuple, TypeVar, cast

from ..printable import as_json
from ..tool_calls import ToolCall
from ..verdicts import Answer, Judgement, Verdict

Read = TypeVar("Read")

_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode
_text_encoded = json.encoder.encode_basestring
"""A function that returns a text as JSON, in quotes. It is faster than ``json.dumps``."""
_DEEPEST = 100


class Corrupted(Exception):
    """This error says that a row of the database does not have the content that this package has written:
    the row was damaged, or another program changed it."""


class StoredAnswer(NamedTuple):
    """A ``StoredAnswer`` is an answer from the store. ``latency``: the seconds that making the answer
    took; None if they were not measured."""

    answer: Answer
    latency: float | None


def packed(text: str) -> bytes:
    """Returns any text as bytes, from which ``unpacked`` gets the same text."""
    return text.encode("utf-8", "surrogatepass")


def unpacked(content: object) -> str:
    """Returns the text that ``packed`` has encoded. Raises Corrupted for any other content."""
    if not isinstance(content, bytes):
        raise Corrupted(f"{type(content).__name__} where bytes were expected")
    try:
        return content.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError as error:
        raise Corrupted("bytes that are no text") from error


def packed_ids(ids: tuple[str, ...]) -> bytes:
    """Returns ids of sources as bytes: a list in JSON."""
    return packed(f"[{','.join(map(_text_encoded, ids))}]")


def unpacked_ids(content: object) -> tuple[str, ...]:
    """Returns the ids that ``packed_ids`` has encoded. Raises Corrupted for any other content."""
    return _ids(_parsed(content))


def storable(answer: Answer) -> Answer:
    """Returns the answer as it will be when it is read from the store. Fields that JSON can encode are
    unchanged. A ``value`` that JSON cannot encode is replaced by the result of ``as_json``."""
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
        value=answer.value if keeps_its_form(answer.value) else as_json(answer.value),
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
    """Returns an answer as bytes: JSON with those fields that are not empty, followed by a checksum. The
    answer must be a result of ``storable``. ``key``: the key of the answer's row. The checksum covers it,
    so an answer that was moved to a different row counts as corrupted."""
    # Each field is encoded separately, which is much faster than encoding one dict with all fields.
    fields = ['{"text":', _text_encoded(answer.text)]
    if answer.value is not None:
        fields += ',"value":', _encode(answer.value)
    if answer.usage is not None:
        counts = [f"{_text_encoded(kind)}:{count}" for kind, count in answer.usage.items()]
        fields += ',"usage":{', ",".join(counts), "}"
    if answer.finish_reason is not None:
        fields += ',"finish_reason":', _text_encoded(answer.finish_reason)
    if answer.note:
        fields += ',"note":', _text_encoded(answer.note)
    if answer.delivered is not None:
        fields += ',"delivered":', _encode(answer.delivered)
    if answer.seen is not None:
        fields += ',"seen":', _encode(answer.seen)
    if answer.models is not None:
        fields += ',"models":', _encode({model: dict(usage) for model, usage in answer.models.items()})
    if answer.unread:
        fields += ',"unread":', _encode(answer.unread)
    if answer.calls is not None:
        fields += ',"calls":', _encode([(each.name, each.arguments, each.step) for each in answer.calls])
    fields.append("}")
    return _with_sum(packed("".join(fields)), key)


def unpacked_answer(content: object, key: str = "") -> Answer:
    """Returns the answer that ``packed_answer`` has encoded with the same ``key``. Raises Corrupted for
    any other content."""
    fields = _fields(_without_sum(content, key))
    return Answer(
        text=_text(fields.pop("text", None)),
        value=fields.pop("value", None),
        usage=_maybe(_usage, fields.pop("usage", None)),
        finish_reason=_maybe(_text, fields.pop("finish_reason", None)),
        note=_text(fields.pop("note", "")),
        delivered=_maybe(_ids, fields.pop("delivered", None)),
        seen=_maybe(_ids, fields.pop("seen", None)),
        models=_maybe(_models, fields.pop("models", None)),
        unread=_maybe(_ids, fields.pop("unread", None)) or (),
        calls=_maybe(_calls, fields.pop("calls", None)),
        **_nothing_left(fields),
    )


def packed_judgement(judgement: Judgement, key: str = "") -> bytes:
    """Returns a judgement as bytes, with a checksum. ``key``: the key of the judgement's row. The
    checksum covers it, so a judgement that was moved to a different row counts as corrupted."""
    return _with_sum(packed(_encode([judgement.verdict.value, judgement.reason])), key)


def unpacked_judgement(content: object, key: str = "") -> Judgement:
    """Returns the judgement that ``packed_judgement`` has encoded with the same ``key``. Raises Corrupted
    for any other content."""
    match _parsed(_without_sum(content, key)):
        case [str(verdict), str(reason)] if verdict in _VERDICTS:
            return Judgement(_VERDICTS[verdict], reason)
        case _:
            raise Corrupted("something that is no judgement")


def unpacked_number(value: object) -> float | None:
    """Returns a number from a column as a float; None for NULL. Raises Corrupted for any other value."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not isfinite(value):
        raise Corrupted(f"{type(value).__name__} where a number was expected")
    return float(value)


def _with_sum(content: bytes, key: str) -> bytes:
    return content + b"#%08x" % zlib.crc32(content, zlib.crc32(packed(key)))


def _without_sum(content: object, key: str) -> object:
    """Returns the content without its checksum. Raises Corrupted if the checksum is wrong. Content that
    ends with ``}`` or ``]`` was written by an older version of this package. Such content has no
    checksum, so it is returned unchanged and unchecked."""
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
    fields = _parsed(content)
    if not isinstance(fields, dict):
        raise Corrupted("something that is no answer")
    return cast("dict[str, Any]", fields)


def _nothing_left(fields: Mapping[str, Any]) -> dict[str, Any]:
    if fields:
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


def _calls(value: object) -> tuple[ToolCall, ...]:
    if not isinstance(value, list):
        raise Corrupted(f"{type(value).__name__} where tool calls were expected")
    return tuple(map(_call, cast("list[object]", value)))


def _call(value: object) -> ToolCall:
    name, arguments, step = cast("list[Any]", value if _has_length(value, 3) else [None] * 3)
    if type(name) is str and type(arguments) in (str, dict) and type(step) is int and step >= 0:
        return ToolCall(name, arguments, step)
    raise Corrupted("something that is no tool call")


def _has_length(value: object, length: int) -> bool:
    return isinstance(value, list) and len(cast("list[object]", value)) == length


def _is_text(value: object) -> bool:
    return value is None or type(value) is str


def _is_count(item: tuple[object, object]) -> bool:
    return type(item[0]) is str and type(item[1]) is int


def keeps_its_form(value: object) -> bool:
    """Returns True iff encoding a value as JSON and decoding it gives an equal value of the same types.
    Only exact types of Python are accepted, so no method of a user's class is called."""
    unchecked = [(value, 0)]
    while unchecked:
        each, depth = unchecked.pop()
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
        unchecked += [(item, depth + 1) for item in inner]
    return True


def _is_json_scalar(value: object) -> bool:
    kind = type(value)
    if kind is float:
        return isfinite(cast("float", value))
    if kind is int:
        # Python refuses to parse a number with more than 4,300 digits, so such a number could be stored
        # but never read again. A number of fewer than 10,000 bits always has fewer digits.
        return cast("int", value).bit_length() < 10_000
    return value is None or kind is bool or kind is str
