"""One loop by hand, over tools of LangChain, of LlamaIndex and of neither, which carries out its calls in
any place: another context, thread, task, timer or worker."""

import asyncio
import contextvars
import json
import queue
import threading
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.pool import ThreadPool
from typing import Any, Protocol

import langchain_rag_rule_explainer
import llama_index_rag_rule_explainer
import plain_rag_rule_explainer
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import StructuredTool
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.tools import FunctionTool
from plain_rag_rule_explainer import offline_client, tool

from tests.agents.zoo import of_langchain, of_llama_index
from tests.agents.zoo.of_openai import described, whole
from tests.agents.zoo.scripts import ONE_BY_ONE, Script
from tests.integrations.known import shown_in

Work = Callable[[], Any]
Place = Callable[[Work], Any]
"""Does a piece of work somewhere, and returns its result."""


class Kit(Protocol):
    """What a loop is made of. ``explainer``: the class that explains it."""

    explainer: Any

    def asked(self, question: str) -> Any:
        """The first message."""
        ...

    def reply(self, messages: list[Any]) -> tuple[Any, list[tuple[str, str, dict[str, Any]]], str]:
        """The model's next message, its calls (id, name, arguments), and its text."""
        ...

    def run(self, name: str, given: dict[str, Any]) -> Any:
        """The result of a tool."""
        ...

    async def arun(self, name: str, given: dict[str, Any]) -> Any:
        """The same, awaited."""
        ...

    def answered(self, identity: str, name: str, result: Any) -> Any:
        """The message with a result."""
        ...


class OfLangChain:
    explainer = langchain_rag_rule_explainer.RuleExplainer

    def __init__(self, functions: dict[str, Callable[..., Any]], script: Script = ONE_BY_ONE) -> None:
        self.model = of_langchain.Scripted(script=script)
        self.tools: dict[str, Any] = {
            name: StructuredTool.from_function(each, description=name) for name, each in functions.items()
        }

    def asked(self, question: str) -> Any:
        return HumanMessage(question)

    def reply(self, messages: list[Any]) -> tuple[Any, list[tuple[str, str, dict[str, Any]]], str]:
        said: AIMessage = self.model.invoke(messages)
        return (
            said,
            [(str(each["id"]), each["name"], each["args"]) for each in said.tool_calls],
            said.text,
        )

    def run(self, name: str, given: dict[str, Any]) -> Any:
        return self.tools[name].invoke(given)

    async def arun(self, name: str, given: dict[str, Any]) -> Any:
        return await self.tools[name].ainvoke(given)

    def answered(self, identity: str, name: str, result: Any) -> Any:
        content = result if isinstance(result, str) else json.dumps(result)
        return ToolMessage(content, tool_call_id=identity, name=name)


class OfLlamaIndex:
    explainer = llama_index_rag_rule_explainer.RuleExplainer

    def __init__(self, functions: dict[str, Callable[..., Any]], script: Script = ONE_BY_ONE) -> None:
        self.model = of_llama_index.Scripted(script_of=script)
        self.tools = {name: FunctionTool.from_defaults(each) for name, each in functions.items()}

    def asked(self, question: str) -> Any:
        return ChatMessage(role="user", content=question)

    def reply(self, messages: list[Any]) -> tuple[Any, list[tuple[str, str, dict[str, Any]]], str]:
        said = self.model.chat_with_tools(list(self.tools.values()), chat_history=list(messages))
        calls = self.model.get_tool_calls_from_response(said)
        told = [(each.tool_id, each.tool_name, each.tool_kwargs) for each in calls]
        return said.message, told, str(said.message.content)

    def run(self, name: str, given: dict[str, Any]) -> Any:
        return self.tools[name].call(**given).content

    async def arun(self, name: str, given: dict[str, Any]) -> Any:
        return (await self.tools[name].acall(**given)).content

    def answered(self, identity: str, name: str, result: Any) -> Any:
        beside = {"tool_call_id": identity, "name": name}
        return ChatMessage(role="tool", content=str(result), additional_kwargs=beside)


class OfNeither:
    explainer = plain_rag_rule_explainer.RuleExplainer

    def __init__(self, functions: dict[str, Callable[..., Any]], script: Script = ONE_BY_ONE) -> None:
        self.script, self.tools = script, {name: tool(each) for name, each in functions.items()}
        self.client = offline_client(self._says)

    def _says(self, body: Any) -> Any:
        messages: list[Any] = body["messages"]
        made = [call["function"]["name"] for each in messages for call in each.get("tool_calls") or ()]
        shown = shown_in("\n".join(str(each.get("content")) for each in messages))
        calls = [
            {
                "id": f"call {len(messages)} {place}",
                "type": "function",
                "function": {"name": each.name, "arguments": json.dumps(each.arguments)},
            }
            for place, each in enumerate(self.script.next(shown, made))
        ]
        return {"tool_calls": calls} if calls else self.script.says(shown)

    def asked(self, question: str) -> Any:
        return {"role": "user", "content": question}

    def reply(self, messages: list[Any]) -> tuple[Any, list[tuple[str, str, dict[str, Any]]], str]:
        asked: Any = {"model": "m", "messages": messages, "tools": list(map(described, self.tools))}
        message = whole(self.client.chat.completions.create(**asked))
        calls = message.get("tool_calls") or ()
        functions = [(each["id"], each["function"]) for each in calls]
        told = [(identity, each["name"], json.loads(each["arguments"])) for identity, each in functions]
        return message, told, message.get("content") or ""

    def run(self, name: str, given: dict[str, Any]) -> Any:
        return self.tools[name](**given)

    async def arun(self, name: str, given: dict[str, Any]) -> Any:
        return self.tools[name](**given)

    def answered(self, identity: str, name: str, result: Any) -> Any:
        content = result if isinstance(result, str) else json.dumps(result)
        return {"role": "tool", "tool_call_id": identity, "content": content}


