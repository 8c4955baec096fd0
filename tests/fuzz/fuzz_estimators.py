"""Bad input for every public estimator: a right answer or a clear error, and nothing else.

Collected only when named: ``python -m pytest -q tests/fuzz/fuzz_estimators.py``. The seed is fixed.
A call may succeed with finite output, or raise one of ``ALLOWED`` with a message. It must not leak
a RuntimeWarning, take longer than ``SECONDS``, change its input, or leave a half-fitted estimator.
"""

import copy
import faulthandler
import inspect
import signal
import sys
import warnings
import zlib
from contextlib import contextmanager

import joblib
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError
from sklearn.utils import get_tags
from threadpoolctl import threadpool_limits

import eigenlabel
from eigenlabel.preprocessing import DocumentFrequencySelector, TablePreparation

ALLOWED = (ValueError, TypeError, NotFittedError, MemoryError)  # too large is a documented answer
SECONDS = 10
DRAWS = 60  # pairs of parameter and value for each estimator
METHODS = ("predict", "decision_function", "predict_proba", "transform")
N = 24


def base_data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, 5)) + np.arange(5)
    Y = (X[:, :3] - np.arange(3) + 0.5 * rng.standard_normal((N, 3)) > 0).astype(int)
    return X, Y


QUICK = {  # grids and iterations that keep a call short
    "cv": 2,
    "n_iter": 5,
    "max_iter": 50,
    "alphas": [0.1],
    "betas": [0.1, 1.0],
    "l1s": [0.1],
    "l2s": [1.0],
    "param_grid": {"C": [0.1, 1.0]},
}


def instances():
    """List every public estimator, kernel methods with two kernels."""
    found = [DocumentFrequencySelector(1), TablePreparation()]
    for name in eigenlabel.__all__:
        thing = getattr(eigenlabel, name)
        if not (inspect.isclass(thing) and issubclass(thing, BaseEstimator)):
            continue
        known = inspect.signature(thing).parameters
        settings = {key: value for key, value in QUICK.items() if key in known}
        if "estimator" in known and known["estimator"].default is inspect.Parameter.empty:
            settings["estimator"] = eigenlabel.SharedSubspaceClassifier()
        found.append(thing(**settings))
        if "kernel" in known:
            other = "rbf" if known["kernel"].default == "linear" else "linear"
            found.append(thing(**settings, kernel=other))
    return found


def changed(A, value, row=3, column=2):
    A = np.array(A, dtype=float)
    A[row, column] = value
    return A


def read_only(X):
    X = X.copy()
    X.setflags(write=False)
    return X


def broken(X, kind=sp.csr_matrix, **parts):
    """Make a matrix whose arrays do not fit together, behind the back of its constructor."""
    A = kind(X)
    for name, array in parts.items():
        setattr(A, name, array(getattr(A, name).copy()))
    return A


def put(place, value):
    def change(array):
        array[place] = value
        return array

    return change


def repeated(X):
    rows, columns = np.nonzero(np.ones_like(X))
    twice = np.r_[rows, rows], np.r_[columns, columns]
    return sp.coo_matrix((np.r_[X.ravel(), X.ravel()], twice), shape=X.shape)


