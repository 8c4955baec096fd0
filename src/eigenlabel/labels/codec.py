"""The label side: targets in all their forms become one 0/1 matrix, and decisions go back."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import DataConversionWarning
from sklearn.preprocessing import LabelBinarizer
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from eigenlabel.inputs.validation import (
    check_sparse,
    unmasked,
)
from eigenlabel.inputs.warning import warn
from eigenlabel.linalg.operators import CentredOperator
from eigenlabel.linalg.ties import first_highest

HINT = "Use sklearn.preprocessing.MultiLabelBinarizer to turn lists of labels into a 0/1 matrix."
MISSING = (
    "NaN stands for 'not observed', which fit of SharedSubspaceClassifier and "
    "SharedSubspaceClassifierCV, thresholds and metrics (in y_true) understand, and nothing else. "
    "Here every label of every sample must be 0 or 1: drop the samples or labels with NaN, or say "
    "what they are."
)


def check_label_matrix(Y: Any, name: str = "y") -> np.ndarray:
    """Turn a dense or sparse 0/1 label matrix (n, m) into a boolean one, or say what is wrong."""
    checked, observed = check_observed_labels(Y, name)
    if observed is not None:
        row, column = np.argwhere(~observed)[0]
        raise ValueError(f"{name} contains NaN, at [{row}, {column}]. {MISSING}")
    return checked


def check_observed_labels(Y: Any, name: str = "y") -> tuple[np.ndarray, np.ndarray | None]:
    """Turn a label matrix (n, m) of 0, 1 and NaN into a boolean one and what of it is observed.

    NaN, None, pandas' NA and what a numpy mask hides are not observed, and False in the first
    matrix. The second is None if everything is observed. What a sparse matrix does not store is an
    observed 0.
    """
    Y = unmasked(Y)
    check_sparse(Y, name)
    if sp.issparse(Y):
        Y = Y.toarray()
    elif not isinstance(Y, np.ndarray):
        try:
            Y = np.asarray(Y)
        except ValueError as error:  # ragged lists
            raise ValueError(
                f"{name} is not a matrix: its rows have unequal lengths. {HINT}"
            ) from error
    if Y.ndim != 2:
        raise ValueError(f"{name} must be a label matrix (samples, labels), got shape {Y.shape}.")
    if Y.shape[1] == 0:
        raise ValueError(f"{name} has no columns: at least one label is needed.")
    if Y.dtype.kind == "O":
        Y = _plain(Y, name)
    if Y.dtype.kind not in "biuf":
        raise ValueError(f"{name} must hold 0 and 1, got dtype {Y.dtype}. {HINT}")
    if Y.dtype.kind == "b":
        return Y, None
    odd, missing = (Y != 0) & (Y != 1), np.zeros(0, dtype=bool)
    if Y.dtype.kind == "f":
        missing = np.isnan(Y)
        odd &= ~missing
    if odd.any():
        value = Y[odd][0]
        advice = HINT
        if np.isin(Y[~np.isnan(Y)], (-1, 1)).all():
            advice = "Pass np.where(np.isnan(Y), Y, Y > 0)." if missing.any() else "Pass (Y > 0)."
        raise ValueError(f"{name} must be a label matrix of 0 and 1, found {value}. {advice}")
    if missing.any():
        return Y == 1, ~missing
    return Y != 0, None


def _is_missing(value: Any) -> bool:
    """Tell None and pandas' NA, by its name because pandas need not be there."""
    return value is None or type(value).__name__ == "NAType"


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and np.isnan(value)


def _plain(Y: np.ndarray, name: str) -> np.ndarray:
    """Give a matrix of objects as numbers, missing ones as NaN."""
    missing = np.array([_is_missing(value) for value in Y.flat], dtype=bool)
    Y = np.where(missing.reshape(Y.shape), np.nan, Y)
    try:
        return Y.astype(float)
    except (TypeError, ValueError) as error:
        odd = next(v for v in Y.flat if not isinstance(v, (bool, int, float)))
        raise ValueError(f"{name} must hold 0 and 1, found {odd!r}. {HINT}") from error


def check_sparse_labels(Y: Any, name: str = "y") -> sp.csr_array:
    """Turn a 0/1 label matrix (n, m) into a sparse boolean one; a sparse one is never densified."""
    if not sp.issparse(Y):
        return sp.csr_array(check_label_matrix(Y, name))
    if Y.ndim != 2:
        raise ValueError(f"{name} must be a label matrix (samples, labels), got shape {Y.shape}.")
    check_sparse(Y, name)
    found = sp.csr_array(Y)
    # All the stored values as one column: the checks, and what they say, are those of dense labels.
    held = found.data.reshape(-1, 1) if found.shape[1] else np.zeros((0, 0))
    values = check_label_matrix(held, name)
    found = sp.csr_array((values[:, 0], found.indices, found.indptr), shape=found.shape)
    if not found.has_canonical_format:
        found = found.copy()
        found.sum_duplicates()
    found.eliminate_zeros()
    return found


