"""Which installed packages are as good as the user's: a company's own, that its applications share.

Nothing but the put back state shows what they keep, so a package that is taken for one in error costs
replays, and refuses nothing. A package is one where no index is known to have it: no distribution says
that it brought it, or one that was installed from a folder or a repository, or one that is marked as
private. So is one that is built on a framework: what others publish seldom is, and a company's is.
"""

import json
from collections.abc import Iterator
from functools import cache
from importlib.metadata import Distribution, PackageNotFoundError, distribution, packages_distributions
from pathlib import Path
from sys import modules
from types import FunctionType, ModuleType

from ...probing.whose import INSTALLED, is_named_as_ours, is_users
from ..shared_state.holdings import is_of_user
from ..shared_state.reaching import FRAMEWORKS

_PRIVATE = "Private ::"
"""How a classifier begins that keeps an index from taking a distribution."""
_REBUILDS = "conda"
"""An installer that notes a folder of its own for whatever it installs."""


@cache
def is_own(module: str) -> bool:
    """Returns True iff a module is the user's, or a company's."""
    return is_users(module) or _is_companys(module)


def is_of_own(thing: object) -> bool:
    """Returns True iff a function, a class or the class of an object is the user's, or a company's."""
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
    if package.startswith(FRAMEWORKS) or is_named_as_ours(package):
        return False
    return _is_built_on_a_framework(module) or _is_of_no_index(package)


def _is_built_on_a_framework(module: str) -> bool:
    known = (modules.get(each) for each in (module, module.partition(".")[0]))
    return any(name.startswith(FRAMEWORKS) for each in known for name in _used_by(each))


def _used_by(module: ModuleType | None) -> Iterator[str]:
    """Yields the modules of what a module has in its globals."""
    for value in list(vars(module).values()) if module is not None else ():
        if isinstance(value, ModuleType):
            yield value.__name__
        elif isinstance(value, (type, FunctionType)):
            yield str(value.__module__)


@cache
def _is_of_no_index(package: str) -> bool:
    try:
        found = _distribution_of(package)
        return found is None or _is_kept_to_itself(found)
    except Exception:  # whatever stands in what an installer wrote
        return False


def _is_kept_to_itself(found: Distribution) -> bool:
    if any(each.startswith(_PRIVATE) for each in found.metadata.get_all("Classifier") or ()):
        return True
    if (found.read_text("INSTALLER") or "").strip() == _REBUILDS:
        return False
    return "url" in json.loads(found.read_text("direct_url.json") or "{}")


def _distribution_of(package: str) -> Distribution | None:
    """Returns the distribution that brought a package: mostly the one of its name."""
    try:
        return distribution(package)
    except PackageNotFoundError:
        brought = _distributions().get(package)
        return distribution(brought[0]) if brought else None


@cache
def _distributions() -> dict[str, list[str]]:
    return {package: list(names) for package, names in packages_distributions().items()}
