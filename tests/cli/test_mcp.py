"""``rag-rules mcp``: the SDK's own client asks, over stdio and in memory."""

import json
import os
import secrets
import sys
import threading
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from operator import itemgetter
from pathlib import Path
from typing import Any

import anyio
import pytest
from langchain_core.documents import Document
from langchain_core.runnables import RunnableLambda
from langchain_rag_rule_explainer import lexical_chain
from mcp import ClientSession, StdioServerParameters, types
from mcp.client.stdio import stdio_client
from mcp.shared.memory import create_connected_server_and_client_session

from rag_rule_explainer import load
from rag_rule_explainer.cli.serving import ServedOptions
from rag_rule_explainer.cli.serving.allowance import ReplayAllowance
from rag_rule_explainer.cli.serving.answering import ServedApplication
from rag_rule_explainer.cli.serving.calls import CANCELLED
from rag_rule_explainer.cli.serving.saved import SavedFolder
from rag_rule_explainer.cli.serving.sdk import McpSdk
from rag_rule_explainer.cli.serving.server import server_of
from rag_rule_explainer.errors import InvalidInput
from rag_rule_explainer.instrumentation.integration import Integration
from tests.cli.runs import RagRules, assert_refused
from tests.cli.shop import BONES, SHOP

DOCUMENTS = [
    Document(id="guide", page_content="Adults with strong bones need no supplement."),
    Document(id="blog", page_content="For strong bones, adults should take the supplement calcium."),
    Document(id="leaflet", page_content="Calcium is the supplement that adults take for strong bones."),
]
ASKED = {"question": BONES, "condition": "contains:calcium"}


def served(
    folder: Path, allowance: ReplayAllowance | None = None, application: Any = None
) -> ServedApplication:
    chain = application or lexical_chain(DOCUMENTS, k=3)
    return ServedApplication(
        chain,
        Integration.of(chain, None),
        ServedOptions("shop:chain", folder),
        allowance or ReplayAllowance(100),
        {"concurrency": 1},
        SavedFolder.of(folder),
    )


@asynccontextmanager
async def connected(answering: ServedApplication) -> AsyncGenerator[ClientSession]:
    server = server_of(McpSdk.installed(), answering)
    async with create_connected_server_and_client_session(
        server._mcp_server  # pyright: ignore[reportPrivateUsage] -- as the SDK's own tests do
    ) as session:
        yield session


def said(result: types.CallToolResult) -> str:
    (content,) = result.content
    assert isinstance(content, types.TextContent)
    return content.text


def structured(result: types.CallToolResult) -> dict[str, Any]:
    assert not result.isError, said(result)
    assert result.structuredContent is not None
    return result.structuredContent


@pytest.mark.slow
async def test_the_tools_over_stdio(tmp_path: Path) -> None:
    """What the application prints and reads disturbs nothing: stdin and stdout are the protocol's."""
    (tmp_path / "shop.py").write_text(f"print('imported')\n{SHOP}\nbegun = chain\n{LOUD}")
    command = [*("-m", "rag_rule_explainer", "mcp"), *("--app", "shop:chain"), *("--folder", "rules")]
    server = StdioServerParameters(
        command=sys.executable,
        args=[*command, *("--max-replays", "50")],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    told = list[tuple[float, float | None, str | None]]()

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, total, message))

    with (tmp_path / "errors").open("w") as errors:
        async with stdio_client(server, errlog=errors) as streams, ClientSession(*streams) as session:
            await session.initialize()
            tools = (await session.list_tools()).tools
            assert [each.name for each in tools] == ["estimate", "explain", "verify", "show"]
            assert all(each.outputSchema for each in tools)
            estimated = structured(await session.call_tool("estimate", ASKED))
            explained = await session.call_tool("explain", ASKED, progress_callback=on_progress)
            rule = {"sources": ["corpus/blog.md"], "kind": "retention", **ASKED}
            verified = structured(await session.call_tool("verify", rule))
            shown = structured(await session.call_tool("show", {"name": structured(explained)["name"]}))
    assert estimated["best_replays"] <= structured(explained)["summary"]["replays"]
    rules = structured(explained)["summary"]["rules"]
    assert [each["sources"] for each in rules] == [["corpus/blog.md"]] * 2
    assert {each["claim"] for each in rules} == {"proved"}
    assert told
    assert verified["holds"] is True
    assert "whenever corpus/blog.md is retained" in shown["text"]
    saved = load(tmp_path / "rules" / structured(explained)["name"])
    assert json.loads(saved.summary().model_dump_json()) == structured(explained)["summary"]
    told_to_user = (tmp_path / "errors").read_text()
    assert "not for the protocol" in told_to_user
    assert f"made the folder {tmp_path / 'rules'}" in told_to_user


