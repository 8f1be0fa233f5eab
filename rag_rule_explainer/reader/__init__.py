"""A small extractive reader: answers from given passages, the same way every time, without a model.

It is no language model and understands nothing. It weighs the passages' sentences against the words
of the question, follows a name from one passage into the passage about it, prefers what several
passages say, and returns a stretch of their text, `yes`, `no` or `N/A`. It stands in for an LLM
where none is at hand: in the demo, in tests and offline. Its answers are often wrong.
"""

from rag_rule_explainer.reader.parsing import parse_prompt
from rag_rule_explainer.reader.prompts import ReadingTask, qa_prompt
from rag_rule_explainer.reader.reading import NO_ANSWER, read

__all__ = ["NO_ANSWER", "ReadingTask", "parse_prompt", "qa_prompt", "read"]
