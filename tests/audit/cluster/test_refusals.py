"""Why an audit does not run on a cluster: one clear sentence for each reason, mostly without Ray."""

import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import rag_rule_explainer
from rag_rule_explainer import InvalidInput, MissingExtra, Store
from rag_rule_explainer.audit import audit
from rag_rule_explainer.audit.cluster.connecting import check_answers
from rag_rule_explainer.audit.cluster.on_ray import OnRay
from rag_rule_explainer.predicates import contains
from tests.audit.cluster.ray_cluster import (
    APPLICATION,
    Asked,
    PrivateCluster,
    driver,
    needs_ray,
    private_cluster,
    told,
)


def audited(application: Any = APPLICATION, engine: Any = "ray", **options: Any) -> None:
    audit(application, ["question 1?"], contains("wrong"), engine=engine, **options)


def test_without_ray_the_extra_is_named(monkeypatch: pytest.MonkeyPatch, database: str) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtra) as raised:
        audited(store=Store(database, "a"))
    assert str(raised.value) == "the engine 'ray' needs: pip install 'rag-rule-explainer[ray]'"


def test_what_workers_cannot_share_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="the engine 'ray' needs a store that all workers share; give"):
        audited()
    with pytest.raises(InvalidInput, match="is a file, which other machines cannot share; give postgres"):
        audited(store=Store(tmp_path / "answers.db", "a"))
    with pytest.raises(InvalidInput, match="builds the application anew in each worker; give its name"):
        audited(str.upper)


@pytest.mark.parametrize("actors", [0, -1, True, 1.5])
def test_a_number_of_workers_is_at_least_one(actors: Any) -> None:
    with pytest.raises(InvalidInput, match="actors is"):
        OnRay(actors=actors)


@pytest.mark.parametrize("address", ["nonsense", "ray://", "host:", ":6379", "host:port", ""])
def test_an_address_is_looked_at_first(address: str) -> None:
    with pytest.raises(
        InvalidInput, match=r"the cluster's address is .* give 'local', 'auto', HOST:PORT"
    ):
        check_answers(address)


@pytest.mark.parametrize("form", ["127.0.0.1:{}", "ray://127.0.0.1:{}"])
def test_a_cluster_that_is_not_there_is_named_at_once(form: str) -> None:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))  # nobody listens there
        address = form.format(bound.getsockname()[1])
        with pytest.raises(
            InvalidInput, match=f"no Ray cluster answers at {address} .*check the address"
        ):
            check_answers(address)


@pytest.fixture(scope="module")
def cluster() -> Iterator[PrivateCluster]:
    with private_cluster() as cluster:
        yield cluster


@pytest.fixture
def paid(tmp_path: Path) -> Path:
    return tmp_path / "paid"


def refusal(cluster: PrivateCluster, asked: Asked, paid: Path) -> str:
    return told(driver(cluster, asked, paid), refused=True)["error"]


@needs_ray
@pytest.mark.nightly
@pytest.mark.parametrize(
    ("application", "why"),
    [
        ("no_such_module:app", "there is no module 'no_such_module'"),
        (f"{APPLICATION}lication", "has no 'application'"),
    ],
)
def test_an_application_that_is_not_there_is_named(
    cluster: PrivateCluster, database: str, paid: Path, application: str, why: str
) -> None:
    said = refusal(cluster, Asked(database, 2, application=application), paid)
    assert said.startswith("InvalidInput: a worker (")
    assert ") cannot explain: --app: " in said
    assert why in said


@needs_ray
@pytest.mark.nightly
def test_another_version_of_this_package_is_named(
    cluster: PrivateCluster, database: str, paid: Path
) -> None:
    other = {"worker_process_setup_hook": "tests.audit.cluster.older.pretend"}
    said = refusal(cluster, Asked(database, 2, ray_options={"runtime_env": other}), paid)
    assert "has rag-rule-explainer 0.0.1, and this process" in said
    assert said.endswith(f"{rag_rule_explainer.__version__}; install the same version on the cluster")


@needs_ray
@pytest.mark.nightly
def test_a_cluster_without_room_is_named(cluster: PrivateCluster, database: str, paid: Path) -> None:
    asked = Asked(database, 2, actor_options={"num_cpus": 64}, patience=3)
    said = refusal(cluster, asked, paid)
    assert "no worker has started within 3 seconds; each needs 64 CPU, and the cluster has 2" in said


@needs_ray
@pytest.mark.nightly
def test_a_token_that_is_missing_is_named(cluster: PrivateCluster, database: str, paid: Path) -> None:
    without = {**cluster.environment, "RAY_AUTH_MODE": "disabled"}
    asked = Asked(database, 2)
    said = refusal(PrivateCluster(cluster.address, without, cluster.folder), asked, paid)
    assert "asks for a token; set RAY_AUTH_MODE=token" in said


@needs_ray
@pytest.mark.nightly
def test_another_version_of_ray_is_named(database: str, paid: Path) -> None:
    with private_cluster(before="import ray; ray.__version__ = '1.2.3'") as older:
        said = refusal(older, Asked(database, 2), paid)
    assert "runs other versions than this process (Ray 2." in said
    assert "1.2.3" in said
    assert said.endswith("install the same Ray and Python on both")
