"""This module gives names to the owners of claims (rights to make an answer), and finds out whether an
owner has died. Each store that a process opens is an owner. The claims of a dead owner are void."""

import contextlib
import os
import secrets
import socket
from functools import cache
from pathlib import Path

_instances: set[str] = set()
"""The owners (opened stores) of this process that may still have claims (rights to make an answer)."""


def new_owner() -> str:
    """Returns the name of a new owner of claims (rights to make an answer). Each store that this process
    opens is an owner. The name consists of the host, the process id and a random part."""
    owner = f"{_host()}|{os.getpid()}|{secrets.token_hex(8)}"
    _instances.add(owner)
    return owner


def retire(owner: str) -> None:
    """Records that an owner (a store that this process opened) was closed. ``is_dead`` then returns True
    for this owner, so that its claims are void."""
    _instances.discard(owner)


def is_dead(owner: str) -> bool:
    """Returns True iff the owner has certainly died: it belonged to a process of this host that has
    ended, or it is a store that this process has closed. Owners on other hosts cannot be checked, so
    their claims stay valid until they expire."""
    host, _, rest = owner.rpartition("|")[0].rpartition("|")
    if not host or host != _host() or not rest.isdecimal() or len(rest) > 10:
        return False
    if int(rest) == os.getpid():
        # After a restart of a container, this process may have the same id as the owner's process had. An
        # equal id therefore does not show that the owner is alive.
        return owner not in _instances
    return not _lives(int(rest))


def _lives(process: int) -> bool:
    if os.name == "nt":  # Signal 0 checks a process, but on Windows this signal is Ctrl-C.
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
    alone is not enough, because several machines, or containers on one machine, may have the same
    name."""
    parts = [socket.gethostname().replace("|", "")]
    with contextlib.suppress(OSError):
        parts.append(Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip())
        parts.append(str(Path("/proc/self/ns/pid").readlink()))
    return " ".join(parts)
