"""This module makes texts of a trace safe to show on the pages of tracing tools, which read notes as
Markdown or as HTML."""

import re

from ...printable import printable_within

_LINK = re.compile(r"\](?=[(\[:])")
"""Matches the bracket between the text and the address of a link or an image, as in
``[text](address)``."""
_TAG = re.compile(r"<(?=[A-Za-z/!?])")


def plain_text_within(text: str, limit: int) -> str:
    """Returns at most ``limit`` characters of the text on one line, and a space for each piece of markup
    in it. Control characters are escaped. The spaces break up tags, images (which a page would fetch),
    and links whose text is not their address."""
    shown = printable_within(text, limit)
    return _TAG.sub("< ", _LINK.sub("] ", shown))
