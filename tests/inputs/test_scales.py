"""Values of any size: a finite result, or an error that says to rescale."""

import threading
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from discovery import instances, outputs, settled
from eigenlabel import (
    KGHA,
    MEKA,
    KernelSum,
    MtSDACV,
    MultisetCCA,
    OneVsRestSearchCV,
    SharedSubspaceClassifier,
    SVMPerfClassifier,
    Views,
)
from eigenlabel.datasets import make_shared_subspace
from eigenlabel.estimators.meta import per_label
from eigenlabel.inputs.warning import ignored

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


def check_finite_or_refused(call, name):
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
def test_any_scale_is_finite_or_refused(model):
    for name, A in SCALES.items():
        check_finite_or_refused(lambda A=A: outputs(settled(model).fit(A, DATA.Y), A), name)


@pytest.mark.filterwarnings("ignore:.*:UserWarning")
@pytest.mark.parametrize("model", NUMERIC, ids=str)
def test_new_samples_of_any_scale_are_finite_or_refused(model):
    fitted = settled(model).fit(X, DATA.Y)
    for A in (X * 1e300, with_one(1e300, float), with_one(1e38, np.float32), X * 1e-300):
        check_finite_or_refused(lambda A=A: outputs(fitted, A), A.max())


def test_liblinear_is_not_given_what_it_cannot_end_on():
    for scale in (1e61, 1e74, 1e100):
        with pytest.raises(ValueError, match="rescale X"):
            OneVsRestSearchCV(cv=2).fit(X * scale, DATA.Y)


def test_svm_perf_does_not_work_on_rounding():
    with pytest.raises(ValueError, match=r"longest sample has length .* Rescale X"):
        SVMPerfClassifier().fit(X * 1e6, DATA.Y)
    with pytest.warns(ConvergenceWarning, match="labels did not reach tol"):
        SVMPerfClassifier(C=1e3, tol=1e-14, max_iter=5).fit(X, DATA.Y)


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "cosine"])
def test_kernels_of_float32_do_not_overflow(kernel):
    """Squares of float32 values leave their range, the kernel values do not."""
    A = with_one(1e25, np.float32)
    scores = SharedSubspaceClassifier(kernel=kernel).fit(A, DATA.Y).decision_function(A)
    assert scores.dtype == np.float32
    A = A.astype(float)
    expected = SharedSubspaceClassifier(kernel=kernel).fit(A, DATA.Y).decision_function(A)
    # Kernel values are rounded to float32, 6e-8, and beta = 1e-3 divides them.
    np.testing.assert_allclose(scores, expected, atol=1e-3)


def test_kernels_that_overflow_are_refused():
    poly = SharedSubspaceClassifier(kernel="poly", degree=4)
    with pytest.raises(ValueError, match=r"on the training data\. Rescale X"):
        poly.fit(with_one(1e25, np.float32), DATA.Y)
    poly.fit(X.astype(np.float32), DATA.Y)
    with pytest.raises(ValueError, match=r"on these samples\. Rescale X"):
        poly.predict(with_one(1e25, np.float32))


def test_large_values_in_one_of_several_views_are_refused():
    views = {"a": X[:, :2], "b": X[:, 2:]}
    for model in (KernelSum(), MultisetCCA()):
        fitted = model.fit(Views(views), DATA.Y)
        large = Views({**views, "b": X[:, 2:] * 1e200})
        with pytest.raises(ValueError, match="rescale X"):
            fitted.transform(large)
        with pytest.raises(ValueError, match="rescale X"):
            clone(model).fit(large, DATA.Y)


def test_a_kernel_without_a_positive_part_advises_to_rescale():
    with pytest.raises(ValueError, match="Rescale X"):
        MEKA(kernel=lambda A, B: -np.ones((A.shape[0], B.shape[0])), n_blocks=1).fit(X)


@pytest.mark.parametrize("model", [OneVsRestSearchCV(param_grid={"C": [1.0]}, cv=2)])
def test_concurrent_fits_leave_no_warning_filter(model, monkeypatch):
    """The second fit begins inside the first and ends after it."""
    before = list(warnings.filters)
    inside, done = threading.Event(), threading.Event()
    original = per_label._fit

    def overlap(*arguments):
        if threading.current_thread() is thread:
            inside.set()
            assert done.wait(60)
        elif not done.is_set():
            done.set()
            thread.join(60)
        return original(*arguments)

    monkeypatch.setattr(per_label, "_fit", overlap)
    thread = threading.Thread(target=lambda: clone(model).fit(X, DATA.Y))
    thread.start()
    assert inside.wait(60)
    model.fit(X, DATA.Y)
    assert not thread.is_alive()
    assert warnings.filters == before


def test_ignored_warnings_are_those_of_the_block():
    before = list(warnings.filters)
    with ignored(ConvergenceWarning, "never"), warnings.catch_warnings():
        warnings.simplefilter("error")
        with ignored(ConvergenceWarning, "stopped"):
            warnings.warn("stopped early", ConvergenceWarning, stacklevel=1)
            with pytest.raises(ConvergenceWarning):
                warnings.warn("other", ConvergenceWarning, stacklevel=1)
        with pytest.raises(ConvergenceWarning):
            warnings.warn("stopped early", ConvergenceWarning, stacklevel=1)
    assert warnings.filters == before


@pytest.mark.parametrize(
    "model",
    [
        SharedSubspaceClassifier(beta=1e300),
        KGHA(gamma=1e200),
        MtSDACV(l2s=[1.0, 1e308]),
    ],
    ids=str,
)
def test_parameters_that_leave_the_range_of_floats_are_refused(model):
    with pytest.raises(ValueError, match=r"at most 1e\+150 in absolute value, got 1e\+"):
        model.fit(DATA.X, DATA.Y)


def test_blocks_of_large_float32_samples_are_found():
    X = make_shared_subspace(60, 4, 3, random_state=0).X
    large = (X * (1e37 / np.abs(X).max())).astype(np.float32)
    found = MEKA(5, n_blocks=3, gamma=1e-74, random_state=0).fit_transform(large)
    assert np.isfinite(found).all()


def test_a_block_stays_silent_after_an_equal_one_inside_it():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with ignored(ConvergenceWarning, "stopped"):
            with ignored(ConvergenceWarning, "stopped"):
                pass
            warnings.warn("stopped early", ConvergenceWarning, stacklevel=1)
        with pytest.raises(ConvergenceWarning):
            warnings.warn("stopped early", ConvergenceWarning, stacklevel=1)


def test_an_equal_filter_of_the_user_stays():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "stopped", ConvergenceWarning)
        with ignored(ConvergenceWarning, "stopped"):
            pass
        warnings.warn("stopped early", ConvergenceWarning, stacklevel=1)
