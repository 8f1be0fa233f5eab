"""This module decides whether a value that a run changed may influence a later run. The value may
influence a later run only if the application's code reads it."""

from collections import deque
from collections.abc import Collection, Iterable, Iterator
from dataclasses import is_dataclass
from functools import cached_property, lru_cache, partial
from inspect import getattr_static
from operator import attrgetter, itemgetter, methodcaller
from types import CodeType, FunctionType, ModuleType, SimpleNamespace
from typing import Any, cast

from ..copies.guarded_code import own_code
from ..shared_state.computed_names import is_computed
from ..shared_state.contents import names_in
from ..shared_state.counting import is_for_others
from ..shared_state.instructions import instructions_of
from ..shared_state.made_when_missing import dependent_names
from ..shared_state.mentions import Mentions
from ..shared_state.name_reads import is_in, reads_whole, texts_in_code
from ..shared_state.reaching import is_ours
from ..shared_state.writing import written_names
from .lazy_constants import is_computed_by_framework, is_made_once
from .members import code_of_member, members_named
from .named import texts_of_variables, under_usual_names
from .owners import OF_MODELS, Node, Owner
from .parts import OF_A_FUNCTION
from .snapshot import KeptPart, Snapshot

OF_ALL = frozenset(
    {
        *("vars", "__dict__", "asdict", "astuple", "model_dump", "model_dump_json", "globals", "eval"),
        *("exec", "getattr", "setattr", "attrgetter", "methodcaller", "__getattribute__"),
        *("getattr_static", "__globals__", "f_globals", "f_builtins"),
    }
)
"""Names by which code can read an attribute without naming it, such as ``vars``."""
_OF_PYTHON = frozenset(
    {
        *("__class__", "__pydantic_private__", "__pydantic_extra__", "__call__", *OF_A_FUNCTION),
        *("__bases__", "__annotations__", "__abstractmethods__", "__signature__"),
    }
)
"""The special names whose changes may influence later runs even if no code names them."""
_DESCRIBING = frozenset({"__doc__", "__annotations__", "__name__", "__qualname__", "__module__"})
"""Special names whose changes influence later runs only if the user's code reads them."""
_HANDED_OVER = frozenset({"__defaults__", "__kwdefaults__", "args", "keywords", "kwargs"}) | {
    *("__annotations__", "__dataclass_fields__")
}
"""The names under which functions and bound runnables store arguments for other code, and the names of
dicts that libraries read."""
_AS_READ = {"_value_": "value", "_name_": "name"}  # as code reads a member of an enumeration
_COLLECTIONS = (dict, list, set, deque)
_ASKING: Any = (attrgetter, itemgetter, methodcaller)
_LONGEST_TEMPLATE = 20_000
_RUNNING = frozenset(
    {
        *("invoke", "ainvoke", "stream", "astream", "batch", "abatch", "run", "call"),
        *("query", "aquery", "chat", "achat", "stream_chat", "astream_chat", "complete", "acomplete"),
        *("retrieve", "aretrieve", "predict", "apredict", "generate", "agenerate", "synthesize", "arun"),
        *("get_relevant_documents", "format", "format_messages", "format_prompt", "with_config", "bind"),
        "transform",
    }
)
"""The methods by which frameworks run their objects. The framework, and not the user's code, changes an
attribute that such a method changes."""


