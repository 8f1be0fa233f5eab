"""This module names the owners of claims (rights to make an answer), and finds out whether an owner is
dead."""

import contextlib
import os
import secrets
import socket
from functools import cache
from pathlib import Path

_instances: set[str] = set()
"""The names of the owners in this process that may have claims."""


def new_owner() -> str:
    """Returns the name of a new owner, for a store that this process opens. It consists of the host, the
    process id and a random part."""
    owner = f"{_host()}|{os.getpid()}|{secrets.token_hex(8)}"
    _instances.add(owner)
    return owner


def retire(owner: str) -> None:
    """Records that an owner of this process has no claims any more."""
    _instances.discard(owner)


def is_dead(owner: str) -> bool:
    """Returns True iff the owner is known to be dead: it belonged to a process of this host that has
    ended. For a process of another host this is not known; its claims end when their lease is over."""
    host, _, rest = owner.rpartition("|")[0].rpartition("|")
    if not host or host != _host() or not rest.isdecimal() or len(rest) > 10:
        return False
    if int(rest) == os.getpid():
        # After a restart of a container, this process may have the id of an earlier one. So the id alone
        # does not show that the owner is alive.
        return owner not in _instances
    return not _lives(int(rest))


def _lives(process: int) -> bool:
    if os.name == "nt":  # on Windows, signal 0 is Ctrl-C and cannot be used to check
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
    """Returns a text that identifies this host: its name, its boot id and its process namespace. The name
    alone is not enough, since machines may have equal names, and containers share a machine."""
    parts = [socket.gethostname().replace("|", "")]
    with contextlib.suppress(OSError):
        parts.append(Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip())
        parts.append(str(Path("/proc/self/ns/pid").readlink()))
    return " ".join(parts)
