"""This module keeps LangChain from logging those errors with which this package ends a replay or an
estimate on purpose."""

import logging

from rag_rule_explainer.instrumentation.bounds import BeyondBaseline
from rag_rule_explainer.instrumentation.stopping import Enough
from rag_rule_explainer.instrumentation.tool_replay import NewToolCall

_ENDING = (BeyondBaseline.__name__, NewToolCall.__name__)


def _is_news(record: logging.LogRecord) -> bool:
    # LangChain logs a warning for an error in a callback. The errors that are looked for here end an
    # estimate or a replay on purpose, so their warnings are dropped.
    message = record.getMessage()
    return not any(each in message for each in (repr(Enough()), *_ENDING))


logging.getLogger("langchain_core.callbacks.manager").addFilter(_is_news)
