"""Memories that are planted into applications: models of one run are told what others answered.

An explanation of such an application is right only if no replay reads what another run wrote.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar, TypeVar

from tests.integrations.keeping import (
    append_text,
    read_json,
    read_sqlite,
    read_text,
    write_json,
    write_sqlite,
)
from tests.integrations.known import Rules
from tests.integrations.stateful import Came, Outcome, came, told

Shape = TypeVar("Shape")
WHERE = ("models", "application")
GOOD, BAD = "good news", "bad news"
SAID = "Earlier you said: "
of_the_module: list[str] = []


@dataclass(frozen=True)
class Memory:
    """Keeps what was answered; ``recall`` gives all of it in one text."""

    remember: Callable[[str], None]
    recall: Callable[[], str]
    forget: Callable[[], None] = lambda: None


def in_a_list() -> Memory:
    said: list[str] = []
    return Memory(said.append, lambda: " ".join(said))


def in_a_dict() -> Memory:
    last: dict[str, str] = {}
    return Memory(
        lambda text: last.update({"said": f"{last.get('said', '')} {text}"}), lambda: last.get("said", "")
    )


def in_a_closure() -> Memory:
    said = ""

    def remember(text: str) -> None:
        nonlocal said
        said = f"{said} {text}"

    return Memory(remember, lambda: said)


def in_the_module() -> Memory:
    of_the_module.clear()
    return Memory(of_the_module.append, lambda: " ".join(of_the_module), of_the_module.clear)


def in_a_class() -> Memory:
    class Said:
        texts: ClassVar[list[str]] = []

    return Memory(Said.texts.append, lambda: " ".join(Said.texts))


def in_a_file(
    read: Callable[[Path], str], write: Callable[[Path, str, str], None]
) -> Callable[[], Memory]:
    def build() -> Memory:
        folder = TemporaryDirectory()
        path = Path(folder.name) / "said"

        def recall() -> str:
            with suppress(ValueError):  # half a JSON file, while another replay writes it
                return read(path)
            return ""

        def remember(text: str) -> None:
            with suppress(ValueError):
                write(path, "", text)

        return Memory(remember, recall, folder.cleanup)

    return build


KINDS: dict[str, Callable[[], Memory]] = {
    "list": in_a_list,
    "dict": in_a_dict,
    "closure": in_a_closure,
    "module global": in_the_module,
    "class attribute": in_a_class,
    "text file": in_a_file(read_text, append_text),
    "JSON file": in_a_file(read_json, write_json),
    "SQLite": in_a_file(read_sqlite, write_sqlite),
}


def reminded(text: str, memory: Memory) -> str:
    """A text with what was said before, unless it has that already, or nothing was."""
    said = "" if SAID in text else memory.recall()
    return f"{text}\n\n({SAID}{said})" if said.strip() else text


def swayed(prompt: str, reply: str) -> str:
    """Once bad news were told, no others follow."""
    _, _, said = prompt.partition(SAID)
    return reply.replace(GOOD, BAD) if BAD in said else reply


def news_in(answer: Any) -> str:
    return BAD if BAD in str(answer) else GOOD


@dataclass(frozen=True)
class Planted:
    """What came out where a memory was planted into the shape of this name."""

    name: str
    came: Came
    told: str

    @classmethod
    def of(cls, name: str, outcome: Outcome, retained: Rules, omitted: Rules) -> "Planted":
        return cls(name, came(outcome, retained, omitted), told(outcome))


def sampled(shapes: Sequence[Shape], kind: str, where: str, kinds: Iterable[str]) -> Sequence[Shape]:
    """Returns those shapes that fall to this kind and place: each shape falls to one of them."""
    cases = [(each, place) for each in kinds for place in WHERE]
    return shapes[cases.index((kind, where)) :: len(cases)]


def counted(planted: Iterable[Planted]) -> str:
    """How often each came out, refusals by name."""
    counts = Counter(
        each.told.split(":")[0] if each.came in {"refused", "error"} else each.came for each in planted
    )
    return ", ".join(f"{count} {name}" for name, count in sorted(counts.items()))


def listed(planted: Iterable[Planted], *kinds: Came) -> str:
    return "\n".join(f"{each.name}: {each.came}: {each.told}" for each in planted if each.came in kinds)
