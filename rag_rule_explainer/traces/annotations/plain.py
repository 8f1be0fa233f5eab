"""This module makes texts of a trace safe to show on the pages of tracing tools, which read notes as
Markdown or as HTML."""

import re

from ...printable import printable_within

_LINK = re.compile(r"\](?=[(\[:])")
"""Matches where the text of a link or of an image ends, and its address begins."""
_TAG = re.compile(r"<(?=[A-Za-z/!?])")


def plain_text_within(text: str, limit: int) -> str:
    """Returns at most ``limit`` characters of the text on one line, a few more where it has markup. There
    are no control characters, and nothing that a reader of Markdown or HTML takes for a tag, a link with
    another text, or an image, which a page would fetch."""
    shown = printable_within(text, limit)
    return _TAG.sub("< ", _LINK.sub("] ", shown))
