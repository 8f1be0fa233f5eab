"""Marks in objects of packages: tables, graphs, messages, trees, tokens, counters and their settings."""

import ctypes
from collections.abc import Callable
from types import FunctionType, SimpleNamespace
from typing import Any

import attrs
import bs4
import cffi
import faiss
import jinja2
import markdown_it
import matplotlib as mpl
import multidict
import networkx as nx
import numpy as np
import onnxruntime
import pandas as pd
import PIL.Image
import polars as pl
import prometheus_client
import pydantic
import rich.console
import sortedcontainers
import sqlalchemy as sa
import sqlalchemy.event
import tenacity
import tiktoken.registry
import wrapt
import yaml
from google.protobuf import struct_pb2
from sqlalchemy import orm

from tests.integrations.leaving.parts import HELD_OPEN
from tests.integrations.noticing.modes import Mark

Both = tuple[Mark, Mark]


class _Box(pydantic.BaseModel):
    size: int = 0
    notes: list[int] = pydantic.Field(default_factory=list[int])
    _own: int = pydantic.PrivateAttr(default=0)


def in_a_field() -> Both:
    held = _Box()

    def mark() -> None:
        held.size = 1

    return mark, lambda: held.model_dump()["size"]


def in_a_private_field() -> Both:
    held: Any = _Box()

    def mark() -> None:
        held._own = 1

    return mark, lambda: held._own


def among_the_fields_that_were_set() -> Both:
    held = _Box()

    def mark() -> None:
        held.size = 0

    return mark, lambda: bool(held.model_fields_set)


def in_how_a_model_is_made() -> Both:
    class Box(pydantic.BaseModel):
        size: int = 0

    HELD_OPEN.callback(setattr, Box.model_fields["size"], "default", 0)

    def mark() -> None:
        Box.model_fields["size"].default = 1
        Box.model_rebuild(force=True)

    return mark, lambda: Box().size


def in_a_field_with_slots() -> Both:
    @attrs.define
    class Box:
        size: int = 0

    held = Box()

    def mark() -> None:
        held.size = 1

    return mark, lambda: attrs.asdict(held)["size"]


def in_a_graph() -> Both:
    held = nx.Graph()
    return lambda: held.add_node("two"), lambda: held.number_of_nodes()


def on_an_edge_of_a_graph() -> Both:
    held = nx.Graph()
    held.add_edge("a", "b", weight=0)

    def mark() -> None:
        held["a"]["b"]["weight"] = 1

    return mark, lambda: held.size(weight="weight")


def in_a_sorted_list() -> Both:
    held = sortedcontainers.SortedList()
    return lambda: held.add(2), lambda: len(held)


def in_a_sorted_dict() -> Both:
    held = sortedcontainers.SortedDict()
    return lambda: held.setdefault("two", 1), lambda: held.peekitem(-1)[1] if held else 0


def in_a_table_of_polars() -> Both:
    held = SimpleNamespace(table=pl.DataFrame({"a": [1]}))

    def mark() -> None:
        held.table = held.table.vstack(pl.DataFrame({"a": [2]}))

    return mark, lambda: held.table.height > 1


def in_a_table_of_polars_that_is_extended() -> Both:
    held = pl.DataFrame({"a": [1]})
    return lambda: held.extend(pl.DataFrame({"a": [2]})), lambda: held.height > 1


def in_a_column() -> Both:
    held: Any = pd.Series([1, 2])

    def mark() -> None:
        held.iloc[0] = 5

    return mark, lambda: held.max() > 4


def in_the_name_of_an_index() -> Both:
    held: Any = pd.DataFrame({"a": [1]})

    def mark() -> None:
        held.index.name = "two"

    return mark, lambda: held.index.name == "two"


def in_an_index_of_vectors() -> Both:
    held: Any = faiss.IndexFlatL2(2)
    return lambda: held.add(np.ones((1, 2), dtype="float32")), lambda: held.ntotal


def in_the_options_of_a_session() -> Both:
    held: Any = onnxruntime.SessionOptions()

    def mark() -> None:
        held.intra_op_num_threads = 2

    return mark, lambda: held.intra_op_num_threads == 2


def in_a_picture() -> Both:
    held: Any = PIL.Image.new("L", (2, 2))
    return lambda: held.putpixel((0, 0), 2), lambda: held.getpixel((0, 0)) == 2


def in_what_a_picture_tells() -> Both:
    held: Any = PIL.Image.new("L", (2, 2))
    return lambda: held.info.update(two=1), lambda: "two" in held.info


def in_a_counter() -> Both:
    register = prometheus_client.CollectorRegistry()
    held = prometheus_client.Counter("two", "Counts.", registry=register)
    return lambda: held.inc(), lambda: register.get_sample_value("two_total")


def in_a_counter_with_labels() -> Both:
    register = prometheus_client.CollectorRegistry()
    held = prometheus_client.Counter("two", "Counts.", ["mode"], registry=register)
    return (
        lambda: held.labels(mode="x").inc(),
        lambda: register.get_sample_value("two_total", {"mode": "x"}),
    )


def in_what_a_console_recorded() -> Both:
    import io

    held = rich.console.Console(record=True, file=io.StringIO())
    return lambda: held.print("two"), lambda: "two" in held.export_text(clear=False)


def in_the_width_of_a_console() -> Both:
    import io

    held = rich.console.Console(file=io.StringIO(), width=40)

    def mark() -> None:
        held.width = 41

    return mark, lambda: held.width == 41


def in_a_database_of_tables() -> Both:
    engine = sa.create_engine("sqlite://", poolclass=sa.pool.StaticPool)
    HELD_OPEN.callback(engine.dispose)
    with engine.begin() as held:
        held.execute(sa.text("CREATE TABLE modes (mode)"))

    def mark() -> None:
        with engine.begin() as held:
            held.execute(sa.text("INSERT INTO modes VALUES (2)"))

    def marked() -> bool:
        with engine.begin() as held:
            return held.execute(sa.text("SELECT mode FROM modes")).first() is not None

    return mark, marked