KITS: tuple[Any, ...] = (OfLangChain, OfLlamaIndex, OfNeither)


def loop(kit: Kit, place: Place) -> Callable[[str], str]:
    def answer(question: str) -> str:
        messages = [kit.asked(question)]
        while True:
            message, calls, text = kit.reply(messages)
            messages.append(message)
            if not calls:
                return text
            for identity, name, given in calls:

                def work(name: str = name, given: dict[str, Any] = given) -> Any:
                    return kit.run(name, given)

                messages.append(kit.answered(identity, name, place(work)))

    return answer


def aloop(kit: Kit, place: Callable[[Callable[[], Awaitable[Any]]], Awaitable[Any]]) -> Any:
    async def answer(question: str) -> str:
        messages = [kit.asked(question)]
        while True:
            message, calls, text = kit.reply(messages)
            messages.append(message)
            if not calls:
                return text
            for identity, name, given in calls:

                async def work(name: str = name, given: dict[str, Any] = given) -> Any:
                    return await kit.arun(name, given)

                messages.append(kit.answered(identity, name, await place(work)))

    return answer


def here(work: Work) -> Any:
    return work()


def in_a_new_context(work: Work) -> Any:
    return contextvars.Context().run(work)


def in_a_timer(work: Work) -> Any:
    done = list[Any]()
    timer = threading.Timer(0, lambda: done.append(work()))
    timer.start()
    timer.join()
    return done[0] if done else "nothing came back"


def in_a_new_context_in_a_thread(work: Work) -> Any:
    done = list[Any]()
    thread = threading.Thread(target=lambda: done.append(in_a_new_context(work)))
    thread.start()
    thread.join()
    return done[0] if done else "nothing came back"


def in_a_pool(work: Work) -> Any:
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(work).result()


def in_a_pool_of_multiprocessing(work: Work) -> Any:
    with ThreadPool(1) as pool:
        return pool.apply(work)


class WorkerThread(threading.Thread):
    """The thread of a worker, by which it is found where nothing else holds it any more."""

    def __init__(self, worker: "Worker") -> None:
        super().__init__(target=worker.works, daemon=True)
        self.worker = worker


def end_workers() -> None:
    """Ends all workers, also those that replays from an earlier state began."""
    for each in threading.enumerate():
        if isinstance(each, WorkerThread):
            each.worker.end()


class Worker:
    """A thread that waits for work. ``in_context``: it does it in the context of whoever gives it."""

    def __init__(self, *, in_context: bool = False) -> None:
        self.waiting: queue.Queue[Callable[[], None] | None] = queue.Queue()
        self.in_context = in_context
        self.pause = 0.0
        """The seconds between giving work and waiting for it."""
        self.thread = WorkerThread(self)
        self.thread.start()

    def works(self) -> None:
        while (work := self.waiting.get()) is not None:
            work()

    def __call__(self, work: Work) -> Any:
        done: queue.Queue[tuple[Any, Exception | None]] = queue.Queue()
        context = contextvars.copy_context()

        def does() -> None:
            try:
                done.put((context.run(work) if self.in_context else work(), None))
            except Exception as error:
                done.put((None, error))

        self.waiting.put(does)
        time.sleep(self.pause)
        result, error = done.get(timeout=60)
        if error is not None:
            raise error
        return result

    def end(self) -> None:
        self.waiting.put(None)
        self.thread.join()


async def here_too(work: Callable[[], Awaitable[Any]]) -> Any:
    return await work()


async def in_a_task(work: Callable[[], Awaitable[Any]]) -> Any:
    return await asyncio.ensure_future(work())


async def in_a_new_context_of_a_task(work: Callable[[], Awaitable[Any]]) -> Any:
    """The task begins in the new context, as that is the current one."""
    return await contextvars.Context().run(asyncio.ensure_future, work())


async def in_a_task_of_a_task(work: Callable[[], Awaitable[Any]]) -> Any:
    return await asyncio.gather(asyncio.ensure_future(in_a_new_context_of_a_task(work)))


class Tasks:
    """A task that waits for work, begun at its first use or before. ``in_context``: the work is done in
    the context of whoever gives it."""

    def __init__(self, *, in_context: bool = False) -> None:
        self.waiting: asyncio.Queue[tuple[Any, Any, asyncio.Future[Any]]] = asyncio.Queue()
        self.in_context = in_context
        self.task = asyncio.ensure_future(self._works())

    async def _works(self) -> None:
        while True:
            context, work, done = await self.waiting.get()
            try:
                own = context.run(asyncio.ensure_future, work()) if self.in_context else work()
                done.set_result(await own)
            except Exception as error:
                done.set_exception(error)

    async def __call__(self, work: Callable[[], Awaitable[Any]]) -> Any:
        done: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        await self.waiting.put((contextvars.copy_context(), work, done))
        return await asyncio.wait_for(done, 60)
