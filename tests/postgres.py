"""A private PostgreSQL server from this machine's own binaries, reached by a socket file only."""

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

_USERS = ("postgres", "nobody")
_MEMORY = Path("/dev/shm")  # noqa: S108 -- a folder of its own is made in there
_SOCKET = ".s.PGSQL.5432"


@dataclass(frozen=True)
class Server:
    """A server that is up, in a folder of its own."""

    folder: Path
    binaries: Path
    user: str | None

    def url(self, database: str = "postgres", scheme: str = "postgresql") -> str:
        """The url of one of its databases."""
        return f"{scheme}://postgres@/{database}?unix_sock={self.folder / _SOCKET}"

    def sql(self, statement: str, database: str = "postgres") -> str:
        """What psql answers."""
        return self._run("psql", "-h", self.folder, "-U", "postgres", "-AtXc", statement, database)

    def fresh(self, name: str) -> str:
        """The url of a new, empty database."""
        self.sql(f'CREATE DATABASE "{name}"')
        return self.url(name)

    def stop(self, mode: str = "immediate") -> None:
        self._run("pg_ctl", "-D", self.folder / "data", "-m", mode, "-w", "stop")

    def start(self) -> None:
        options = f"-c listen_addresses='' -c unix_socket_directories='{self.folder}' -c fsync=on"
        log = self.folder / "log"
        self._run("pg_ctl", "-D", self.folder / "data", "-l", log, "-o", options, "-w", "start")

    def create(self) -> None:
        self._run("initdb", "-D", self.folder / "data", "-U", "postgres", "-A", "trust", "-E", "UTF8")

    def _run(self, program: str, *arguments: object) -> str:
        run = subprocess.run(
            [self.binaries / program, *map(str, arguments)],
            user=self.user,
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=60,
            check=False,
        )
        if run.returncode:
            raise RuntimeError(f"{program}: {run.stdout.strip()[-300:]}")
        return run.stdout.strip()


@contextmanager
def private_server(*, in_memory: bool = True) -> Generator[Server, None, None]:
    """A server for as long as the block runs. Skips the test where there can be none.

    ``in_memory``: its files are kept there, where the machine can do that; it is as strict, and faster.
    """
    binaries, user = _binaries(), _user()
    # Not pytest's folder: the path of a socket may be no longer than about a hundred bytes.
    folder = Path(
        tempfile.mkdtemp(prefix="rag-pg-", dir=_MEMORY if in_memory and _MEMORY.is_dir() else None)
    )
    server = Server(folder, binaries, user)
    try:
        if user is not None:
            shutil.chown(folder, user)
        try:
            server.create()
            server.start()
        except (OSError, RuntimeError, subprocess.SubprocessError) as error:
            pytest.skip(f"PostgreSQL does not start here: {error}")
        try:
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _binaries() -> Path:
    for folder in sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True):
        if all((folder / program).exists() for program in ("initdb", "pg_ctl", "psql")):
            return folder
    found = shutil.which("initdb")
    if found is None or shutil.which("psql") is None:
        pytest.skip("there is no PostgreSQL server on this machine (initdb, pg_ctl, psql)")
    return Path(found).parent


def _user() -> str | None:
    """Whom to run the server as: it refuses to be run by root."""
    if not hasattr(os, "getuid") or os.getuid() != 0:
        return None
    known = {entry.pw_name for entry in pwd.getpwall()}
    user = next((name for name in _USERS if name in known), None)
    if user is None:
        pytest.skip("PostgreSQL does not run as root, and there is nobody else here")
    return user
