"""This module prints the help of the commands: one screen first, and everything on request."""

import re
from collections.abc import Iterator
from textwrap import wrap
from typing import Any

from rich.text import Text
from typer.core import TyperCommand, TyperGroup
from typing_extensions import override

from .panels import PANELS, panelled, panels_in_short
from .terminal import print_lines

WHOLE_HELP = "--help-all"
"""The option of each command that prints its whole help. ``--help`` prints only one screen."""
_WIDTH = 80
_HEADINGS = ("Examples", "Environment", "Exit codes")
"""The headings of blocks in a command's docstring. The lines of a block are kept as they are."""
_HEIGHT = 23
"""The maximum number of lines of the first screen, without the empty line that Typer adds."""
_KINDS = {"int": "N", "float": "NUMBER", "str": "TEXT"}
_WHOLE = "rag_rules.whole_help"


class ScreenCommand(TyperCommand):
    """A ``ScreenCommand`` has its options in panels. ``-h`` and ``--help`` print one screen: at most 24
    lines of 80 columns. ``--help-all`` prints all options, and so does ``rag-rules help COMMAND``. The
    help of a command with few options shows all of them at once."""

    def __init__(self, *args: Any, **given: Any) -> None:
        super().__init__(*args, **given)
        self.params = panelled(self.params)
        self._paragraphs = list[str]()
        self._blocks = dict[str, str]()
        for paragraph in (self.help or "").split("\n\n"):
            heading, _, block = paragraph.partition(":\n")
            if heading in _HEADINGS:
                self._blocks[heading] = block
            else:
                self._paragraphs.append(" ".join(paragraph.split()))

    @override
    def get_help_option_names(self, ctx: Any) -> list[str]:
        return [*sorted(ctx.help_option_names, reverse=True), WHOLE_HELP]

    @override
    def get_help_option(self, ctx: Any) -> Any:
        option = super().get_help_option(ctx)
        if option is not None:
            option.help = f"Show the most important options; {WHOLE_HELP} shows all of them."
            (option,) = panelled([option])
        return option

    @override
    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        ctx.meta[_WHOLE] = WHOLE_HELP in args
        return super().parse_args(ctx, args)

    @override
    def format_help(self, ctx: Any, formatter: Any) -> None:
        lines = list(self._all(ctx))
        if not ctx.meta.get(_WHOLE, True) and sum(map(_height, lines)) > _HEIGHT and self._blocks:
            lines = list(self._screen(ctx))
        print_lines(lines)

    def _screen(self, ctx: Any) -> Iterator[Text]:
        """Yields the lines of the first screen: a description of the command, examples, options by
        panel, exit codes, and how to see the rest."""
        options = self.get_params(ctx)
        yield Text(self.get_usage(ctx).strip())
        yield from _paragraph(self._paragraphs[0])
        yield Text("\nExamples:", style="bold")
        yield from map(Text, self._blocks["Examples"].split("\n"))
        yield Text.assemble(
            ("\nOptions", "bold"), f" (all {len(options)}: {ctx.command_path} {WHOLE_HELP}):"
        )
        for heading, line in panels_in_short(options):
            yield Text.assemble("  ", (heading.ljust(13), "bold"), line)
        yield Text()
        variables = [line.split()[0] for line in self._blocks.get("Environment", "").split("\n") if line]
        if variables:
            yield Text.assemble(("Environment: ", "bold"), ", ".join(variables))
        # The text of an exit code may need several lines, of which only the first begins with the code.
        # The texts are joined by semicolons, so a semicolon inside a text becomes a comma.
        codes = re.split(r"\n *(?=\d)", self._blocks["Exit codes"].strip())
        said = (" ".join(code.split()).replace(";", ",") for code in codes)
        yield from _paragraph("; ".join(said), "Exit codes: ")

    def _all(self, ctx: Any) -> Iterator[Text]:
        """Yields the lines of the whole help, with every option."""
        yield Text(self.get_usage(ctx).strip())
        for sentence in self._paragraphs:
            yield Text()
            yield from _paragraph(sentence)
        for heading in _HEADINGS:
            if heading in self._blocks:
                yield Text(f"\n{heading}:", style="bold")
                yield from map(Text, self._blocks[heading].split("\n"))
        headings = {panel.heading: f"{panel.heading}: {panel.about}" for panel in PANELS}
        shown = None
        for option in self.get_params(ctx):
            other = "Options" if option.param_type_name == "option" else "Arguments"
            panel = getattr(option, "rich_help_panel", None) or other
            if panel != shown:
                yield Text(f"\n{headings.get(panel, panel)}", style="bold")
                shown = panel
            yield from option_lines(option, ctx)


