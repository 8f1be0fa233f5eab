"""This module writes and reads the explanations in the folder of a server, and touches nothing else."""

import os
import re
import secrets
import stat
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from ...errors import InvalidInput, RagRuleError
from ...explanation.explanation import Explanation
from ...report.loading import MOST_BYTES, explanation_in

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,80}(?:\.[A-Za-z0-9_-]{1,40}){0,3}\.json", re.ASCII)
_EXPECTED = "give a name that explain or verify returned; show without a name lists them"
_MOST_NAMES = 200
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_NO_WAIT = getattr(os, "O_NONBLOCK", 0)
_BINARY = getattr(os, "O_BINARY", 0)


class SavedPlace(NamedTuple):
    """A ``SavedPlace`` names the file of a saved explanation. ``name``: the name of the file; empty if
    it could not be saved. ``why_not``: if it could not be saved, the reason in words; else empty."""

    name: str
    why_not: str = ""


@dataclass(frozen=True, slots=True)
class SavedFolder:
    """A ``SavedFolder`` holds saved explanations. ``path``: the path of the folder, in which symbolic
    links are resolved."""

    path: Path

    @classmethod
    def of(cls, path: Path) -> "SavedFolder":
        """Returns the folder. If it does not exist, it is made in its parent folder, which must exist.
        Raises InvalidInput if the folder cannot be made or written."""
        try:
            path.mkdir(exist_ok=True)
            folder = path.resolve(strict=True)
        except OSError as error:
            raise InvalidInput(f"--folder {path}: {error.strerror}; give another folder") from error
        if not os.access(folder, os.W_OK | os.X_OK):
            raise InvalidInput(f"--folder {path} may not be written; give another folder")
        return cls(folder)

    def kept(self, explanation: Explanation) -> SavedPlace:
        """Writes the explanation into a new file, and returns its place. If the file cannot be written,
        the place holds the reason, and no error is raised: the client still gets the explanation, which
        is paid for."""
        try:
            return SavedPlace(self.save(explanation))
        except InvalidInput as error:
            return SavedPlace("", str(error))

    def save(self, explanation: Explanation) -> str:
        """Writes the explanation into a new file, and returns its name. No existing file is changed.
        Raises InvalidInput if the file cannot be written."""
        made_at = re.sub(r"[^0-9TZ]", "", explanation.made_at) or "undated"
        name = f"{made_at}-{secrets.token_hex(6)}.json"
        content = explanation.report("json").encode()
        file = self.path / name
        try:
            descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_LINK | _BINARY, 0o644)
            try:
                with os.fdopen(descriptor, "wb") as opened:
                    opened.write(content)
            except BaseException:
                with suppress(OSError):
                    file.unlink()
                raise
        except OSError as error:
            raise InvalidInput(f"the explanation cannot be saved: {error.strerror}") from error
        return name

    def names(self) -> list[str]:
        """Returns the names of the saved files, the newest first, at most 200."""
        with os.scandir(self.path) as entries:
            found = sorted(
                each.name
                for each in entries
                if _NAME.fullmatch(each.name) and each.is_file(follow_symlinks=False)
            )
        return found[::-1][:_MOST_NAMES]

    def load(self, name: str) -> Explanation:
        """Returns the explanation in a file of this folder.

        Raises InvalidInput for a path in place of a plain file name, for a file that is a link or no
        regular file, and for a file without an explanation. The error says nothing about what the file
        contains.
        """
        if not _NAME.fullmatch(name):
            raise InvalidInput(f"this is no name of a saved explanation; {_EXPECTED}")
        try:
            return explanation_in(self._content(name), Path(name))
        except RagRuleError as error:
            raise InvalidInput(f"{name} has no explanation; {_EXPECTED}") from error

    def _content(self, name: str) -> bytes:
        missing = InvalidInput(f"there is no {name}; {_EXPECTED}")
        file = self.path / name
        try:
            if not stat.S_ISREG(file.lstat().st_mode):
                raise missing
            descriptor = os.open(file, os.O_RDONLY | _NO_LINK | _NO_WAIT | _BINARY)
        except OSError as error:
            raise missing from error
        with os.fdopen(descriptor, "rb") as opened:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise missing
            content = opened.read(MOST_BYTES + 1)
        if len(content) > MOST_BYTES:
            raise missing
        return content
