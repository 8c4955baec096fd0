"""ML-LS with many labels: weights as two factors, predictions in pieces of rows.

For ``alpha=inf`` the weights are ``Theta'V`` with Theta (r x d) and V (r x m) of the papers, and
nothing of d x m or m x m is made. For finite alpha they are full, and only S is avoided.
"""

import numbers
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from eigenlabel.inputs.validation import (
    check_data,
    check_number,
    check_weights,
    unmasked,
)
from eigenlabel.kernels.factor import factorise_samples, warn_shortfall
from eigenlabel.labels.codec import LabelCodec
from eigenlabel.labels.targets import sparse_targets
from eigenlabel.linalg.factors.protocol import SampleFactor
from eigenlabel.linalg.memory import readable
from eigenlabel.linalg.operators import CentredOperator, row_blocks
from eigenlabel.linalg.sides import dense_memory, factored_memory
from eigenlabel.thresholds import top_labels
from eigenlabel.thresholds.decisions import decide, join_decisions

MANY = 10_000  # labels from which on S is never formed
EXACT = 4096  # the smaller side of X up to which "auto" takes eigenvectors of it, not products


def _sizes(X: Any, y: Any) -> tuple[int, int, int] | None:
    """Give n, d and m of data that are not checked yet; None where they do not tell."""
    try:
        (n, d), shape = np.shape(X), np.shape(y)
        if len(shape) == 1:
            return n, d, len(np.unique(np.asarray(y)))
        return n, d, shape[1]
    except (ValueError, TypeError, IndexError):
        return None  # the checks will say what is wrong


def _refuse_nan(y: Any) -> None:
    values = y.data if sp.issparse(y) else np.asarray(unmasked(y))
    if values.dtype.kind == "f" and np.isnan(values).any():
        raise ValueError(
            f"y contains NaN, labels that are not observed: that is for fewer than {MANY} labels, "
            "whose targets fit in max_memory. Here every label of every sample must be 0 or 1."
        )


