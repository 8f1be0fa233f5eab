"""This module examines Python, the installed packages and the integrations."""

import platform
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from importlib import import_module
from importlib.metadata import EntryPoint, PackageNotFoundError, entry_points, metadata, version
from typing import NamedTuple

from ...errors import MissingExtra
from ...probing.judging import error_text
from ...version import __version__
from .diagnosis import Diagnosis

_OURS = "rag-rule-explainer"
_ALL = "all"
"""The extra that stands for all other extras."""
_REQUIREMENT = re.compile(
    r"(?P<name>[\w.-]+)[^;<>=!~]*(?P<bounds>[^;]*)(;.*extra\s*==\s*['\"](?P<extra>[\w-]+))?"
)
_BOUND = re.compile(r"(?P<relation>>=|<)\s*(?P<version>[\w.]+)")


class Requirement(NamedTuple):
    """A ``Requirement`` is a package that this package needs. ``bounds``: the allowed versions, such as
    "<2,>=1.0". ``extra``: the extra that needs it; empty if this package always needs it."""

    name: str
    bounds: str
    extra: str


def examined_installation() -> Iterator[Diagnosis]:
    """Yields the findings about Python, this package, its extras and the integrations."""
    try:
        about = metadata(_OURS)
    except PackageNotFoundError:
        yield Diagnosis(
            "package",
            "problem",
            f"{_OURS} {__version__} is not installed, so integrations are not found",
            f"pip install {_OURS}, or pip install -e . in a checkout",
        )
        return
    yield _python("".join(about.get_all("Requires-Python") or []))
    yield Diagnosis("package", "ok", f"{_OURS} {__version__}")
    wanted = about.get_all("Requires-Dist") or []
    yield from _packages([_requirement(each) for each in wanted])
    yield from _integrations()


def _python(wanted: str) -> Diagnosis:
    running = platform.python_version()
    if _fits(running, wanted):
        return Diagnosis("python", "ok", f"{running} at {sys.executable}")
    return Diagnosis(
        "python",
        "problem",
        f"{running} is not {wanted}, which this package needs",
        "make a virtual environment with another Python, and install the package there",
    )


def _requirement(written: str) -> Requirement:
    found = _REQUIREMENT.match(written)
    if found is None:
        return Requirement(written, "", "")
    return Requirement(found["name"], found["bounds"].strip(" ()"), found["extra"] or "")


def _packages(wanted: list[Requirement]) -> Iterator[Diagnosis]:
    """Yields the findings about packages: one for each extra that is installed, one for all extras that
    are not installed, and one for each package of a wrong version. ``wanted``: the packages to check."""
    by_extra = defaultdict[str, list[Requirement]](list)
    for each in wanted:
        by_extra[each.extra].append(each)
    by_extra.pop(_ALL, None)
    missing, reported = list[str](), set[str]()
    for extra, needed in sorted(by_extra.items()):
        versions = {each.name: _installed(each.name) for each in needed}
        if not all(versions.values()) and extra:
            missing.append(extra)
            continue
        wrong = [each for each in needed if not _fits(versions[each.name] or "", each.bounds)]
        for each in wrong:
            if each.name not in reported:
                reported.add(each.name)
                yield _wrong(each, versions[each.name] or "")
        if extra and not wrong:
            named = ", ".join(f"{name} {found}" for name, found in versions.items())
            yield Diagnosis(f"[{extra}]", "ok", named)
    if missing:
        yield Diagnosis(
            "extras",
            "ok",
            f"not installed, and only needed for what they are for: {', '.join(missing)}",
            f"pip install '{_OURS}[{missing[0]}]' installs one",
        )


def _wrong(needed: Requirement, found: str) -> Diagnosis:
    extra = f"[{needed.extra}]" if needed.extra else ""
    said = f"{needed.name} {found} is not {needed.bounds}" if found else f"{needed.name} is missing"
    return Diagnosis(
        extra or "package",
        "problem",
        said,
        f"pip install --upgrade '{_OURS}{extra}' installs one that fits",
    )


def _integrations() -> Iterator[Diagnosis]:
    registered = list(entry_points(group="rag_rule_explainer.integrations"))
    if not registered:
        yield Diagnosis(
            "integrations", "problem", "none is registered", f"pip install --force-reinstall {_OURS}"
        )
    usable = list[str]()
    for entry in registered:
        fault = _fault_of(entry)
        if fault is None:
            continue
        if not fault:
            usable.append(entry.name)
            continue
        owner = entry.dist.name if entry.dist is not None else entry.value
        yield Diagnosis(
            "integration",
            "problem",
            f"{entry.name} (of {owner}) cannot be loaded: {fault}",
            f"pip install --upgrade {owner}, or pip uninstall {owner}",
        )
    if usable:
        yield Diagnosis("integrations", "ok", ", ".join(sorted(set(usable))))


def _fault_of(entry: EntryPoint) -> str | None:
    """Returns the fault of an integration in words; an empty text if it has no fault, None if its extra
    is not installed."""
    try:
        package = import_module(entry.value)
        import_module(f"{entry.value}.reading")
    except MissingExtra:
        return None
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        return error_text(error)
    return "" if hasattr(package, "RuleExplainer") else f"{entry.value} has no RuleExplainer"


def _installed(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _fits(found: str, bounds: str) -> bool:
    """Returns True iff a version is within bounds such as "<2,>=1.0". The version 2.0rc1 counts as 2.0.
    Bounds with other operators than "<" and ">=" are ignored."""
    has = _release(found)
    return bool(found) and all(
        has >= _release(each["version"]) if each["relation"] == ">=" else has < _release(each["version"])
        for each in _BOUND.finditer(bounds)
    )


def _release(written: str) -> tuple[int, ...]:
    begun = re.match(r"\d+(\.\d+)*", written)
    numbers = [int(each) for each in begun[0].split(".")] if begun else [0]
    while len(numbers) > 1 and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers)
