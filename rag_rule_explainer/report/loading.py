"""This module reads a saved explanation. The file is untrusted: sizes and types are checked, and nothing
in it is executed or fetched."""

import os
from pathlib import Path

from pydantic import ValidationError

from ..allowed import brief
from ..errors import InvalidInput
from ..explanation.explanation import SCHEMA_VERSION, Explanation
from ..printable import shortened

MOST_BYTES = 1 << 28
"""The maximum size of a file, in bytes. An explanation with 4,096 long answers is far smaller."""

EMBEDDED = '<script type="application/json" id="explanation">'
"""The tag before the JSON in an HTML report. The JSON has ``\\u003c`` for every ``<``."""

_END, _BOM = b"</script>", b"\xef\xbb\xbf"
_EXPECTED = "give a file that explanation.save(...) or rag-rules explain --json wrote"


def load(path: str | os.PathLike[str]) -> Explanation:
    """Returns the explanation in a file, from JSON or from an HTML report of this package.

    Raises InvalidInput if the file cannot be read, is too large, or has no explanation.
    """
    try:
        file = Path(path)
    except TypeError as error:
        raise InvalidInput(f"load was given {brief(path)}; give the path of a file") from error
    return explanation_in(_content(file), file)


def explanation_in(content: bytes, file: Path) -> Explanation:
    """Returns the explanation in the content of a file. ``file``: its path, for error messages. Raises
    InvalidInput if the content has no explanation."""
    begins = content[:1000].removeprefix(_BOM).lstrip()
    if begins.startswith(b"<"):
        content = _embedded(file, content)
    try:
        return Explanation.model_validate_json(content.removeprefix(_BOM))
    except ValidationError as error:
        raise InvalidInput(f"{file}: {_complaint(error)}; {_EXPECTED}") from error


def _content(file: Path) -> bytes:
    try:
        with file.open("rb") as opened:
            content = opened.read(MOST_BYTES + 1)
    except FileNotFoundError as error:
        raise InvalidInput(f"there is no {file}; {_EXPECTED}") from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InvalidInput(f"{file} cannot be read: {reason}; {_EXPECTED}") from error
    if len(content) > MOST_BYTES:
        raise InvalidInput(f"{file} is larger than {MOST_BYTES >> 20} MiB; {_EXPECTED}")
    return content


def _embedded(file: Path, html: bytes) -> bytes:
    """Returns the JSON that an HTML report contains. In such a report, every ``<`` in a text from outside
    is escaped. So the first ``EMBEDDED`` tag was written by this package."""
    _, tag, after = html.partition(EMBEDDED.encode())
    json, end, _ = after.partition(_END)
    if not (tag and end):
        raise InvalidInput(f"{file}: this HTML has no explanation in it; {_EXPECTED}")
    if b"<" in json:
        raise InvalidInput(f"{file}: the explanation in this HTML was changed; {_EXPECTED}")
    return json


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
