"""This module reads the results of tools as sources."""

from collections.abc import Sequence
from dataclasses import is_dataclass
from typing import Any, cast

from llama_index.core.base.llms.types import ContentBlock, TextBlock
from llama_index.core.tools import ToolOutput
from pydantic import BaseModel

from rag_rule_explainer.instrumentation.result_field import ResultField
from rag_rule_explainer.instrumentation.source_kinds.result_content import ResultContent, as_content

_RAW = "raw_output"


def result_content(result: Any) -> ResultContent:
    """Returns the part of a tool's result that a model is shown. This is the object that the tool's
    function returned, if the result's only text is ``str()`` of this object, and this shows its fields;
    that of a query engine's response does not. Otherwise it is the text of the result, or the list of
    texts if there are several; another object is then beside it. If the result holds anything but texts,
    such as an image, the part is None."""
    if not isinstance(result, ToolOutput):
        return as_content(result)
    texts = [block.text for block in result.blocks if isinstance(block, TextBlock)]
    if len(texts) < len(result.blocks):
        return as_content(None)
    raw: Any = result.raw_output
    shown: Any = texts if len(texts) > 1 else "".join(texts)
    is_printed = len(texts) == 1 and not isinstance(raw, str) and str(raw) == shown
    is_printed = is_printed and not _has_words_of_its_own(raw)
    is_beside = not is_printed and raw is not None and not isinstance(raw, str)

    def put(content: Any) -> ToolOutput:
        if content == (raw if is_printed else shown):
            return result
        own = content if is_printed or len(texts) <= 1 else None
        listed = cast("Sequence[str]", content if isinstance(content, list) and not is_printed else [])
        blocks: list[ContentBlock] = [TextBlock(text=each) for each in listed or [str(content)] if each]
        return result.model_copy(update={"blocks": blocks, _RAW: raw if is_beside else own})

    fields = (ResultField(_RAW, raw),) if is_beside else ()
    return ResultContent(raw if is_printed else shown, put, fields, _with_raw_output)


def _has_words_of_its_own(raw: object) -> bool:
    has_fields = isinstance(raw, BaseModel) or is_dataclass(raw)
    return has_fields and type(raw).__str__ not in (object.__str__, BaseModel.__str__)


def _with_raw_output(result: ToolOutput, fields: Sequence[ResultField]) -> ToolOutput:
    own: Any = fields[0].value if fields else None
    return result.model_copy(update={_RAW: own})