LOUD = """
import os, subprocess, sys
from langchain_core.runnables import RunnableLambda

def loud(question):
    print("not for the protocol")
    os.write(1, b"not for the protocol either\\n")
    subprocess.run(["echo", "nor", "this"])
    assert sys.stdin.read() == ""
    return question

chain = RunnableLambda(loud) | begun
"""


@pytest.mark.parametrize(
    ("allowance", "asked", "why"),
    [
        (ReplayAllowance(), None, "nothing limits what this call may cost: give max_replays"),
        (ReplayAllowance(20), 21, "max_replays is 21, and this server allows 20 a call"),
        (ReplayAllowance(20, 9, used=9), 5, "all 9 replays of this server are used"),
        (ReplayAllowance(), 0, "greater than or equal to 1|less than the minimum"),
    ],
)
@pytest.mark.parametrize("tool", ["explain", "verify"])
async def test_nothing_is_spent_without_a_cap_or_above_it(
    tmp_path: Path, tool: str, allowance: ReplayAllowance, asked: int | None, why: str
) -> None:
    run = list[str]()
    answering = served(tmp_path, allowance, RunnableLambda(run.append))
    rule = {"sources": ["blog"], "kind": "retention"} if tool == "verify" else {}
    cap = {} if asked is None else {"max_replays": asked}
    async with connected(answering) as session:
        result = await session.call_tool(tool, {**ASKED, **rule, **cap})
    assert result.isError
    assert any(each in said(result) for each in why.split("|"))
    assert not run
    assert not SavedFolder(tmp_path).names()


@pytest.mark.parametrize(("asked", "used"), [(21, 0), (20, 9)])
async def test_no_estimate_is_made_with_a_limit_that_no_explanation_may_have(
    tmp_path: Path, asked: int, used: int
) -> None:
    run = list[str]()
    answering = served(tmp_path, ReplayAllowance(20, 9, used=used), RunnableLambda(run.append))
    async with connected(answering) as session:
        result = await session.call_tool("estimate", {**ASKED, "max_replays": asked})
    assert result.isError
    assert not run


async def test_the_calls_of_a_server_share_what_it_may_spend(tmp_path: Path) -> None:
    allowance = ReplayAllowance(None, 7)
    async with connected(served(tmp_path, allowance)) as session:
        first = structured(await session.call_tool("explain", ASKED))
        second = await session.call_tool("explain", ASKED)
    assert first["summary"]["replays"] == allowance.used == 7
    assert not first["summary"]["complete"]
    assert "all 7 replays" in said(second)


RUNS: list[tuple[str, dict[str, Any], Callable[[str], Any], int]] = [
    ("verify", {"sources": ["no such"], "kind": "retention"}, str, 1),
    ("explain", {}, lambda _: 7, 1),
    ("explain", {}, lambda _: "", 4),
    ("explain", {"condition": "same-answer"}, lambda _: secrets.token_hex(), 2),
    ("estimate", {}, str, 0),
]


@pytest.mark.parametrize(("tool", "more", "answer", "runs"), RUNS)
async def test_a_call_that_fails_after_the_application_ran_is_counted(
    tmp_path: Path, tool: str, more: dict[str, Any], answer: Callable[[str], Any], runs: int
) -> None:
    made = list[str]()

    def counted(given: str) -> Any:
        made.append(given)
        return answer(given)

    allowance = ReplayAllowance(20, 40)
    chain = lexical_chain(DOCUMENTS, k=3) | RunnableLambda(counted)
    async with connected(served(tmp_path, allowance, chain)) as session:
        await session.call_tool(tool, {**ASKED, **more})
        assert len(made) == runs
        assert allowance.used == max(runs, 1)
        allowance.used = 40
        refused = await session.call_tool(tool, {**ASKED, **more})
    assert "all 40 replays" in said(refused)
    assert len(made) == runs


