"""The scores of a classifier on projected features, dimension by dimension."""

import numbers
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.utils import Bunch, get_tags

from eigenlabel.inputs.fitting import plain_arrays
from eigenlabel.inputs.parameters import check_choice, check_number
from eigenlabel.inputs.progress import tuning
from eigenlabel.inputs.sklearn_private import take_rows
from eigenlabel.inputs.warning import NoDirectionWarning, ignored
from eigenlabel.labels.checks import check_label_matrix
from eigenlabel.linalg._types import Bools, Floats, Ints
from eigenlabel.metrics import METRICS
from eigenlabel.model_selection.classifier_scores import (
    labels_matrix,
    probabilities_matrix,
    scores_matrix,
)
from eigenlabel.model_selection.search import ByFold, Chunk, SearchResult, search
from eigenlabel.model_selection.splits import check_folds

READERS = {
    "labels": labels_matrix,
    "scores": scores_matrix,
    "probabilities": probabilities_matrix,
}


class DimensionsPath(NamedTuple):
    """The scores of a classifier at several dimensions of a projection.

    Parameters
    ----------
    dimensions : ndarray of shape (n_dimensions,)
        The dimensions, in the order in which they were passed.
    scores : ndarray of shape (n_dimensions, n_folds)
        The scores of each dimension and fold. Losses are not negated.
    """

    dimensions: Ints
    scores: Floats


def fit_projection(projection: Any, X: Any, y: Any, params: dict[str, Any]) -> Any:
    """Fit a projection; if it finds no direction, classifiers are fitted to a constant."""
    with ignored(NoDirectionWarning):
        return projection.fit(X, y, **params)


def embed(projection: Any, X: Any) -> Floats:
    """Project samples; without any direction, all samples are projected to one point."""
    with plain_arrays():
        Z = projection.transform(X)
    return Z if Z.shape[1] else np.zeros((len(Z), 1))


def check_parts(projection: Any, classifier: Any) -> None:
    """Raise TypeError if the parts are not a projection and a classifier."""
    if isinstance(projection, type) or not hasattr(projection, "transform"):
        raise TypeError(f"projection must be a transformer such as MDDM(), got {projection!r}.")
    if "n_components" not in projection.get_params():
        raise TypeError(f"{type(projection).__name__} has no n_components to vary.")
    if isinstance(classifier, type) or not hasattr(classifier, "predict"):
        raise TypeError(f"The estimator must be a classifier such as MLkNN(), got {classifier!r}.")


def dimensions_path(
    projection: Any,
    classifier: Any,
    X: Any,
    y: Any,
    dimensions: Sequence[int],
    *,
    cv: Any = 5,
    scoring: str = "average_precision",
    verbose: int = 0,
) -> DimensionsPath:
    """Score a classifier on projected features at several dimensions by cross-validation.

    The directions of a projection are nested, so that each fold fits the projection once, at the
    largest dimension, and the classifier once for each dimension.

    Parameters
    ----------
    projection : transformer
        A projection of the library with the parameter ``n_components``.
    classifier : classifier
        A classifier that accepts a label matrix.
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The samples.
    y : array-like or sparse matrix of shape (n_samples, n_labels)
        The 0/1 label matrix.
    dimensions : sequence of int
        The dimensions, at least 1. If the projection finds fewer directions, all of them are used.
    cv : int, splitter or iterable, default=5
        The folds. An int is a MultilabelStratifiedKFold.
    scoring : str, default="average_precision"
        The name of a metric of ``eigenlabel.metrics``.
    verbose : int, default=0
        The verbosity. 0 is silent; 1 shows the progress of the tuning on stderr.

    Returns
    -------
    path : DimensionsPath
        The dimensions and their scores.

    Examples
    --------
    >>> from eigenlabel import MDDM, MLkNN, dimensions_path
    >>> from eigenlabel.datasets import make_shared_subspace
    >>> data = make_shared_subspace(200, n_labels=6, random_state=0)
    >>> path = dimensions_path(MDDM(), MLkNN(), data.X, data.Y, [1, 2, 4], cv=3)
    >>> path.scores.shape
    (3, 3)
    """
    wanted = check_dimensions(dimensions)
    check_choice("scoring", scoring, tuple(METRICS))
    check_parts(projection, classifier)
    nothing = Bunch(projection=Bunch(fit={}), estimator=Bunch(fit={}), splitter=Bunch(split={}))
    sparse = sp.issparse(X)
    X = X.tocsr() if sparse else np.asarray(X)
    Y = check_label_matrix(y)
    held_out = DimensionScores(projection, classifier, X, Y, wanted, cv, scoring, nothing)
    return held_out.path(held_out.search(verbose))