class ScreenGroup(TyperGroup):
    """A ``ScreenGroup`` prints its help in one screen, with each command on a line."""

    @override
    def get_help_option_names(self, ctx: Any) -> list[str]:
        # The names come from a set, whose order differs from process to process, so they are sorted.
        return sorted(ctx.help_option_names, key=len, reverse=True)

    @override
    def format_help(self, ctx: Any, formatter: Any) -> None:
        print_lines(self._screen(ctx))

    def _screen(self, ctx: Any) -> Iterator[Text]:
        yield Text(self.get_usage(ctx).strip())
        yield from _paragraph(self.help or "")
        yield Text.assemble(
            ("\nCommands", "bold"), f" ({ctx.command_path} COMMAND -h shows their options):"
        )
        width = max(map(len, self.commands)) + 2
        for name, command in self.commands.items():
            sentence = " ".join((command.short_help or command.help or "").split("\n\n")[0].split())
            yield Text.assemble("  ", (name.ljust(width), "cyan"), _fitting(sentence, _WIDTH - width - 2))
        options = " ".join(option.opts[0] for option in self.get_params(ctx))
        yield Text.assemble(("Options: ", "bold"), options)
        yield Text("rag-rules help NAME explains an error, a setting, a claim or a word of a report.")


def _fitting(sentence: str, width: int) -> str:
    """Returns the sentence. If it is longer than ``width``, its end is cut off at a comma or colon,
    which becomes a full stop. The text before the first comma or colon is always kept, even if it is too
    long."""
    while len(sentence) > width:
        shorter = max(sentence.rfind(mark, 0, len(sentence) - 1) for mark in (", ", ": "))
        if shorter < 0:
            return sentence
        sentence = f"{sentence[:shorter]}."
    return sentence


def _height(line: Text) -> int:
    return line.plain.count("\n") + 1


def _paragraph(sentence: str, heading: str = "") -> Iterator[Text]:
    """Yields the lines of a paragraph. Its further lines are indented if it has a heading."""
    indent = "  " if heading else ""
    first, *rest = wrap(heading + sentence, _WIDTH, subsequent_indent=indent, break_on_hyphens=False)
    yield Text.assemble((heading, "bold"), first.removeprefix(heading))
    yield from map(Text, rest)


def option_lines(option: Any, ctx: Any) -> Iterator[Text]:
    """Yields the lines about an option: its names with the form of its value, and below them what it
    does, with its default."""
    is_argument = option.param_type_name != "option"
    names = option.metavar or option.name
    value = ""
    if not is_argument:
        names = ", ".join((*option.opts, *option.secondary_opts))
        kind = "" if option.is_flag else option.display_type_rich(ctx).strip("<>")
        value = _KINDS.get(kind.removesuffix(" range"), kind)
    yield Text.assemble("  ", (names, "cyan"), f" {value}" if value else "")
    sentence = (option.help or "").replace("\\[", "[")
    usual = option.default
    if getattr(option, "min", None) is not None:
        sentence = f"{sentence} At least {option.min:g}."
    if not is_argument and option.required:
        sentence = f"{sentence} [required]"
    elif usual is not None and usual is not False and not is_argument:
        sentence = f"{sentence} [default: {'on' if usual is True else usual}]"
    indent = " " * 6
    yield from map(
        Text,
        wrap(sentence, _WIDTH, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False),
    )
