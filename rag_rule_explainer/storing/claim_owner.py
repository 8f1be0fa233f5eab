"""This module names the owners of claims, and recognises the dead ones."""

import contextlib
import os
import secrets
import socket
from functools import cache
from pathlib import Path

_instances: set[str] = set()
"""The owners of this process."""


def new_owner() -> str:
    """Returns a new owner for a store that this process opens: its host, its process id and a random
    part."""
    owner = f"{_host()}|{os.getpid()}|{secrets.token_hex(8)}"
    _instances.add(owner)
    return owner


def retire(owner: str) -> None:
    """Marks an owner of this process as one that holds no claims any more."""
    _instances.discard(owner)


def is_dead(owner: str) -> bool:
    """Returns True iff the owner was a process of this host that has ended; other owners' claims end by
    their lease."""
    host, _, rest = owner.rpartition("|")[0].rpartition("|")
    if not host or host != _host() or not rest.isdecimal() or len(rest) > 10:
        return False
    if int(rest) == os.getpid():
        # A restarted container may give the same process id to another process.
        return owner not in _instances
    return not _lives(int(rest))


def _lives(process: int) -> bool:
    if os.name == "nt":  # there, signal 0 is Ctrl-C
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
    """Returns the name, the boot id and the process namespace of this host: machines share names, and
    containers share machines."""
    parts = [socket.gethostname().replace("|", "")]
    with contextlib.suppress(OSError):
        parts.append(Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip())
        parts.append(str(Path("/proc/self/ns/pid").readlink()))
    return " ".join(parts)
