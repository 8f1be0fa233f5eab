"""The statement that a sampled search is to make, and the batches of a partition, from the options."""

from typing import Any

from ..errors import InvalidInput
from ..mining import Partition, Sampled
from ..mining.partitioned import Others
from ..settings import MinerName


def parsed_miner(
    miner: MinerName,
    max_violation: float | None,
    confidence: float | None,
    sizes: str | None,
    max_rules: int | None,
    *,
    jointly: bool = False,
    neighbours: bool = False,
) -> MinerName | Sampled:
    """The miner that is asked for. Raises InvalidInput for a statement that it does not make."""
    stated: dict[str, Any] = {
        "max_violation": max_violation,
        "confidence": confidence,
        "sizes": None if sizes is None else _sizes(sizes),
        "max_rules": max_rules,
        "jointly": jointly or None,
        "neighbours": neighbours or None,
    }
    given = {name: value for name, value in stated.items() if value is not None}
    if not given:
        return miner
    if miner != "sampled":
        option = next(iter(given)).replace("_", "-")
        raise InvalidInput(f"--{option} is about rules that are tested; say --miner sampled with it")
    return Sampled(**given)


def parsed_partition(by: str | None, others: Others | None) -> Partition | None:
    """The batches that are asked for, a number being one of sources. Raises InvalidInput."""
    if by is None:
        if others is not None:
            raise InvalidInput("--others is about the sources of other batches; say --partition with it")
        return None
    is_number = by.isascii() and by.isdigit() and len(by) < 10
    return Partition(int(by) if is_number else by, others)


def _sizes(text: str) -> tuple[int, ...]:
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isascii() and part.isdigit() and len(part) < 10 for part in parts):
        raise InvalidInput(f"--sizes is {text!r}; give numbers of sources, such as 5 or 5,10")
    return tuple(map(int, parts))
