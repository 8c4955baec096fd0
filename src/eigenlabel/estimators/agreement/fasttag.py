"""FastTag: a linear map from features to labels that were completed from one another."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_consistent_length

from eigenlabel.estimators.base import RuleClassifier
from eigenlabel.inputs.fitting import all_or_nothing
from eigenlabel.inputs.validation import check_number, check_scale
from eigenlabel.inputs.views import FittedTable, Views, ViewsMixin, as_float
from eigenlabel.kernels.factor import warn_shortfall
from eigenlabel.labels.codec import LabelCodec
from eigenlabel.linalg.factors.factorise import factorise
from eigenlabel.linalg.operators import CentredOperator
from eigenlabel.linalg.solvers.shifted import ShiftedSystem
from eigenlabel.thresholds import Rule, get_rule


def _spread(block: Any, here: np.ndarray) -> Any:
    """Put the rows of a block where they belong, with rows of zeros between."""
    rows = np.flatnonzero(here)
    place = (np.ones(len(rows)), (rows, np.arange(len(rows))))
    return sp.csr_array(place, shape=(len(here), len(rows))) @ block


class FastTag(ViewsMixin, RuleClassifier):
    """Regress labels, completed from one another, on the features of all views.

    With y~ the labels y of which each is blanked out with probability p (Chen, Zheng, Weinberger,
    ICML 2013):

        min over B, W:  1/n sum_i |B y_i - W'x_i|^2 + ridge |W|^2
                        + trade_off/n sum_i E |y_i - B y~_i|^2

    B completes label sets, W predicts what is complete. The expectation is exact: with ``S = Y'Y``
    and q = 1 - p, ``P = q S`` and ``Q = q^2 S + q p diag(S)``. For fixed B the best W is ``U B'``
    with U the ridge regression of Y on X, so that

        B = trade_off P (trade_off Q + Y'(Y - X U))^-1        W = U B'

    is the point that the paper's alternating steps approach: two ridge solves in all. The
    intercept is not penalised. A large ``trade_off`` with p = 0 is ridge regression.

    Cost: n d^2 or n^2 d, whichever is smaller, for the regression, and n m^2 + m^3. Sparse X is
    never densified.

    Parameters
    ----------
    ridge : float >= 0, default=0.1
        lambda, of the weights of the features, per sample.
    trade_off : float > 0, default=1.0
        gamma: how much B has to complete labels rather than be predictable.
    blank_out : float in [0, 1), default=0.3
        p, the probability that a label is hidden.
    views : dict or None
        Name -> columns of one matrix X: a slice, positions, a mask, or names of a frame's columns.
        None if X is several tables (:class:`Views`, dict or list), or one view. Features of all
        views stand side by side; those of a view that a sample lacks are zero.
    transformers : transformer, dict by view, or None
        Fitted to each view's own samples. For histograms the paper takes a homogeneous map of
        the chi-square kernel, ``sklearn.kernel_approximation.AdditiveChi2Sampler()``.
    threshold : str or rule, default="zero"
        Rule of ``eigenlabel.thresholds`` for label sets, such as ``Top(5)``, fitted to training
        scores. Zero is a share of 1/2.

    Attributes
    ----------
    coef_ : (n_features, n_labels), W, of the features of all views side by side
    intercept_ : (n_labels,)
    completion_ : (n_labels, n_labels), B
    views_, view_names_ : of the views, in order
    thresholds_ : (n_labels,), for a label matrix
    classes_, n_features_in_, feature_names_in_ : as in scikit-learn

    Examples
    --------
    >>> from eigenlabel import FastTag
    >>> from eigenlabel.datasets import make_shared_subspace
    >>> data = make_shared_subspace(n_samples=200, n_labels=6, random_state=0)
    >>> left, right = data.X[:, :10], data.X[:, 10:]
    >>> model = FastTag(blank_out=0.2).fit([left[:150], right[:150]], data.Y[:150])
    >>> model.predict([left[150:], right[150:]]).shape, model.completion_.shape
    ((50, 6), (6, 6))
    """

    def __init__(
        self,
        ridge: float = 0.1,
        trade_off: float = 1.0,
        blank_out: float = 0.3,
        *,
        views: Any = None,
        transformers: Any = None,
        threshold: str | Rule = "zero",
    ) -> None:
        self.ridge = ridge
        self.trade_off = trade_off
        self.blank_out = blank_out
        self.views = views
        self.transformers = transformers
        self.threshold = threshold

    @all_or_nothing
    def fit(self, X: Any, y: Any) -> "FastTag":
        """Fit to one matrix X or several views, and labels y.

        Parameters
        ----------
        X : dense or sparse (n_samples, n_features), or Views, dict or list of such
        y : 0/1 label matrix (n_samples, n_labels), dense or sparse, or a vector of classes
        """
        self._check_parameters()
        views = self._read_views(X, reset=True)
        self._codec, Y = LabelCodec.fit(y)
        check_consistent_length(views, Y)
        self.classes_ = self._codec.classes
        F = self._fit_features(views)
        check_scale(F)
        T = Y.astype(float)
        operator = CentredOperator(F)
        factor = factorise(operator)
        solution = factor.solve(T, [float(self.ridge)])
        warn_shortfall(solution.shortfall)
        U = factor.export(solution.coefficients[0])
        B = self._complete(T, operator.rmatmat(T - T.mean(axis=0)), U)
        self.completion_, self.coef_ = B, U @ B.T
        self.intercept_ = T.mean(axis=0) @ B.T - operator.mean @ self.coef_
        self._fit_threshold(X, Y)
        return self

    def _check_parameters(self) -> None:
        check_number("ridge", self.ridge, 0)
        check_number("trade_off", self.trade_off, np.finfo(float).tiny)
        check_number("blank_out", self.blank_out, 0, 1 - 1e-9)
        self._check_views()
        self._rule = get_rule(self.threshold)

    def _complete(self, T: np.ndarray, XT: np.ndarray, U: np.ndarray) -> np.ndarray:
        """Give B (m, m), of minimum norm if a label never occurs or some are alike."""
        S, q = T.T @ T, 1.0 - self.blank_out
        Q = q**2 * S
        Q.flat[:: len(S) + 1] += q * self.blank_out * np.diag(S)
        Tc = T - T.mean(axis=0)
        residual = Tc.T @ Tc - XT.T @ U  # what X does not predict, ridge included
        M = self.trade_off * Q + (residual + residual.T) / 2
        return ShiftedSystem(M).solve(self.trade_off * q * S, [0.0])[0].T

    def _fit_features(self, views: Views) -> Any:
        """Fit ``views_`` and give the features of all views side by side."""
        transformers = self._fresh_transformers()
        self.views_ = {}
        for name, table, _ in self._training_tables(views):
            if name in transformers:
                transformers[name].fit(table)
            self.views_[name] = FittedTable(table.shape[1], transformers.get(name))
        self._widths: dict[str, int] = {}
        return self._features(views)

    def _features(self, views: Views) -> Any:
        """Put the features of all views side by side, zeros where a sample lacks a view."""
        blocks = []
        for name, table, here in self._tables(views):
            if table is None or not here.any():
                blocks.append(sp.csr_array((len(here), self._widths[name])))
                continue
            block = as_float(self.views_[name].prepare(table, name))
            self._widths.setdefault(name, block.shape[1])
            blocks.append(block if here.all() else _spread(block, here))
        if len(blocks) == 1:
            return blocks[0]
        if any(sp.issparse(block) for block in blocks):
            return sp.hstack([sp.csr_array(block) for block in blocks], format="csr")
        return np.hstack(blocks)

    def _scores(self, X: Any) -> np.ndarray:
        F = self._features(self._read_views(X, reset=False))
        shares = np.asarray(F @ self.coef_) + self.intercept_
        return (2.0 * shares - 1.0).astype(self._dtype, copy=False)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.views is not None
        tags.target_tags.required = True
        return tags
