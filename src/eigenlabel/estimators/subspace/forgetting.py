"""Take samples out of statistics again, and notice samples that were never in them."""

from dataclasses import replace

import numpy as np
from scipy.linalg import lapack

from eigenlabel.linalg.statistics import Statistics


def subtract(total: Statistics, gone: Statistics) -> Statistics:
    """Return the statistics of all samples except some of them.

    ValueError is raised if the statistics show that some of these samples were not among all:
    more samples or more weight than there are, or negative variances.
    """
    rest = total - gone
    _check_rest(total, gone, rest)
    return _without_rounding(total, rest)


def check_possible(total: Statistics) -> None:
    """Raise ValueError if no samples have these statistics: the covariance has a negative part.

    Rounding of all that has ever been part of the statistics is allowed for. The cost is p^3 / 3
    operations.
    """
    lifted, spread = total.XX.copy(), float(np.trace(total.XX))
    if spread <= 0:  # every feature is constant
        return
    lifted.flat[:: len(lifted) + 1] += np.sqrt(np.finfo(float).eps) * spread
    if lapack.dpotrf(lifted, lower=1, clean=0, overwrite_a=1)[1] > 0:
        raise ValueError(
            "The samples that forget removed were not all among those added: no samples have the "
            "statistics that are left. Add them again with partial_fit to undo it."
        )


def _check_rest(total: Statistics, gone: Statistics, rest: Statistics) -> None:
    if gone.count > total.count:
        raise ValueError(f"Cannot forget {gone.count} samples: the model has seen {total.count}.")
    room = 1e-8 * max(total.n, 1.0)
    weight = total.n - gone.n
    if weight < -room or (rest.count == 0 and weight > room):
        raise ValueError(
            f"The samples to forget have a total weight of {gone.n:.6g}, those of the model "
            f"{total.n:.6g}: pass the weights that the samples had."
        )
    # The bound counts all features and labels together: a feature that has become constant has
    # no spread of its own to compare with.
    largest = np.maximum(np.abs(total.origin), np.abs(total.x))
    of_mean = total.n * (4 * float(np.finfo(total.dtype).eps) * largest) ** 2
    spread = 1e-8 * np.diag(total.XX).max(initial=0.0) + of_mean
    negative = (np.diag(rest.XX) < -spread).any() or rest.TT.min() < -1e-8 * total.n
    if negative or (np.abs(rest.t) > 1 + 1e-6).any():
        raise ValueError(
            "These samples were not all in the model, or not with these labels: nothing is "
            "forgotten."
        )


def _without_rounding(total: Statistics, rest: Statistics) -> Statistics:
    """Return the rest of a total with zeros for features or labels that have become constant.

    The subtraction leaves rounding errors of either sign there.
    """
    least = 64 * float(np.finfo(float).eps)
    features = np.diag(rest.XX) > least * np.diag(total.XX)
    labels = least * total.TT < rest.TT
    return replace(
        rest,
        XX=np.where(features[:, None] & features, rest.XX, 0.0),
        XT=np.where(features[:, None] & labels, rest.XT, 0.0),
        TT=np.where(labels, rest.TT, 0.0),
    )