class ManyLabelsMixin:
    """The fit without m x m or n x m arrays, and predictions that never hold n x m scores.

    Expects what :class:`ScoreClassifier` does, and ``_scores_of_checked``.
    """

    def _has_many_labels(self, X: Any, y: Any) -> bool:
        """Return True if S is too large to form."""
        sizes = _sizes(X, y)
        if sizes is None:
            return False
        n, d, m = sizes
        d = d if self._linear else n
        limit, many = self._solver().limit, m >= MANY
        full = dense_memory(n, d, m) > limit
        r = self.n_components if isinstance(self.n_components, numbers.Integral) else m
        fits = self._needed(n, d, m, min(int(r), m))[0] <= limit
        return (many or full) if fits else (many and full)

    def _route(self, n: int, d: int, m: int) -> str:
        """Give the solver: "auto" is the smaller side if it is small, else products."""
        if self.solver != "auto":
            return self.solver
        small = min(n, d) <= EXACT and min(n, d) <= m
        return ("gram" if n <= d else "covariance") if small or not self._linear else "krylov"

    def _needed(self, n: int, d: int, m: int, r: int) -> tuple[float, float]:
        """Give the bytes of the fit without S, and how many of them are for solves."""
        full, exact = not np.isinf(self.alpha), self._route(n, d, m) != "krylov"
        return factored_memory(n, d, m, r, full=full, exact=exact)

    def _refuse_many_labels(self, X: Any, y: Any) -> None:
        """Say how to tune where a grid of m x m eigenproblems is out of reach."""
        sizes = _sizes(X, y)
        if sizes is not None and sizes[2] >= MANY:
            raise ValueError(
                f"Exact tuning solves an m x m eigenproblem for each fold and grid point, which is "
                f"out of reach for m = {sizes[2]} labels (the limit is {MANY}). Use "
                "SharedSubspaceClassifier(alpha=inf) in sklearn.model_selection.GridSearchCV, with "
                "a scoring on predict_top."
            )

    def _factorise_many(self, X: Any, weights: np.ndarray | None, m: int, r: int) -> SampleFactor:
        n, d = X.shape if self._linear else (X.shape[0], X.shape[0])
        needed, solve = self._needed(n, d, m, r)
        limit = self._solver().limit
        if needed > limit:
            advice = "" if np.isinf(self.alpha) else "alpha=inf, which needs no d x m weights, or "
            raise MemoryError(
                f"{m} labels with n_components = {r} and alpha = {self.alpha} need about "
                f"{readable(needed)}, max_memory is {readable(limit)}. Use {advice}"
                "a smaller n_components (some hundreds suffice for many labels), or fewer features."
            )
        if not self._linear:
            return factorise_samples(self._kernel, X, weights, self._solver())
        room = limit - needed + solve
        solver = replace(self._solver(), name=self._route(n, d, m), max_memory=room)
        return factorise_samples(self._kernel, X, weights, solver)

    def _fit_many(self, X: Any, y: Any, sample_weight: Any) -> None:
        """Fit without ever holding S, and without full weights where alpha is infinite."""
        kernel = self._make_kernel()
        X = check_data(self, X, reset=True, square=kernel.precomputed)
        _refuse_nan(y)
        self._codec, Y = LabelCodec.fit_sparse(y)
        self.classes_ = self._codec.classes
        check_consistent_length(X, Y)
        weights = check_weights(sample_weight, X)
        self._kernel = kernel.settle(X, weights)
        r = self._rank(self.n_components, Y.shape[1])
        factor = self._factorise_many(X, weights, Y.shape[1], r)
        T = sparse_targets(Y, weights, self.fit_intercept)
        self._forget_fit()
        self._solve_many(factor, T, X.dtype, r)
        if not self._linear:
            self.X_fit_ = X

    def _solve_many(self, factor: SampleFactor, T: CentredOperator, dtype: Any, r: int) -> None:
        side = factor.side(T, self.beta)
        found = side.top(self.alpha, self.beta, r)
        basis, R = factor.orthonormalise(found.directions)
        offset = factor.origin @ basis
        self._embedding_offset = offset.astype(dtype)
        prefix = "" if self._linear else "dual_"
        mean = T.mean - 1.0 if self.fit_intercept else np.zeros(T.shape[1])
        if np.isinf(self.alpha):
            V = R @ found.W.T  # Theta U
            self.label_weights_ = V.astype(dtype)
            self.intercept_ = (mean - offset @ V).astype(dtype)
        else:
            shift = self.alpha + self.beta
            P = found.directions - side.ridge(found.W, shift)
            coef = side.weights(shift, P, found.W)
            self.intercept_ = (mean - factor.origin @ coef).astype(dtype)
            coef = coef.astype(dtype, copy=False)
            setattr(self, f"{prefix}coef_", coef.T if self._linear else coef)
        basis = (basis.T if self._linear else basis).astype(dtype)
        setattr(self, f"{prefix}components_", basis)
        self.eigenlabels_, self.eigenvalues_ = found.W, found.eigenvalues
        self.n_components_ = found.W.shape[1]
        self.n_iter_ = side.n_iter
        warn_shortfall(side.shortfall)

    def _forget_fit(self) -> None:
        """Let go of what an earlier fit, with another kernel or in blocks, has left."""
        names = ("coef_", "components_", "dual_coef_", "dual_components_", "label_weights_")
        for name in (*names, "X_fit_", "residuals_"):
            vars(self).pop(name, None)
        self._drop_stream()

    @property
    def _factored(self) -> bool:
        """Whether the weights are kept as two factors."""
        return "label_weights_" in vars(self) and "_stream" not in vars(self)

    def __getattr__(self, name: str) -> Any:
        """Multiply the factors where somebody asks for full weights, if they fit."""
        if name not in ("coef_", "dual_coef_") or not self._factored:
            return super().__getattr__(name)
        shown = "components_" if self._linear else "dual_components_"
        if name != shown.replace("components", "coef"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        basis = vars(self)[shown]
        rows = basis.shape[1] if self._linear else len(basis)
        try:
            self._check_size(f"{name} of", rows, f"{shown} and label_weights_ are its factors")
        except MemoryError as error:  # so that hasattr says no
            raise AttributeError(str(error)) from None
        return self.label_weights_.T @ basis if self._linear else basis @ self.label_weights_

    def _check_size(self, what: str, rows: int, advice: str) -> None:
        """Refuse a dense array with a column for each of many labels that does not fit."""
        m, limit = len(self.intercept_), self._solver().limit
        needed = float(self.intercept_.itemsize) * rows * m
        if needed > limit:
            raise MemoryError(
                f"{what} {rows} x {m} numbers would take {readable(needed)}, max_memory is "
                f"{readable(limit)}: {advice}."
            )

    def decision_function(self, X: Any) -> np.ndarray:
        """Give the score of every label, before any threshold.

        A model that was fitted with many labels refuses scores that do not fit in ``max_memory``:
        8 n m bytes. ``predict``, ``predict_top`` and ``rank_labels`` need no such array.

        Returns
        -------
        (n_samples, n_labels), or (n_samples,) if y was a vector of two classes
        """
        check_is_fitted(self)
        if self._factored:
            advice = "use predict, predict_top or rank_labels, or pass fewer samples at once"
            self._check_size("Scores of", len(X) if not hasattr(X, "shape") else X.shape[0], advice)
        return super().decision_function(X)

    def _decide(self, scores: np.ndarray) -> Any:
        """Return what predict returns for the scores of some rows."""
        return decide(self._codec, scores)

    def _by_rows(self, X: Any, decide: Callable[[np.ndarray], Any]) -> list[Any]:
        """Decide on the scores of pieces of rows, 32 MiB of them at once."""
        check_is_fitted(self)
        X = check_data(self, X, reset=False)
        m = len(self.intercept_)
        return [decide(self._scores_of_checked(X[rows])) for rows in row_blocks(X.shape[0], m)]

    def predict(self, X: Any) -> Any:
        """Give label sets as a 0/1 matrix (sparse if y was), or classes if y was a vector."""
        return join_decisions(self._by_rows(X, self._decide))

    def rank_labels(self, X: Any, n_labels: int = 5) -> tuple[np.ndarray, np.ndarray]:
        """Give the labels with the highest scores of each sample, the best first.

        Parameters
        ----------
        X : (n_samples, n_features)
        n_labels : int >= 1, default=5
            How many; all if there are fewer.

        Returns
        -------
        labels : (n_samples, n_labels), positions in ``classes_``; ties go to the first label
        scores : (n_samples, n_labels)
        """
        check_number("n_labels", n_labels, 1, integer=True)
        check_is_fitted(self)
        if len(vars(self).get("classes_", ())) != len(self.intercept_):
            raise ValueError("One score decides between two classes: there is nothing to rank.")

        def best(scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            top = top_labels(scores, int(n_labels))
            return top, np.take_along_axis(scores, top, axis=1)

        parts = self._by_rows(X, best)
        labels, scores = (np.concatenate(each) for each in zip(*parts, strict=True))
        return labels, scores

    def predict_top(self, X: Any, n_labels: int = 5) -> sp.csr_array:
        """Give each sample the ``n_labels`` labels of highest score, as a sparse 0/1 matrix.

        Returns
        -------
        (n_samples, n_labels of y), int64; ties go to the first label
        """
        labels, _ = self.rank_labels(X, n_labels)
        n, k = labels.shape
        ones = np.ones(n * k, dtype=np.int64)
        starts = np.arange(0, n * k + 1, k)
        return sp.csr_array(
            (ones, np.sort(labels, axis=1).ravel(), starts), shape=(n, len(self.classes_))
        )