@dataclass(frozen=True)
class LabelCodec:
    """What was learnt about the form of y, to give decisions back in the same form.

    ``kind`` is "matrix" (0/1 label matrix), "binary" (1-D, two classes, one score) or
    "multiclass" (1-D, one score per class).
    """

    kind: str
    classes: np.ndarray
    sparse_type: type | None = None

    @classmethod
    def fit(cls, y: Any) -> tuple["LabelCodec", np.ndarray]:
        """Give the codec of y and its boolean label matrix (n, m)."""
        if y is None:
            raise ValueError("requires y to be passed, but the target y is None.")
        names = np.asarray(y.columns) if hasattr(y, "columns") else None
        if not sp.issparse(y) and not _is_vector(y):
            Y = np.asarray(check_label_matrix(y))
            classes = np.arange(Y.shape[1]) if names is None else names
            return cls("matrix", classes), Y
        if sp.issparse(y):
            return cls("matrix", np.arange(y.shape[1]), type(y)), check_label_matrix(y)
        return cls._fit_vector(y)

    @classmethod
    def fit_observed(cls, y: Any) -> tuple["LabelCodec", np.ndarray, np.ndarray | None]:
        """Give the codec of y, its boolean label matrix (n, m) and what of it is observed.

        The last is None if everything is. A vector of classes with NaN is refused.
        """
        if y is None or _is_vector(y):
            return (*cls.fit(y), None)
        Y, observed = check_observed_labels(y)
        if observed is None:
            return (*cls.fit(y), None)
        names = np.asarray(y.columns) if hasattr(y, "columns") else np.arange(Y.shape[1])
        return cls("matrix", names, type(y) if sp.issparse(y) else None), Y, observed

    @classmethod
    def fit_sparse(cls, y: Any) -> tuple["LabelCodec", sp.csr_array]:
        """Give the codec of y and its label matrix (n, m), sparse and boolean, never densified."""
        if not sp.issparse(y) and _is_vector(y):
            return cls._fit_vector(y, sparse=True)
        Y = check_sparse_labels(y)
        names = np.asarray(y.columns) if hasattr(y, "columns") else np.arange(Y.shape[1])
        return cls("matrix", names, type(y) if sp.issparse(y) else None), Y

    @classmethod
    def _fit_vector(cls, y: Any, sparse: bool = False) -> tuple["LabelCodec", Any]:
        y = unmasked(y)
        array = np.asarray(y)
        if array.ndim == 2:
            warn(
                "A column-vector y was passed when a 1d array was expected. Please change the "
                "shape of y to (n_samples, ), for example using ravel().",
                DataConversionWarning,
            )
        _check_classes(array)
        if array.size and isinstance(array.flat[0], (list, tuple, set, frozenset)):
            raise ValueError(f"y holds a {type(array.flat[0]).__name__} per sample. {HINT}")
        y = column_or_1d(y)
        check_classification_targets(y)
        binarizer = LabelBinarizer(sparse_output=sparse).fit(y)
        if len(binarizer.classes_) == 1:
            # One class only: one score, which is its presence.
            Y = np.ones((len(y), 1), dtype=bool)
            return cls("binary", binarizer.classes_), sp.csr_array(Y) if sparse else Y
        Y = binarizer.transform(y).astype(bool)
        Y = sp.csr_array(Y) if sparse else Y
        return cls("binary" if Y.shape[1] == 1 else "multiclass", binarizer.classes_), Y

    @classmethod
    def start(cls, y: Any, classes: Any = None) -> "LabelCodec":
        """Give the codec of targets that come in blocks, of which y is the first.

        ``classes`` are those of a vector y, all of them, or names of the labels of a matrix.
        """
        if y is None:
            raise ValueError("requires y to be passed, but the target y is None.")
        if not sp.issparse(y) and _is_vector(y):
            if classes is None:
                raise ValueError(
                    "classes must be passed with the first block of a vector y: a block need not "
                    "hold all of them."
                )
            given = np.unique(np.asarray(classes))
            return cls("binary" if len(given) <= 2 else "multiclass", given)
        m = np.shape(y)[1] if sp.issparse(y) else check_label_matrix(y).shape[1]
        names = np.asarray(y.columns) if hasattr(y, "columns") else np.arange(m)
        names = names if classes is None else np.asarray(classes)
        if names.shape != (m,):
            raise ValueError(f"classes has shape {names.shape}, y has {m} labels.")
        return cls("matrix", names, type(y) if sp.issparse(y) else None)

    def encode(self, y: Any) -> np.ndarray:
        """Give the boolean label matrix (n, m) of a block, or say why it does not fit."""
        if y is None:
            raise ValueError("requires y to be passed, but the target y is None.")
        if self.kind != "matrix":
            return self._encode_vector(y)
        Y = np.asarray(check_label_matrix(y))
        if Y.shape[1] != len(self.classes):
            raise ValueError(f"y has {Y.shape[1]} labels, the blocks before {len(self.classes)}.")
        names = np.asarray(y.columns) if hasattr(y, "columns") else self.classes
        numbered = np.array_equal(self.classes, np.arange(len(self.classes)))
        if not numbered and not np.array_equal(names, self.classes):
            odd = int(np.flatnonzero(names != self.classes)[0])
            raise ValueError(
                f"Label {odd} of y is {names[odd]!r}, of the blocks before {self.classes[odd]!r}."
            )
        return Y

    def _encode_vector(self, y: Any) -> np.ndarray:
        y = column_or_1d(unmasked(y))
        _check_classes(y)
        check_classification_targets(y)
        strange = np.setdiff1d(y, self.classes)
        if strange.size:
            raise ValueError(
                f"y holds the class {strange[0]!r}, which is not among the {len(self.classes)} "
                "classes of the first call."
            )
        if len(self.classes) == 1:
            return np.ones((len(y), 1), dtype=bool)
        chosen = y[:, None] == self.classes
        return chosen[:, 1:] if self.kind == "binary" else chosen

    @property
    def multilabel(self) -> bool:
        """Whether thresholds apply: y was a label matrix."""
        return self.kind == "matrix"

    def shape_scores(self, scores: np.ndarray) -> np.ndarray:
        """Give scores (n, m) in scikit-learn's shape: 1-D for a binary y."""
        return scores[:, 0] if self.kind == "binary" else scores

    def decode(self, decisions: np.ndarray) -> Any:
        """Turn boolean decisions (n, m) of a label matrix into the form y had."""
        if self.sparse_type is not None:
            return self.sparse_type(sp.csr_matrix(decisions.astype(np.int64)))
        return decisions.astype(np.int64)

    def decide(self, scores: np.ndarray, thresholds: np.ndarray | float = 0.0) -> Any:
        """Turn scores (n, m) into what predict returns."""
        if self.kind == "matrix":
            return self.decode(scores > thresholds)
        if self.kind == "multiclass":
            return self.classes[first_highest(scores)]
        if len(self.classes) == 1:
            return np.repeat(self.classes, len(scores))
        return self.classes[(scores[:, 0] > 0).astype(int)]


