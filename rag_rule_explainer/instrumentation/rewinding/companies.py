"""This module recognises private packages: installed packages that a company, or another group of people,
wrote for its own use. Objects of their classes are treated like objects of the user's own classes.

A package counts as private if it seems to be in no public package index: it belongs to no distribution,
was installed from a folder or a repository, or is marked as private. A package that is built on a
framework also counts as private, because such packages are seldom published. If a public package counts
as private by mistake, more replays are made than necessary, but no application is refused for it.
"""

import json
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.machinery import all_suffixes
from importlib.metadata import Distribution, PackageNotFoundError, distribution, distributions
from inspect import getmodulename
from pathlib import Path
from sys import modules
from types import FunctionType, ModuleType
from typing import cast

from ...probing.whose import INSTALLED, is_named_as_ours, is_users
from ..shared_state.contents import is_of_user
from ..shared_state.reaching import FRAMEWORKS

_PRIVATE = "Private ::"
"""If a classifier of a package begins with this text, PyPI refuses the upload of the package."""
_TRACERS = ("openinference", "opentelemetry", "langfuse", "traceloop", "opik")
"""Packages that trace runs. They count as public, although they are built on frameworks. Their objects
change in every run, but these changes are not changes of the application's state."""
_OF_PYTHON = tuple(all_suffixes())
"""The endings of the names of files that can be imported."""
_REBUILDS = "conda"
"""The name of the installer Conda. Conda installs every package from a local folder, even a public
one. So for packages that it installed, an origin in a local folder does not mean that the package is
private."""


@cache
def is_own(module: str) -> bool:
    """Returns True iff a module is the user's, or belongs to a private package (an installed package that
    seems to be in no public index)."""
    return is_users(module) or _is_companys(module)


def is_of_own(thing: object) -> bool:
    """Returns True iff a function, a class, or the class of an object is the user's, or belongs to a
    private package (an installed package that seems to be in no public index)."""
    if is_of_user(thing):
        return True
    if isinstance(thing, FunctionType):
        return is_own(str(thing.__globals__.get("__name__", "")))
    return is_own(str((thing if isinstance(thing, type) else type(thing)).__module__))


def _is_companys(module: str) -> bool:
    package = module.partition(".")[0]
    file = getattr(modules.get(module), "__file__", None)
    if not isinstance(file, str) or not INSTALLED & set(Path(file).parts):
        return False
    if package.startswith(FRAMEWORKS) or package in _TRACERS or is_named_as_ours(package):
        return False
    return _is_built_on_a_framework(module) or _is_of_no_index(package)


def _is_built_on_a_framework(module: str) -> bool:
    return _uses_a_framework(module) or _uses_a_framework(module.partition(".")[0])


@cache
def _uses_a_framework(module: str) -> bool:
    return any(name.startswith(FRAMEWORKS) for name in _used_by(modules.get(module)))


def _used_by(module: ModuleType | None) -> Iterator[str]:
    """Yields the names of the modules from which a module imported its globals."""
    for value in vars(module).copy().values() if module is not None else ():
        # ``isinstance`` would ask a lazy proxy, such as those of ``openai``, for its ``__class__``. The
        # proxy would then load its module, which takes seconds, or make a client.
        kind = cast("type[object]", type(value))
        if issubclass(kind, ModuleType):
            yield value.__name__
        elif kind is FunctionType or issubclass(kind, type):
            yield str(value.__module__)


@cache
def _is_of_no_index(package: str) -> bool:
    try:
        found = _distribution_of(package)
        return found is None or _is_kept_to_itself(found)
    except Exception:  # an installer's files may be malformed
        return False


def _is_kept_to_itself(found: Distribution) -> bool:
    if any(each.startswith(_PRIVATE) for each in found.metadata.get_all("Classifier") or ()):
        return True
    if (found.read_text("INSTALLER") or "").strip() == _REBUILDS:
        return False
    return "url" in json.loads(found.read_text("direct_url.json") or "{}")


def _distribution_of(package: str) -> Distribution | None:
    """Returns the distribution that a package belongs to; None if there is none."""
    try:
        return distribution(package)
    except PackageNotFoundError:
        return _by_package().get(package)


@cache
def _by_package() -> dict[str, Distribution]:
    """Returns a dict from the name of each installed package to the first distribution that contains it.

    For this, the lists of installed files are read as texts. Python's own ``packages_distributions``
    makes an object for each of the thousands of files, which takes ten times as long.
    """
    found: dict[str, Distribution] = {}
    for each in distributions():
        for package in _packages_of(each):
            found.setdefault(package, each)
    return found


def _packages_of(each: Distribution) -> set[str]:
    declared = (each.read_text("top_level.txt") or "").split()
    return set(declared) or {
        name for name in map(_package_in, _files_of(each)) if name and "." not in name
    }


def _files_of(each: Distribution) -> Iterable[str]:
    """Returns the paths of the files that a distribution installs; each may be followed by a comma and
    the file's hash."""
    listed = each.read_text("RECORD")
    return listed.splitlines() if listed else map(str, each.files or ())


def _package_in(file: str) -> str | None:
    """Returns the top-level package or module that a file of Python belongs to; None for any other
    file."""
    path = file.partition(",")[0]
    if not path.endswith(_OF_PYTHON):
        return None
    folder, is_inside, _ = path.partition("/")
    return folder if is_inside else getmodulename(path)