class Bearing:
    """A ``Bearing`` decides whether a changed attribute or entry may influence a later run. It searches
    the application's code for the name of the attribute or entry.

    ``named``: the names in the code of the user's functions; methods of a language model that the user
    wrote are left out. ``texts``: the string constants in the code that a run may execute, including code
    of models. ``texts_by_name``: the texts that variables have which the code of the user's functions
    names.
    """

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._codes = [*_running(snapshot.functions, set(_asked_for(snapshot.things)))]
        of_others = [node for node in snapshot.functions if node.owner not in OF_MODELS]
        self._not_of_models = [own_code(node.thing) for node in of_others]
        usual = under_usual_names(node.thing for node in of_others)
        self.named = frozenset(
            (*(name for code in self._not_of_models for name in names_in(code)), *usual)
        )
        self.texts = tuple(text for code in self._codes for text in texts_in_code(code))
        self.texts_by_name = tuple(texts_of_variables(node.thing for node in of_others))
        of_models = {id(each) for each in self._codes} - {id(each) for each in self._not_of_models}
        names = (name for code in self._codes if id(code) in of_models for name in names_in(code))
        self._named_by_models = frozenset(names)
        self._read = dict[tuple[str, bool, bool], bool]()

    def matters(self, kept: KeptPart, name: str) -> bool:
        """Returns True iff a change of the value ``name`` may influence a later run. ``kept``: the object
        that has the value, with the object's content before the baseline."""
        was, now = kept.values(name)
        is_librarys = kept.node.owner is Owner.LIBRARY
        if is_ours(was) or is_ours(now):
            return False
        if is_made_once(kept.node.thing, name, was, now, is_librarys=is_librarys):
            return False
        if kept.node.owner is Owner.USERS_MODEL and is_computed_by_framework(kept.node.thing, name):
            return False
        if name.startswith("__") and name.endswith("__"):
            return self._is_special_read(kept, name)
        return kept.is_register or self._may_be_read(kept, name)

    def _is_special_read(self, kept: KeptPart, name: str) -> bool:
        """Returns True iff a change of a special name, such as ``__class__``, may influence a later run.
        Most count only if the user's code has the name. A method of the user's class, such as
        ``__len__``, is also called by code that does not have its name."""
        if kept.node.owner in {Owner.USER, Owner.LIBRARY} and self.is_named(name):
            return True
        if isinstance(kept.node.thing, type) and any(callable(each) for each in kept.values(name)):
            return True
        is_of_function = isinstance(kept.node.thing, FunctionType)
        # Libraries read the annotations of a function, as ``inspect.signature`` does.
        is_described = name in _DESCRIBING and not (name == "__annotations__" and is_of_function)
        return name in _OF_PYTHON and (not is_described or self.is_read(name))

    def _may_be_read(self, kept: KeptPart, name: str) -> bool:
        """Returns True iff the application's code may read the value ``name`` of the object in ``kept``.
        For an object of a framework, returns True only if the user's code may also set the value."""
        if kept.node.owner in {Owner.FRAMEWORK, Owner.MODEL}:
            return self._is_users_doing(kept, name)
        is_models = kept.node.owner is Owner.USERS_MODEL
        is_collection = isinstance(kept.node.thing, _COLLECTIONS)
        if isinstance(kept.node.thing, ModuleType) and kept.node.owner is Owner.LIBRARY:
            return not kept.is_of_additions or self.is_read(name)
        if (
            (is_collection := isinstance(kept.node.thing, _COLLECTIONS))
            or not name
            or kept.node.owner is Owner.LIBRARY
        ):
            if not is_collection and name.removeprefix("_") in self._stored:
                return True  # the library may read what the user's code has set on its object
            names = {_AS_READ.get(each, each) for each in (*kept.node.all_names(), name) if each}
            # Code reads an argument by the name of a parameter, which is a local variable. Names of local
            # variables are not searched for, so every argument counts as read.
            is_argument = bool(names & _HANDED_OVER) or isinstance(kept.node.object(), partial)
            return not names or is_argument or any(self.is_read(each, is_models) for each in names)
        return self.is_read(name, is_models) or self._is_shown(kept)

    def _is_shown(self, kept: KeptPart) -> bool:
        """Returns True iff the application's code may read all attributes of the object in ``kept`` at
        once, by ``str()`` or ``repr()``. Some classes show them so, such as dataclasses."""
        kind = type(cast("object", kept.node.thing))
        if not (is_dataclass(kind) or issubclass(kind, SimpleNamespace) or hasattr(kind, "model_fields")):
            return False
        names = [*kept.node.names()]
        return any(reads_whole(code, name) for code in self._codes for name in names)

    def _is_users_doing(self, kept: KeptPart, name: str) -> bool:
        """Returns True iff the user's code sets the attribute ``name`` of the framework's object in
        ``kept``, or may change the attribute by calling a method. Returns False for changes that only the
        framework makes, because they do not matter."""
        if isinstance(kept.node.thing, _COLLECTIONS):
            names = {*kept.node.names(), *filter(None, [name])}
            if names & (self.named | _HANDED_OVER):
                return True
        else:
            names = {name, *self._properties_of(kept.node.thing, name)}
        if any(each.removeprefix("_") in self._stored for each in names):
            return True
        return any(self._is_called_for(kept.node, each) for each in names)

    def _is_called_for(self, node: Node, name: str) -> bool:
        """Returns True iff the user's code may change an attribute of a framework's object by calling a
        method. For example, ``add_example`` changes ``examples``.

        The user's code must have the names of the object and of the method (or property), and the
        method's code that of the attribute. If the object is part of another object, as the store of a
        chat memory is, a method of the other object counts if it has the name of the part.
        """
        node = node.of_object()
        part = node
        while part.holder is not None and part.holder.is_passed_by:
            part = part.holder
        whole = part.holder if part.holder and part.holder.owner is Owner.FRAMEWORK else None
        if whole is not None and self._is_called_for(whole, part.name):
            return True
        variables = (name for code in self._not_of_models for name in code.co_freevars)
        if node.owner in OF_MODELS or not {*node.names()} & self.named.union(variables):
            return False
        kind = cast("type[object]", type(node.thing))
        codes = map(code_of_member, members_named(kind, self.named - _RUNNING))
        return any(code is not None and name in names_in(code) for code in codes)

    def _properties_of(self, thing: object, name: str) -> Iterator[str]:
        """Yields each property that the user's code sets and whose setter stores ``name``."""
        for each in self._stored:
            found = getattr_static(type(thing), each, None)
            setter = getattr(found, "fset", None)
            if isinstance(setter, FunctionType) and name.lstrip("_") in names_in(own_code(setter)):
                yield each

    @cached_property
    def _mentions(self) -> Mentions:
        return Mentions(self._codes)

    @cached_property
    def _stored(self) -> frozenset[str]:
        """Returns the names of the attributes that the user's code sets, without a leading underscore: a
        property ``mode`` often sets ``_mode``."""
        codes = self._not_of_models
        by_text = (text for code in codes for text in texts_in_code(code) if "setattr" in self.named)
        return frozenset((*(name for code in codes for name in _set_in(code)), *by_text))

    @cached_property
    def _held_texts(self) -> list[str]:
        """Returns texts in objects that may have names which code reads: templates such as
        ``"{topic}"``, and the names in attrgetters and itemgetters."""
        names = _asked_for(self._snapshot.things)
        contents = [kept.content for kept in self._snapshot.kept if kept.part.is_named]
        held = [value for content in contents for value in content.values() if isinstance(value, str)]
        return [*names, *(text for text in held if "{" in text and len(text) < _LONGEST_TEMPLATE)]

    @cached_property
    def _is_forgiving(self) -> bool:
        """Returns True iff the application may catch errors of its own code. Even a number that only
        decides whether code raises an error may then influence the answer."""
        return any(getattr(code, "co_exceptiontable", b"?") for code in self._codes) or any(
            "Fallback" in type(each).__name__ for each in self._snapshot.things
        )

    def may_depend(self, changed: Collection[str]) -> bool:
        """Returns True iff a later run may read a value that depends on the run which set it.

        A value that the application's code creates only if it is missing does not depend on the run.
        ``changed``: the names of the values that differ from those before the baseline. If no value
        differs any more, the result is True: a value was then changed and changed back.
        """
        dependent = dependent_names(self._codes)
        known = frozenset(name for code in self._codes for name in written_names(code)) - dependent
        return not changed or not known.issuperset(changed) or any(map(self.is_read, dependent))

    def is_named(self, name: str) -> bool:
        """Returns True iff the application's code has this name, as a name or in a string constant."""
        return name in self.named or is_in(self.texts, name)

    def is_read(self, name: str, of_a_model: bool = False, *, as_attribute: bool = False) -> bool:
        """Returns True iff the code may read an attribute, an entry or a variable of this name.
        ``of_a_model``: True if it belongs to a model whose class the user wrote. Calls that read all
        attributes, such as ``vars()``, then count only if they are in the code of models.
        ``as_attribute``: True to count no reads of a variable."""
        key, limit = (name, of_a_model, as_attribute), self._is_forgiving
        if key not in self._read:
            named = self._named_by_models if of_a_model else self.named
            self._read[key] = (
                bool(OF_ALL & named)
                or self._mentions.is_read(name, in_texts=True, as_attribute=as_attribute, as_limit=limit)
                or is_in(self._held_texts, name)
                or is_computed(self._codes, name, of_a_method=True)
            )
        return self._read[key]


