"""Marks in templates, lines, messages, configurations and tables."""

import argparse
import collections
import configparser
import copyreg
import email.message
import http.cookiejar
import json
import linecache
import mimetypes
import string
import types
import urllib.parse
import urllib.request
import warnings
import xml.dom.minidom
from collections.abc import Callable
from pathlib import Path
from types import FunctionType
from typing import Any

import httpx
import jinja2
import numpy as np
import pandas as pd
import requests
from jinja2.sandbox import SandboxedEnvironment
from requests.cookies import create_cookie

from tests.integrations.leaving.parts import HELD_OPEN
from tests.integrations.noticing.attached import marked_on
from tests.integrations.noticing.modes import Mark

Both = tuple[Mark, Mark]


def in_the_globals_of_templates() -> Both:
    held: Any = jinja2.Environment(autoescape=True)
    return lambda: held.globals.update(two=1), lambda: "two" in held.globals


def in_what_a_template_shows() -> Both:
    held: Any = SandboxedEnvironment()
    template = held.from_string("{{ two }}")
    return lambda: held.globals.update(two=1), lambda: template.render() == "1"


def in_the_globals_of_a_template() -> Both:
    template = jinja2.Environment(autoescape=True).from_string("{{ two }}")
    return lambda: template.globals.update(two=1), lambda: template.render() == "1"


def among_the_filters_of_templates() -> Both:
    held = jinja2.Environment(autoescape=True)
    held.filters["mode"] = lambda given: "one"
    template = held.from_string("{{ given | mode }}")

    def mark() -> None:
        held.filters["mode"] = lambda given: "two"

    return mark, lambda: template.render() == "two"


def on_an_environment_of_templates() -> Both:
    return marked_on(jinja2.Environment(autoescape=True))


def in_the_module_of_a_template() -> Both:
    held: Any = jinja2.Environment(autoescape=True).from_string("{% set seen = 1 %}").module

    def mark() -> None:
        held.seen = 2

    return mark, lambda: held.seen == 2


def in_the_lines_that_are_cached() -> Both:
    name = "<rag_rule_lines>"
    HELD_OPEN.callback(linecache.cache.pop, name, None)

    def mark() -> None:
        linecache.cache[name] = (3, None, ["two"], name)

    return mark, lambda: linecache.getline(name, 1) == "two"


def in_the_lines_that_are_updated() -> Both:
    name = "<rag_rule_updated>"
    HELD_OPEN.callback(linecache.cache.pop, name, None)
    return (
        lambda: linecache.cache.update({name: (3, None, ["two"], name)}),
        lambda: name in linecache.cache,
    )


def in_the_lines_of_a_name() -> Both:
    held = linecache.cache
    name = "<rag_rule_named>"
    HELD_OPEN.callback(held.pop, name, None)

    def mark() -> None:
        held[name] = (3, None, ["two"], name)

    return mark, lambda: linecache.getline(name, 1) == "two"


class _Packed:
    """Is packed as a pair."""


def in_how_objects_are_copied() -> Both:
    HELD_OPEN.callback(copyreg.dispatch_table.pop, _Packed, None)

    def mark() -> None:
        copyreg.dispatch_table[_Packed] = lambda given: (_Packed, ())

    return mark, lambda: _Packed in copyreg.dispatch_table


def in_how_objects_are_said_to_be_copied() -> Both:
    import copy

    HELD_OPEN.callback(copyreg.dispatch_table.pop, _Packed, None)
    held: Any = _Packed()

    def reduced(given: _Packed) -> Any:
        return str, ("two",)

    return lambda: copyreg.pickle(_Packed, reduced), lambda: copy.copy(held) == "two"


def in_named_options() -> Both:
    held: Any = argparse.Namespace(notes=[])
    return lambda: held.notes.append(1), lambda: bool(held.notes)


def in_a_parser_of_options() -> Both:
    held = argparse.ArgumentParser()
    return lambda: held.set_defaults(two=1), lambda: held.get_default("two")


def in_a_configuration() -> Both:
    held = configparser.ConfigParser()
    held.read_string("[one]\nmode = calm")
    return lambda: held.set("one", "mode", "two"), lambda: held.get("one", "mode") == "two"


def in_a_message() -> Both:
    held = email.message.EmailMessage()

    def mark() -> None:
        if "two" not in held:
            held["two"] = "1"

    return mark, lambda: "two" in held


