"""This module writes rows to files. Equal rows give equal bytes. A file is written completely or not at
all."""

import csv
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields
from enum import Enum
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Any, cast

from ..errors import InvalidInput
from ..printable import inert


def write_csv(path: Path, shape: type | Sequence[str], rows: Iterable[Any]) -> None:
    """Writes the rows (mappings or dataclasses) as CSV. The header is written even if there are no rows.

    ``shape``: the columns, or a dataclass whose fields are the columns. Fractions have six decimals, and
    None is an empty cell. Texts are put on one line, without control characters. A text that a
    spreadsheet would run as a formula gets an apostrophe before it. Raises InvalidInput if the file
    cannot be written.
    """
    names = [field.name for field in fields(shape)] if isinstance(shape, type) else shape
    table = StringIO()
    writer = csv.writer(table, lineterminator="\n")
    writer.writerow(names)
    for row in rows:
        look_up = cast("dict[str, Any]", row).get if isinstance(row, dict) else partial(getattr, row)
        writer.writerow([_cell(look_up(name)) for name in names])
    write_bytes(path, table.getvalue().encode("utf-8", "backslashreplace"))


def write_jsonl(path: Path, records: Iterable[Mapping[str, Any]], names: Sequence[str] = ()) -> None:
    """Writes one record per line as JSON, in ASCII, so that no text can control a terminal. ``names``:
    the keys that are written; empty for all keys. Raises InvalidInput if the file cannot be written."""
    chosen = ({name: each[name] for name in names} if names else each for each in records)
    write_bytes(path, "".join(f"{json.dumps(each)}\n" for each in chosen).encode("ascii"))


def write_bytes(path: Path, content: bytes) -> None:
    """Writes the file completely or, after an error, not at all. Makes its folder if it does not exist.
    Raises InvalidInput if the file cannot be written."""
    part = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part.write_bytes(content)
        part.replace(path)
    except OSError as error:
        raise InvalidInput(
            f"{path} cannot be written: {error.strerror}; give --out another folder"
        ) from error
    finally:
        with suppress(OSError):
            part.unlink()


def _cell(value: object) -> object:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{value:.6f}"
    value = value.value if isinstance(value, Enum) else value
    if isinstance(value, tuple):
        return _cell(" ".join(map(str, cast("tuple[object, ...]", value))))
    return inert(value) if isinstance(value, str) else value
