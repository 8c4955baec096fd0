"""A projection and a classifier behind it, at the dimension that suits the classifier best."""

import numbers
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils import Bunch, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import (
    check_consistent_length,
    check_is_fitted,
    has_fit_parameter,
)

from eigenlabel.estimators.neighbours.mlknn import MLkNN
from eigenlabel.estimators.projection.supervised import MDDM
from eigenlabel.inputs.fitting import all_or_nothing
from eigenlabel.inputs.progress import tuning
from eigenlabel.inputs.validation import (
    check_choice,
    check_data,
    check_number,
    check_row_weights,
    routing_enabled,
    take_rows,
)
from eigenlabel.inputs.warning import ignored
from eigenlabel.labels.checks import check_label_matrix
from eigenlabel.labels.codec import LabelCodec
from eigenlabel.linalg._types import Bools, Floats, Ints
from eigenlabel.metrics import METRICS
from eigenlabel.model_selection.folds import check_folds
from eigenlabel.model_selection.judges import ByFold
from eigenlabel.model_selection.reading import labels_matrix, scores_matrix
from eigenlabel.model_selection.routing import make_router, requesting_weights, route_fit
from eigenlabel.model_selection.search import Chunk, SearchResult, search


class DimensionsPath(NamedTuple):
    """Dimensions and the scores (dimensions, folds) at them; losses are not negated."""

    dimensions: np.ndarray
    scores: np.ndarray


def _fit(projection: Any, X: Any, y: Any, params: dict[str, Any]) -> Any:
    """Fit without the warning that there is no direction: classifiers get a constant then."""
    with ignored(UserWarning, ".* found no direction"):
        return projection.fit(X, y, **params)


def _embed(projection: Any, X: Any) -> np.ndarray:
    """Project samples; where labels leave no direction at all, all are at one point."""
    Z = projection.transform(X)
    return Z if Z.shape[1] else np.zeros((len(Z), 1))


