"""How a store is described and opened, and what is said where that cannot be."""

import os
import pickle
import sqlite3
import stat
import sys
from pathlib import Path

import pytest
from sqlalchemy import Connection, inspect

from rag_rule_explainer import Answer, InvalidInput, MissingExtra, Settings, Store, StoreFailed
from rag_rule_explainer.storing import schema
from rag_rule_explainer.storing.address import Address, hidden
from rag_rule_explainer.storing.database import Database
from rag_rule_explainer.storing.opened import close_all
from tests.postgres import Server
from tests.storing.asking import answered, answers, change, claimed, connected, rows


class TestDescription:
    def test_making_one_opens_nothing(self, tmp_path: Path) -> None:
        store = Store(str(tmp_path / "new" / "store.db"), "tests")
        assert list(tmp_path.iterdir()) == []
        assert pickle.loads(pickle.dumps(store)) == store  # noqa: S301 -- made by this test
        assert hash(store) == hash(Store(store.url, "tests", 60.0))

    def test_a_path_is_the_same_as_its_text(self, tmp_path: Path) -> None:
        path = tmp_path / "store.db"
        of_path, of_text = Store(path, "tests"), Store(str(path), "tests")
        assert of_path == of_text == Store(of_path.url, "tests")
        assert of_path.as_dict() == of_text.as_dict()
        assert Settings.of(None, {"store": path}).store == Store.of(path) == Store(str(path))

    def test_a_home_folder_that_no_shell_filled_in(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("HOME", str(tmp_path))
        monkeypatch.setenv("USERPROFILE", str(tmp_path))
        assert Address.of("~/answers.db").target == str(tmp_path / "answers.db")
        assert Address.of("a~b.db").target == "a~b.db"

    def test_a_path_that_was_made_of_a_url(self) -> None:
        for url in ("postgresql://user:secret@host/db", "sqlite:///store.db"):
            with pytest.raises(
                InvalidInput, match="a Path that was made of a url; give the url"
            ) as refused:
                Store(Path(url), "tests")
            assert "secret" not in str(refused.value)

    @pytest.mark.parametrize(
        "url",
        [
            "",
            " ",
            "sqlite://",
            "sqlite:///",
            "sqlite:///:memory:",
            ":memory:",
            "sqlite://store.db",
            "sqlite:///store.db?mode=ro",
            "mysql://user:secret@host/db",
            "postgresql+asyncpg://user:secret@host/db",
            "postgresql+psycopg2://user:secret@host/db",
            "https://user:secret@host",
            None,
            7,
        ],
    )
    def test_a_url_that_is_none(self, url: str) -> None:
        with pytest.raises(InvalidInput) as refused:
            Store(url, "tests")
        assert "secret" not in str(refused.value)

    @pytest.mark.parametrize("namespace", ["", " \n", 7])
    def test_a_namespace_that_is_none(self, namespace: str) -> None:
        with pytest.raises(InvalidInput, match="name the application and its version"):
            Store("store.db", namespace)

    @pytest.mark.parametrize("lease", [0, -1, float("nan"), float("inf"), "60", True, 100_000])
    def test_a_lease_that_is_none(self, lease: float) -> None:
        with pytest.raises(InvalidInput, match="seconds above 0"):
            Store("store.db", "tests", lease)

    @pytest.mark.parametrize(
        ("url", "shown"),
        [
            ("postgresql://me:secret@host:5432/db", "postgresql://me:***@host:5432/db"),
            ("postgresql://me:sec@ret@host/db", "postgresql://me:***@host/db"),
            ("postgresql://me:sec/secret?x@host/db", "postgresql://me:***@host/db"),
            ("postgres://:secret@host/db", "postgres://:***@host/db"),
            (
                "postgresql+psycopg://me@host/db?password=secret&a=b",
                "postgresql+psycopg://me@host/db?password=***&a=b",
            ),
            (
                "postgresql://me@/db?unix_sock=/run/x&sslPassword=secret",
                "postgresql://me@/db?unix_sock=/run/x&sslPassword=***",
            ),
            ("postgresql://me@host/db", "postgresql://me@host/db"),
            ("postgresql://host:5432/db", "postgresql://host:5432/db"),
            ("sqlite:///store.db", "sqlite:///store.db"),
        ],
    )
    def test_no_password_is_ever_shown(self, url: str, shown: str) -> None:
        store = Store(url, "tests")
        assert hidden(url) == shown
        assert store.as_dict() == {"url": shown, "namespace": "tests", "lease": 60.0}
        for said in (repr(store), str(store), f"{[store]}"):
            assert "secret" not in said
            assert shown in said

    def test_plain_urls_mean_the_driver_that_comes_with_the_extra(self) -> None:
        for scheme in ("postgres", "postgresql", "postgresql+pg8000"):
            assert Address.of(f"{scheme}://a@b/c").target == "postgresql+pg8000://a@b/c"
        assert Address.of("postgresql+psycopg://a@b/c").target == "postgresql+psycopg://a@b/c"

    @pytest.mark.parametrize(("driver", "named"), [("pg8000", "[postgres]"), ("psycopg", "psycopg")])
    def test_a_driver_that_is_not_installed(
        self, monkeypatch: pytest.MonkeyPatch, driver: str, named: str
    ) -> None:
        monkeypatch.setitem(sys.modules, driver, None)  # Python's own way to say: there is none
        with pytest.raises(MissingExtra, match="pip install") as missing:
            Store(f"postgresql+{driver}://me:secret@host/db", "tests").open()
        assert named in str(missing.value)
        assert "secret" not in str(missing.value)


class TestFiles:
    async def test_only_the_owner_may_read_them(self, tmp_path: Path) -> None:
        path = tmp_path / "a" / "b" / "store.db"
        previous = os.umask(0)
        try:
            store = Store(str(path), "tests")
            claim = await claimed(answers(store), 1)
        finally:
            os.umask(previous)
        files = sorted(path.parent.iterdir())
        assert [file.name for file in files] == [
            *("store.db", "store.db-shm", "store.db-wal"),
            "store.db.users",
        ]
        assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
        assert stat.S_IMODE(path.parent.parent.stat().st_mode) == 0o700
        claim.release()

    async def test_every_commit_reaches_the_disk(self, tmp_path: Path) -> None:
        store = Store(str(tmp_path / "store.db"), "tests")
        store.open()
        with Database(Address.of(store.url)).connect() as connection:
            told = [
                connection.exec_driver_sql(f"PRAGMA {name}").scalar()
                for name in ("journal_mode", "synchronous", "busy_timeout")
            ]
        assert told == ["wal", 2, 5000]

    async def test_one_file_by_several_names_is_opened_once(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        claim = await claimed(answers(Store("store.db", "tests")), 1)
        (tmp_path / "link.db").symlink_to(tmp_path / "store.db")
        await claim.put(Answer("yes"), None)
        for turn, url in enumerate(("./store.db", f"sqlite:///{tmp_path}/store.db", "link.db"), start=1):
            mine = answers(Store(url, "tests"))
            assert await answered(mine, 1) == Answer("yes")
            assert mine.commits == 2 + turn  # of the one writer there is

    async def test_a_file_that_was_deleted_is_made_anew(self, tmp_path: Path) -> None:
        store = Store(str(tmp_path / "store.db"), "tests")
        await (await claimed(answers(store), 1)).put(Answer("yes"), None)
        for file in tmp_path.iterdir():  # noqa: ASYNC240 -- there is nobody to wait
            file.unlink()
        (await claimed(answers(store), 1)).release()
        assert (tmp_path / "store.db").exists()

    def test_what_is_no_database(self, tmp_path: Path) -> None:
        file = tmp_path / "notes.txt"
        file.write_text("Dear diary, " * 200)
        with pytest.raises(StoreFailed, match=r"notes.txt cannot be used: .*not a database; give a file"):
            Store(str(file), "tests").open()
        assert file.read_text() == "Dear diary, " * 200

    def test_somebody_elses_database_is_left_as_it_is(self, tmp_path: Path) -> None:
        file = tmp_path / "chat.db"
        with sqlite3.connect(file) as connection:
            connection.execute("CREATE TABLE messages (text)")
        connection.close()
        before = file.read_bytes()
        with pytest.raises(StoreFailed, match=r"something else \(messages\); give the store a file"):
            Store(str(file), "tests").open()
        assert file.read_bytes() == before

    def test_a_folder_that_cannot_be_made(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("")
        with pytest.raises(StoreFailed, match="cannot be used"):
            Store(str(tmp_path / "file" / "store.db"), "tests").open()
        with pytest.raises(StoreFailed, match="cannot be used"):
            Store(str(tmp_path), "tests").open()

    async def test_a_disk_that_is_full_or_a_file_that_is_read_only(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from rag_rule_explainer.storing import database

        store = Store(str(tmp_path / "store.db"), "tests")
        mine = answers(store)
        (await claimed(mine, 1)).release()
        close_all()
        # SQLite's own ways to say so, which root cannot overrule either.
        for pragma, said in (("max_page_count = 1", "free some space"), ("query_only = ON", "writable")):
            monkeypatch.setattr(database, "_PRAGMAS", (f"PRAGMA {pragma}",))
            with pytest.raises(StoreFailed, match=said):
                await fill(store)
            monkeypatch.undo()
            close_all()
        (await claimed(answers(store), 2000)).release()


async def fill(store: Store) -> None:
    for number in range(2000):
        claim = await claimed(answers(store), number)
        await claim.put(Answer("x" * 20_000), None)


class TestSchema:
    def test_a_newer_one_is_refused(self, store: Store) -> None:
        store.open()
        close_all()
        change(store, "UPDATE rag_rules_version SET version = 99")
        with pytest.raises(StoreFailed, match=r"newer version .*schema 99.*update rag-rule-explainer"):
            store.open()

    @pytest.mark.parametrize(
        "damage", ["DELETE FROM rag_rules_version", "UPDATE rag_rules_version SET version = -1"]
    )
    def test_one_without_a_version_is_refused(self, store: Store, damage: str) -> None:
        store.open()
        close_all()
        change(store, damage)
        with pytest.raises(StoreFailed, match="has no version"):
            store.open()

    async def test_an_older_one_is_brought_up_to_date(self, store: Store) -> None:
        await (await claimed(answers(store), 1)).put(Answer("yes"), None)
        close_all()

        def add(connection: Connection) -> None:
            connection.exec_driver_sql("ALTER TABLE rag_rules_answers ADD COLUMN price INTEGER")

        def price(connection: Connection) -> None:
            connection.exec_driver_sql("UPDATE rag_rules_answers SET price = 7")

        def fail(connection: Connection) -> None:
            price(connection)
            raise KeyError("a bug")

        with pytest.raises(KeyError):
            migrated(store, add, fail)
        assert rows(store, "SELECT version FROM rag_rules_version") == [(1,)]
        for _ in range(2):
            migrated(store, add, price)
        assert rows(store, "SELECT version FROM rag_rules_version") == [(3,)]
        assert rows(store, "SELECT price FROM rag_rules_answers") == [(7,)]

    def test_the_tables_are_what_version_one_has(self, store: Store) -> None:
        # Whoever changes them writes a step; what is released stays.
        store.open()
        with connected(store) as connection:
            told = inspect(connection)
            tables = {
                name: {c["name"] for c in told.get_columns(name)} for name in told.get_table_names()
            }
        assert tables == {
            "rag_rules_version": {"version"},
            "rag_rules_questions": {"id", "digest", "namespace", "text"},
            "rag_rules_predicates": {"id", "digest", "namespace", "text"},
            "rag_rules_answers": {
                *("arrangement", "sample", "question", "ids", "owner"),
                *("expires", "answer", "latency", "stored"),
            },
            "rag_rules_judgements": {"memo", "predicate", "judgement", "stored"},
        }


class TestServer:
    def test_one_that_is_not_there(self, tmp_path: Path) -> None:
        for url in (
            "postgresql://me:secret@127.0.0.1:1/db",
            f"postgresql://me:secret@/db?unix_sock={tmp_path}/none",
        ):
            with pytest.raises(StoreFailed, match="check that the server is up") as failed:
                Store(url, "tests").open()
            assert "secret" not in str(failed.value)
            assert "me:***@" in str(failed.value)

    def test_a_url_that_cannot_be_read(self) -> None:
        with pytest.raises(StoreFailed, match="cannot be read") as failed:
            Store("postgresql://me:secret@host:port/db", "tests").open()
        assert "secret" not in str(failed.value)

    def test_a_database_that_is_not_there(self, server: Server) -> None:
        with pytest.raises(StoreFailed, match="the names of the user and the database in its url"):
            Store(server.url("nowhere"), "tests").open()

    def test_a_database_that_takes_no_writes(self, server: Server) -> None:
        url = server.fresh("reading")
        server.sql("ALTER DATABASE reading SET default_transaction_read_only = on")
        with pytest.raises(StoreFailed, match="connect to a server that takes writes"):
            Store(url, "tests").open()

    async def test_other_tables_may_be_there(self, server: Server) -> None:
        url = server.fresh("shared")
        server.sql("CREATE TABLE messages (text text)", "shared")
        await (await claimed(answers(Store(url, "tests")), 1)).put(Answer("yes"), None)

    async def test_a_server_that_restarts_is_waited_for(self, server: Server) -> None:
        store = Store(server.fresh("restarted"), "tests")
        mine = answers(store)
        claim = await claimed(mine, 1)
        server.stop("fast")
        server.start()
        assert await claim.put(Answer("yes"), None) == Answer("yes")
        assert await answered(mine, 1) == Answer("yes")


def migrated(store: Store, *steps: schema.SchemaStep) -> None:
    with connected(store) as connection, connection.begin():
        if connection.dialect.name == "sqlite":
            connection.exec_driver_sql("BEGIN")  # the driver would do so too late
        schema.migrate(connection, store.url, steps)
