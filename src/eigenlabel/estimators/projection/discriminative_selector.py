"""The selector of single features that separate the labels best."""

from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from eigenlabel.inputs.data import SelectorMixin, check_data
from eigenlabel.inputs.fitting import TransformerMixin, all_or_nothing
from eigenlabel.inputs.parameters import COUNT, Maybe, Parameters, check_parameters
from eigenlabel.labels.codec import LabelCodec
from eigenlabel.linalg._types import Bools, Floats, Matrix
from eigenlabel.linalg.operators import centre_full_columns, weighted_mean
from eigenlabel.linalg.ties import precision, tied_order


class DiscriminativeSelector(TransformerMixin, SelectorMixin, BaseEstimator):  # type: ignore[misc]
    """Select the features that separate the labels best (Zhang and Zhou 2010, Equation 21).

    Features are ranked by their scatter within labels divided by their scatter between labels. A
    sample counts once for each of its labels. Features with a small ratio are selected (the text
    of the paper says the opposite, the equation does not). Features whose ratios differ by no more
    than rounding are equal, and the first of them ranks best.

    Cost: one product of X with the label matrix and one pass over X.

    Parameters
    ----------
    n_features_to_select : int or None, default=None
        Number of features to select, at least 1. None is the number of labels.

    Attributes
    ----------
    scatter_ratio_ : ndarray of shape (n_features,)
        Scatter within labels divided by scatter between labels. It is infinite for a feature whose
        mean is the same in all labels.
    ranking_ : ndarray of shape (n_features,)
        Rank of each feature; 1 is the best.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features seen in ``fit``. It exists only if all names are strings.

    Examples
    --------
    >>> from eigenlabel import DiscriminativeSelector
    >>> X, Y = [[0, 5], [1, 5], [9, 5], [8, 6]], [[1, 0], [1, 0], [0, 1], [0, 1]]
    >>> DiscriminativeSelector(1).fit_transform(X, Y).ravel().tolist()
    [0, 1, 9, 8]
    """

    _parameters: ClassVar[Parameters] = {"n_features_to_select": Maybe(COUNT)}

    def __init__(self, n_features_to_select: int | None = None) -> None:
        self.n_features_to_select = n_features_to_select

    @all_or_nothing
    def fit(self, X: Any, y: Any) -> Self:
        """Rank the features.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training samples.
        y : array-like or sparse matrix of shape (n_samples, n_labels) or (n_samples,)
            Label matrix of 0 and 1, a list of label sets, or a vector of classes.

        Returns
        -------
        self : object
            The fitted selector.
        """
        check_parameters(self)
        X = check_data(self, X, reset=True)
        codec, Y = LabelCodec.fit(y)
        check_consistent_length(X, Y)
        if codec.kind == "binary":
            Y = np.column_stack([~Y[:, 0], Y[:, 0]])
        self.scatter_ratio_, tolerance = scatter_ratios(X, Y)
        order = tied_order(self.scatter_ratio_, tolerance)
        self.ranking_ = np.empty(len(order), dtype=int)
        self.ranking_[order] = np.arange(1, len(order) + 1)
        wanted = self.n_features_to_select
        self._n_selected = Y.shape[1] if wanted is None else wanted
        return self

    def _get_support_mask(self) -> Bools:
        check_is_fitted(self)
        return np.asarray(self.ranking_ <= self._n_selected)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags


def scatter_ratios(X: Matrix, Y: Bools) -> tuple[Floats, Floats]:
    """Return the ratio of scatter within to scatter between labels, and bounds on its rounding.

    Both have one entry per feature. The ratio is infinite for a feature whose mean is the same in
    all labels.
    """
    mean, dtype = weighted_mean(X, None), X.dtype
    # The squares of features far from zero would cancel.
    Xc: Matrix = centre_full_columns(X, mean)[0] if sp.issparse(X) else X - mean
    T = Y.astype(float)
    sizes, times = T.sum(axis=0), T.sum(axis=1)
    sums = np.asarray(Xc.T @ T).T  # (m, d)
    means = sums / np.maximum(sizes, 1)[:, None]
    overall = sums.sum(axis=0) / max(sizes.sum(), 1)
    squares = np.asarray((Xc.multiply(Xc) if sp.issparse(X) else Xc * Xc).T @ times)
    within = np.maximum(squares - (sizes[:, None] * means**2).sum(axis=0), 0.0)
    between = ((means - overall) ** 2)[sizes > 0].sum(axis=0)
    # Features have the rounding of their type, relative to their size.
    total = max(float(sizes.sum()), 1.0)
    size = np.maximum(np.abs(mean) + np.sqrt(squares / total), 1e-150)
    rounding = 4 * precision(dtype) * size
    flat = between <= rounding**2 * len(sizes)
    divisor = np.where(flat, 1.0, between)
    ratio = within / divisor
    # The error of a sum of squares is at most twice its deviations times their rounding.
    error = np.sqrt(squares * total) + ratio * np.sqrt(between * len(sizes))
    return np.where(flat, np.inf, ratio), 2 * rounding * error / divisor
