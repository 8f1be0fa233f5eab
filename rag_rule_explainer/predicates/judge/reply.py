"""This module parses a judge's reply, and never raises. An answer that was judged may be hostile and may
have influenced the reply.

    {"opinions": [{"id": "4f…", "reason": "…", "verdict": "yes"}]}      the form that the request demands
    [{"id": "4f…", "verdict": "no"}]                                    the list without the object
    {"4f…": "unsure", "9a…": {"verdict": "no", "reason": "…"}}          a mapping by id

A verdict is "yes", "no", "unsure", true or false. A candidate (an answer to be judged) has no opinion if
its id is missing, occurs twice, or has any other verdict. Unknown ids are ignored. A reply with text
around the JSON is rejected as a whole. Only a code fence around all of it is allowed, and before that a
reasoning model's thoughts, in <think> and </think>.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Literal, cast

from pydantic import BaseModel, ConfigDict, ValidationError

from ...printable import printable, shortened
from ...verdicts import Judgement, Verdict

LONGEST_REPLY = 1_000_000
_LONGEST_REASON = 500
_FENCE = re.compile(r"```(?:json)?[ \t]*\n(.*)\n[ \t]*```", re.DOTALL | re.IGNORECASE)
_THOUGHTS = re.compile(r"\A<think>.*</think>\s*", re.DOTALL)
_VERDICTS = {"yes": Verdict.HOLDS, "no": Verdict.BREAKS, "unsure": Verdict.UNKNOWN}
_DOUBLED = object()


class Opinion(BaseModel):
    """An ``Opinion`` is a judge's opinion on one candidate (an answer to be judged)."""

    model_config = ConfigDict(strict=True, extra="ignore")

    id: str
    reason: str
    verdict: Literal["yes", "no", "unsure"]


def judgements_in(said: object, ids: Iterable[str]) -> dict[str, Judgement]:
    """Returns the judgements in ``said``, a judge's reply, by id. An id has a judgement only if the reply
    has exactly one well-formed opinion on it. Never raises. ``ids``: the ids of the request's
    candidates."""
    wanted = frozenset(ids)
    content = _parsed(said)
    if isinstance(content, Mapping):
        entries = cast("Mapping[object, object]", content)
        listed = entries.get("opinions")
        if "opinions" not in wanted and isinstance(listed, list):
            return _listed(cast("list[object]", listed), wanted)
        return _by_id(entries, wanted)
    return _listed(cast("list[object]", content), wanted) if isinstance(content, list) else {}


def _listed(entries: list[object], wanted: frozenset[str]) -> dict[str, Judgement]:
    named = [(entry.get("id"), entry) for entry in map(_mapping, entries)]
    counts = Counter(identity for identity, _ in named if isinstance(identity, str))
    judged = {
        identity: _judgement(entry, identity)
        for identity, entry in named
        if isinstance(identity, str) and identity in wanted and counts[identity] == 1
    }
    return {identity: judgement for identity, judgement in judged.items() if judgement is not None}


def _by_id(entries: Mapping[object, object], wanted: frozenset[str]) -> dict[str, Judgement]:
    judged: dict[str, Judgement] = {}
    for identity in wanted & {key for key in entries if isinstance(key, str)}:
        entry = entries[identity]
        if isinstance(entry, Judgement):
            judgement = entry
        elif isinstance(entry, Verdict):
            judgement = Judgement(entry)
        else:
            given = _mapping(entry) or {"verdict": entry}
            judgement = _judgement(given, identity)
        if judgement is not None:
            judged[identity] = judgement
    return judged


def _judgement(entry: Mapping[str, Any], identity: str) -> Judgement | None:
    verdict: object = entry.get("verdict")
    if isinstance(verdict, bool):
        verdict = "yes" if verdict else "no"
    fields = {"id": entry.get("id", identity), "reason": entry.get("reason", ""), "verdict": verdict}
    try:
        opinion = Opinion.model_validate(fields)
    except ValidationError:
        return None
    if opinion.id != identity:
        return None
    reason = shortened(printable(opinion.reason[:LONGEST_REPLY]), _LONGEST_REASON)
    return Judgement(_VERDICTS[opinion.verdict], reason)


def _mapping(entry: object) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", entry) if isinstance(entry, Mapping) else {}


def _parsed(said: object) -> object:
    if isinstance(said, BaseModel):
        return said.model_dump(warnings=False)
    if isinstance(said, (bytes, bytearray)):
        try:
            said = said.decode()
        except UnicodeDecodeError:
            return None
    if not isinstance(said, str):
        return said
    text = said.lstrip("\ufeff").strip() if len(said) <= LONGEST_REPLY else ""
    text = _THOUGHTS.sub("", text)
    fenced = _FENCE.fullmatch(text)
    try:
        return json.loads(
            fenced[1] if fenced else text, object_pairs_hook=_object, parse_constant=_no_number
        )
    except (ValueError, RecursionError):
        return None


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Returns a dict of the pairs of a JSON object. A key that occurs twice gets a value that is no
    verdict. So if there are two opinions on one id, neither is used; Python's own parser would use the
    second one."""
    counts = Counter(key for key, _ in pairs)
    return {key: value if counts[key] == 1 else _DOUBLED for key, value in pairs}


def _no_number(name: str) -> object:
    raise ValueError(f"{name} is no JSON")
