"""What the classifiers share: labels in, scores and label sets out, and kernels."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import KERNEL_PARAMS, pairwise_kernels
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from eigenlabel.inputs.validation import (
    check_choice,
    check_data,
    check_flag,
    check_number,
    check_scale,
    check_weights,
)
from eigenlabel.inputs.warning import warn
from eigenlabel.kernels.kernel import (
    HISTOGRAMS,
    KERNELS,
    check_finite_kernel,
    checked_symmetric,
    intersection_kernel,
)
from eigenlabel.labels.cells import check_observed
from eigenlabel.labels.codec import LabelCodec
from eigenlabel.linalg.factors.exact import (
    ARRAYS,
    Factor,
    GramFactor,
    check_memory,
    factorise,
    nearest_psd,
)
from eigenlabel.linalg.factors.kernel_krylov import KernelKrylovFactor
from eigenlabel.linalg.machine import memory_limit
from eigenlabel.linalg.numerics import rank_tolerance
from eigenlabel.linalg.operators import CentredOperator
from eigenlabel.thresholds import Rule, Top, Zero

CHUNK = 2**24  # kernel entries held at once when predicting


class ScoreClassifier(ClassifierMixin, BaseEstimator):
    """A classifier defined by ``_scores(X)``, a matrix (samples, labels).

    Subclasses set ``_codec`` in ``fit``.
    """

    _codec: LabelCodec

    def _scores(self, X: Any) -> np.ndarray:
        raise NotImplementedError

    def decision_function(self, X: Any) -> np.ndarray:
        """Give the score of every label, before any threshold.

        Returns
        -------
        (n_samples, n_labels), or (n_samples,) if y was a vector of two classes
        """
        check_is_fitted(self)
        return self._codec.shape_scores(self._scores(X))

    def predict(self, X: Any) -> Any:
        """Give label sets as a 0/1 matrix (sparse if y was), or classes if y was a vector."""
        check_is_fitted(self)
        return self._codec.decide(self._scores(X))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_label = True
        return tags


def warn_convergence(message: str) -> None:
    """Warn of a solver that stopped early."""
    warn(message, ConvergenceWarning)


class RuleClassifier(ScoreClassifier):
    """A classifier by scores whose parameter ``threshold`` turns them into label sets.

    Subclasses set ``_rule`` in ``fit``, and call ``_fit_threshold`` at its end.
    """

    _rule: Rule

    def _fit_threshold(self, X: Any, Y: np.ndarray) -> None:
        """Fit the rule to the scores of training samples; zero and top rules need none."""
        vars(self).pop("thresholds_", None)
        if self._codec.multilabel:
            plain = type(self._rule) in (Zero, Top)
            scores = np.zeros(Y.shape) if plain else self._training_scores(X)
            self.thresholds_ = self._rule.find_thresholds(scores, Y)

    def _training_scores(self, X: Any) -> np.ndarray:
        return self._scores(X)

    def predict(self, X: Any) -> Any:
        """Give label sets as a 0/1 matrix (sparse if y was), or classes if y was a vector."""
        check_is_fitted(self)
        return self._decide(self._scores(X))

    def _decide(self, scores: np.ndarray) -> Any:
        if not self._codec.multilabel:
            return self._codec.decide(scores)
        return self._codec.decode(self._rule.decide(scores, self.thresholds_))


class KernelMixin:
    """Kernels by name, callable or precomputed, and the factor of the training data.

    Expects the parameters kernel, gamma, degree, coef0, kernel_params; fit_intercept, solver, tol,
    max_iter and max_memory where a method offers them.
    """

    fit_intercept = True
    solver = "auto"
    _arrays: float = ARRAYS  # of the smaller side of X squared, that an exact fit holds at once

    @property
    def _linear(self) -> bool:
        return self.kernel == "linear"

    def _bounds(self) -> dict[str, Any]:
        """Give the bounds of solvers that iterate; most methods have no parameters for them."""
        given = {"tol": 1e-6, "max_iter": 1000, "max_memory": None}
        given = {name: getattr(self, name, value) for name, value in given.items()}
        if given["max_memory"] is None:
            given["max_memory"] = memory_limit()
        return given

    def _check_kernel(self) -> None:
        if not callable(self.kernel):
            check_choice("kernel", self.kernel, KERNELS)
        if self.gamma is not None:
            check_number("gamma", self.gamma, 0)
        check_number("degree", self.degree, 0)
        check_flag("fit_intercept", self.fit_intercept)
        check_number("coef0", self.coef0, -np.inf)
        check_choice("solver", self.solver, ("auto", "gram", "covariance", "krylov"))
        bounds = self._bounds()
        check_number("tol", bounds["tol"], 0)
        check_number("max_iter", bounds["max_iter"], 1, integer=True)
        check_number("max_memory", bounds["max_memory"], 1, inf=True)
        if self.solver == "krylov" and self.kernel == "precomputed":
            raise ValueError(
                "solver='krylov' computes kernel values as it needs them, kernel='precomputed' "
                "has them: use solver='auto'."
            )
        if self.solver == "covariance" and not self._linear:
            raise ValueError(
                f"solver='covariance' works with kernel='linear' only, got kernel={self.kernel!r}."
                " Use solver='auto'."
            )
        if self.kernel_params is not None and not callable(self.kernel):
            raise ValueError(
                "kernel_params are the keyword arguments of a callable kernel; for "
                f"kernel={self.kernel!r} use gamma, degree and coef0."
            )

    def _kernel(self, X: Any, Z: Any) -> np.ndarray:
        if self.kernel == "precomputed":
            return X.toarray() if sp.issparse(X) else X
        if callable(self.kernel):
            K = np.asarray(self.kernel(X, Z, **(self.kernel_params or {})))
            K = K if K.dtype.kind == "f" else K.astype(float)
            if K.shape != (X.shape[0], Z.shape[0]):
                raise ValueError(
                    "A callable kernel takes two matrices and gives the kernel matrix of their "
                    f"rows: expected shape {(X.shape[0], Z.shape[0])}, got {K.shape}."
                )
            return K
        if self.kernel == "intersection":
            return intersection_kernel(X, Z)
        given = {"gamma": self.gamma, "degree": self.degree, "coef0": self.coef0}
        known = KERNEL_PARAMS.get(self.kernel, ())
        params = {k: v for k, v in given.items() if k in known and v is not None}
        dtype = np.result_type(X.dtype, Z.dtype)
        # Squares of float32 may leave their range, although the kernel values do not.
        X, Z = (A.astype(float, copy=False) for A in (X, Z))
        with np.errstate(over="ignore"):  # infinity is refused below
            K = pairwise_kernels(X, Z, metric=self.kernel, **params)
            return np.asarray(K.astype(dtype, copy=False))

    def _finite_kernel(self, X: Any, Z: Any, where: str = "the training data") -> np.ndarray:
        K = self._kernel(X, Z)
        check_finite_kernel(K, self.kernel, where)
        return K

    def _check_training(
        self, X: Any, y: Any, sample_weight: Any
    ) -> tuple[Any, LabelCodec, np.ndarray, np.ndarray | None, np.ndarray | None]:
        """Check everything fit takes; give X, the codec, the label matrix and the weights.

        The last is what of the label matrix is observed, None if everything is.
        """
        self._check_kernel()
        X = check_data(self, X, reset=True, square=self.kernel == "precomputed")
        codec, Y, observed = LabelCodec.fit_observed(y)
        check_consistent_length(X, Y)
        weights = check_weights(sample_weight, X)
        check_observed(observed, weights)
        return X, codec, Y, weights, observed

    def _factorise(
        self,
        X: Any,
        weights: np.ndarray | None,
        solver: str | None = None,
        *,
        arrays: float | None = None,
    ) -> Factor:
        """Factor the training data: by shape if linear, by the Gram matrix for kernels."""
        solver = self.solver if solver is None else solver
        arrays = self._arrays if arrays is None else arrays
        bounds = {**self._bounds(), "report": warn_convergence}
        n = X.shape[0]
        if self._linear:
            check_scale(X)
            operator = CentredOperator(X, weights, self.fit_intercept)
            return factorise(operator, self.fit_intercept, solver, **bounds, arrays=arrays)
        if solver == "krylov":
            return KernelKrylovFactor(self._finite_kernel, X, weights, self.fit_intercept, **bounds)
        check_memory(n, "kernel matrix", limit=bounds["max_memory"], arrays=arrays)
        K = self._finite_kernel(X, X)
        precision = np.dtype(K.dtype)
        K = np.asarray(K, dtype=float)
        K = checked_symmetric(K, precision, "kernel matrix")
        tolerance = rank_tolerance(len(K), precision)
        K, kept, negative = nearest_psd(K, tolerance)
        if kept is not None and not kept.shape[1]:
            raise ValueError(
                "The kernel matrix has no positive eigenvalue: is its sign or scale wrong? A "
                "kernel is a similarity, not a distance."
            )
        if negative < -np.sqrt(np.finfo(precision).eps):  # more than rounding
            warn(
                "The kernel matrix is not positive semi-definite (smallest eigenvalue "
                f"{negative:.2g} of the largest); its negative part is left out.",
                UserWarning,
            )
        return GramFactor(K, weights, self.fit_intercept, precision, positive=kept, overwrite=True)

    def _kernel_product(self, X: Any, C: np.ndarray) -> np.ndarray:
        """k(X, training X) C, in chunks of rows."""
        step = max(1, CHUNK // max(1, len(C)))
        C = C.astype(float, copy=False)  # large terms cancel: float32 would lose digits
        parts = []
        for start in range(0, X.shape[0], step):
            K = self._finite_kernel(X[start : start + step], self.X_fit_, "these samples")
            parts.append(np.asarray(K, dtype=float) @ C)
        return np.concatenate(parts)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        kernel = self.kernel if isinstance(self.kernel, str) else None
        tags.input_tags.pairwise = kernel == "precomputed"
        tags.input_tags.positive_only = kernel in HISTOGRAMS
        tags.input_tags.sparse = kernel != "chi2"
        return tags
