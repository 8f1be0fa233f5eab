"""This module converts the answers and judgements of probes to a form that can be saved in an
explanation."""

from dataclasses import replace
from typing import Any, cast

from ..printable import as_json, encodable, json_object
from ..verdicts import Answer, Judgement


def recorded(answer: Answer) -> Answer:
    """Returns the answer with every field in the types of JSON, as explanations store it."""
    more = answer.note or answer.finish_reason or answer.unread
    if answer.value is None and answer.usage is None and not more:
        return answer if answer.text.isascii() else replace(answer, text=encodable(answer.text))
    return replace(
        answer,
        text=encodable(answer.text),
        value=as_json(answer.value),
        usage=None if answer.usage is None else cast("dict[str, int]", json_object(answer.usage)),
        models=None if answer.models is None else cast("Any", json_object(answer.models)),
        finish_reason=None if answer.finish_reason is None else encodable(str(answer.finish_reason)),
        note=encodable(answer.note),
        unread=tuple(map(encodable, answer.unread)),
    )


def recorded_judgement(judgement: Judgement) -> Judgement:
    """Returns the judgement with a reason that can be written as JSON."""
    if judgement.reason.isascii():
        return judgement
    return replace(judgement, reason=encodable(judgement.reason))
