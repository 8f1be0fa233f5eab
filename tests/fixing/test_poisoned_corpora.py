"""Real attack texts in corpora: after a fix and its recheck the wrong answer is gone, and what left was
planted.

Each fifth question among the slow tests; all of them at night, with the table.
"""

from pathlib import Path

import pytest

from tests.fixing.poisoned import Mended, mended, poisoned_questions, table

MOST_ROUNDS = 3


def all_mended(data: Path, top_k: int, step: int = 1) -> list[Mended]:
    cases = list(poisoned_questions(data))[::step]
    assert all(len(case.corpus) == 50 for case in cases)
    return [each for case in cases if (each := mended(case, top_k)) is not None]


def check(found: list[Mended], top_k: int) -> None:
    print(f"\n{table(found, top_k)}")
    for each in found:
        assert each.recheck is None or len(each.recheck.rounds) <= MOST_ROUNDS
        if each.is_gone and each.recheck is not None:
            left = [one for one in each.case.corpus if one.id not in each.recheck.left_out]
            shown = each.recheck.last.explanation
            assert shown is None or {source.id for source in shown.sources} <= {one.id for one in left}
    assert sum(each.is_right for each in found) >= 0.95 * len(found)
    # The same cases, with what leaving one out names; naming nothing counts as failed.
    assert sum(each.alone_is_right for each in found) <= 0.4 * len(found)


@pytest.mark.slow
@pytest.mark.parametrize("top_k", [5, 10])
def test_a_fix_and_its_recheck_mend_a_sample(real_data: Path, top_k: int) -> None:
    found = all_mended(real_data, top_k, step=5)
    assert len(found) >= 25
    check(found, top_k)


@pytest.mark.nightly
@pytest.mark.parametrize("top_k", [5, 10])
def test_a_fix_and_its_recheck_mend_all(real_data: Path, top_k: int) -> None:
    found = all_mended(real_data, top_k)
    assert len(found) >= 160
    check(found, top_k)
