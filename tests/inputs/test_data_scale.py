"""Values of any size: a finite result, or an error that advises to rescale."""

import numpy as np
import pytest
from sklearn.base import clone

from discovery import instances, outputs, settled
from eigenlabel import (
    KernelSum,
    MultisetCCA,
    OneVsRestSearchCV,
    Views,
)
from eigenlabel.datasets import make_shared_subspace
from eigenlabel.inputs.data import beyond_rounding, check_scale

DATA = make_shared_subspace(30, 4, 3, random_state=0)
X = np.abs(DATA.X) / np.abs(DATA.X).max()


def with_one(value, dtype):
    A = X.astype(dtype)
    A[3, 2] = value
    return A


SCALES = {
    **{f"{s:g}": X * s for s in (1e-300, 1e-100, 1e-30, 1e30, 1e100, 1e200, 1e300)},
    **{f"float32 {s:g}": (X * s).astype(np.float32) for s in (1e-44, 1e-40, 1e-30, 1e20, 1e38)},
    **{f"one value {v:g}": with_one(v, float) for v in (1e-300, 1e100, 1e200, 1e300)},
    **{f"one float32 {v:g}": with_one(v, np.float32) for v in (1e-44, 1e20, 1e38)},
}
NUMERIC = [m for m in instances() if type(m).__name__ != "HomogeneityAnalysis"]


def check_finite_or_error(call, name):
    """Check that a call returns finite outputs or raises an error about the scale."""
    refused = None
    try:
        found = call()
    except ValueError as error:
        refused = str(error)
    if refused is not None:
        assert "rescale" in refused.lower(), (name, refused)
        return
    for output in found.values():
        assert np.isfinite(np.asarray(output, dtype=float)).all(), name


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore:.*:UserWarning")  # of the library; those of NumPy are others
@pytest.mark.parametrize("model", NUMERIC, ids=str)
def test_fits_at_any_scale_are_finite_or_raise_an_error(model):
    for name, A in SCALES.items():
        check_finite_or_error(lambda A=A: outputs(settled(model).fit(A, DATA.Y), A), name)


@pytest.mark.filterwarnings("ignore:.*:UserWarning")
@pytest.mark.parametrize("model", NUMERIC, ids=str)
def test_new_samples_of_any_scale_are_finite_or_raise_an_error(model):
    fitted = settled(model).fit(X, DATA.Y)
    for A in (X * 1e300, with_one(1e300, float), with_one(1e38, np.float32), X * 1e-300):
        check_finite_or_error(lambda A=A: outputs(fitted, A), A.max())


def test_values_on_which_liblinear_never_ends_raise_an_error():
    for scale in (1e61, 1e74, 1e100):
        with pytest.raises(ValueError, match="rescale X"):
            OneVsRestSearchCV(cv=2).fit(X * scale, DATA.Y)


def test_large_values_in_one_of_several_views_raise_an_error():
    views = {"a": X[:, :2], "b": X[:, 2:]}
    for model in (KernelSum(), MultisetCCA()):
        fitted = model.fit(Views(views), DATA.Y)
        large = Views({**views, "b": X[:, 2:] * 1e200})
        with pytest.raises(ValueError, match="rescale X"):
            fitted.transform(large)
        with pytest.raises(ValueError, match="rescale X"):
            clone(model).fit(large, DATA.Y)


def test_features_lost_to_rounding_warn():
    with pytest.warns(UserWarning, match="spreads of the features differ by a factor of 9e"):
        check_scale(X * np.r_[1e-12, np.ones(3)])


def test_a_variance_that_is_rounding_of_the_mean_is_zero():
    far = np.full(3, 1e8)
    np.testing.assert_array_equal(
        beyond_rounding(np.array([0.0, 1e-16, 1.0]), far, float), [0, 0, 1]
    )
