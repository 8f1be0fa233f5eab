"""This module defines the options that annotate a trace with the rules of its answer. It also makes,
writes and sends the annotations."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from ..errors import InvalidInput
from ..explanation.explanation import Explanation
from ..report.saving import check_place
from ..traces import ANNOTATED_TOOLS, Annotations, Incident, annotated_tool, annotations_file
from .options import place
from .terminal import say

AnnotateOption = Annotated[
    list[str] | None,
    typer.Option(
        "--annotate",
        metavar="TOOL",
        help="--trace: write the rules as annotations of its answer and documents, for "
        f"{', '.join(ANNOTATED_TOOLS)}. May be given several times.",
    ),
]
AnnotateFolder = Annotated[
    Path | None,
    typer.Option(
        "--annotate-to", parser=place, metavar="DIR", help="--annotate: into this folder, not this one."
    ),
]
SendOption = Annotated[
    bool,
    typer.Option("--send", help="--annotate: also send them, by the tool's own client."),
]


@dataclass(frozen=True, slots=True)
class AnnotateOptions:
    """These options name the tracing tools, such as Phoenix, that get the rules as annotations."""

    annotate: AnnotateOption = None
    annotate_to: AnnotateFolder = None
    send: SendOption = False

    def check(self, trace: Path | None) -> None:
        """Checks the options before anything is paid. Raises InvalidInput for options that do not go
        together, or for a tool that does not exist. Raises MissingExtra for a client that is not
        installed. ``trace``: the file of the trace; None if there is none."""
        if not self.annotate:
            for option, is_given in {"--annotate-to": self.annotate_to, "--send": self.send}.items():
                if is_given:
                    raise InvalidInput(f"{option} goes with --annotate only; give one, or leave it out")
            return
        if trace is None:
            raise InvalidInput("--annotate goes with --trace only, which says where to put annotations")
        for tool in map(annotated_tool, self.annotate):
            if self.send:
                tool.check_installed()

    def check_incident(self, incident: Incident | None) -> None:
        """Checks, before anything is paid, that the annotations can be made. Does nothing if there is no
        trace.

        Raises InvalidInput if the ids in the trace do not have the form that a named tool gives its ids,
        or if a file cannot be written.
        """
        for name in self.annotate or ():
            if incident is not None and incident.traced is not None:
                annotated_tool(name).check_ids(incident.traced)
                # The name of the file depends on the condition, which is not known yet. For this check,
                # only the folder of the file matters.
                check_place(annotations_file(self._folder, name, incident.traced.trace, ""))

    def made(self, explanation: Explanation, incident: Incident | None) -> list[Annotations]:
        """Returns the annotations for each named tool; none if ``incident`` is None. Raises InvalidInput
        if the explanation is not about the answer of the incident."""
        return [Annotations(explanation, incident, each) for each in self.annotate or () if incident]

    def put(self, made: list[Annotations], *, stopped: bool = False) -> None:
        """Writes the annotations into files, and with --send also sends them to the tools. ``stopped``:
        True if the user has interrupted the search; then nothing is sent.

        Raises InvalidInput, MissingExtra or NotSent if that fails; the files that were written stay.
        """
        files = [each.write(self._folder) for each in made]
        for annotations, file in zip(made, files, strict=True):
            tool, count = annotations.tool, annotations.count
            if not self.send or stopped:
                why = "nothing was sent: the search was interrupted" if stopped else "--send sends them"
                say(f"{count} annotations for {tool}: {file}; {why}")
                continue
            annotations.send()
            say(f"{count} annotations for {tool}: {file}; sent")

    @property
    def _folder(self) -> Path:
        return self.annotate_to or Path()
