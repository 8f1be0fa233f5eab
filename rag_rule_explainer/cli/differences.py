"""This module runs ``rag-rules diff``, which compares the explanations in two files. The files are
untrusted."""

from contextlib import suppress
from json import dumps

import typer

from ..comparison import diff as compared
from ..comparison.matching import IdOf
from ..errors import InvalidInput
from ..explanation.records import SourceRecord
from ..printable import shortened
from ..report import load
from .options import After, BeforeFile, FailOnOption, IdOfOption, Json
from .output_options import OutOption, ShortFormatOption
from .printing import ChosenOutput

_CODES = {False: 0, True: 1, None: 3}


def print_diff(
    a: BeforeFile,
    b: After,
    fail_on: FailOnOption = "any",
    id_of: IdOfOption = None,
    json: Json = False,
    format: ShortFormatOption = None,  # noqa: A002 -- the parameter has the name of the option
    out: OutOption = None,
) -> None:
    """Compare the rules of two explanations, A and B, that explain wrote.

    Examples:
      rag-rules diff before.json after.json
      rag-rules diff before.json after.json --fail-on lost
      rag-rules diff before.json after.json --format markdown --out changes.md

    Exit codes:
      0  no change of the kind that --fail-on names
      1  such a change
      2  bad input
      3  undecided: a search was stopped, a subset has no verdict, or one side did
         not mine the same kinds of rules
    """
    printed = ChosenOutput("diff", json, format, out)
    before, after = load(a), load(b)
    comparison = compared(before, after, id_of=None if id_of is None else _by(id_of))
    # Printing ends the program if the reader of the output has closed the pipe. That is suppressed, so
    # that the exit code below is right even then.
    with suppress(SystemExit):
        printed.show(comparison, str(comparison).splitlines())
    raise typer.Exit(_CODES[comparison.fails(fail_on)])


def _by(key: str) -> IdOf:
    """Returns a function from a source to the text by which it is matched with a source of the other
    file.

    ``key``: "id" or "text", or a key of the sources' metadata.
    """

    def identity(source: SourceRecord) -> str:
        if key in {"id", "text"}:
            return source.id if key == "id" else source.text
        if key not in source.metadata:
            known = ", ".join(map(repr, ("id", "text", *source.metadata)))
            raise InvalidInput(f"--id-of {key!r}: source {source.id!r} has only {shortened(known, 200)}")
        value = source.metadata[key]
        return value if isinstance(value, str) else dumps(value)

    return identity