BAD_X = {
    "nan": lambda X: changed(X, np.nan),
    "inf": lambda X: changed(X, np.inf),
    "minus inf": lambda X: changed(X, -np.inf),
    "all nan": lambda X: np.full(X.shape, np.nan),
    "no rows": lambda X: X[:0],
    "no columns": lambda X: X[:, :0],
    "vector": lambda X: X[:, 0],
    "cube": lambda X: X[:, :, None],
    "scalar": lambda _: np.float64(3.0),
    "none": lambda _: None,
    "word": lambda _: "words",
    "dict": lambda X: {"a": X[:, 0]},
    "objects": lambda X: X.astype(object),
    "words in objects": lambda X: np.where(X > 4.5, "a", X.astype(object)),
    "none in objects": lambda X: np.where(np.eye(*X.shape) > 0, None, X.astype(object)),
    "digits": lambda X: X.astype(str),
    "bytes": lambda X: X.astype("S"),
    "complex": lambda X: X + 1j,
    "bool": lambda X: X > 1,
    "int8": lambda X: (20 * X).astype(np.int8),
    "uint64": lambda X: np.full(X.shape, 2**64 - 1, dtype=np.uint64),
    "dates": lambda X: X.astype(int).astype("datetime64[D]"),
    "1e300": lambda X: X * 1e300,
    "1e-300": lambda X: X * 1e-300,
    "1e150": lambda X: X * 1e150,
    "1e-150": lambda X: X * 1e-150,
    "1e20": lambda X: X * 1e20,
    "1e-20": lambda X: X * 1e-20,
    "one huge": lambda X: changed(X, 1e300),
    "subnormal": lambda X: X * 5e-324,
    "float32 1e-40": lambda X: (X * 1e-40).astype(np.float32),
    "float32 1e38": lambda X: (X * 1e37).astype(np.float32),
    "float32": lambda X: X.astype(np.float32),
    "float16": lambda X: X.astype(np.float16),
    "longdouble": lambda X: X.astype(np.longdouble),
    "one column": lambda X: X[:, :1],
    "zeros": np.zeros_like,
    "constant": lambda X: np.full_like(X, 0.1),
    "equal rows": lambda X: np.repeat(X[:1], len(X), axis=0),
    "negative": lambda X: -np.abs(X),
    "ragged": lambda X: [*X[:-1].tolist(), [1.0]],
    "lists": lambda X: X.tolist(),
    "list of arrays": list,
    "csc": sp.csc_matrix,
    "csr array": sp.csr_array,
    "coo repeated": repeated,
    "lil": sp.lil_matrix,
    "dok": sp.dok_matrix,
    "dia": sp.dia_matrix,
    "bsr": sp.bsr_matrix,
    "sparse nan": lambda X: sp.csr_matrix(changed(X, np.nan)),
    "sparse empty": lambda X: sp.csr_matrix(X.shape),
    "sparse no rows": lambda X: sp.csr_matrix(X[:0]),
    "sparse complex": lambda X: sp.csr_matrix(X + 1j),
    "sparse objects": lambda X: sp.csr_matrix(X).astype(bool),
    "column too large": lambda X: broken(X, indices=put(4, 10**6)),
    "column negative": lambda X: broken(X, indices=put(4, -7)),
    "pointer too large": lambda X: broken(X, indptr=put(-1, 10**6)),
    "pointers fall": lambda X: broken(X, indptr=put(3, 0)),
    "values missing": lambda X: broken(X, data=lambda d: d[:-5]),
    "csc broken": lambda X: broken(X, sp.csc_matrix, indices=put(4, 10**6)),
    "frame": lambda X: pd.DataFrame(X, columns=list("abcde"[: X.shape[1]])),
    "frame of one name": lambda X: pd.DataFrame(X, columns=["a"] * X.shape[1]),
    "frame of numbers and words": lambda X: pd.DataFrame(X, columns=[0, "a", 2, 3, 4]),
    "frame with words": lambda X: pd.DataFrame(X).astype({2: str}),
    "frame with missing": lambda X: pd.DataFrame(X).convert_dtypes().mask(X > 4),
    "frame of categories": lambda X: pd.DataFrame(X.astype(int)).astype("category"),
    "series": lambda X: pd.Series(X[:, 0]),
    "masked": lambda X: np.ma.masked_greater(X, 4.5),
    "masked nothing": np.ma.masked_array,
    "matrix": np.matrix,
    "read only": read_only,
    "strided": lambda X: np.repeat(X, 2, axis=1)[::-1, ::2],
    "fortran": np.asfortranarray,
    "record": lambda X: np.array([tuple(row) for row in X[:, :2]], dtype="f8,f8"),
}


BAD_Y = {
    "none": lambda _: None,
    "never": np.zeros_like,
    "always": np.ones_like,
    "one label never": lambda Y: Y * [0, 1, 1],
    "zeros and twos": lambda Y: 2 * Y,
    "signs": lambda Y: 2 * Y - 1,
    "halves": lambda Y: Y / 2,
    "nan cells": lambda Y: changed(Y, np.nan),
    "all nan": lambda Y: np.full(Y.shape, np.nan),
    "inf": lambda Y: changed(Y, np.inf),
    "words": lambda Y: Y.astype(str),
    "objects": lambda Y: Y.astype(object),
    "none in objects": lambda Y: np.where(np.eye(*Y.shape) > 0, None, Y.astype(object)),
    "bool": lambda Y: Y > 0,
    "complex": lambda Y: Y + 1j,
    "cube": lambda Y: Y[:, :, None],
    "scalar": lambda _: 1,
    "short": lambda Y: Y[:-1],
    "empty": lambda Y: Y[:0],
    "no labels": lambda Y: Y[:, :0],
    "one label": lambda Y: Y[:, :1],
    "vector": lambda Y: Y[:, 0],
    "one class": lambda Y: np.zeros(len(Y), dtype=int),
    "a class of one": lambda Y: np.arange(len(Y)) // (len(Y) - 1),
    "classes of one": lambda Y: np.arange(len(Y)),
    "classes of two": lambda Y: np.arange(len(Y)) // 2,
    "real targets": lambda Y: np.linspace(-1, 1, len(Y)),
    "class names": lambda Y: np.where(Y[:, 0], "yes", "no"),
    "names and numbers": lambda Y: np.array(["yes", 3], dtype=object)[Y[:, 0]],
    "vector nan": lambda Y: np.where(Y[:, 0], 1.0, np.nan),
    "vector none": lambda Y: np.where(Y[:, 0], 1, None),
    "huge classes": lambda Y: Y[:, 0] * (2**62),
    "lists": lambda Y: Y.tolist(),
    "ragged": lambda Y: [*Y[:-1].tolist(), [1]],
    "sets": lambda Y: [set(np.flatnonzero(row).tolist()) for row in Y],
    "csr": sp.csr_array,
    "csr with twos": lambda Y: sp.csr_matrix(2 * Y),
    "csr broken": lambda Y: broken(Y, indices=put(2, 10**6)),
    "csc broken": lambda Y: broken(Y, sp.csc_matrix, indices=put(2, 10**6)),
    "lil": sp.lil_matrix,
    "coo repeated": repeated,
    "frame": pd.DataFrame,
    "series": lambda Y: pd.Series(Y[:, 0]),
    "masked": lambda Y: np.ma.masked_array(Y, np.arange(Y.size).reshape(Y.shape) % 7 == 0),
    "dates": lambda Y: Y.astype("datetime64[D]"),
    "dict": lambda Y: {"a": Y},
    "word": lambda _: "words",
}