def among_the_tables_that_are_known() -> Both:
    held = sa.MetaData()

    def mark() -> None:
        if "two" not in held.tables:
            sa.Table("two", held)

    return mark, lambda: "two" in held.tables


def in_a_session_of_objects() -> Both:
    held = orm.Session(sa.create_engine("sqlite://"))
    HELD_OPEN.callback(held.close)
    return lambda: held.info.update(two=1), lambda: "two" in held.info


def in_what_hears_of_an_engine() -> Both:
    engine = sa.create_engine("sqlite://")
    HELD_OPEN.callback(engine.dispose)

    def hear(*_: Any) -> None: ...

    def mark() -> None:
        if not sqlalchemy.event.contains(engine, "connect", hear):
            sqlalchemy.event.listen(engine, "connect", hear)

    return mark, lambda: sqlalchemy.event.contains(engine, "connect", hear)


def in_the_figures_of_retries() -> Both:
    held = tenacity.Retrying()
    return lambda: held(int), lambda: held.statistics.get("attempt_number")


def among_the_encodings() -> Both:
    known: Any = tiktoken.registry.ENCODINGS
    HELD_OPEN.callback(known.pop, "two", None)

    def mark() -> None:
        known["two"] = None

    return mark, lambda: "two" in tiktoken.registry.ENCODINGS


def on_a_proxy() -> Both:
    held: Any = wrapt.ObjectProxy(SimpleNamespace())

    def mark() -> None:
        held._self_two = True

    return mark, lambda: getattr(held, "_self_two", False)


def behind_a_proxy() -> Both:
    held: Any = wrapt.ObjectProxy([])
    return lambda: held.append(1), lambda: bool(held)


def in_how_yaml_is_read() -> Both:
    class Loader(yaml.SafeLoader):
        pass

    return (
        lambda: Loader.add_constructor("!two", lambda loader, node: 2),
        lambda: "!two" in Loader.yaml_constructors,
    )


def in_how_yaml_is_read_by_others() -> Both:
    HELD_OPEN.callback(lambda: yaml.SafeLoader.yaml_constructors.pop("!two", None))

    def marked() -> bool:
        try:
            return yaml.safe_load("!two x") == 2
        except yaml.YAMLError:
            return False

    return lambda: yaml.SafeLoader.add_constructor("!two", lambda loader, node: 2), marked


def in_a_message_of_protobuf() -> Both:
    held: Any = struct_pb2.Struct()
    return lambda: held.update({"two": 1}), lambda: "two" in held


def in_a_value_of_protobuf() -> Both:
    held: Any = struct_pb2.Value()

    def mark() -> None:
        held.number_value = 2

    return mark, lambda: held.number_value == 2


def in_many_headers() -> Both:
    held = multidict.CIMultiDict[str]()
    return lambda: held.add("two", "1"), lambda: "two" in held


def in_memory_of_cffi() -> Both:
    ffi = cffi.FFI()
    held: Any = ffi.new("int[1]")

    def mark() -> None:
        held[0] = 1

    return mark, lambda: held[0]


def in_a_structure_of_c() -> Both:
    class Pair(ctypes.Structure):
        _fields_ = (("first", ctypes.c_int),)

    held = Pair()

    def mark() -> None:
        held.first = 1

    return mark, lambda: held.first


def in_an_array_of_pointers() -> Both:
    inner = ctypes.c_int(0)
    held = (ctypes.POINTER(ctypes.c_int) * 1)(ctypes.pointer(inner))

    def mark() -> None:
        held[0][0] = 1

    return mark, lambda: held[0][0]


def in_a_tree_of_a_page() -> Both:
    held: Any = bs4.BeautifulSoup("<p>one</p>", "html.parser")

    def mark() -> None:
        held.p.string = "two"

    return mark, lambda: held.get_text() == "two"


def in_the_rules_of_a_parser() -> Both:
    held = markdown_it.MarkdownIt("zero")
    return lambda: held.enable("emphasis"), lambda: "<em>" in held.render("*a*")


def in_a_cycle_of_templates() -> Both:
    cycler: Any = jinja2.Environment(autoescape=True).globals["cycler"]
    held = cycler("one", "two")

    def mark() -> None:
        if held.current == "one":
            held.next()

    return mark, lambda: held.current == "two"


def in_how_figures_are_drawn() -> Both:
    HELD_OPEN.callback(mpl.rcParams.__setitem__, "lines.linewidth", mpl.rcParams["lines.linewidth"])

    def mark() -> None:
        mpl.rcParams["lines.linewidth"] = 61.0

    return mark, lambda: mpl.rcParams["lines.linewidth"] == 61.0


def in_how_numbers_are_shown() -> Both:
    HELD_OPEN.callback(np.set_printoptions, precision=8)
    return lambda: np.set_printoptions(precision=2), lambda: str(np.array([1.23456])) == "[1.23]"


def in_what_errors_of_numbers_do() -> Both:
    HELD_OPEN.callback(lambda: np.seterr(divide="warn"))
    return lambda: np.seterr(divide="ignore"), lambda: np.geterr()["divide"] == "ignore"


def in_the_seed_of_numbers() -> Both:
    numbers: Any = np.random
    return lambda: numbers.seed(4), lambda: numbers.get_state()[1][0] == 4


OF_PACKAGES: tuple[Callable[[], Both], ...] = tuple(
    each
    for name, each in list(globals().items())
    if isinstance(each, FunctionType) and not name.startswith("_") and each.__module__ == __name__
)
