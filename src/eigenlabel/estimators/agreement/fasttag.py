"""FastTag: a linear map from features to labels that are completed from one another."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_consistent_length

from eigenlabel.estimators.base import CALIBRATION, RuleClassifier
from eigenlabel.estimators.views.tables import (
    VIEW_PARAMETERS,
    FittedTable,
    as_float,
    fresh_transformers,
)
from eigenlabel.inputs.data import check_scale
from eigenlabel.inputs.fitting import all_or_nothing
from eigenlabel.inputs.parameters import (
    NOT_NEGATIVE,
    POSITIVE,
    CheckedBy,
    Number,
    Parameters,
    check_parameters,
)
from eigenlabel.inputs.views import Part, read_views
from eigenlabel.kernels.factor import warn_shortfall
from eigenlabel.labels.codec import LabelCodec
from eigenlabel.linalg._types import Bools, Floats
from eigenlabel.linalg.factors.factorise import factorise
from eigenlabel.linalg.operators import CentredOperator, is_sparse
from eigenlabel.linalg.solvers.shifted import ShiftedSystem
from eigenlabel.thresholds.base import Rule
from eigenlabel.thresholds.rules import get_rule


def _fit_tables(parts: Sequence[Part], transformers: Any) -> dict[str, FittedTable]:
    """Fit a transformer to each view that has one."""
    fresh = fresh_transformers(transformers, [part.name for part in parts])
    for part in parts:
        if part.name in fresh:
            fresh[part.name].fit(part.table)
    return {p.name: FittedTable(p.table.shape[1], fresh.get(p.name)) for p in parts}


def _spread(block: Any, here: Bools) -> Any:
    """Put the rows of a block at their places among all samples, with rows of zeros between."""
    rows = np.flatnonzero(here)
    place = (np.ones(len(rows)), (rows, np.arange(len(rows))))
    return sp.csr_array(place, shape=(len(here), len(rows))) @ block


class FastTag(RuleClassifier):
    """Regress labels, completed from one another, on the features of all views.

    With y~ the labels y, each of them blanked out with probability p (Chen et al. 2013):

        min over B, W:  1/n sum_i |B y_i - W'x_i|^2 + ridge |W|^2
                        + trade_off/n sum_i E |y_i - B y~_i|^2

    B completes label sets, W predicts the completed ones. The expectation is exact: with
    ``S = Y'Y`` and q = 1 - p, ``P = q S`` and ``Q = q^2 S + q p diag(S)``. For fixed B the best W
    is ``U B'`` with U the ridge regression of Y on X, so that

        B = trade_off P (trade_off Q + Y'(Y - X U))^-1        W = U B'

    is the limit of the paper's alternating steps, at the cost of two ridge regressions. The
    intercept is not penalised. A large ``trade_off`` with p = 0 is ridge regression.

    Cost: the smaller of n d^2 and n^2 d for the regression, and n m^2 + m^3. Sparse X is never
    densified.

    Parameters
    ----------
    ridge : float, default=0.1
        The penalty lambda >= 0 of the weights of the features, per sample.
    trade_off : float, default=1.0
        The weight gamma > 0 of the completion of labels, relative to how well they are predicted.
    blank_out : float, default=0.3
        The probability p in [0, 1) that a label is hidden.
    views : dict or None, default=None
        The columns of each view in one matrix X, by name: a slice, positions, a mask, or the names
        of columns of a frame. None if X is several tables (:class:`Views`, dict or list), or one
        view. The features of all views stand side by side; those of a view in which a sample is
        missing are zero.
    transformers : transformer, dict or None, default=None
        A transformer for all views, or one by view, that is fitted to the samples of the view. For
        histograms the paper uses a homogeneous map of the chi-square kernel, which is
        ``sklearn.kernel_approximation.AdditiveChi2Sampler()``.
    threshold : str or Rule, default="zero"
        The rule of ``eigenlabel.thresholds`` that turns scores into label sets, such as ``Top(5)``.
        Rules with fitted thresholds use training scores. A score of zero is a share of 1/2.
    calibration : {"auto", "sigmoid", "isotonic"} or None, default=None
        How scores become the probabilities of ``predict_proba``, see
        :func:`eigenlabel.thresholds.fit_calibration`. The maps are fitted to held-out scores of
        five folds, which costs five more fits. None leaves out ``predict_proba``, and rules on
        probabilities.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features, n_labels)
        The weights W of the features of all views side by side.
    intercept_ : ndarray of shape (n_labels,)
        The intercepts.
    completion_ : ndarray of shape (n_labels, n_labels)
        The completion B.
    views_ : dict
        The fitted views by name, with the attribute ``transformer``.
    view_names_ : tuple of str
        The names of the views, in order.
    thresholds_ : ndarray of shape (n_labels,)
        The thresholds of the rule. Only if y is a label matrix.
    calibration_ : Calibration
        The maps from scores to probabilities. Only if ``calibration`` is not None.
    classes_ : ndarray of shape (n_labels,)
        The columns of the label matrix, or the classes of a vector y.
    n_features_in_ : int
        The number of columns of X, or of all tables together.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        The names of the columns, if X was a frame.

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

    _parameters: ClassVar[Parameters] = {
        "ridge": NOT_NEGATIVE,
        "trade_off": POSITIVE,
        "blank_out": Number(0, 1 - 1e-9),
        **VIEW_PARAMETERS,
        "threshold": CheckedBy("get_rule"),
        "calibration": CALIBRATION,
    }

    def __init__(
        self,
        ridge: float = 0.1,
        trade_off: float = 1.0,
        blank_out: float = 0.3,
        *,
        views: Any = None,
        transformers: Any = None,
        threshold: str | Rule = "zero",
        calibration: str | None = None,
    ) -> None:
        self.ridge = ridge
        self.trade_off = trade_off
        self.blank_out = blank_out
        self.views = views
        self.transformers = transformers
        self.threshold = threshold
        self.calibration = calibration

    @all_or_nothing
    def fit(self, X: Any, y: Any) -> "FastTag":
        """Fit to one matrix X or several views, and labels y.

        Parameters
        ----------
        X : array, sparse matrix, frame, Views, dict or list
            The training samples (n_samples, n_features), or several tables of them.
        y : array or sparse matrix
            The 0/1 label matrix (n_samples, n_labels), label sets, or a vector of classes.

        Returns
        -------
        self : FastTag
            The fitted classifier.
        """
        check_parameters(self)
        rule = get_rule(self.threshold)
        parts, self._layout = read_views(self, X, self.views)
        self._codec, Y = LabelCodec.fit(y)
        check_consistent_length(parts[0].here, Y)
        self.classes_ = self._codec.classes
        self.view_names_ = self._layout.names
        self.views_ = _fit_tables(parts, self.transformers)
        self._widths: dict[str, int] = {}
        F = self._features(parts)
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
        self._fit_rule(rule, Y, lambda: self._scores(X), self._calibrate(X, y, Y))
        return self

    def _complete(self, T: Floats, XT: Floats, U: Floats) -> Floats:
        """Return B (m, m), of minimum norm if a label never occurs or some are alike."""
        S, q = T.T @ T, 1.0 - self.blank_out
        Q = q**2 * S
        Q.flat[:: len(S) + 1] += q * self.blank_out * np.diag(S)
        Tc = T - T.mean(axis=0)
        residual = Tc.T @ Tc - XT.T @ U  # what X does not predict, ridge included
        M = self.trade_off * Q + (residual + residual.T) / 2
        return np.asarray(ShiftedSystem(M).solve(self.trade_off * q * S, [0.0])[0].T)

    def _features(self, parts: Sequence[Part]) -> Any:
        """Return the features of all views side by side, zeros where a sample is missing."""
        blocks: list[Any] = []
        for part in parts:
            if part.table is None or not part.here.any():
                blocks.append(sp.csr_array((len(part.here), self._widths[part.name])))
                continue
            block = as_float(self.views_[part.name].prepare(part))
            self._widths.setdefault(part.name, block.shape[1])
            blocks.append(block if part.here.all() else _spread(block, part.here))
        if len(blocks) == 1:
            return blocks[0]
        if any(is_sparse(block) for block in blocks):
            return sp.hstack([sp.csr_array(block) for block in blocks], format="csr")
        return np.hstack(blocks)

    def _scores(self, X: Any) -> Floats:
        F = self._features(self._layout.read(self, X))
        shares = np.asarray(F @ self.coef_) + self.intercept_
        return np.asarray((2.0 * shares - 1.0).astype(self._layout.dtype, copy=False))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.views is not None
        tags.target_tags.required = True
        return tags
