"""A classifier on projected features, at the dimension that is best for the classifier."""

from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.utils import Bunch, get_tags
from sklearn.utils.validation import (
    check_consistent_length,
    check_is_fitted,
    has_fit_parameter,
)

from eigenlabel.estimators.base import CALIBRATION
from eigenlabel.estimators.heldout_by_refitting import class_heldout
from eigenlabel.estimators.label_forms import LabelForms
from eigenlabel.estimators.meta.dimensions import (
    DimensionScores,
    check_dimensions,
    check_parts,
    embed,
    fit_projection,
)
from eigenlabel.estimators.neighbours.mlknn import MLkNN
from eigenlabel.estimators.projection.mddm import MDDM
from eigenlabel.inputs.data import check_data
from eigenlabel.inputs.fitting import all_or_nothing, available_if
from eigenlabel.inputs.parameters import CheckedBy, Choice, Parameters, check_parameters
from eigenlabel.inputs.sample_weights import check_row_weights
from eigenlabel.inputs.sklearn_private import routing_enabled, take_rows
from eigenlabel.labels.codec import LabelCodec
from eigenlabel.linalg._types import Bools, Floats, Ints
from eigenlabel.metrics import METRICS
from eigenlabel.model_selection.classifier_scores import class_scores, has_scores, scores_matrix
from eigenlabel.model_selection.routing import make_router, requesting_weights, route_fit
from eigenlabel.model_selection.search import store_calibration
from eigenlabel.thresholds.calibration import fit_probabilities


def _share_weights(fits: dict[str, dict[str, Any]], takers: dict[str, Any]) -> None:
    """Pass the weights, in place, to the parts whose ``fit`` accepts them; at least one must."""
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


def _classifier(model: "ProjectedClassifierCV") -> Any:
    """Return the fitted classifier of a model, or the one that will be fitted."""
    default = MLkNN() if model.estimator is None else model.estimator
    return getattr(model, "estimator_", default)


def _check_scores(model: "ProjectedClassifierCV") -> None:
    """Raise AttributeError unless the classifier has a decision function."""
    _classifier(model).decision_function  # noqa: B018


def _check_probabilities(model: "ProjectedClassifierCV") -> None:
    """Raise AttributeError if there are no probabilities, neither fitted ones nor own ones."""
    inner = _classifier(model)
    fitted = hasattr(model, "estimator_")
    calibrated = hasattr(model, "calibration_") if fitted else model.calibration is not None
    if not (calibrated and has_scores(inner)) and not hasattr(inner, "predict_proba"):
        raise AttributeError(
            f"This {type(model).__name__} has no predict_proba: pass calibration='auto' and a "
            "classifier with decision_function, or one with predict_proba."
        )


