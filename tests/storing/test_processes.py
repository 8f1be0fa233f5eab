"""Several processes at one store: each answer is paid once, and who dies holds nobody up."""

import asyncio
import os
import signal
import time
from pathlib import Path

import pytest

from rag_rule_explainer import Answer, Store, StoreFailed
from rag_rule_explainer.storing import claim_owner as owners
from rag_rule_explainer.storing.claim_owner import is_dead, new_owner, retire
from rag_rule_explainer.storing.opened import close_all
from tests.storing.asking import (
    among_others,
    answered,
    answers,
    change,
    claimed,
    eventually,
    forked,
    process,
    rows,
    within,
)

pytestmark = pytest.mark.waits

beside_other_processes = pytest.mark.parametrize(
    "store",
    ["sqlite-alone", pytest.param("sqlite-among", marks=pytest.mark.slow), "postgresql"],
    indirect=True,
)
"""Who is alone has company as soon as another process comes."""

HOLDING = """
async def main():
    claim = await claimed(answers(store), 1)
    print("held", flush=True)
    sys.stdin.read()
asyncio.run(main())
"""

ASKING = """
paid = []
def make(number):
    paid.append(number)
    return Answer(f"by {sys.argv[1]}")
async def main():
    mine = answers(store)
    told = await asyncio.gather(*(asked(mine, number, make) for number in range(100)))
    print(len(paid), *(answer.text.removeprefix("by ") for answer in told))
sys.stdin.readline()
asyncio.run(main())
"""


@beside_other_processes
def test_two_processes_at_a_fresh_store_pay_each_answer_once(store: Store) -> None:
    both = [forked(ASKING, store, name) for name in ("one", "two")]
    for each in both:
        each.stdin.write("go\n")
        each.stdin.flush()
    (paid_one, *told_one), (paid_two, *told_two) = (
        each.communicate(timeout=120)[0].split() for each in both
    )
    assert [each.returncode for each in both] == [0, 0]
    assert int(paid_one) + int(paid_two) == 100
    assert told_one == told_two
    assert told_one.count("one") == int(paid_one)


@beside_other_processes
async def test_a_claim_of_another_process_is_waited_for_until_it_is_killed(store: Store) -> None:
    # Its lease lasts longer than the test may.
    store = Store(store.url, store.namespace, lease=3600)
    other = forked(HOLDING, store)
    assert other.stdout.readline() == "held\n"
    waiting = asyncio.create_task(claimed(answers(store), 1))
    await asyncio.sleep(0.3)
    assert not waiting.done()
    os.kill(other.pid, signal.SIGKILL)
    other.communicate(timeout=120)
    await within(120, waiting)
    await waiting.result().put(Answer("made after all"), None)


@pytest.mark.parametrize(
    "store",
    [
        "sqlite-alone",
        *(pytest.param(kind, marks=pytest.mark.slow) for kind in ("sqlite-among", "postgresql")),
    ],
    indirect=True,
)
async def test_a_process_that_ends_gives_its_claims_back(store: Store) -> None:
    other = process(HOLDING, store)
    other.communicate("", timeout=120)
    assert rows(store, "SELECT * FROM rag_rules_answers") == []


@beside_other_processes
async def test_a_fork_opens_a_store_of_its_own(store: Store) -> None:
    code = """
async def main(number):
    await asked(answers(store), number, lambda n: Answer(str(n)))
asyncio.run(main(1))
child = os.fork()
asyncio.run(main(3 if child else 2))
if child:
    assert os.waitpid(child, 0)[1] == 0
"""
    forking = forked("import os\n" + code, store)
    forking.communicate(timeout=120)
    assert forking.returncode == 0
    mine = answers(store)
    assert [(await answered(mine, number)).text for number in (1, 2, 3)] == ["1", "2", "3"]


