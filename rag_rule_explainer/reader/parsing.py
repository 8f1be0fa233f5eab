"""Finding the question and the passages in a prompt that somebody else has written."""

import re
from collections.abc import Iterator
from typing import Final

from rag_rule_explainer.reader.prompts import ReadingTask
from rag_rule_explainer.reader.words import WORD

_FLAGS: Final = re.IGNORECASE | re.MULTILINE
# Every repetition is bounded or stops at a line's end, so hostile prompts cost linear time.
_ONE: Final = re.compile(r"<(/?)(source|document|doc|passage|chunk|excerpt)\b[^<>\n]{0,200}>", re.I)
_ALL: Final = re.compile(
    r"<(/?)(contexts?|sources|documents|docs|passages|chunks|excerpts)\b[^<>\n]{0,200}>", re.I
)
_CONTENT: Final = re.compile(r"<(/?)(document_content|page_content)>", re.I)
_ASKED: Final = re.compile(r"<(/?)(question|query)>", re.I)
_ROLE: Final = r"(?:(?:system|human|user)[ \t]{0,2}:[ \t]{0,2})?"
_QUESTION: Final = re.compile(
    rf"^[ \t*#>]{{0,8}}{_ROLE}(?:(?:user|my|the)[ \t])?(?:question|query|human|user)"
    r"[ \t]?[*]{0,2}:[*]{0,2}",
    _FLAGS,
)
_CONTEXT: Final = re.compile(
    rf"^[ \t*#>]{{0,8}}{_ROLE}(?:"
    r"(?:(?:here (?:is|are) )?(?:\w{1,20}[ \t]){0,2}"
    r"|[^\n:]{0,120}\b(?:following|given|provided|below|these|this|from|using|on)\b[^\n:]{0,40}\b)"
    r"(?:context|sources|documents|passages|excerpts|context information)"
    r"(?:[ \t]\w{1,12}){0,3}[*]{0,2}:[*]{0,2}"
    r"|context information is below\.?)",
    _FLAGS,
)
_ANSWER: Final = re.compile(
    r"^[ \t*#>]{0,8}(?:(?:\w{1,12}[ \t]){0,3})(?:answer|response|assistant|ai)"
    r"(?:[ \t][^\n:]{0,40})?[*]{0,2}:",
    _FLAGS,
)
_NUMBER: Final = re.compile(
    r"^[ \t]{0,4}(?:\[\d{1,3}\](?=[\s:]):?|(?:source|document|doc|passage|context|chunk|excerpt)"
    r"[ \t]?#?\d{1,3}(?:[ \t]?\([^()\n]{0,80}\))?[ \t]?[:.])",
    _FLAGS,
)
_RULE: Final = re.compile(r"^[ \t]{0,4}(?:-{3,80}|={3,80}|\*{3,80})[ \t]{0,4}$", re.M)
_BLANK: Final = re.compile(r"\n[ \t]*\n\s*")
_SPEAKER: Final = re.compile(r"^(?:system|human|user)[ \t]?:[ \t]?", _FLAGS)
_MENTIONS_CONTEXT: Final = re.compile(
    r"\b(?:context|sources?|documents?|passages?|excerpts?|information)\b", re.I
)
_HEADING: Final = re.compile(
    r"#{1,6}[ \t]?(?:\w{1,20}[ \t])?(?:context|sources|documents|passages|excerpts|question|query)",
    re.I,
)
_TELLS: Final = re.compile(r"\b(?:question|query|answer|respond|below|following)\b", re.I)


def parse_prompt(prompt: str) -> ReadingTask:
    """The question and the passages of a prompt in one of the common shapes of RAG prompts.

    The question stands in `<question>` tags, else after the last `Question:` outside tagged
    sources, else in the last line. Passages are tagged blocks, else the text under `Context:` or
    above the question, taken apart at numbers, rules or blank lines. Raises ValueError if nothing
    is asked.
    """
    blocks = tuple(_blocks(_ONE, prompt))
    outside = _without(prompt, blocks)
    question, first, last = _question(outside)
    if not WORD.search(question):
        raise ValueError(
            f"no question found in a prompt of {len(prompt)} characters;"
            " write `Question: ...` before it, or make it the last line"
        )
    if blocks:
        return ReadingTask(question, tuple(_content(prompt[a:b]) for a, b in blocks))
    return ReadingTask(question, tuple(_passages_around(outside, first, last)))


def _blocks(tag: re.Pattern[str], text: str) -> Iterator[tuple[int, int]]:
    """Where the insides of tagged blocks begin and end; other tags inside a block are its text."""
    name, start = "", 0
    for match in tag.finditer(text):
        closes, found = match.group(1), match.group(2).casefold()
        if not closes and not name:
            name, start = found, match.end()
        elif closes and found == name:
            yield start, match.start()
            name = ""


