"""SVMs with the hinge loss for all labels, which share one kernel matrix."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from eigenlabel.inputs.fitting import all_or_nothing
from eigenlabel.inputs.sklearn_private import fit_libsvm
from eigenlabel.inputs.warning import warn
from eigenlabel.linalg._types import Floats

INSIDE = 1 - 1e-9  # dual coefficients below this share of C are not at the bound
NARROW = 30.0  # mean sum of a row of kernel values up to which all labels are solved at once
LEAST_COST = 0.05  # C from which that is faster than LIBSVM
RHO = 0.5  # weight of the squared differences of scores, for kernels whose values are at most 1
MOST_ITERATIONS = 100


class HingeSVMs(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """One SVM of LIBSVM for each label, all on one kernel matrix.

    The models are those of ``SVC(kernel=kernel, C=C)``. The kernel matrix is computed once for all
    labels, the scores of all labels are one product of matrices, and nothing is checked twice.

    Parameters
    ----------
    C : float, default=1.0
        The price of errors.
    kernel : {"linear", "precomputed"}, default="linear"
        "precomputed" if X is the kernel matrix.
    tol : float, default=1e-3
        LIBSVM's tolerance.
    max_iter : int, default=-1
        Upper bound on LIBSVM's iterations for a label; -1 has none. With few features and a large
        C, LIBSVM would take hours.

    Attributes
    ----------
    dual_coef_ : ndarray of shape (n_samples, n_labels)
        The dual coefficients.
    coef_ : ndarray of shape (n_labels, n_features)
        The weights. It exists for the linear kernel only.
    intercept_ : ndarray of shape (n_labels,)
        The intercepts. A label that all samples or none have is always 1 or -1.
    classes_ : ndarray
        The columns of the label matrix, or 0 and 1 for a vector of labels.

    Examples
    --------
    >>> from eigenlabel.datasets import make_shared_subspace
    >>> from eigenlabel.reproduce.hinge_svms import HingeSVMs
    >>> data = make_shared_subspace(60, n_labels=3, random_state=0)
    >>> HingeSVMs(0.1).fit(data.X, data.Y).coef_.shape
    (3, 50)
    """

    def __init__(
        self, C: float = 1.0, kernel: str = "linear", tol: float = 1e-3, max_iter: int = -1
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.tol = tol
        self.max_iter = max_iter

    @all_or_nothing
    def fit(self, X: Any, y: Any) -> "HingeSVMs":
        """Fit one SVM for each column of y, or for the vector y."""
        y = np.asarray(y)
        self._vector = y.ndim == 1
        Y = y.reshape(len(y), -1).astype(bool)
        self.classes_ = np.arange(2 if self._vector else Y.shape[1])
        X = np.ascontiguousarray(X, dtype=float)
        K = self._gram(X)
        self.intercept_, self.dual_coef_ = _constants(Y), np.zeros(Y.shape)
        stopped = self._solve_each(K, Y, np.flatnonzero(_varies(Y)))
        self._finish(X, int(stopped.sum()))
        return self

    def _solve_each(self, K: Floats, Y: Any, columns: Any) -> Any:
        """Solve the SVMs of some labels with LIBSVM; return which of them stopped early."""
        stopped = np.zeros(len(columns), dtype=bool)
        for k, j in enumerate(columns):
            found = self._solve(K, Y[:, j], self.C)
            self.dual_coef_[:, j], self.intercept_[j], done = found
            stopped[k] = not done
        return stopped

    def fit_along(self, X: Any, t: Any, candidates: Sequence[dict[str, Any]]) -> list["HingeSVMs"]:
        """Fit one label for several C, from the smallest to the largest.

        If no dual coefficient is at its bound C, the solution is that of all larger C too.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The samples, or their kernel matrix.
        t : array-like of shape (n_samples,)
            The label, which some samples have and some have not.
        candidates : list of dict
            The values of C, each as ``{"C": value}``.

        Returns
        -------
        list of HingeSVMs
            The fitted model of each candidate.
        """
        X = np.ascontiguousarray(X, dtype=float)
        K, t = self._gram(X), np.asarray(t).astype(bool)
        models: list[HingeSVMs] = [self] * len(candidates)
        found: tuple[Floats, float, bool] | None = None
        bound = 0.0  # the smallest C from which the solution does not change
        for k in np.argsort([one["C"] for one in candidates], kind="stable"):
            C = float(candidates[k]["C"])
            if found is None or not found[2] or bound == 0.0:
                found = self._solve(K, t, C)
                bound = C if np.abs(found[0]).max() < INSIDE * C else 0.0
            models[k] = model = HingeSVMs(C, self.kernel, self.tol, self.max_iter)
            model._vector, model.classes_ = True, np.arange(2)
            model.dual_coef_, model.intercept_ = found[0][:, None], np.array([found[1]])
            model._finish(X, int(not found[2]))
        return models

    def fit_path(self, X: Any, y: Any, costs: Sequence[float] | np.ndarray) -> list["HingeSVMs"]:
        """Fit all labels for several C, from the smallest to the largest.

        A label none of whose dual coefficients is at its bound C keeps its solution for all larger
        C. With a narrow kernel, nearly all samples are support vectors, and LIBSVM needs as many
        iterations as there are samples for each label. There the labels are solved at once by the
        alternating direction method of multipliers, and each C begins where the last one ended.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The samples, or their kernel matrix.
        y : array-like of shape (n_samples, n_labels)
            The label matrix.
        costs : sequence of float
            The values of C, ascending.

        Returns
        -------
        list of HingeSVMs
            The fitted model of each C.
        """
        X, Y = np.ascontiguousarray(X, dtype=float), np.asarray(y).astype(bool)
        K = self._gram(X)
        narrow = K.sum() <= NARROW * len(K) and np.diagonal(K).max(initial=0.0) <= 1 + 1e-9
        together = Together(K, Y, self.tol) if narrow else None
        models: list[HingeSVMs] = []
        intercept, dual = _constants(Y), np.zeros(Y.shape)
        bounded = np.flatnonzero(_varies(Y))  # labels whose solution changes with C
        for C in costs:
            model = HingeSVMs(C, self.kernel, self.tol, self.max_iter)
            model._vector, model.classes_ = False, np.arange(Y.shape[1])
            model.intercept_, model.dual_coef_ = intercept.copy(), dual.copy()
            stopped = np.zeros(len(bounded), dtype=bool)
            tried = together if C >= LEAST_COST else None
            if tried is not None and tried.solve(C, bounded):
                model.dual_coef_[:, bounded], model.intercept_[bounded] = tried.solution
                at_bound = tried.at_bound
            else:
                together = None if tried is not None else together
                stopped = model._solve_each(K, Y, bounded)
                at_bound = np.abs(model.dual_coef_[:, bounded]) >= INSIDE * C
            model._finish(X, int(stopped.sum()))
            intercept, dual = model.intercept_, model.dual_coef_
            bounded = bounded[at_bound.any(axis=0) | stopped]
            models.append(model)
        return models

    def _gram(self, X: Floats) -> Floats:
        return X if self.kernel == "precomputed" else np.ascontiguousarray(X @ X.T)

    def _solve(self, K: Floats, t: Any, C: float) -> tuple[Floats, float, bool]:
        return fit_libsvm(K, t, C=float(C), tol=self.tol, max_iter=self.max_iter)

    def _finish(self, X: Floats, stopped: int) -> None:
        if self.kernel == "linear":
            self.coef_ = (X.T @ self.dual_coef_).T
        if stopped:
            warn(
                f"LIBSVM stopped after max_iter = {self.max_iter} iterations for {stopped} of "
                f"{len(self.intercept_)} labels.",
                ConvergenceWarning,
            )

    def decision_function(self, X: Any) -> Floats:
        """Return the scores of samples."""
        check_is_fitted(self)
        weights = self.coef_.T if self.kernel == "linear" else self.dual_coef_
        scores = np.asarray(X @ weights) + self.intercept_
        return scores[:, 0] if self._vector else scores

    def predict(self, X: Any) -> Any:
        """Predict labels: scores above zero."""
        return (self.decision_function(X) > 0).astype(int)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        tags.classifier_tags.multi_label = True
        return tags


def _varies(Y: Any) -> Any:
    """Return which labels some samples have and some have not."""
    return Y.any(axis=0) & ~Y.all(axis=0)


def _constants(Y: Any) -> Floats:
    """Return the intercepts of labels that all samples or none have: 1 or -1."""
    return np.where(Y.any(axis=0), 1.0, -1.0)


class Together:
    """The SVMs of many labels on one kernel matrix, by the alternating direction method.

        min_{f,b,g}  f'K^-1 f / 2 + C sum_i max(0, 1 - t_i g_i),   g = f + b

    With multipliers S, scaled by ``RHO``, f and b are a ridge regression of ``g - S`` on the
    kernel: one product with ``R = (K + I / RHO)^-1`` for all labels. Boyd et al. (2011) describe
    the method. The multipliers at the bound of one C begin at the bound of the next.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        The kernel matrix.
    Y : ndarray of shape (n, m), bool
        The labels.
    tol : float
        The largest change and difference of scores at the end, as LIBSVM's tolerance.

    Attributes
    ----------
    solution : tuple of ndarray
        The dual coefficients (n, k) and the intercepts (k,) of the labels that were solved last.
    at_bound : ndarray of shape (n, k), bool
        Which of these dual coefficients are at their bound C.
    """

    solution: tuple[Floats, Floats]
    at_bound: Any

    def __init__(self, K: Floats, Y: Floats, tol: float) -> None:
        self.T = np.where(Y, 1.0, -1.0)
        self.tol = tol
        self.R = np.linalg.inv(K + np.eye(len(K)) / RHO)
        self.sums = self.R.sum(axis=0)
        self.G, self.S = np.zeros(self.T.shape), np.zeros(self.T.shape)
        self.C = 0.0

    def solve(self, C: float, columns: Any) -> bool:
        """Solve some labels for one C; return False if the iterations were not enough."""
        T, G, S = self.T[:, columns], self.G[:, columns], self.S[:, columns]
        if self.C:
            S = np.where(_at_bound(S, self.C), S * (C / self.C), S)
        total = self.sums.sum()
        for _ in range(MOST_ITERATIONS):
            V = G - S
            A = self.R @ V
            b = A.sum(axis=0) / total
            A -= np.outer(self.sums, b)
            scores = V - A / RHO
            margins = T * (scores + S)
            new = T * np.maximum(margins, np.minimum(margins + C / RHO, 1.0))
            change = max(np.abs(new - G).max(initial=0.0), np.abs(scores - new).max(initial=0.0))
            S += scores - new
            G = new
            if change <= self.tol:
                self.G[:, columns], self.S[:, columns], self.C = G, S, C
                self.solution, self.at_bound = (A, b), _at_bound(S, C)
                return True
        return False


def _at_bound(S: Floats, C: float) -> Any:
    """Return which multipliers are at the bound, which the iterations reach exactly."""
    return np.abs(S) * RHO >= INSIDE * C