class ProjectedClassifierCV(
    LabelForms,
    MetaEstimatorMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
):
    """Classify projected features, at the dimension where the classifier is best.

    Zhang and Zhou (2010) use one dimension for every classifier, which they choose by the share of
    dependence, and leave a better choice open. Here it is the dimension with the best
    cross-validated score of the classifier itself. Each fold fits the projection once, at the
    largest dimension, and the classifier once for each dimension (:func:`dimensions_path`).

    Parameters
    ----------
    estimator : classifier or None, default=None
        A classifier that accepts a label matrix. None is :class:`MLkNN`.
    projection : transformer or None, default=None
        A projection with the parameter ``n_components``. None is :class:`MDDM`.
    dimensions : sequence of int or None, default=None
        The dimensions to compare. None is 1, 2, 4, ... up to the number of features or labels,
        whichever is smaller.
    cv : int, splitter or iterable, default=5
        The folds. An int is a MultilabelStratifiedKFold.
    scoring : str, default="average_precision"
        The name of a metric of ``eigenlabel.metrics``. Losses are minimised.
    verbose : int, default=0
        The verbosity. 0 is silent; 1 shows the progress of the tuning on stderr.
    calibration : {"auto", "sigmoid", "isotonic"} or None, default="auto"
        How scores become the probabilities of ``predict_proba``, see
        :func:`eigenlabel.thresholds.fit_calibration`. The maps are fitted to ``oof_scores_``. With
        None, and for a vector y of a classifier that has ``predict_proba``, the probabilities are
        the classifier's own. A vector y of other classifiers costs one fit more for each fold.

    Attributes
    ----------
    n_components_ : int
        The dimension of ``projection_``: the best one, or the number of directions that the
        projection finds if that is smaller. Of equally good dimensions, and if the score is
        undefined, it is the smallest.
    best_params_ : dict
        The best dimension, ``n_components``.
    path_ : DimensionsPath
        The scores of all dimensions and folds.
    projection_ : transformer
        The projection, fitted to all samples at the best dimension.
    estimator_ : classifier
        The classifier, fitted to all samples at the best dimension.
    oof_scores_ : ndarray of shape (n_samples, n_labels)
        The held-out scores of the best dimension, NaN if a sample was in no test part, a mean if
        it was in several. Only if ``calibration_`` exists.
    calibration_ : Calibration
        The maps from scores to probabilities, if ``calibration`` is not None and the
        probabilities are not the classifier's own.
    classes_ : ndarray
        The names or positions of the labels, or the classes of a vector y.
    n_features_in_ : int
        The number of features of X.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        The names of the features, if X has string names.

    Examples
    --------
    >>> from eigenlabel import ProjectedClassifierCV
    >>> from eigenlabel.datasets import make_shared_subspace
    >>> data = make_shared_subspace(300, n_labels=8, random_state=0)
    >>> model = ProjectedClassifierCV(cv=3).fit(data.X, data.Y)
    >>> model.path_.dimensions.tolist(), model.predict(data.X).shape
    ([1, 2, 4, 8], (300, 8))
    """

    _parameters: ClassVar[Parameters] = {
        "estimator": CheckedBy("check_parts"),
        "projection": CheckedBy("check_parts"),
        "dimensions": CheckedBy("check_dimensions"),
        "cv": CheckedBy("check_folds"),
        "scoring": Choice(*METRICS),
        "verbose": CheckedBy("the progress bar"),
        "calibration": CALIBRATION,
    }

    def __init__(
        self,
        estimator: Any = None,
        projection: Any = None,
        dimensions: Any = None,
        *,
        cv: Any = 5,
        scoring: str = "average_precision",
        verbose: int = 0,
        calibration: str | None = "auto",
    ) -> None:
        self.estimator = estimator
        self.projection = projection
        self.dimensions = dimensions
        self.cv = cv
        self.scoring = scoring
        self.verbose = verbose
        self.calibration = calibration

    @all_or_nothing
    def fit(self, X: Any, y: Any, **fit_params: Any) -> "ProjectedClassifierCV":
        """Choose the dimension, and fit the projection and the classifier.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The samples.
        y : array-like or sparse matrix of shape (n_samples, n_labels), or array-like of classes
            The 0/1 label matrix, a list of label sets, or a vector of classes.
        **fit_params : dict
            The parameters of the classifier's ``fit``. ``sample_weight`` is passed to the
            classifier and to the projection, if their ``fit`` accepts it, and the weights of the
            classifier count in the scoring. ``groups`` is passed to the splitter. With
            scikit-learn's metadata routing the requests decide.

        Returns
        -------
        self : ProjectedClassifierCV
            The fitted classifier.
        """
        check_parameters(self)
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
        wanted = check_dimensions(dimensions)
        keep = codec.multilabel and self.calibration is not None and has_scores(classifier)
        held_out = DimensionScores(
            projection, classifier, X, Y, wanted, self.cv, self.scoring, routed, keep
        )
        result = held_out.search(self.verbose)
        self.path_, self.best_params_ = held_out.path(result), held_out.params[int(result.best)]
        chosen = self.best_params_["n_components"]
        target = Y.astype(int) if codec.multilabel else np.asarray(y).reshape(len(Y))
        self._codec = codec
        widest = clone(projection).set_params(n_components=chosen)
        self.projection_ = fit_projection(widest, X, target, routed.projection.fit)
        Z = embed(self.projection_, X)
        self.estimator_ = clone(classifier).fit(Z, target, **routed.estimator.fit)
        self.n_components_ = self.projection_.n_components_
        self.classes_ = codec.classes
        scores = held_out.oof_scores(int(result.best)) if keep else None
        if not codec.multilabel and not hasattr(classifier, "predict_proba"):
            scores = self._collect_classes(held_out, widest, classifier, target)
        self._calibrate(scores, Y, routed.estimator.fit.get("sample_weight"))
        return self

    def _collect_classes(
        self, held_out: DimensionScores, projection: Any, classifier: Any, target: Any
    ) -> Floats | None:
        """Return the held-out scores of a vector y at the best dimension."""
        if self.calibration is None or not has_scores(classifier):
            return None
        X, routed = held_out.X, held_out.routed
        among = get_tags(projection).input_tags.pairwise

        def score(train: Ints, test: Ints) -> tuple[Any, Any]:
            columns = (slice(None), train) if among else slice(None)
            first = take_rows(X, routed.projection.fit, train)
            part = fit_projection(clone(projection), X[train][columns], target[train], first)
            Z, Z_test = (embed(part, X[rows][columns]) for rows in (train, test))
            then = take_rows(X, routed.estimator.fit, train)
            model = clone(classifier).fit(Z, target[train], **then)
            return model.decision_function(Z_test), model.classes_

        return class_heldout(score, held_out.folds, target, self._codec)

    def _calibrate(self, scores: Floats | None, Y: Bools, weights: Floats | None) -> None:
        """Set or remove ``oof_scores_`` and ``calibration_``."""
        self.__dict__.pop("oof_scores_", None)
        calibration = None
        if scores is not None and self.calibration is not None:
            Y = Y[:, 1:] if self._codec.kind == "binary" and Y.shape[1] == 2 else Y
            self.oof_scores_ = scores
            calibration = fit_probabilities(
                self._codec, scores, Y, weights, method=self.calibration
            )
        store_calibration(self, calibration)

    def _parts(self) -> tuple[Any, Any]:
        """Return the projection and the classifier, or their defaults."""
        projection = requesting_weights(MDDM()) if self.projection is None else self.projection
        classifier = requesting_weights(MLkNN()) if self.estimator is None else self.estimator
        return projection, classifier

    def _route(self, given: dict[str, Any], projection: Any, classifier: Any, n: int) -> Bunch:
        """Return the metadata of the projection, the classifier and the splitter."""
        check_parts(projection, classifier)
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
        """Return the requests of the projection, the classifier and the splitter.

        Returns
        -------
        routing : MetadataRouter
            The requests.
        """
        projection, classifier = self._parts()
        return make_router(self, self.cv, projection=projection, estimator=classifier)

    def _project(self, X: Any) -> Floats:
        check_is_fitted(self)
        return embed(self.projection_, check_data(self, X, reset=False))

    def predict(self, X: Any) -> Any:
        """Predict the label sets, or the classes if y was a vector.

        The result has the form of y: it is sparse if y was sparse, and a list of label sets if y
        was one.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        y_pred : ndarray or sparse matrix of shape (n_samples, n_labels), or ndarray of classes
            The predictions.
        """
        Z = self._project(X)
        decided = self.estimator_.predict(Z)
        if not self._codec.multilabel:
            return decided
        decided = decided[:, None] if decided.ndim == 1 else decided  # a single label
        return self._codec.decode(decided > 0)

    def _scores(self, Z: Floats) -> Floats:
        """Return the scores (n, m) of projected samples."""
        classes = self._codec.classes
        if self._codec.multilabel:
            return scores_matrix(self.estimator_, Z, len(classes))
        return class_scores(self.estimator_.decision_function(Z), self.classes_, classes)

    @available_if(_check_scores)
    def decision_function(self, X: Any) -> Any:
        """Return the scores of the classifier, before any threshold.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        scores : ndarray
            The scores, in the shape that the classifier returns.
        """
        Z = self._project(X)
        return self.estimator_.decision_function(Z)

    @available_if(_check_probabilities)
    def predict_proba(self, X: Any) -> Any:
        """Return the probability of every label, or of every class if y was a vector.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_labels) or (n_samples, n_classes)
            The probabilities of ``calibration_``, which never fall with the score. Without it, the
            probabilities of the classifier, in the shape that it returns.
        """
        Z = self._project(X)
        if not hasattr(self, "calibration_"):
            return self.estimator_.predict_proba(Z)
        return self._codec.shape_probabilities(self.calibration_.probabilities(self._scores(Z)))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        projection = MDDM() if self.projection is None else self.projection
        if hasattr(projection, "__sklearn_tags__"):  # otherwise fit reports what is wrong
            tags.input_tags = get_tags(projection).input_tags
        tags.classifier_tags.multi_label = True
        return tags
