"""Marks in objects of packages: tables, graphs, messages, trees, tokens, counters and their settings."""

import sqlite3
from collections.abc import Callable
from types import FunctionType, SimpleNamespace
from typing import Any

import attrs
import faiss
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
    # The pool may let go of a connection that it does not close.
    database = sqlite3.connect(":memory:", check_same_thread=False)
    HELD_OPEN.callback(database.close)
    engine = sa.create_engine("sqlite://", creator=lambda: database, poolclass=sa.pool.StaticPool)
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


OF_PACKAGES: tuple[Callable[[], Both], ...] = tuple(
    each
    for name, each in list(globals().items())
    if isinstance(each, FunctionType) and not name.startswith("_") and each.__module__ == __name__
)