def _check_parts(projection: Any, classifier: Any) -> None:
    """Refuse what is no projection or no classifier before any work."""
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
    largest dimension, and the classifier once for each.

    Parameters
    ----------
    projection : projection of ours with ``n_components``
    classifier : classifier that takes a label matrix
    X, y : samples and 0/1 label matrix
    dimensions : ints >= 1; those beyond what the projection finds are scored with what there is
    cv : int (stratified by labels), splitter or iterable
    scoring : a metric of ``eigenlabel.metrics`` by name
    verbose : int, default=0
        0 is silent; 1 shows the progress of the tuning on stderr.

    Examples
    --------
    >>> from eigenlabel import MDDM, MLkNN, dimensions_path
    >>> from eigenlabel.datasets import make_shared_subspace
    >>> data = make_shared_subspace(200, n_labels=6, random_state=0)
    >>> path = dimensions_path(MDDM(), MLkNN(), data.X, data.Y, [1, 2, 4], cv=3)
    >>> path.scores.shape
    (3, 3)
    """
    wanted = _check_dimensions(dimensions)
    check_choice("scoring", scoring, tuple(METRICS))
    _check_parts(projection, classifier)
    nothing = Bunch(projection=Bunch(fit={}), estimator=Bunch(fit={}), splitter=Bunch(split={}))
    X = X.tocsr() if sp.issparse(X) else np.asarray(X)
    Y = check_label_matrix(y)
    held_out = DimensionScores(projection, classifier, X, Y, wanted, cv, scoring, nothing)
    return held_out.path(held_out.search(verbose))


def _check_dimensions(dimensions: Any) -> Ints:
    """Return the dimensions as an array; raise an exception if they are not positive integers."""
    if isinstance(dimensions, numbers.Real):
        raise TypeError(f"dimensions must be a sequence of integers, got {dimensions!r}.")
    wanted = np.array(list(dimensions))
    if not wanted.size:
        raise ValueError("dimensions is empty: give at least one.")
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
        The name of a metric. If it reads label sets, the scores are the classifier's label sets.
    routed : Bunch
        The metadata of the projection, the classifier and the splitter.

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
    ) -> None:
        self.projection, self.classifier, self.X, self.Y = projection, classifier, X, Y.astype(int)
        self.scoring, self.routed, self.dimensions = scoring, routed, dimensions
        self.order = np.argsort(dimensions, kind="stable")
        self.params = [{"n_components": int(r)} for r in dimensions[self.order]]
        self.folds = list(check_folds(cv).split(X, self.Y, **routed.splitter.split))

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
        Z = _embed(_fit(widest, X_train, Y[train], some), X_train)
        Z_test = _embed(widest, X_test)
        read = labels_matrix if METRICS[self.scoring].reads == "labels" else scores_matrix
        found = []
        for point in self.params:
            r = point["n_components"]
            model = clone(self.classifier).fit(Z[:, :r], Y[train], **more)
            found.append(read(model, Z_test[:, :r], Y.shape[1]).T)
        return np.stack(found)


def _share_weights(fits: dict[str, dict[str, Any]], takers: dict[str, Any]) -> None:
    """Pass the weights, in place, to the parts whose fit takes them; at least one must."""
    weights = fits["estimator"].pop("sample_weight")
    names = [name for name, part in takers.items() if has_fit_parameter(part, "sample_weight")]
    if not names:
        kinds = " and ".join(type(part).__name__ for part in takers.values())
        raise TypeError(
            f"sample_weight has no use: fit of {kinds} takes none. Use an estimator that takes "
            "weights, such as SharedSubspaceClassifier()."
        )
    for name in names:
        fits[name]["sample_weight"] = weights


def _delegates(method: str) -> Any:
    def check(self: "ProjectedClassifierCV") -> bool:
        default = MLkNN() if self.estimator is None else self.estimator
        getattr(getattr(self, "estimator_", default), method)
        return True

    return check


class ProjectedClassifierCV(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """A classifier on projected features, at the dimension where it does best.

    Paper 004 takes one dimension, by the share of dependence, for every classifier, and leaves a
    better choice open. Here it is the one with the best cross-validated score of the classifier
    itself; each fold fits the projection once (:func:`dimensions_path`).

    Parameters
    ----------
    estimator : classifier that takes a label matrix; None is :class:`MLkNN`
    projection : projection with ``n_components``; None is :class:`MDDM`
    dimensions : sequence of ints or None
        To try; None is 1, 2, 4, ... up to the number of features or labels, whichever is less.
    cv : int, splitter or iterable, default=5
    scoring : a metric of ``eigenlabel.metrics`` by name, default="average_precision"
    verbose : int, default=0
        0 is silent; 1 shows the progress of the tuning on stderr.

    Attributes
    ----------
    n_components_ : the dimension of ``projection_``: the one chosen (of equally good ones, or where
        the score is undefined, the smallest), or what there is if that is less
    path_ : :class:`DimensionsPath`
    projection_, estimator_ : fitted to all samples at that dimension
    classes_ : as in the classifier

    Examples
    --------
    >>> from eigenlabel import ProjectedClassifierCV
    >>> from eigenlabel.datasets import make_shared_subspace
    >>> data = make_shared_subspace(300, n_labels=8, random_state=0)
    >>> model = ProjectedClassifierCV(cv=3).fit(data.X, data.Y)
    >>> model.path_.dimensions.tolist(), model.predict(data.X).shape
    ([1, 2, 4, 8], (300, 8))
    """

    def __init__(
        self,
        estimator: Any = None,
        projection: Any = None,
        dimensions: Any = None,
        *,
        cv: Any = 5,
        scoring: str = "average_precision",
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.projection = projection
        self.dimensions = dimensions
        self.cv = cv
        self.scoring = scoring
        self.verbose = verbose

    @all_or_nothing
    def fit(self, X: Any, y: Any, **fit_params: Any) -> "ProjectedClassifierCV":
        """Choose the dimension and fit projection and classifier to samples X and labels y.

        ``sample_weight`` goes to the classifier and the projection, each if its fit takes it;
        ``groups`` goes to the splitter and all else to the classifier. With scikit-learn's
        metadata routing their requests decide. The classifier's weights count in the scoring.
        """
        X = check_data(self, X, reset=True)
        codec, Y = LabelCodec.fit(y)
        check_consistent_length(X, Y)
        if len(Y) < 2:
            raise ValueError(f"At least 2 samples are needed, got n_samples = {len(Y)}.")
        if codec.kind == "binary" and len(codec.classes) == 2:
            Y = np.column_stack([~Y[:, 0], Y[:, 0]])  # both classes are labels
        projection, classifier = self._parts()
        routed = self._route(fit_params, projection, classifier, len(Y))
        dimensions = self.dimensions
        if dimensions is None:
            most = min(Y.shape[1], X.shape[1])
            dimensions = [*(2**k for k in range(int(np.log2(most)) + 1) if 2**k < most), most]
        check_choice("scoring", self.scoring, tuple(METRICS))
        wanted = _check_dimensions(dimensions)
        held_out = DimensionScores(
            projection, classifier, X, Y, wanted, self.cv, self.scoring, routed
        )
        result = held_out.search(self.verbose)
        self.path_, self.best_params_ = held_out.path(result), held_out.params[int(result.best)]
        chosen = self.best_params_["n_components"]
        target = Y.astype(int) if codec.multilabel else np.asarray(y).reshape(len(Y))
        self._codec = codec
        widest = clone(projection).set_params(n_components=chosen)
        self.projection_ = _fit(widest, X, target, routed.projection.fit)
        Z = _embed(self.projection_, X)
        self.estimator_ = clone(classifier).fit(Z, target, **routed.estimator.fit)
        self.n_components_ = self.projection_.n_components_
        self.classes_ = codec.classes
        return self

    def _parts(self) -> tuple[Any, Any]:
        """Return the projection and the classifier, defaults for None."""
        projection = requesting_weights(MDDM()) if self.projection is None else self.projection
        classifier = requesting_weights(MLkNN()) if self.estimator is None else self.estimator
        return projection, classifier

    def _route(self, given: dict[str, Any], projection: Any, classifier: Any, n: int) -> Bunch:
        """Return the metadata of the projection, the classifier and the splitter."""
        _check_parts(projection, classifier)
        routed = route_fit(self, given, classifier)
        fits = {"estimator": dict(routed.estimator.fit), "projection": {}}
        if routing_enabled():
            fits["projection"] = dict(routed.projection.fit)
        elif "sample_weight" in fits["estimator"]:
            takers = {"projection": projection, "estimator": classifier}
            _share_weights(fits, takers)
        for fit in fits.values():
            if fit.get("sample_weight") is not None:
                fit["sample_weight"] = check_row_weights(fit["sample_weight"], n)
        parts = {name: Bunch(fit=fit) for name, fit in fits.items()}
        return Bunch(splitter=Bunch(split=dict(routed.splitter.split)), **parts)

    def get_metadata_routing(self) -> Any:
        """Return the requests of the projection, the classifier and the splitter."""
        projection, classifier = self._parts()
        return make_router(self, self.cv, projection=projection, estimator=classifier)

    def _project(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        return _embed(self.projection_, check_data(self, X, reset=False))

    def predict(self, X: Any) -> Any:
        """Give the classifier's label sets (sparse if y was), or classes."""
        Z = self._project(X)
        decided = self.estimator_.predict(Z)
        if not self._codec.multilabel:
            return decided
        decided = decided[:, None] if decided.ndim == 1 else decided  # of a single label
        return self._codec.decode(decided > 0)

    @available_if(_delegates("decision_function"))
    def decision_function(self, X: Any) -> Any:
        """Give the classifier's scores."""
        Z = self._project(X)
        return self.estimator_.decision_function(Z)

    @available_if(_delegates("predict_proba"))
    def predict_proba(self, X: Any) -> Any:
        """Give the classifier's probabilities."""
        Z = self._project(X)
        return self.estimator_.predict_proba(Z)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        projection = MDDM() if self.projection is None else self.projection
        if hasattr(projection, "__sklearn_tags__"):  # else fit says what is wrong
            tags.input_tags = get_tags(projection).input_tags
        tags.classifier_tags.multi_label = True
        return tags
