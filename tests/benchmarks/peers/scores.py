"""What gives each source a number. Scores are of what is retained; they know of no kinds of rule."""

import random
from collections.abc import Callable
from typing import Any

import pytest

from tests.benchmarks.peers.subject import Subject


def leave_one_out(subject: Subject, _seed: int) -> list[float]:
    lattice = subject.lattice
    full = subject.suffices(lattice.full)
    return [float(full - subject.suffices(lattice.full ^ lattice.bit(out))) for out in subject.units]


def lasso(subject: Subject, seed: int) -> list[float]:
    """LASSO on verdicts: ContextCite's solver, which its package fits to probabilities of tokens."""
    linear: Any = pytest.importorskip("sklearn.linear_model")
    draw = random.Random(seed)
    masks = [[draw.randint(0, 1) for _ in subject.units] for _ in range(64)]
    holds = [float(subject.suffice(n for n, kept in enumerate(mask) if kept)) for mask in masks]
    return linear.Lasso(alpha=0.01).fit(masks, holds).coef_.tolist()


def shap_permutation(subject: Subject, seed: int, times: int = 10) -> list[float]:
    """``times``: permutations, each of them walked up and down."""
    shap: Any = pytest.importorskip("shap")
    np: Any = pytest.importorskip("numpy")
    size = len(subject.units)
    explainer = shap.explainers.Permutation(of_arrays(subject), np.zeros((1, size)), seed=seed)
    most = times * (2 * size + 1)
    return explainer(np.ones((1, size)), max_evals=most, silent=True).values[0].tolist()


def proxy_spex(subject: Subject, seed: int, budget: int = 128) -> list[float]:
    shapiq: Any = pytest.importorskip("shapiq")
    np: Any = pytest.importorskip("numpy")
    game = shapiq.ProxySPEX(n=len(subject.units), index="FBII", max_order=2, random_state=seed)
    # Where its trees find no interaction, it divides zero by zero, and goes on without any.
    with np.errstate(invalid="ignore"):
        values = game.approximate(budget=budget, game=of_arrays(subject))
    scores = [0.0 for _ in subject.units]
    for units, value in values.interactions.items():
        for unit in units:
            scores[unit] += abs(float(value))
    return scores


def of_arrays(subject: Subject) -> Callable[[Any], Any]:
    np: Any = pytest.importorskip("numpy")
    return lambda rows: np.array(subject.rows(rows))
