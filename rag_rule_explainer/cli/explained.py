"""This module runs ``rag-rules help``, which explains a command or a name."""

import re
from collections.abc import Iterator
from textwrap import wrap
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from .pages import ALSO_CALLED, KINDS, HelpPage, find_page, help_pages, no_page
from .screens import WHOLE_HELP, ScreenCommand, option_lines
from .terminal import print_lines

_MARKED = re.compile(
    r"\[(?P<link>[^\]]+)\]\([^)]+\)|\*\*(?P<strong>.+?)\*\*|\*(?P<stress>[^*]+)\*|`(?P<code>[^`]+)`"
)
_STYLES = {"link": "underline", "strong": "bold", "stress": "italic", "code": "cyan"}
_WIDTH = 80

Names = Annotated[
    list[str] | None, typer.Argument(metavar="NAME", help="What to explain; leave it out for a list.")
]


def explain_names(context: typer.Context, names: Names = None) -> None:
    """Explain a command, an error, a setting, a claim or a word of a report.

    Examples:
      rag-rules help explain
      rag-rules help NoSourcesCaptured
      rag-rules help --samples

    Exit codes:
      0  explained
      2  there is no such name
    """
    if not names:
        print_lines(_everything())
        return
    root: Any = context.find_root().command
    asked = " ".join(names)
    is_command = _printed_help(root, context.find_root(), names)
    page = find_page(asked)
    if page is not None and (asked == page.name or not is_command):
        print_lines(_page_lines(page))
    if page is not None or is_command:
        return
    options = dict(_options(root))
    name = f"--{asked.lstrip('-').replace('_', '-')}"
    if name not in options:
        raise no_page(asked, (*root.commands, *options))
    command, option = options[name]
    print_lines((Text(f"Option of rag-rules {command}"), *option_lines(option, context)))


def _printed_help(command: Any, context: Any, names: list[str]) -> bool:
    """Prints the whole help of a command. ``names``: the name of the command, or the names of its group
    and of the command, such as "store", "prune". Returns False if there is no such command."""
    for name in names:
        command = getattr(command, "commands", {}).get(name)
        if command is None:
            return False
        whole = [WHOLE_HELP] if isinstance(command, ScreenCommand) else []
        context = command.make_context(name, whole, parent=context, resilient_parsing=True)
    help_text: str = context.get_help()
    if help_text:
        print_lines([help_text])
    return True


def _options(root: Any) -> Iterator[tuple[str, tuple[str, Any]]]:
    """Yields, for each option of each command, the name of the option and a pair: the name of the
    command and the option itself.

    The last command comes first. A dict made of these items therefore has, for an option that several
    commands have, the option of the first command.
    """
    for command in reversed(list(root.commands.values())):
        for option in command.params:
            if option.param_type_name == "option":
                yield from ((name, (command.name, option)) for name in option.opts)


def _everything() -> Iterator[Text]:
    yield Text("rag-rules help NAME explains a command, or any of these names:")
    for kind, heading in KINDS.items():
        yield Text(f"\n{heading}", style="bold")
        named = (page.name for page in help_pages() if page.kind == kind)
        listed = ", ".join(name.replace("_", " ") if kind == "words" else name for name in named)
        yield from map(Text, wrap(listed, 78, initial_indent="  ", subsequent_indent="  "))


def _page_lines(page: HelpPage) -> Iterator[Text]:
    """Yields the lines of a help page as styled text, without Markdown's markup and without the last
    paragraph, which lists other names of the page."""
    console = Console(width=_WIDTH)
    body = page.text.partition(f"\n\n{ALSO_CALLED}")[0]
    for block in body.split("\n\n"):
        if block.startswith("# "):
            yield Text(block[2:], style="bold underline")
            continue
        yield Text()
        joined = re.sub(r"\n(?!- )(> )?\s*", " ", block)
        for line in joined.split("\n"):
            quoted = line.startswith("> ")
            indent = "  " if line.startswith("- ") or quoted else ""
            shown = _styled(line.removeprefix("> ") if quoted else line)
            for place, part in enumerate(shown.wrap(console, _WIDTH - len(indent))):
                part.rstrip()
                yield Text(indent if place or quoted else "") + part


def _styled(line: str) -> Text:
    """Returns a line of Markdown as text with styles, without the marks of Markdown."""
    shown, end = Text(), 0
    for found in _MARKED.finditer(line):
        kind = str(found.lastgroup)
        shown.append(line[end : found.start()])
        shown.append(found[kind].replace("`", ""), style=_STYLES[kind])
        end = found.end()
    return shown.append(line[end:])