def _asked_for(things: Iterable[object]) -> Iterator[str]:
    """Yields the names of the attributes, entries and methods that the attrgetters, itemgetters and
    methodcallers among these objects use."""
    for each in things:
        if isinstance(each, _ASKING):
            yield from map(str, each.__reduce__()[1])


def _running(functions: list[Node], asked: set[str]) -> Iterator[CodeType]:
    """Yields the code of the functions that a run may execute. Leaves out a method if no code contains
    its name. ``asked``: the names that objects such as an attrgetter use."""
    codes = [own_code(node.thing) for node in functions]
    mentions = Mentions(codes)
    of_models = [own_code(node.thing) for node in functions if node.owner in OF_MODELS]
    for node, code in zip(functions, codes, strict=True):
        holder = None if node.holder is None else node.holder.thing
        name = node.thing.__name__
        if (
            name in asked
            or not is_for_others(holder, node.thing)
            or mentions.is_read(name, as_attribute=True)
            or is_computed(of_models if node.owner in OF_MODELS else codes, name, of_a_method=True)
        ):
            yield code


@lru_cache(maxsize=2048)
def _set_in(code: CodeType) -> frozenset[str]:
    """Returns the names of the attributes that the code sets, without a leading underscore."""
    # Cached, because disassembling is slow and each explanation reads the same code.
    setting = instructions_of(code, "STORE_ATTR", "DELETE_ATTR")
    inside = (_set_in(inner) for inner in code.co_consts if isinstance(inner, CodeType))
    return frozenset(str(each.argval).removeprefix("_") for each in setting).union(*inside)
