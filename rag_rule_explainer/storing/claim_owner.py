"""Who holds a claim, and whether it is known to live no more."""

import contextlib
import os
import secrets
import socket
from functools import cache
from pathlib import Path

_instances: set[str] = set()
"""The owners that this process is."""


def new_owner() -> str:
    """Returns an owner for a store that this process opens: its host, its id, and something random."""
    owner = f"{_host()}|{os.getpid()}|{secrets.token_hex(8)}"
    _instances.add(owner)
    return owner


def retire(owner: str) -> None:
    """Says that this owner, one of this process, holds nothing any more."""
    _instances.discard(owner)


def is_dead(owner: str) -> bool:
    """Returns True iff the owner was a process of this host that is gone; of others, their lease will
    tell."""
    host, _, rest = owner.rpartition("|")[0].rpartition("|")
    if not host or host != _host() or not rest.isdecimal() or len(rest) > 10:
        return False
    if int(rest) == os.getpid():
        # A container that was started anew gives the same id to another process.
        return owner not in _instances
    return not _lives(int(rest))


def _lives(process: int) -> bool:
    if os.name == "nt":  # where a signal 0 is no question but a Ctrl-C
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
    """The name alone would not do: machines share names, and containers share machines."""
    parts = [socket.gethostname().replace("|", "")]
    with contextlib.suppress(OSError):
        parts.append(Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip())
        parts.append(str(Path("/proc/self/ns/pid").readlink()))
    return " ".join(parts)
