"""This module runs ``rag-rules diff``, which compares the explanations in two files. The files are
untrusted."""

from contextlib import suppress
from json import dumps
from pathlib import Path

import typer
from pydantic import ValidationError

from ..comparison import Comparison
from ..comparison import diff as compared
from ..comparison.matching import IdOf
from ..errors import InvalidInput
from ..explanation.explanation import SCHEMA_VERSION, Explanation
from ..explanation.records import SourceRecord
from ..printable import shortened
from .options import After, BeforeFile, FailOnOption, IdOfOption, Json
from .terminal import print_json, print_lines

MOST_BYTES = 1 << 28
"""The maximum size of a file, in bytes. An explanation with 4,096 long answers is far smaller."""

_EXPECTED = "give a file that rag-rules explain --json printed"
_CODES = {False: 0, True: 1, None: 3}


def print_diff(
    a: BeforeFile,
    b: After,
    fail_on: FailOnOption = "any",
    id_of: IdOfOption = None,
    json: Json = False,
) -> None:
    """Compare the rules of two explanations, A and B, that explain --json printed.

    Exit code 0: no change of the kind that --fail-on names; 1: such a change; 2: bad input;
    3: undecided, because a search was stopped, a subset has no verdict,
    or one side did not mine the same kinds of rules.
    """
    before, after = load_explanation(a), load_explanation(b)
    comparison = compared(before, after, id_of=None if id_of is None else _by(id_of))
    # Printing ends the program if the reader of the output has closed the pipe. That is suppressed, so
    # that the exit code below is right even then.
    with suppress(SystemExit):
        _show(comparison, as_json=json)
    raise typer.Exit(_CODES[comparison.fails(fail_on)])


def load_explanation(path: Path) -> Explanation:
    """Returns the explanation in a file. Raises InvalidInput if the file cannot be read or has no
    explanation."""
    try:
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
    except FileNotFoundError as error:
        raise InvalidInput(f"there is no {path}; {_EXPECTED}") from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InvalidInput(f"{path} cannot be read: {reason}; {_EXPECTED}") from error
    if len(content) > MOST_BYTES:
        raise InvalidInput(f"{path} is larger than {MOST_BYTES >> 20} MiB; {_EXPECTED}")
    try:
        return Explanation.model_validate_json(content.removeprefix(b"\xef\xbb\xbf"))
    except ValidationError as error:
        raise InvalidInput(f"{path}: {_complaint(error)}; {_EXPECTED}") from error


def _complaint(error: ValidationError) -> str:
    errors = error.errors(include_url=False)
    for each in errors:
        if each["loc"] == ("schema_version",) and each["type"] == "less_than_equal":
            written = shortened(str(each["input"]), 20)
            return (
                f"it has schema {written}, this version reads up to {SCHEMA_VERSION}: upgrade the package"
            )
    place = "".join(f"{each}: " for each in errors[0]["loc"])
    return shortened(f"{place}{errors[0]['msg']}", 300)


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


def _show(comparison: Comparison, *, as_json: bool) -> None:
    if as_json:
        # ``dumps`` writes ASCII and escapes control characters, so the output suits every encoding and
        # terminal.
        print_json(dumps(comparison.model_dump(mode="json"), indent=2))
    else:
        print_lines(str(comparison).splitlines())
