"""This module breaks the lines of a report that are longer than the terminal is wide."""

import re
from collections.abc import Iterator

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

_NARROWEST = 2
"""The smallest width in which text is broken. In a line of one column, Rich would drop characters that
are two columns wide, such as those of Chinese."""
_HANGING = 2
"""The indent of the second and later parts of a broken line that has no indent of its own."""
_BEGINNING = re.compile(r"(?P<indent> *)(?P<bullet>- )?(?P<cell>\S.*?  +)?")
"""The beginning of a line: its indent, its bullet, and a first column. A first column ends with two or
more spaces."""


def wrapped(line: Text, console: Console) -> Iterator[Text]:
    """Yields the line in parts that fit the width of the console. All parts after the first begin below
    the text of the first part, and no part ends in a space. Words that are longer than a line are
    broken."""
    for part in _parts(line, console):
        part.rstrip()
        yield part


def _parts(line: Text, console: Console) -> Iterator[Text]:
    if cell_len(line.plain) <= console.width:
        yield line.copy()
        return
    indent = _indent_of(line.plain, console.width)
    first = line.wrap(console, max(_NARROWEST, console.width))[0]
    rest = line[len(first.plain) :]
    yield first
    rest = rest[len(rest.plain) - len(rest.plain.lstrip(" ")) :]
    for part in rest.wrap(console, max(_NARROWEST, console.width - indent)):
        yield Text(" " * indent) + part


def _indent_of(line: str, width: int) -> int:
    """Returns the column at which the text of a line begins. The further lines of a broken line begin
    there, too. If the line begins with a first column of a table, and this column ends in the left half
    of ``width``, the text begins after the column."""
    found = _BEGINNING.match(line)
    if found is None:
        return _HANGING
    indent, bullet, cell = (found[name] or "" for name in ("indent", "bullet", "cell"))
    own = len(indent) + len(bullet)
    whole = own + cell_len(cell)
    return whole if cell and whole <= width // 2 else own or _HANGING
