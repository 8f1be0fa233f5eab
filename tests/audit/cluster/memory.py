"""The memory of the processes of an audit, in MiB: what is theirs alone; and their processor time."""

import os
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path


def own_memory(process: int | str) -> float:
    """What a process has for itself; 0 if it has ended."""
    with suppress(OSError):
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
        private = sum(int(line.split()[1]) for line in lines if line.startswith("Private_"))
        return private / 1024
    return 0.0


def processor_seconds(process: int | str) -> float:
    """What a process has used so far; 0 if it has ended."""
    with suppress(OSError):
        used = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        return (int(used[11]) + int(used[12])) / os.sysconf("SC_CLK_TCK")
    return 0.0


@dataclass
class Memory:
    """Looks at the driver and the workers each so many questions. ``built``: the file to which the
    application writes the process in which it was built."""

    every: int
    built: str
    seen: list[tuple[int, float, list[float]]] = field(
        default_factory=list[tuple[int, float, list[float]]]
    )
    used: list[tuple[int, float]] = field(default_factory=list[tuple[int, float]])

    def look(self, done: int) -> None:
        if done % self.every == 0 or done == 1:
            file = Path(self.built)
            workers = file.read_text().split() if file.exists() else []
            self.used.append((done, sum(map(processor_seconds, ("self", *workers)))))
            of_workers = [own_memory(each) for each in workers]
            self.seen.append((done, own_memory("self"), [each for each in of_workers if each]))