async def test_what_was_paid_is_told_if_it_cannot_be_saved(tmp_path: Path) -> None:
    folder = tmp_path / "rules"
    rule = {"sources": ["blog"], "kind": "retention", **ASKED}
    async with connected(served(folder)) as session:
        folder.rmdir()
        explained = structured(await session.call_tool("explain", ASKED))
        verified = structured(await session.call_tool("verify", rule))
    for told in (explained, verified):
        assert told["name"] == ""
        assert told["text"].startswith("NOT SAVED: the explanation cannot be saved: No such file")
    assert explained["summary"]["rules"]


def test_a_folder_is_made_only_inside_of_one_that_exists(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="No such file or directory; give another folder"):
        SavedFolder.of(tmp_path / "typo" / "rules")
    assert not (tmp_path / "typo").exists()


@pytest.mark.parametrize("timeout", ["nan", "-1"])
def test_a_mistake_in_the_settings_is_told_before_the_server_starts(
    timeout: str, rag_rules: RagRules, tmp_path: Path
) -> None:
    run = rag_rules("mcp", "--app", "nowhere:x", "--folder", tmp_path / "f", "--timeout", timeout)
    assert_refused(run, "timeout")
    assert not (tmp_path / "f").exists()


def test_no_folder_is_made_for_an_application_that_does_not_exist(
    rag_rules: RagRules, tmp_path: Path
) -> None:
    told = rag_rules("mcp", "--app", "nowhere.py:chain", "--folder", tmp_path / "rules")
    assert_refused(told, "there is no file 'nowhere.py'")
    assert not (tmp_path / "rules").exists()


@pytest.mark.waits
async def test_a_cancelled_call_saves_what_was_paid(tmp_path: Path) -> None:
    """The replay that runs is awaited; no other begins."""
    begun, go_on, replays = threading.Event(), threading.Event(), list[str]()

    def slow(question: str) -> str:
        replays.append(question)
        if len(replays) == 5:
            begun.set()
            go_on.wait(60)
        return question

    answering = served(tmp_path, None, RunnableLambda(slow) | lexical_chain(DOCUMENTS, k=3))
    async with connected(answering) as session, anyio.create_task_group() as tasks:
        asked = types.CallToolRequestParams(name="explain", arguments=ASKED)
        ended, over = list[Exception](), anyio.Event()

        async def explain() -> None:
            request = types.ClientRequest(types.CallToolRequest(params=asked))
            try:
                await session.send_request(request, types.CallToolResult)
            except Exception as error:
                ended.append(error)
            over.set()

        number = session._request_id  # pyright: ignore[reportPrivateUsage] -- the SDK tells it nowhere else
        tasks.start_soon(explain)
        assert await anyio.to_thread.run_sync(begun.wait, 60)
        cancel = types.CancelledNotificationParams(requestId=number)
        await session.send_notification(
            types.ClientNotification(types.CancelledNotification(params=cancel))
        )
        await over.wait()
        go_on.set()
        # The next call comes after the cancelled one has ended.
        await session.call_tool("estimate", ASKED)
        assert "cancelled" in str(ended[0])
        (name,) = structured(await session.call_tool("show", {}))["names"]
        explanation = load(tmp_path / name)
        assert explanation.stop_reason == CANCELLED
        # The estimate counts as one.
        assert explanation.counts.replays + 1 == answering.allowance.used < 8


async def test_nothing_outside_of_the_folder_is_read(tmp_path: Path) -> None:
    folder, outside = tmp_path / "rules", tmp_path / "outside.json"
    async with connected(served(folder)) as session:
        name = structured(await session.call_tool("explain", ASKED))["name"]
        outside.write_bytes((folder / name).read_bytes())
        (folder / "link.json").symlink_to(outside)
        (folder / "dead.json").symlink_to(tmp_path / "nothing")
        (folder / "folder.json").mkdir()
        os.mkfifo(folder / "pipe.json")
        (folder / "secret.json").write_text('{"password": "xyzzy"}')
        (folder / "linked").symlink_to(tmp_path)
        assert not (await session.call_tool("show", {"name": name})).isError
        for each in HOSTILE_NAMES:
            result = await session.call_tool("show", {"name": each.format(outside=outside, name=name)})
            assert result.isError
            assert "xyzzy" not in said(result)
            assert str(tmp_path) not in said(result).replace(str(outside), "")
        names = structured(await session.call_tool("show", {}))["names"]
    assert names == ["secret.json", name]