async def test_a_claim_of_another_machine_is_dead_when_its_lease_is_over(url: str) -> None:
    store = Store(url, "tests", lease=0.5)
    mine = answers(store)
    claim = await claimed(mine, 1)
    # As if another machine had made it, which does not renew it.
    change(store, "UPDATE rag_rules_answers SET owner = 'elsewhere|1|abc'")
    other = answers(Store(url, "tests"), "Another question?")
    await claimed(other, 1)
    close_all()
    (expires,) = rows(store, "SELECT expires FROM rag_rules_answers WHERE owner LIKE 'elsewhere%'")
    again = await asyncio.wait_for(claimed(answers(store), 1), 60)
    assert time.time() > float(str(expires[0])) - 0.1  # not before; the clocks are compared to less
    await again.put(Answer("by the heir"), None)
    with pytest.raises(StoreFailed, match="was closed"):
        await claim.put(Answer("too late"), None)


async def test_a_lease_is_renewed_while_its_owner_lives(url: str) -> None:
    store = Store(url, "tests", lease=0.3)
    claim = await claimed(answers(store), 1)
    (first,) = rows(store, "SELECT expires FROM rag_rules_answers")

    def is_renewed() -> bool:
        (later,) = rows(store, "SELECT expires FROM rag_rules_answers")
        return float(str(later[0])) > float(str(first[0])) + 0.25

    await eventually(is_renewed)
    claim.release()


async def test_put_after_somebody_took_over_gives_back_what_stands(url: str) -> None:
    mine = answers(Store(url, "tests"))
    claim = await claimed(mine, 1)
    change(Store(url, "tests"), "UPDATE rag_rules_answers SET owner = 'elsewhere|1|abc', expires = 1.0")
    heir = forked(
        "async def main():\n"
        " print((await (await claimed(answers(store), 1)).put(Answer('theirs'))).text)\n"
        "asyncio.run(main())",
        Store(url, "tests"),
    )
    assert heir.communicate(timeout=120)[0] == "theirs\n"
    assert await claim.put(Answer("ours"), 0.5) == Answer("theirs")


async def test_the_slower_of_two_makers_gets_the_answer_of_the_faster_one(url: str) -> None:
    store = Store(url, "tests")
    mine = answers(store)
    claim = await claimed(mine, 1)
    change(store, "UPDATE rag_rules_answers SET owner = 'elsewhere|1|abc'")
    assert await claim.put(Answer("ours"), 0.5) == Answer("ours")
    assert await answered(mine, 1) == Answer("ours")


def test_a_claim_that_outlives_the_modules_is_dropped_in_silence(tmp_path: Path) -> None:
    outliving = process(
        "import builtins, os\n"
        "os.dup2(1, 2)\n"
        "async def main():\n"
        "    builtins.outlives = await claimed(answers(store), 1)\n"
        "asyncio.run(main())",
        Store(f"sqlite:///{tmp_path / 'store.db'}", "tests"),
    )
    assert outliving.communicate(timeout=120)[0] == ""
    assert outliving.returncode == 0


def test_who_is_known_to_be_dead() -> None:
    mine = new_owner()
    assert not is_dead(mine)
    retire(mine)
    assert is_dead(mine)
    host, _, _ = mine.split("|")
    assert is_dead(f"{host}|4194305|x")  # more than Linux ever gives
    assert not is_dead(f"{host}|1|x")
    for unknown in ("elsewhere|1|x", "", "|||", f"{host}|-1|x", f"{host}|99999999999|x", f"{host}|²|x"):
        assert not is_dead(unknown)


async def test_a_host_may_have_any_name(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(owners, "_host", lambda: 'it\'s\\ {a, "b"} %s host')
    with among_others(Store(url, "tests")):
        claim = await claimed(answers(Store(url, "tests")), 1)
        (held,) = rows(Store(url, "tests"), "SELECT owner FROM rag_rules_answers")
        assert str(held[0]).startswith('it\'s\\ {a, "b"} %s host|')
        await claim.put(Answer("made"))
