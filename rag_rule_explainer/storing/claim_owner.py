"""This module names the owners of claims (rights to make an answer). It also finds out whether an
owner has died, in which case its claims are void."""

import contextlib
import os
import secrets
import socket
from functools import cache
from pathlib import Path

_instances: set[str] = set()
"""The names of the owners in this process that may have claims."""


def new_owner() -> str:
    """Returns the name of a new owner of claims. Each store that this process opens has one. The name
    consists of the host, the process id and a random part."""
    owner = f"{_host()}|{os.getpid()}|{secrets.token_hex(8)}"
    _instances.add(owner)
    return owner


def retire(owner: str) -> None:
    """Notes that an owner of this process has no claims any more."""
    _instances.discard(owner)


def is_dead(owner: str) -> bool:
    """Returns True iff the owner certainly died: its process ran on this host and has ended. Processes
    on other hosts cannot be checked; their claims end when the lease is over."""
    host, _, rest = owner.rpartition("|")[0].rpartition("|")
    if not host or host != _host() or not rest.isdecimal() or len(rest) > 10:
        return False
    if int(rest) == os.getpid():
        # After a restart of a container, this process may have the id of an earlier process, which was
        # the owner. The id alone therefore does not show that the owner is alive.
        return owner not in _instances
    return not _lives(int(rest))


def _lives(process: int) -> bool:
    if os.name == "nt":  # On Windows, signal 0 is Ctrl-C, so it cannot be used to check a process.
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


@cache
def _host() -> str:
    """Returns a text that identifies this host: its name, its boot id and its process namespace. The
    name alone is not enough: machines may have equal names, and containers on one machine may share a
    name."""
    parts = [socket.gethostname().replace("|", "")]
    with contextlib.suppress(OSError):
        parts.append(Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip())
        parts.append(str(Path("/proc/self/ns/pid").readlink()))
    return " ".join(parts)
