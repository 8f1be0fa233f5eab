"""What an audit on a cluster costs: beside one process, with one more worker, and with ten times the
questions."""

import os
import subprocess
import sys
from pathlib import Path
from statistics import correlation, linear_regression
from typing import Any

import pytest

from tests.audit.cluster.ray_cluster import (
    Asked,
    PrivateCluster,
    driver,
    needs_ray,
    private_cluster,
    told,
)
from tests.postgres import Server

pytestmark = [needs_ray, pytest.mark.nightly, pytest.mark.timeout(7200)]
MOST_MIB = 400
SIZES = (1_000, 3_000, 10_000)
IDLE = """
import os, ray, sys
from tests.audit.cluster.memory import own_memory
ray.init(address=sys.argv[1], logging_level="ERROR", log_to_driver=False)
@ray.remote
class Idle:
    def memory(self): return own_memory("self")
idle = Idle.remote()
print(own_memory("self"), ray.get(idle.memory.remote()))
"""


def seconds(found: dict[str, Any]) -> float:
    """From the first answers to the last: without the start of Ray and of the workers."""
    times = found["times"]
    return times[-1] - times[4]


def test_two_workers_are_almost_twice_as_fast_as_one(server: Server, tmp_path: Path) -> None:
    def asked(name: str, **given: Any) -> float:
        work = Asked(server.fresh(f"speed {name}"), 60, seconds=0.05, **given)
        return seconds(told(driver(cluster, work, tmp_path / name), 900))

    with private_cluster() as cluster:
        alone = asked("process", engine="process")
        one, two = asked("one", actors=1), asked("two", actors=2)
    overhead, efficiency = one / alone, one / two / 2
    print(
        f"\n60 questions, runs of 50 ms, 2 at a time in each worker: {alone:.1f} s in one process, "
        f"{one:.1f} s with one worker (overhead {overhead:.2f}), {two:.1f} s with two (efficiency "
        f"{efficiency:.2f})"
    )
    assert overhead <= 1.2
    assert efficiency >= 0.85


def idle_memory(cluster: PrivateCluster) -> tuple[float, float]:
    """Of a driver and of an actor that do nothing."""
    run = subprocess.run(
        [sys.executable, "-c", IDLE, cluster.address],
        env=cluster.environment,
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    of_driver, of_worker = run.stdout.split()[-2:]
    return float(of_driver), float(of_worker)


@pytest.mark.waits
def test_ten_thousand_questions_need_the_memory_of_a_thousand(server: Server, tmp_path: Path) -> None:
    took: list[float] = []
    whole: dict[int, float] = {}
    most: list[tuple[float, float]] = []
    for size in map(int, os.environ.get("AUDIT_SIZES", "").split() or SIZES):
        with private_cluster() as cluster:
            idle_driver, idle_worker = idle_memory(cluster)
            folder = str(tmp_path / f"audit {size}")
            work = Asked(server.fresh(f"many {size}"), size, shown=1, folder=folder)
            found = told(driver(cluster, work, tmp_path / f"paid {size}"), 7000)
        assert len(found["questions"]) == size
        # Processor time: how long it takes depends on who else is at work.
        (first, before), *_, (last, after) = found["used"]
        took.append((after - before) / (last - first))
        whole[size] = after
        seen = found["memory"]
        most.append(
            (
                max(of_driver for _, of_driver, _ in seen) - idle_driver,
                max(max(of_workers, default=0.0) for _, _, of_workers in seen) - idle_worker,
            )
        )
        tenth = next(each for each in seen if each[0] >= size / 10)
        print(
            f"\n{size:,} questions: {1000 * took[-1]:.1f} ms of processor time each, "
            f"{1000 * seconds(found) / size:.1f} ms by the clock; above idle, at most "
            f"{most[-1][0]:.0f} MiB in the driver and {most[-1][1]:.0f} MiB in a worker; at a tenth of "
            f"them {tenth[1] - idle_driver:.0f} and {max(tenth[2]) - idle_worker:.0f} MiB"
        )
    if len(whole) > 2:
        each, start = linear_regression(list(whole), list(whole.values()))
        print(
            f"\nfit over {', '.join(map('{:,}'.format, whole))}: {start:.1f} s + {1000 * each:.1f} ms a "
            f"question of processor time, r = {correlation(list(whole), list(whole.values())):.4f}"
        )
    assert all(max(each) <= MOST_MIB for each in most)
    assert max(took) <= 1.5 * min(took)