def _without(prompt: str, blocks: tuple[tuple[int, int], ...]) -> str:
    starts = (0, *(end for _, end in blocks))
    ends = (*(start for start, _ in blocks), len(prompt))
    outside = "".join(prompt[a:b] for a, b in zip(starts, ends, strict=True))
    return _ONE.sub("\n", outside) if blocks else outside


def _content(block: str) -> str:
    inner = next(_blocks(_CONTENT, block), None)
    return (block if inner is None else block[slice(*inner)]).strip()


def _question(text: str) -> tuple[str, int, int]:
    """The question, and where what belongs to it begins and ends."""
    tagged = list(_blocks(_ASKED, text))
    if tagged:
        start, end = tagged[-1]
        return text[start:end].strip(), text.rindex("<", 0, start), end
    container = _container(text)
    labels = [
        match
        for match in _QUESTION.finditer(text)
        if container is None or not container[0] <= match.start() < container[1]
    ]
    if labels:
        return _labelled(text, labels)
    return _last_line(text)


def _labelled(text: str, labels: list[re.Match[str]]) -> tuple[str, int, int]:
    chosen = labels[-1]
    question, end = _asked_after(text, chosen.end())
    closing = _closing(text)
    if end >= closing:
        return question, chosen.start(), end
    # More follows, so the last label may stand in a passage. Either passages come after the
    # question they answer, or the question closes the prompt without a label of its own.
    context = _CONTEXT.search(text)
    earlier = [each for each in labels if context is not None and each.start() < context.start()]
    if not earlier and text[:closing].endswith("?"):
        return _last_line(text)
    chosen = earlier[-1] if earlier else chosen
    question, end = _asked_after(text, chosen.end())
    return question, chosen.start(), end


def _asked_after(text: str, start: int) -> tuple[str, int]:
    """The paragraph that begins here, as far as no other part of the prompt begins in it."""
    while start < len(text) and text[start].isspace():
        start += 1
    borders = (border.search(text, start) for border in (_BLANK, _ANSWER, _CONTEXT))
    ends = (len(text), *(border.start() for border in borders if border is not None))
    end = max(start, min(ends))
    return _QUESTION.sub("", text[start:end]).strip(), end


def _last_line(text: str) -> tuple[str, int, int]:
    end = _closing(text)
    start = text.rfind("\n", 0, end) + 1
    line = text[start:end]
    if _ALL.search(line) or _RULE.match(line):
        return "", start, end
    return _SPEAKER.sub("", line).strip(), start, end


def _closing(text: str) -> int:
    """Where the prompt ends if a bare `Answer:` for the model to go on from is left aside."""
    end = _unpadded(text, len(text))
    while end:
        start = text.rfind("\n", 0, end) + 1
        label = _ANSWER.match(text, start, end)
        if label is None or label.end() < end:
            break
        end = _unpadded(text, start)
    return end


def _unpadded(text: str, end: int) -> int:
    while end and text[end - 1].isspace():
        end -= 1
    return end


def _container(text: str) -> tuple[int, int] | None:
    """The inside of `<context>` and its like: from the first opening to the last closing tag."""
    tags = list(_ALL.finditer(text))
    opening = next((tag for tag in tags if not tag.group(1)), None)
    closing = next((tag for tag in reversed(tags) if tag.group(1)), None)
    if opening is None or closing is None or closing.start() < opening.end():
        return None
    return opening.end(), closing.start()


def _passages_around(text: str, first: int, last: int) -> list[str]:
    """The passages of a prompt without tagged ones, whose question stands at these bounds."""
    container = _container(text)
    if container is not None:
        return _apart(text[slice(*container)])
    label = _CONTEXT.search(text)
    if label is None:
        return _informing(_apart(text[:first]))
    if label.end() <= first:
        return _apart(text[label.end() : first])
    return _apart(text[max(label.end(), last) : max(last, _closing(text))])


def _apart(region: str) -> list[str]:
    """The passages of a stretch of text, by what sets them apart: numbers, rules or blank lines."""
    numbers = [match.end() for match in _NUMBER.finditer(region)]
    if numbers:
        return _filled(_NUMBER.split(region[numbers[0] :]))
    sections = _RULE.split(region)
    if len(sections) > 1:
        parts = _informing(_filled(sections))
        if len(parts) != 1:
            return parts
        region = parts[0]
    return _filled(_BLANK.split(region.strip()))


def _filled(parts: list[str]) -> list[str]:
    return [bare for part in parts if WORD.search(bare := _RULE.sub("", part).strip())]


def _informing(parts: list[str]) -> list[str]:
    """The parts without instructions at either end; those between two passages are their text."""
    informing = [at for at, part in enumerate(parts) if not _is_instruction(part)]
    return parts[informing[0] : informing[-1] + 1] if informing else []


def _is_instruction(part: str) -> bool:
    """Whether a paragraph speaks to the model instead of about the world."""
    opening = _SPEAKER.sub("", part)[:400]
    if opening.casefold().startswith("you are ") or _HEADING.fullmatch(opening):
        return True
    return bool(_MENTIONS_CONTEXT.search(opening) and _TELLS.search(opening[:120]))
