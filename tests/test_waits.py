"""Each test that waits for something is marked so: ``make waits`` runs these again and again."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).parent
APART = {"benchmarks", "browser", "model", "peers", "postgres", "scorers"}
"""Rooms of which each test takes long, or needs programs of its own: ``make waits`` runs none of them."""
WAITING = {
    "Barrier",
    "HTTPServer",
    "OpenAIServer",
    "Popen",
    "ProcessPoolExecutor",
    "Queue",
    "SimpleQueue",
    "Thread",
    "ThreadPoolExecutor",
    "ThreadingHTTPServer",
    "Timer",
    "check_call",
    "check_output",
    "create_server",
    "create_subprocess_exec",
    "create_subprocess_shell",
    "fail_after",
    "fork",
    "move_on_after",
    "pthread_kill",
    "raise_signal",
    "recorded_server",
    "responses_server",
    "start_server",
    "stops",
    "subprocess_of",
    "tell_stops",
    "until",
    "wait",
    "wait_for",
}
"""Names of what waits for something else, wherever it is called."""
OF_ITS_MODULE = {("subprocess", "run"), ("asyncio", "timeout")}
TIMED = {"ChatOpenAI", "Explainer", "OpenAI", "RuleExplainer", "chat_model"}
"""What waits no longer than its ``timeout``."""
WORTH_READING = re.compile(rf"\b(?:{'|'.join(sorted(WAITING))}|sleep|timeout)\b|subprocess\.run")

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def waits(call: ast.Call) -> bool:
    match call.func:
        case ast.Attribute(value=ast.Name(id=owner), attr=name):
            pass
        case ast.Attribute(attr=name) | ast.Name(id=name):
            owner = ""
        case _:
            return False
    if name == "sleep":
        return not (call.args and isinstance(call.args[0], ast.Constant) and call.args[0].value == 0)
    given = {each.arg for each in call.keywords if ast.unparse(each.value) != "None"}
    return name in WAITING or (owner, name) in OF_ITS_MODULE or (name in TIMED and "timeout" in given)


def used_by(node: ast.AST) -> set[str]:
    """The names of its module that it uses; a fixture is a parameter."""
    used = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
    used |= {each.arg for each in ast.walk(node) if isinstance(each, ast.arg)}
    attributes = (each for each in ast.walk(node) if isinstance(each, ast.Attribute))
    return used | {each.attr for each in attributes if ast.unparse(each.value) == "self"}


def is_marked(code: ast.AST) -> bool:
    return "mark.waits" in ast.unparse(code)


def defined_in(module: ast.Module) -> dict[str, Definition]:
    """The functions and classes of a module, and the methods of its classes."""
    outer = [each for each in module.body if isinstance(each, DEFINITIONS)]
    inner = [each for node in outer if isinstance(node, ast.ClassDef) for each in node.body]
    return {each.name: each for each in (*outer, *inner) if isinstance(each, DEFINITIONS)}


def unmarked(text: str) -> Iterator[str]:
    """The tests in a module that wait for something, by themselves or by what they use of it, and are not
    marked."""
    module = ast.parse(text)
    if any(isinstance(each, ast.Assign) and is_marked(each) for each in module.body):
        return
    known = defined_in(module)
    uses = {name: used_by(each) & known.keys() - {name} for name, each in known.items()}
    waiting = {
        name
        for name, node in known.items()
        if any(isinstance(each, ast.Call) and waits(each) for each in ast.walk(node))
    }
    while more := {name for name, used in uses.items() if used & waiting} - waiting:
        waiting |= more
    marked = {name for name, node in known.items() if any(map(is_marked, node.decorator_list))}
    for name in marked & known.keys():
        node = known[name]
        marked |= {each.name for each in ast.walk(node) if isinstance(each, DEFINITIONS)}
    yield from sorted(name for name in waiting - marked if name.startswith("test_"))


def test_each_test_that_waits_is_marked() -> None:
    texts = {
        file.relative_to(HERE).as_posix(): file.read_text()
        for file in HERE.rglob("test_*.py")
        if file.relative_to(HERE).parts[0] not in APART
    }
    read = {name: text for name, text in texts.items() if WORTH_READING.search(text)}
    assert not {name: found for name, text in read.items() if (found := list(unmarked(text)))}


BY_A_FIXTURE = """
@pytest.fixture
def server():
    with OpenAIServer(str) as opened:
        yield opened

def test_it(server):
    assert server
"""
BY_A_CLASS = """
class Held:
    def answer(self):
        self.event.wait(60)

def test_it():
    explained(Held())
"""
IN_A_MARKED_CLASS = """
@pytest.mark.waits
class TestIt:
    def test_it(self):
        time.sleep(0.1)
"""


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("def test_it():\n    threading.Thread(target=print).start()", ["test_it"]),
        ("@pytest.mark.waits\ndef test_it():\n    threading.Thread(target=print).start()", []),
        ("pytestmark = pytest.mark.waits\ndef test_it():\n    time.sleep(1)", []),
        ("async def test_it():\n    await asyncio.sleep(0)", []),
        ("def test_it():\n    Explainer(f, timeout=0.05)", ["test_it"]),
        ("def test_it():\n    Explainer(f, timeout=None)", []),
        (BY_A_FIXTURE, ["test_it"]),
        (BY_A_CLASS, ["test_it"]),
        (IN_A_MARKED_CLASS, []),
    ],
)
def test_what_waits_is_seen(text: str, found: list[str]) -> None:
    assert list(unmarked(text)) == found
