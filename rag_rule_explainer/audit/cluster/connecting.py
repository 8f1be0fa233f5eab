"""This module connects to a Ray cluster. If that fails, the error says why in one sentence."""

import os
import socket
from collections.abc import Generator
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import Any

from ...errors import InvalidInput, MissingExtra
from ...printable import printable, shortened

LOCAL = "local"
"""The address that stands for a cluster of this machine alone, which lives as long as the audit."""
_CLIENT = "ray://"
_SECONDS_TO_ANSWER = 10.0
"""The number of seconds in which the address of a cluster must answer. Ray itself would wait for many
minutes."""
_TRIES = 3
_OBJECTS = 200 * 2**20
"""The bytes that a cluster on this machine reserves for results on their way back to the audit. Such
results are small and few."""


def ray_module() -> Any:
    """Returns the module ``ray``. Raises MissingExtra if it is not installed."""
    # Ray reports its use to its makers unless a setting forbids it.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        return import_module("ray")
    except ModuleNotFoundError as error:
        if error.name != "ray":
            raise
        raise MissingExtra.naming("ray", "the engine 'ray'") from error


@contextmanager
def connected(address: str, options: dict[str, Any]) -> Generator[Any, None, None]:
    """Connects to the cluster for the block, and yields the module ``ray``. If this process is already
    connected, that connection is used, and left open at the end.

    ``address``: "local", "auto", "HOST:PORT" or "ray://HOST:PORT". ``options``: the arguments of
    ``ray.init`` apart from the address. Raises InvalidInput, in one sentence, if there is no such
    cluster, or if it has another version of Ray or Python; MissingExtra without Ray.
    """
    ray = ray_module()
    if ray.is_initialized():
        yield ray
        return
    if address not in {LOCAL, "auto"}:
        check_answers(address)
    given = {"logging_level": "ERROR", "log_to_driver": False, **options}
    if address == LOCAL:
        given = {"include_dashboard": False, "object_store_memory": _OBJECTS, **given}
    # A cluster on this machine is started again after a timeout, because on a busy machine Ray gives its
    # own processes too little time to start.
    for tries_left in range(_TRIES if address == LOCAL else 1, 0, -1):
        try:
            ray.init(address=address, **given)
            break
        except Exception as error:
            with suppress(Exception):
                ray.shutdown()
            if tries_left == 1 or "timed out" not in str(error):
                raise InvalidInput(_why_not(ray, address, error)) from error
    try:
        yield ray
    finally:
        ray.shutdown()


def check_answers(address: str) -> None:
    """Raises InvalidInput if the address is malformed, or if no cluster answers there."""
    host, colon, port = address.removeprefix(_CLIENT).rpartition(":")
    if not (host and colon and port.isdecimal()):
        raise InvalidInput(
            f"the cluster's address is {address!r}; give 'local', 'auto', HOST:PORT such as "
            "10.0.0.7:6379, or ray://HOST:PORT such as ray://10.0.0.7:10001"
        )
    try:
        socket.create_connection((host.strip("[]"), int(port)), _SECONDS_TO_ANSWER).close()
    except (OSError, OverflowError) as error:
        raise InvalidInput(
            f"no Ray cluster answers at {address} ({printable(str(error))}); check the address and that "
            "the cluster is up (ray status), or leave the address out to use this machine"
        ) from error


def _why_not(ray: Any, address: str, error: Exception) -> str:
    said = " ".join(printable(str(error)).split())
    if "ersion mismatch" in said or ("version" in said and "Python" in said):
        return (
            f"the cluster at {address} runs other versions than this process (Ray {ray.__version__}): "
            f"{shortened(said, 300)}; install the same Ray and Python on both"
        )
    if "InvalidAuthToken" in str(error.__cause__ or error.__context__):
        return (
            f"the cluster at {address} asks for a token; set RAY_AUTH_MODE=token, and give its token in "
            "RAY_AUTH_TOKEN or in the file ~/.ray/auth_token"
        )
    if isinstance(error, ConnectionError) and address == "auto":
        return (
            "there is no Ray cluster on this machine; start one with 'ray start --head', give its "
            "address, or leave the address out to use this machine alone"
        )
    return (
        f"the Ray cluster at {address} cannot be used: {shortened(said, 300)}; check its address and "
        "that it is up (ray status)"
    )