HOSTILE_NAMES = (
    "../outside.json",
    "{outside}",
    "link.json",
    "dead.json",
    "folder.json",
    "pipe.json",
    "secret.json",
    "linked/outside.json",
    "./{name}",
    "rules/../{name}",
    "..",
    ".",
    "..\\outside.json",
    "{name}\0",
    "{name}\n",
    " {name}",
    "%2e%2e/outside.json",
    "C:outside.json",
    "CON",
    "~/{name}",
    "a" * 250 + ".json",
    "ｘ.json",
)


def hostile(**arguments: Any) -> dict[str, Any]:
    return {**ASKED, **arguments}


HOSTILE_CALLS: list[tuple[str, dict[str, Any]]] = [
    ("explain", hostile(condition="contains")),
    ("explain", hostile(condition="json-path:$[?(@.a==")),
    ("explain", hostile(condition="matches:(")),
    ("explain", hostile(condition="judged:it says so")),
    ("explain", hostile(condition="not:" * 1200 + "refuses")),
    ("explain", hostile(rules="all")),
    ("explain", hostile(max_replays="5; rm -rf /")),
    ("explain", hostile(max_replays=10**30)),
    ("explain", hostile(question="")),
    ("explain", hostile(question=" ")),
    ("explain", hostile(question=["a list"])),
    ("explain", {}),
    ("verify", hostile(sources=["no such"], kind="retention")),
    ("verify", hostile(sources="blog", kind="retention")),
    ("verify", hostile(sources=["blog"], kind="both")),
    ("show", {"name": 5}),
    ("show", {"name": "a.json", "form": "html"}),
    ("run", {"command": "id"}),
]


async def test_a_hostile_call_gets_an_error_and_the_server_goes_on(tmp_path: Path) -> None:
    async with connected(served(tmp_path)) as session:
        for tool, arguments in HOSTILE_CALLS:
            result = await session.call_tool(tool, arguments)
            assert result.isError, arguments
            assert 0 < len(said(result)) < 3000
        assert structured(await session.call_tool("show", {}))["names"] == []


async def test_a_call_cannot_choose_what_the_server_fixed(tmp_path: Path) -> None:
    """What no tool knows has no effect."""
    chosen = hostile(app="os:system", folder="/", store="sqlite:///x", out="x", timeout=0)
    async with connected(served(tmp_path / "rules")) as session:
        result = await session.call_tool("explain", chosen)
    there = sorted(each.relative_to(tmp_path).as_posix() for each in tmp_path.rglob("*"))  # noqa: ASYNC240 -- nothing waits
    assert there == ["rules", f"rules/{structured(result)['name']}"]


def ends(error: type[BaseException]) -> Callable[[str], str]:
    def application(_question: str) -> str:
        raise error("it is broken")

    return application


async def test_the_question_stands_where_the_server_says(tmp_path: Path) -> None:
    asking = RunnableLambda(itemgetter("query")) | lexical_chain(DOCUMENTS, k=3)
    answering = served(tmp_path, None, asking)
    keyed = replace(answering, served=replace(answering.served, input_key="query"))
    async with connected(keyed) as session:
        explained = structured(await session.call_tool("explain", ASKED))
    assert explained["summary"]["question"] == BONES
    assert explained["summary"]["rules"]


@pytest.mark.parametrize("error", [ValueError, SystemExit])
async def test_an_application_that_fails_is_an_error_of_the_call(
    tmp_path: Path, error: type[BaseException]
) -> None:
    allowance = ReplayAllowance(20)
    async with connected(served(tmp_path, allowance, RunnableLambda(ends(error)))) as session:
        result = await session.call_tool("explain", ASKED)
        assert not (await session.call_tool("show", {})).isError
    assert result.isError
    assert "it is broken" in said(result)
    assert allowance.used


def test_without_the_sdk_the_extra_is_named(
    rag_rules: RagRules, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "mcp.server.fastmcp", None)
    monkeypatch.setitem(sys.modules, "mcp.server.mcpserver", None)
    run = rag_rules("mcp", "--app", "shop:chain", "--folder", tmp_path)
    assert run.code == 2
    assert "rag-rules mcp needs: pip install 'rag-rule-explainer[mcp]'" in run.err
