"""Label matrices from what users pass as y, targets, and predictions in the form of y."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import DataConversionWarning
from sklearn.preprocessing import LabelBinarizer
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from eigenlabel.inputs.data import unmasked
from eigenlabel.inputs.warning import warn
from eigenlabel.labels.checks import (
    HINT,
    check_classes,
    check_label_matrix,
    check_observed_labels,
    check_sparse_labels,
    is_vector,
)
from eigenlabel.labels.label_sets import (
    NamedLabels,
    are_label_sets,
    find_separator,
    holds_label_sets,
    label_matrix,
    read_labels,
    to_label_sets,
)
from eigenlabel.labels.missing import find_missing
from eigenlabel.linalg._types import Bools, Floats, Matrix
from eigenlabel.linalg.operators import CentredOperator
from eigenlabel.linalg.ties import first_highest


def signed_targets(Y: Bools) -> Floats:
    """Return the +1/-1 targets of a boolean label matrix."""
    return np.where(Y, 1.0, -1.0)


def sparse_targets(Y: Matrix, weights: Floats | None, centre: bool) -> CentredOperator:
    """Return the +1/-1 targets of a sparse label matrix as an operator that is never densified.

    With ``centre`` the targets are reduced by their weighted mean.
    """
    doubled = Y.astype(float) * 2.0
    if centre:
        return CentredOperator(doubled, weights)
    return CentredOperator.about(doubled, np.ones(Y.shape[1]))


NO_TARGET = "requires y to be passed, but the target y is None."


@dataclass(frozen=True)
class LabelCodec:
    """The form of y, with which decisions are returned in the same form.

    Attributes
    ----------
    kind : {"matrix", "binary", "multiclass"}
        "matrix" is a label matrix, "binary" a vector of at most two classes with one score, and
        "multiclass" a vector of classes with one score each.
    classes : ndarray of shape (n_labels,) or (n_classes,)
        The names or positions of the labels, or the classes of a vector.
    sparse_type : type or None
        The type of a sparse label matrix.
    sets : bool
        Whether the label matrix is that of label sets.
    """

    kind: str
    classes: Any
    sparse_type: type | None = None
    sets: bool = False

    @classmethod
    def fit(cls, y: Any) -> tuple["LabelCodec", Bools]:
        """Return the codec of y and its boolean label matrix (n, m)."""
        if y is None:
            raise ValueError(NO_TARGET)
        y = read_labels(y)
        if is_vector(y):
            return cls._fit_vector(y)
        Y = check_label_matrix(y)
        return cls._of_matrix(y, Y.shape[1]), Y

    @classmethod
    def fit_observed(cls, y: Any) -> tuple["LabelCodec", Bools, Bools | None]:
        """Return the codec of y, its boolean label matrix (n, m) and the observed cells.

        The cells are None if all of them are observed. A vector of classes with NaN raises
        ValueError.
        """
        y = read_labels(y)
        if y is None or is_vector(y):
            return (*cls.fit(y), None)
        Y, observed = check_observed_labels(y)
        if observed is not None and observed.any() and Y[observed].all():
            warn(
                "All observed cells of y are 1, so that every label is predicted for every sample. "
                "If NaN stands for labels that a sample does not have, pass 0 instead."
            )
        return cls._of_matrix(y, Y.shape[1]), Y, observed

    @classmethod
    def fit_known(cls, y: Any) -> tuple["LabelCodec", Bools, Bools]:
        """Return the codec of y, its boolean label matrix (n, m) and the labelled samples (n,).

        A sample is not labelled if its row of a label matrix is NaN, or its class of a vector is
        NaN or None.
        """
        y = read_labels(y)
        if y is not None and is_vector(y):
            return cls._fit_known_vector(y)
        codec, Y, observed = cls.fit_observed(y)
        if observed is None:
            return codec, Y, np.ones(len(Y), dtype=bool)
        known = np.asarray(observed.any(axis=1))
        partly = known & ~observed.all(axis=1)
        if partly.any():
            raise ValueError(
                f"y is NaN for some labels of sample {int(np.argmax(partly))} only: here NaN must "
                "stand in a whole row, for a sample without known labels. Samples with some known "
                "labels are supported in fit of SharedSubspaceClassifier."
            )
        _check_known(known)
        return codec, Y, known

    @classmethod
    def _fit_known_vector(cls, y: Any) -> tuple["LabelCodec", Bools, Bools]:
        array = np.asarray(unmasked(y))
        known = ~find_missing(array)
        given = array if known.all() else array[known]
        if array.dtype.kind == "O" and not known.all():
            given = np.array(given.tolist())
        if given.dtype.kind in "if" and (given == -1).any() and len(np.unique(given)) > 2:
            raise ValueError(
                "y contains the class -1. If it stands for samples whose class is unknown, pass "
                "NaN (or None) for them; if it is a class, rename it."
            )
        if known.all():
            codec, Y = cls.fit(y)
            return codec, Y, known
        _check_known(known)
        codec, labels = cls._fit_vector(given)
        Y = np.zeros((len(known), labels.shape[1]), dtype=bool)
        Y[known] = labels
        return codec, Y, known

    @classmethod
    def fit_sparse(cls, y: Any) -> tuple["LabelCodec", Matrix]:
        """Return the codec of y and its boolean label matrix (n, m), sparse and never densified."""
        y = read_labels(y)
        if is_vector(y):
            return cls._fit_vector(y, sparse=True)
        Y = check_sparse_labels(y)
        return cls._of_matrix(y, Y.shape[1]), Y

    @classmethod
    def _of_matrix(cls, y: Any, m: int) -> "LabelCodec":
        names = np.asarray(y.columns) if hasattr(y, "columns") else np.arange(m)
        if len(set(names.tolist())) < len(names):
            twice = next(name for k, name in enumerate(names.tolist()) if name in names[:k])
            raise ValueError(f"Two columns of y are called {twice!r}: rename one of them.")
        sparse_type = type(y) if sp.issparse(y) else None
        return cls("matrix", names, sparse_type, isinstance(y, NamedLabels))

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
        check_classes(array)
        if array.size and isinstance(array.flat[0], (list, tuple, set, frozenset)):
            raise ValueError(f"y holds a {type(array.flat[0]).__name__} per sample. {HINT}")
        y = column_or_1d(y)
        check_classification_targets(y)
        binarizer = LabelBinarizer(sparse_output=sparse).fit(y)
        _warn_about_separators(binarizer.classes_)
        if len(binarizer.classes_) == 1:
            # With one class only, the one score is that of its presence.
            Y = np.ones((len(y), 1), dtype=bool)
            return cls("binary", binarizer.classes_), sp.csr_array(Y) if sparse else Y
        Y = binarizer.transform(y).astype(bool)
        kind = "binary" if Y.shape[1] == 1 else "multiclass"
        return cls(kind, binarizer.classes_), sp.csr_array(Y) if sparse else Y

    @classmethod
    def start(cls, y: Any, classes: Any = None) -> "LabelCodec":
        """Return the codec of targets that come in blocks, of which y is the first.

        ``classes`` lists all classes of a vector y, or the names of the labels of a matrix.
        """
        if y is None:
            raise ValueError(NO_TARGET)
        if holds_label_sets(y):
            y = label_matrix(y, classes)
        if is_vector(y):
            if classes is None:
                raise ValueError(
                    "classes must be passed with the first block of a vector y: a block need not "
                    "hold all of them."
                )
            given = np.unique(np.asarray(classes))
            return cls("binary" if len(given) <= 2 else "multiclass", given)
        sparse = sp.issparse(y)
        m = y.shape[1] if sparse else check_label_matrix(y).shape[1]
        codec = cls._of_matrix(y, m)
        names = codec.classes if classes is None else np.asarray(classes)
        if names.shape != (m,):
            raise ValueError(f"classes has shape {names.shape}, y has {m} labels.")
        return cls("matrix", names, codec.sparse_type, codec.sets)

    def encode(self, y: Any) -> Bools:
        """Return the boolean label matrix (n, m) of a block, or raise ValueError if it differs."""
        if y is None:
            raise ValueError(NO_TARGET)
        if self.kind != "matrix":
            return self._encode_vector(y)
        if self.sets and are_label_sets(y):
            y = label_matrix(y, self.classes)
        Y = check_label_matrix(y)
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

    def _encode_vector(self, y: Any) -> Bools:
        y = column_or_1d(unmasked(y))
        check_classes(y)
        check_classification_targets(y)
        strange = np.setdiff1d(y, self.classes)
        if strange.size:
            raise ValueError(
                f"y holds the class {strange[0]!r}, which is not among the {len(self.classes)} "
                "classes of the first call."
            )
        if len(self.classes) == 1:
            return np.ones((len(y), 1), dtype=bool)
        chosen: Bools = y[:, None] == self.classes
        return chosen[:, 1:] if self.kind == "binary" else chosen

    @property
    def named(self) -> bool:
        """Whether y is a label matrix whose columns have names."""
        numbers = np.arange(len(self.classes))
        return self.kind == "matrix" and not np.array_equal(self.classes, numbers)

    @property
    def multilabel(self) -> bool:
        """Whether y is a label matrix, to which thresholds apply."""
        return self.kind == "matrix"

    def shape_scores(self, scores: Floats) -> Floats:
        """Return scores (n, m) in scikit-learn's shape, which is 1-D for a binary y."""
        return scores[:, 0] if self.kind == "binary" else scores

    def shape_probabilities(self, P: Floats) -> Floats:
        """Return probabilities (n, m) in scikit-learn's shape, one column per label or class.

        Those of classes sum to one in each row: two classes share one number, and those of several
        classes are scaled. Rows of zeros become uniform.
        """
        if self.kind == "matrix":
            return P
        if self.kind == "binary":
            return np.ones_like(P) if len(self.classes) == 1 else np.hstack([1 - P, P])
        total = P.sum(axis=1, keepdims=True)
        uniform = np.full_like(P, 1 / P.shape[1])
        return np.asarray(np.divide(P, total, out=uniform, where=total > 0))

    def decode(self, decisions: Bools) -> Any:
        """Return boolean decisions (n, m) about a label matrix in the form of y."""
        if self.sets:
            return to_label_sets(decisions, self.classes)
        if self.sparse_type is None:
            return decisions.astype(np.int64)
        indptr = np.append(0, np.cumsum(np.count_nonzero(decisions, axis=1)))
        columns = np.nonzero(decisions)[1]
        ones = np.ones(len(columns), dtype=np.int64)
        return self.sparse_type(sp.csr_matrix((ones, columns, indptr), shape=decisions.shape))

    def decide(self, scores: Floats, thresholds: Floats | float = 0.0) -> Any:
        """Return what ``predict`` returns for scores (n, m)."""
        if self.kind == "matrix":
            return self.decode(scores > thresholds)
        if self.kind == "multiclass":
            return self.classes[first_highest(scores)]
        if len(self.classes) == 1:
            return np.repeat(self.classes, len(scores))
        return self.classes[(scores[:, 0] > 0).astype(int)]


def _check_known(known: Bools) -> None:
    if not known.any():
        raise ValueError("No sample is labelled: y is NaN everywhere.")


def _warn_about_separators(classes: Any) -> None:
    """Warn if the classes of a vector look like several labels in one string."""
    separator = find_separator(classes) if classes.dtype.kind in "OU" else ""
    if separator:
        example = next(str(value) for value in classes if separator in str(value))
        warn(
            f"y is a vector, and each value is one of {len(classes)} classes, but values such as "
            f"{example[:80]!r} look like several labels. For label sets pass [{{label.strip() for "
            f"label in value.split({separator!r}) if label.strip()}} for value in y]."
        )