def _check_classes(y: np.ndarray) -> None:
    """Refuse a vector of classes in which some are missing."""
    odd = np.zeros(0, dtype=bool)
    if y.dtype.kind == "f":
        odd = ~np.isfinite(y)
    elif y.dtype.kind == "O":
        odd = np.array([_is_missing(v) or _is_nan(v) for v in y.flat], dtype=bool)
    if odd.any():
        raise ValueError(
            f"Input y contains NaN or infinity, at sample {int(np.flatnonzero(odd)[0])}: every "
            "sample needs a class. Drop the samples without one, or pass a 0/1 label matrix, in "
            "which NaN stands for 'not observed'."
        )


def has_missing(y: Any) -> bool:
    """Tell whether y is a label matrix of which not everything is observed."""
    return not _is_vector(y) and check_observed_labels(y)[1] is not None


def _is_vector(y: Any) -> bool:
    """Tell class labels (1-D, or one column that is not 0/1) from a label matrix."""
    if sp.issparse(y):
        return False
    try:
        array = np.asarray(unmasked(y))
    except ValueError:
        return False
    if array.ndim != 2:
        return True
    return array.shape[1] == 1 and not _holds_labels(array)


def _holds_labels(column: np.ndarray) -> bool:
    """Tell a column of 0, 1 and missing values from one of classes."""
    if column.dtype.kind == "O" and any(_is_missing(value) for value in column.flat):
        try:
            column = _plain(column, "y")
        except ValueError:
            return False
    if column.dtype.kind not in "biuf":
        return False
    observed = column[~np.isnan(column)]
    return bool(np.isin(observed, (0, 1)).all())


def signed_targets(Y: np.ndarray) -> np.ndarray:
    """Give the +-1 targets of a boolean label matrix."""
    return np.where(Y, 1.0, -1.0)


def sparse_targets(Y: sp.csr_array, weights: np.ndarray | None, centre: bool) -> CentredOperator:
    """Give the +-1 targets of a sparse label matrix as products, less their mean or as they are."""
    doubled = Y.astype(float) * 2.0
    if centre:
        return CentredOperator(doubled, weights)
    return CentredOperator.about(doubled, np.ones(Y.shape[1]))