BAD_VALUES = (
    None,
    -1,
    0,
    1,
    2.5,
    -3.7,
    1e308,
    1e-308,
    10**30,
    np.nan,
    np.inf,
    True,
    "nonsense",
    "",
    b"x",
    [],
    {},
    [1, "a"],
    np.array([1.0, np.nan]),
    np.zeros((2, 2)),
    object(),
    len,
    lambda *_: 0,
    eigenlabel.MLkNN,
    1j,
)


class TooSlow(BaseException):
    """The call did not end in time."""


@contextmanager
def time_limit():
    def stop(*_):
        raise TooSlow

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(SECONDS)
    # Compiled code is not interrupted by a signal: end the run and show where it hangs.
    faulthandler.dump_traceback_later(6 * SECONDS, exit=True, file=sys.__stderr__)
    try:
        yield
    finally:
        signal.alarm(0)
        faulthandler.cancel_dump_traceback_later()
        signal.signal(signal.SIGALRM, before)


def fingerprint(thing):
    """Return a digest of what a caller sees; SciPy's cached flags do not count."""
    if sp.issparse(thing):
        arrays = {k: v for k, v in vars(thing).items() if isinstance(v, np.ndarray)}
        return joblib.hash((thing.format, thing.shape, arrays))
    if isinstance(thing, (pd.DataFrame, pd.Series)):
        return joblib.hash((thing.to_csv(), str(getattr(thing, "dtypes", ""))))
    if isinstance(thing, np.ma.MaskedArray):
        return joblib.hash((np.ma.getdata(thing), np.ma.getmaskarray(thing)))
    return joblib.hash(thing)


def is_finite(out):
    """Return True if output has no NaN and no infinity."""
    if isinstance(out, list):
        return all(is_finite(part) for part in out)
    values = np.asarray(out.data if sp.issparse(out) else out)
    return values.dtype.kind not in "fc" or bool(np.isfinite(values).all())


class Case:
    """One estimator, the number of calls and the defects that they found."""

    def __init__(self, estimator):
        self.estimator = estimator
        self.calls, self.defects = 0, []

    def call(self, what, function, *arguments):
        """Call; return whether it worked and the output."""
        self.calls += 1
        before = [fingerprint(a) for a in arguments]
        worked, out = False, None
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                with time_limit():
                    worked, out = True, function(*arguments)
            except ALLOWED as error:
                if not str(error).strip():
                    self.defects.append(f"{what}: {type(error).__name__} without a message")
            except TooSlow:
                self.defects.append(f"{what}: more than {SECONDS} s")
            except Exception as error:
                self.defects.append(f"{what}: {type(error).__name__}: {error}"[:300])
        for one in caught:
            # scikit-learn's own score warns of casts in a y with NaN.
            if issubclass(one.category, RuntimeWarning) and not what.startswith("score"):
                self.defects.append(f"{what}: RuntimeWarning: {one.message}"[:200])
        if before != [fingerprint(a) for a in arguments]:
            self.defects.append(f"{what}: the input was modified")
        return worked, out

    def outputs(self, what, model, X):
        """Call all methods that answer; output must be finite unless missing values may pass."""
        passes = get_tags(model).input_tags.allow_nan
        for method in METHODS:
            if hasattr(model, method):
                worked, out = self.call(f"{what}.{method}", getattr(model, method), X)
                if worked and not passes and not is_finite(out):
                    self.defects.append(f"{what}.{method}: output is not finite")

    def fit(self, what, model, X, y):
        """Fit a fresh model; look at its answers, or that it is not half fitted."""
        worked, _ = self.call(f"{what} fit", model.fit, X, y)
        if worked:
            self.outputs(what, model, X)
            return
        for method in METHODS:
            try:
                found = getattr(model, method, None)
            except NotFittedError:
                continue
            if found is not None:
                self.check_unfitted(f"{what}.{method} after a failed fit", found)

    def check_unfitted(self, what, function):
        self.calls += 1
        try:
            function(base_data()[0])
        except NotFittedError:
            return
        except Exception as error:
            self.defects.append(f"{what}: {type(error).__name__} instead of NotFittedError")
            return
        self.defects.append(f"{what}: it answers")

    def refit(self, what, fitted, X, y):
        """Fit a fitted model to bad data; if that fails it answers as before or not at all."""
        good = base_data()[0]
        method = next((m for m in METHODS if hasattr(fitted, m)), None)
        if method is None:
            return
        before = getattr(fitted, method)(good)
        model = copy.deepcopy(fitted)
        worked, _ = self.call(f"{what} refit", model.fit, X, y)
        if worked:
            return
        try:
            after = getattr(model, method)(good)
        except NotFittedError:
            return
        except Exception as error:
            self.defects.append(f"{what} refit: then {type(error).__name__} in {method}")
            return
        if joblib.hash(after) != joblib.hash(before):
            self.defects.append(f"{what} refit: half fitted, {method} changed")


