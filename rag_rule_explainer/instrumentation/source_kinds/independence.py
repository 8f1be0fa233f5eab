"""This module looks, once for each explanation, for what an application has beside the messages and of
which nothing shows that it is independent of the turns: in its input, in a memory, in what it holds, and
in the files that it reads."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from .doubtful_fields import DoubtfulFields
from .doubtful_texts import DoubtfulTexts
from .field_names import Naming, naming_of
from .likenesses import Likenesses
from .own_memories import CODE, OwnMemories
from .prompt_sources import PromptSources
from .turn_copies import told
from .turn_remains import Copy

_LARGEST = 100_000
"""The size in bytes of the largest file that is judged."""
_OF_THE_SYSTEM = frozenset({"/etc/os-release", "/usr/lib/os-release", "/etc/lsb-release"})
"""Files that name the operating system. OpenAI's client reads them before its first request."""


def doubted_beside(
    prompts: PromptSources,
    memories: OwnMemories,
    given: Mapping[str, Sequence[Any]],
    remembered: Sequence[Any],
    objects: Sequence[object],
) -> None:
    """Stores in ``prompts.beside`` the doubted fields, for each turn in the input or in a memory.

    ``given``: what the application is given, by the name for it; ``remembered``: what its memories hold;
    ``objects``: the objects of the user's in the input.
    """
    turns = [each for each in prompts.held if each in prompts.groups]
    said = [each.text for each in prompts.spoken]
    known = {told(each).squeezed for each in memories.constants()}
    like = Likenesses([text for each in turns for text in prompts.texts_of(each)], prompts.asked)
    texts = DoubtfulTexts(like, said, lambda text: told(text).squeezed in known)
    fields = DoubtfulFields(texts, memories.is_ignored)
    found = dict[str, str]()
    for name, contents in given.items():
        for content in contents:
            found.update(fields.found_in(content, name))
    for content in remembered:
        found.update(fields.found_in(content, "beside", trusts=True))
    for each in memories.contents(objects):
        is_of_talk = naming_of(each.name) is Naming.TALK
        if each.is_constant and not is_of_talk and not like.is_like(str(each.content)):
            continue
        found.update(
            fields.found_in(each.content, each.path, [each.name], trusts=each.is_global, is_held=True)
        )
    for path, content in _read_by(memories):
        found.update(fields.found_in(content, path, _names_of(Path(path))))
    if found:
        first, *others = found
        for identity in turns:
            copy = prompts.beside.get(identity, Copy(first, found[first], tuple(others), is_like=False))
            more = dict.fromkeys((*copy.others, *found))
            more.pop(copy.path, None)
            prompts.beside[identity] = copy._replace(others=tuple(more))


def _names_of(file: Path) -> list[str]:
    """Returns the names that say what a file is. A folder may say that a file is of a conversation, as
    "chats/17.json", not the opposite."""
    folder = file.parent.name
    return [file.stem, folder] if naming_of(folder) is Naming.TALK else [file.stem]


def _read_by(memories: OwnMemories) -> Iterator[tuple[str, bytes]]:
    """Yields the names and contents of the files that the run has read, but for code and large files."""
    for path in sorted(memories.files):
        file = Path(path)
        try:
            is_left_out = path.endswith(CODE) or path in _OF_THE_SYSTEM
            if not is_left_out and file.is_file() and file.stat().st_size <= _LARGEST:
                yield path, file.read_bytes()
        except OSError:
            continue
