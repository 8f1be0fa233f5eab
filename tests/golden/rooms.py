"""All goldens, by the room that they are in: a module beside this one, and a folder of files."""

import json
from collections.abc import Mapping
from functools import cache
from importlib import import_module

from tests.golden import normal
from tests.golden.folders import empty_folder
from tests.golden.goldens import Explanations, Write
from tests.golden.short import short

ROOMS = ("plain", "faulty", "conditions", "kept", "records", "commands", "tables", "frameworks")
SLOW = frozenset({"frameworks"})
"""Importing both frameworks takes longer than all else here."""


def explanations(room: str) -> Explanations:
    """What makes the explanations of a room, by their names."""
    return import_module(f"tests.golden.{room}").EXPLANATIONS


def written(room: str) -> Mapping[str, Write]:
    """What writes the other files of a room, by the folder that they are in."""
    return getattr(import_module(f"tests.golden.{room}"), "WRITTEN", {})


@cache
def made(room: str, name: str) -> Mapping[str, str]:
    """The contents of one explanation's files."""
    with empty_folder():
        found = explanations(room)[name]()
    told = normal.explanation(json.loads(found.model_dump_json()))
    return {f"{name}.json": normal.laid_out(told), f"{name}.txt": short(found)}


@cache
def filled(room: str, name: str) -> Mapping[str, str]:
    """The contents of the files in one folder."""
    with empty_folder():
        return {f"{name}/{file}": content for file, content in written(room)[name]().items()}
