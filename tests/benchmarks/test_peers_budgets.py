"""What methods find of the sources that rules name, for the same number of subsets. Figures are printed,
and written to a page; ``tests/peers`` asserts what is asserted of them."""

from pathlib import Path

import pytest

from tests.benchmarks.peers import graded
from tests.benchmarks.peers.curves import BUDGETS, CONDITIONS, HOTPOTQA, METHODS, Curved, curve
from tests.benchmarks.ratios import STUDIES

pytestmark = [pytest.mark.benchmark, pytest.mark.timeout(3600)]
CURVES = "precision at k of the sources that rules name, by the number of subsets: "
GRADED = "MaxShapley's records: of what is named, how much people graded"


def data_for(name: str, request: pytest.FixtureRequest) -> Path | None:
    return request.getfixturevalue("real_data") if name == HOTPOTQA else None


@pytest.mark.parametrize("name", CONDITIONS)
@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_curves(method: Curved, name: str, request: pytest.FixtureRequest) -> None:
    if method.package:
        pytest.importorskip(method.package)
    cells = curve(method, name, data_for(name, request))
    title = CURVES + name
    STUDIES.setdefault(title, [("method", *map(str, BUDGETS))]).append((method.name, *cells))


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_graded_records(method: Curved, real_data: Path) -> None:
    if method.package:
        pytest.importorskip(method.package)
    heads = ("method", "precision at k", "named, with a grade", "grades named")
    told = graded.row(method, graded.graded(real_data))
    STUDIES.setdefault(GRADED, [heads]).append((method.name, *told))