def make_bad(make, good):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return make(good.copy())


def fuzz_data(case, fitted):
    X, Y = base_data()
    for number, (name, make) in enumerate(BAD_X.items()):
        bad = make_bad(make, X)
        n = bad.shape[0] if hasattr(bad, "shape") and bad.shape else N
        case.fit(f"X {name}", clone(case.estimator), bad, Y[:n])
        if fitted is not None:
            case.outputs(f"fitted, X {name}", fitted, bad)
            if hasattr(fitted, "score"):
                case.call(f"score, X {name}", fitted.score, bad, Y[:n])
            if number % 4 == 0:
                case.refit(f"X {name}", fitted, bad, Y[:n])
        if hasattr(case.estimator, "partial_fit"):
            case.call(f"partial_fit, X {name}", clone(case.estimator).partial_fit, bad, Y[:n])
    for number, (name, make) in enumerate(BAD_Y.items()):
        bad = make_bad(make, Y)
        case.fit(f"y {name}", clone(case.estimator), X, bad)
        if fitted is not None and hasattr(fitted, "score") and "broken" not in name:
            # scikit-learn's own score reads a broken y without a check.
            case.call(f"score, y {name}", fitted.score, X, bad)
        if fitted is not None and number % 4 == 0:
            case.refit(f"y {name}", fitted, X, bad)
        if hasattr(case.estimator, "partial_fit"):
            case.call(f"partial_fit, y {name}", clone(case.estimator).partial_fit, X, bad)
    for rows in (1, 2, 3):
        case.fit(f"{rows} samples", clone(case.estimator), X[:rows], Y[:rows])
        case.fit(f"{rows} samples of classes", clone(case.estimator), X[:rows], np.arange(rows))


def fuzz_parameters(case, rng):
    X, Y = base_data()
    names = sorted(case.estimator.get_params(deep=False))
    names = [name for name in names if name != "n_jobs"]  # processes take longer than the rest
    pairs = [(name, k) for name in names for k in range(len(BAD_VALUES))]
    drawn = rng.permutation(len(pairs))[:DRAWS] if pairs else []
    for name, k in (pairs[i] for i in drawn):
        model = clone(case.estimator)
        setattr(model, name, BAD_VALUES[k])
        case.fit(f"{name}={repr(BAD_VALUES[k])[:60]}", model, X, Y)


def fuzz(estimator):
    case = Case(estimator)
    X, Y = base_data()
    for method in METHODS:
        if hasattr(estimator, method):
            case.check_unfitted(f"{method} before fit", getattr(clone(estimator), method))
    worked, fitted = case.call("good data", clone(estimator).fit, X, Y)
    fuzz_data(case, fitted if worked else None)
    fuzz_parameters(case, np.random.default_rng(zlib.crc32(repr(estimator).encode())))
    return case


@pytest.mark.parametrize("estimator", instances(), ids=lambda e: repr(e).split("\n")[0][:60])
def test_wrong_input_works_or_raises_a_clear_error(estimator):
    with np.errstate(all="warn", under="ignore"), threadpool_limits(1):  # as users have it
        case = fuzz(estimator)
    assert case.calls > 100
    listed = "\n".join(sorted(set(case.defects)))
    assert not case.defects, f"{len(case.defects)} defects in {case.calls} calls:\n{listed}"
