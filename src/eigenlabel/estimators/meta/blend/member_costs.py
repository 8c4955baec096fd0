"""Predicted seconds of the members of a blend, before anything was measured."""

from dataclasses import replace

import numpy as np

from eigenlabel.estimators.meta.blend.kernel_subspace import (
    MANY_LABELS,
    by_products,
    needs_features,
)
from eigenlabel.estimators.meta.blend.label_sets import LEAST_ROWS, MOST_COMPARED
from eigenlabel.estimators.meta.blend.neighbours_and_words import MOST_REFERENCES
from eigenlabel.estimators.meta.blend.task import Form

# The speed of one core of 2024, before anything was measured: operations per second of products of
# matrices, of other loops over numbers, and sorted scores per second.
FLOPS, STEPS, SORTED = 4e10, 1e9, 3e7
JUDGED = 1e6  # cells (samples x labels) per second that are calibrated and judged
# Operations per second of products with a sparse X, and iterations over all folds and penalties.
PRODUCTS, ITERATIONS = 2.5e9, 1000
OVERHEAD = 0.02  # seconds of the smallest fit


def _tuning(n: int, p: int, m: int, gram: float) -> float:
    """Return the seconds of an exact tuning with p x p matrices, whose Gram costs ``gram``."""
    reductions = 5 * 4 / 3 * p**3
    scores = 15 * 2 * n * p * m
    eigenproblems = 130 * 10 * m**3 if m <= MANY_LABELS else 0
    return OVERHEAD + (gram + reductions + scores + eigenproblems) / FLOPS + 39 * n * m / SORTED


def linear_seconds(f: Form) -> float:
    """Return the seconds of the tuned linear model."""
    if by_products(f.n, f.d, f.sparse):
        once = (4 * f.n * f.stored + 20 * f.d) * f.m  # one iteration for all labels
        return OVERHEAD + ITERATIONS * once / PRODUCTS + 39 * f.n * f.m / SORTED
    p = min(f.n, f.d)
    return _tuning(f.n, p, f.m, f.n * p * f.stored)


def kernel_seconds(f: Form) -> float:
    """Return the seconds of the tuned model with a Gaussian kernel, or its features."""
    few = min(f.n, 600)
    compared = 3 * _tuning(few, few, f.m, 0.0) / 9
    if needs_features(f.n):
        return compared + _tuning(f.n, 1000, f.m, 1e6 * f.n) + f.n * 2000 * f.stored / STEPS
    return compared + _tuning(f.n, f.n, f.m, f.n**2 * f.stored)


def laplacian_seconds(f: Form) -> float:
    """Return the seconds of the tuned model with a Laplacian kernel."""
    return kernel_seconds(f) + f.n * min(f.n, 2000) * f.d / STEPS


def forest_seconds(f: Form) -> float:
    """Return the seconds of 150 trees."""
    n, columns = min(f.n, 20_000), f.d if not f.sparse else min(f.d, 2000)
    work = n * np.log2(n + 2) * np.sqrt(columns) * (3 + min(f.m, 30) / 3)
    return float(150 * (6e-4 + 4 * work / STEPS + 5 * f.n / STEPS))


def neighbour_seconds(f: Form) -> float:
    """Return the seconds of the shares of neighbours."""
    pairs = f.n * min(f.n, MOST_REFERENCES)
    return OVERHEAD + 2 * pairs * (f.stored / FLOPS + 5 / STEPS)


def word_seconds(f: Form) -> float:
    """Return the seconds of naive Bayes."""
    return OVERHEAD + 6 * f.n * f.stored * f.m / STEPS + 30 * f.d * f.m / STEPS


def margin_seconds(f: Form) -> float:
    """Return the seconds of linear SVMs, one for each label."""
    return OVERHEAD + 6 * f.n * f.stored * f.m * 100 / STEPS


def kgha_seconds(f: Form) -> float:
    """Return the seconds of KGHA."""
    return OVERHEAD + 6 * 20 * f.n**3 / FLOPS


def set_seconds(f: Form) -> float:
    """Return the seconds of the label sets."""
    sets = min(f.n, 2000)
    compared = 9 * min(f.n, max(LEAST_ROWS, MOST_COMPARED / f.m)) * (sets + 30 * f.m)
    return OVERHEAD + 20 * (compared + 2 * f.n * sets) / STEPS


def second_forest_seconds(f: Form) -> float:
    """Return the seconds of 50 trees that read the probabilities of all labels."""
    return forest_seconds(replace(f, d=f.m, stored=f.m, sparse=False)) / 3


def judging_seconds(f: Form) -> float:
    """Return the seconds of the calibration and the figures of any member."""
    return f.n * f.m / JUDGED
