"""The warning of alternating least squares."""

import warnings

import pytest
from sklearn.exceptions import ConvergenceWarning

from eigenlabel.estimators.agreement.homogeneity import warn_unless_converged


def test_a_change_of_tol_or_more_raises_a_warning():
    with pytest.warns(ConvergenceWarning, match=r"by 1.0e-02 \(wanted 1e-03\) after 7 sweeps"):
        warn_unless_converged(1e-2, 7, 1e-3)


@pytest.mark.parametrize(("change", "tol"), [(1e-4, 1e-3), (1.0, 0.0)])
def test_small_changes_and_a_tolerance_of_zero_are_silent(change, tol):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_unless_converged(change, 7, tol)
