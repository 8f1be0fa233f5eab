"""The statement that a sampled search is to make, from the options."""

from typing import Any

from ..errors import InvalidInput
from ..mining.sampled import Sampled
from ..settings import MinerName


def parsed_miner(
    miner: MinerName,
    max_violation: float | None,
    confidence: float | None,
    sizes: str | None,
    max_rules: int | None,
    *,
    jointly: bool,
) -> MinerName | Sampled:
    """The miner that is asked for. Raises InvalidInput for a statement that it does not make."""
    stated: dict[str, Any] = {
        "max_violation": max_violation,
        "confidence": confidence,
        "sizes": None if sizes is None else _sizes(sizes),
        "max_rules": max_rules,
        "jointly": jointly or None,
    }
    given = {name: value for name, value in stated.items() if value is not None}
    if not given:
        return miner
    if miner != "sampled":
        option = next(iter(given)).replace("_", "-")
        raise InvalidInput(f"--{option} is about rules that are tested; say --miner sampled with it")
    return Sampled(**given)


def _sizes(text: str) -> tuple[int, ...]:
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isascii() and part.isdigit() and len(part) < 10 for part in parts):
        raise InvalidInput(f"--sizes is {text!r}; give numbers of sources, such as 5 or 5,10")
    return tuple(map(int, parts))
