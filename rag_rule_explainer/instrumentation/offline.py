"""This module answers prompts without a model, for the offline models of the integrations."""

import re

from ..testing.prompts import parse_prompt
from ..testing.reader import read_answer


def offline_answer(prompt: str) -> str:
    """Returns an answer to the question in a prompt, made of words from its passages; "N/A" if they do
    not answer it. ``parse_prompt`` of ``rag_rule_explainer.testing.prompts`` finds the passages. Raises
    ValueError for a prompt without a question."""
    task = parse_prompt(prompt)
    return read_answer(task.question, task.passages)


def word_by_word(text: str) -> list[str]:
    """Returns the pieces in which an offline model streams a text: its words, with the space before
    each."""
    return re.findall(r"\s*\S+", text)
