"""What a run reads and keeps to itself."""

import asyncio

from rag_rule_explainer.instrumentation.copies.state import Same, State


def test_every_run_reads_what_the_first_one_read() -> None:
    held = ["first"]
    first = State()
    assert first.read("k", lambda: held) == ["first"]
    held.append("later")
    replay = first.of_a_replay()
    assert replay.read("k", lambda: held) == ["first"]
    replay.read("k", lambda: held).append("mine alone")
    assert first.read("k", lambda: held) == ["first"]


def test_reading_may_have_to_be_awaited() -> None:
    async def reading() -> list[int]:
        await asyncio.sleep(0)
        return [1]

    async def main() -> None:
        state = State()
        assert await asyncio.gather(*(state.aread("k", reading) for _ in range(3))) == [[1]] * 3

    asyncio.run(main())


def test_what_a_run_makes_is_its_own() -> None:
    first = State()
    made = first.own("k", lambda: ["mine"])
    assert first.own("k", lambda: ["another"]) is made
    assert first.owns(made)
    replay = first.of_a_replay()
    assert not replay.owns(made)
    assert replay.own("k", lambda: ["mine"]) is not made


def test_a_key_for_an_object_is_for_that_very_one_and_keeps_it() -> None:
    one, other = ["same"], ["same"]
    assert Same(one) == Same(one) != Same(other)
    assert len({Same(one), Same(one), Same(other)}) == 2
    keys = set[Same]()
    for _ in range(50):
        keys.add(Same([]))
    # None came by the address of one that is gone.
    assert len(keys) == 50