def check_dimensions(dimensions: Any) -> Ints:
    """Return the dimensions as an array; raise an exception if they are not positive integers."""
    if isinstance(dimensions, numbers.Real):
        raise TypeError(f"dimensions must be a sequence of integers, got {dimensions!r}.")
    wanted = np.array(list(dimensions))
    if not wanted.size:
        raise ValueError("dimensions is empty: pass at least one.")
    for r in wanted.tolist():
        check_number("dimensions", r, 1, integer=True)
    return wanted


class DimensionScores:
    """Held-out scores of a classifier on projected features, for several dimensions.

    Each fold fits the projection once, at the largest dimension, and the classifier once for each
    dimension.

    Parameters
    ----------
    projection : transformer
        The projection.
    classifier : classifier
        The classifier.
    X : array or sparse array of shape (n_samples, n_features)
        The samples.
    Y : ndarray of shape (n_samples, n_labels), bool
        Their labels.
    dimensions : ndarray of int
        The dimensions, in any order.
    cv : int, splitter or iterable
        The folds.
    scoring : str
        The name of a metric. If it reads label sets or probabilities, these take the place of
        scores.
    routed : Bunch
        The metadata of the projection, the classifier and the splitter.
    keep : bool, default=False
        Whether the scores of all dimensions are kept for :meth:`oof_scores`.

    Attributes
    ----------
    params : list of dict
        The dimensions, the smallest first.
    """

    def __init__(
        self,
        projection: Any,
        classifier: Any,
        X: Any,
        Y: Bools,
        dimensions: Ints,
        cv: Any,
        scoring: str,
        routed: Bunch,
        keep: bool = False,
    ) -> None:
        self.projection, self.classifier, self.X, self.Y = projection, classifier, X, Y.astype(int)
        self.scoring, self.routed, self.dimensions = scoring, routed, dimensions
        self.order = np.argsort(dimensions, kind="stable")
        self.params = [{"n_components": int(r)} for r in dimensions[self.order]]
        self.folds = list(check_folds(cv).split(X, self.Y, **routed.splitter.split))
        shape = (len(self.params), *Y.shape[::-1])
        self.total = np.zeros(shape) if keep else None

    def search(self, verbose: int) -> SearchResult:
        """Judge the dimensions by the mean score over folds."""
        weights = self.routed.estimator.fit.get("sample_weight")
        judge = ByFold(self.scoring, self.Y, weights, [test for _, test in self.folds])
        with tuning(len(self.folds), verbose, "fold") as bar:
            return search(self, judge, bar.update)

    def path(self, result: SearchResult) -> DimensionsPath:
        """Return the scores in the order in which the dimensions were given."""
        scores = np.empty((len(self.dimensions), len(self.folds)))
        scores[self.order] = result.table["fold_test_score"]
        return DimensionsPath(self.dimensions, scores)

    def oof_scores(self, point: int) -> Floats:
        """Return the held-out scores (n, m) of one dimension after the chunks were read.

        They are NaN for a sample that no fold tests, and a mean for one that several folds test.
        """
        assert self.total is not None
        times = np.bincount(np.concatenate([test for _, test in self.folds]), minlength=len(self.Y))
        with np.errstate(invalid="ignore"):
            return np.asarray((self.total[point] / times).T)

    def chunks(self) -> Iterator[Chunk]:
        """Yield the scores of all dimensions for one fold after the other."""
        for k, (train, test) in enumerate(self.folds):
            yield Chunk(np.arange(len(self.params)), self._score_fold(train, test), k)

    def _score_fold(self, train: Ints, test: Ints) -> Floats:
        """Return the scores (dimensions, labels, samples) of one test part."""
        X, Y, routed = self.X, self.Y, self.routed
        some, more = (
            take_rows(X, part.fit, train) for part in (routed.projection, routed.estimator)
        )
        pairwise = get_tags(self.projection).input_tags.pairwise
        among = (slice(None), train) if pairwise else slice(None)  # kernels with training samples
        X_train, X_test = X[train][among], X[test][among]
        largest = int(self.dimensions.max())
        widest = clone(self.projection).set_params(n_components=largest)
        Z = embed(fit_projection(widest, X_train, Y[train], some), X_train)
        Z_test = embed(widest, X_test)
        read = READERS[METRICS[self.scoring].reads]
        found = []
        for k, point in enumerate(self.params):
            r = point["n_components"]
            model = clone(self.classifier).fit(Z[:, :r], Y[train], **more)
            found.append(read(model, Z_test[:, :r], Y.shape[1]).T)
            if self.total is not None:
                scored = read is scores_matrix
                scores = found[-1] if scored else scores_matrix(model, Z_test[:, :r], Y.shape[1]).T
                self.total[k][:, test] += scores
        return np.stack(found)
