"""This module makes texts of a trace safe to show on the pages of tracing tools, which read notes as
Markdown or as HTML."""

import re

from ...printable import printable_within

_LINK = re.compile(r"\](?=[(\[:])")
"""Matches the bracket between the text and the address of a link or an image, as in
``[text](address)``."""
_TAG = re.compile(r"<(?=[A-Za-z/!?])")


def plain_text_within(text: str, limit: int) -> str:
    """Returns at most ``limit`` characters of the text on one line. Control characters are escaped. A
    space is put into each tag, each image (which a page would fetch), and each link whose text is not its
    address, so that no page reads it as markup."""
    shown = printable_within(text, limit)
    return _TAG.sub("< ", _LINK.sub("] ", shown))