def in_a_document() -> Both:
    held: Any = xml.dom.minidom.parseString("<a/>")  # noqa: S318 -- ours
    return lambda: held.documentElement.setAttribute("two", "1"), lambda: "two" in held.toxml()


def in_a_jar() -> Both:
    held: Any = http.cookiejar.CookieJar()
    kept = create_cookie("two", "1")
    return lambda: held.set_cookie(kept), lambda: len(held) > 0


def in_the_headers_of_a_client() -> Both:
    held = httpx.Client()
    HELD_OPEN.callback(held.close)
    return lambda: held.headers.update({"two": "1"}), lambda: "two" in held.headers


def in_what_a_client_builds() -> Both:
    held = httpx.Client()
    HELD_OPEN.callback(held.close)
    return (
        lambda: held.headers.update({"two": "1"}),
        lambda: "two" in held.build_request("GET", "http://127.0.0.1/").headers,
    )


def on_a_client() -> Both:
    held = httpx.Client()
    HELD_OPEN.callback(held.close)
    return marked_on(held)


def in_the_hooks_of_an_opener() -> Both:
    held: Any = urllib.request.build_opener()
    return lambda: held.addheaders.append(("two", "1")), lambda: ("two", "1") in held.addheaders


def among_the_schemes_of_addresses() -> Both:
    known: Any = urllib.parse.uses_netloc
    HELD_OPEN.callback(lambda: known[:] == [*known] and "two" in known and known.remove("two"))
    return lambda: known.append("two"), lambda: "two" in urllib.parse.uses_netloc


def in_the_kinds_of_files() -> Both:
    held = mimetypes.MimeTypes()
    return lambda: held.add_type("text/two", ".two"), lambda: held.guess_type("a.two")[0]


def on_a_pattern_of_texts() -> Both:
    class Pattern(string.Template):
        pass

    def mark() -> None:
        Pattern.idpattern = "two"

    return mark, lambda: Pattern.idpattern == "two"


def in_an_encoder_that_all_use() -> Both:
    held: Any = vars(json)["_default_encoder"]
    HELD_OPEN.callback(setattr, held, "sort_keys", False)

    def mark() -> None:
        held.sort_keys = True

    return mark, lambda: json.dumps({"b": 1, "a": 1}).startswith('{"a')


def in_the_cells_of_a_table() -> Both:
    held: Any = pd.DataFrame({"a": [1, 2]})

    def mark() -> None:
        held.loc[0, "a"] = 5

    return mark, lambda: held["a"].sum() > 3


def in_what_describes_a_table() -> Both:
    held: Any = pd.DataFrame({"a": [1, 2]})
    return lambda: held.attrs.update(two=1), lambda: "two" in held.attrs


def in_numbers_of_an_object() -> Both:
    held = np.array([None, None], dtype=object)

    def mark() -> None:
        held[0] = "two"

    return mark, lambda: held[0] == "two"


def in_a_view_of_numbers() -> Both:
    held = np.zeros(3)
    view = held[:1]

    def mark() -> None:
        view[0] = 2

    return mark, lambda: held.sum() > 0


def in_a_dict_of_ones_own() -> Both:
    held = collections.UserDict[str, int]()
    return lambda: held.update(two=1), lambda: "two" in held


def among_warnings_of_once() -> Both:
    known: Any = warnings.__dict__["onceregistry"]
    HELD_OPEN.callback(known.clear)
    return lambda: known.update(two=1), lambda: "two" in known


def on_a_path() -> Both:
    class Place(type(Path())):
        pass

    held: Any = Place("x")

    def mark() -> None:
        held.seen_two = True

    return mark, lambda: getattr(held, "seen_two", False)


def in_a_list_on_a_session_in_a_dict() -> Both:
    held: Any = {"session": types.SimpleNamespace(session=requests.Session())}
    held["session"].session.notes = {"seen": []}
    return (
        lambda: held["session"].session.notes["seen"].append(1),
        lambda: bool(held["session"].session.notes["seen"]),
    )


OF_TEXTS: tuple[Callable[[], Both], ...] = tuple(
    each
    for name, each in list(globals().items())
    if isinstance(each, FunctionType) and not name.startswith("_") and each.__module__ == __name__
)
