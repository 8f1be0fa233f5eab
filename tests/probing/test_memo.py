import anyio
import anyio.lowlevel
import pytest

from rag_rule_explainer.probing.memo import Memo

pytestmark = pytest.mark.waits


def test_many_at_once_make_it_once() -> None:
    made: list[str] = []

    async def make(_subject: str) -> str:
        made.append("started")
        await anyio.lowlevel.checkpoint()  # meanwhile, the others ask
        return "value"

    async def main() -> list[tuple[str, bool]]:
        memo, got = Memo[str](), list[tuple[str, bool]]()

        async def ask() -> None:
            got.append(await memo.get("key", make, "subject"))

        async with anyio.create_task_group() as group:
            for _ in range(5):
                group.start_soon(ask)
        return got

    got = anyio.run(main)
    assert made == ["started"]
    assert sorted(got) == [("value", False)] + [("value", True)] * 4


def test_an_error_goes_to_its_maker_and_the_next_waiter_makes_it() -> None:
    attempts: list[int] = []

    async def make(_subject: str) -> str:
        attempts.append(len(attempts))
        await anyio.lowlevel.checkpoint()
        if len(attempts) == 1:
            raise OSError("down")
        return "value"

    async def main() -> list[str]:
        memo, outcomes = Memo[str](), list[str]()

        async def ask() -> None:
            try:
                outcomes.append((await memo.get("key", make, "subject"))[0])
            except OSError as error:
                outcomes.append(str(error))

        async with anyio.create_task_group() as group:
            for _ in range(3):
                group.start_soon(ask)
        return outcomes

    assert sorted(anyio.run(main)) == ["down", "value", "value"]
    assert len(attempts) == 2


def test_cancelling_the_maker_leaves_nobody_waiting_for_ever() -> None:
    async def main() -> str:
        memo, begun = Memo[str](), anyio.Event()

        async def never(_subject: str) -> str:
            begun.set()
            await anyio.sleep_forever()
            raise AssertionError

        async def soon(_subject: str) -> str:
            return "value"

        async with anyio.create_task_group() as group:
            with anyio.CancelScope() as scope:
                group.start_soon(memo.get, "other", soon, "")
                group.start_soon(_when, begun, scope)
                await memo.get("key", never, "")
        with anyio.fail_after(60):
            return (await memo.get("key", soon, ""))[0]

    assert anyio.run(main) == "value"


async def _when(begun: anyio.Event, scope: anyio.CancelScope) -> None:
    await begun.wait()
    scope.cancel()


@pytest.mark.parametrize("key", [("a", 1), "b"])
def test_what_is_known_is_there_at_once(key: str | tuple[str, int]) -> None:
    memo = Memo[int]()
    memo.known[key] = 3

    async def fail(_subject: str) -> int:
        raise AssertionError

    async def main() -> tuple[int, bool]:
        return await memo.get(key, fail, "")

    assert anyio.run(main) == (3, True)
