"""A classifier on projected features, at the dimension that is best for the classifier."""

from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils import Bunch, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import (
    check_consistent_length,
    check_is_fitted,
    has_fit_parameter,
)

from eigenlabel.estimators.meta.dimensions import (
    DimensionScores,
    check_dimensions,
    check_parts,
    embed,
    fit_projection,
)
from eigenlabel.estimators.neighbours.mlknn import MLkNN
from eigenlabel.estimators.projection.mddm import MDDM
from eigenlabel.inputs.data import check_data, check_row_weights
from eigenlabel.inputs.fitting import all_or_nothing
from eigenlabel.inputs.parameters import CheckedBy, Choice, Parameters, check_parameters
from eigenlabel.inputs.sklearn_private import routing_enabled
from eigenlabel.labels.codec import LabelCodec
from eigenlabel.linalg._types import Floats
from eigenlabel.metrics import METRICS
from eigenlabel.model_selection.routing import make_router, requesting_weights, route_fit


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


def _delegates(method: str) -> Any:
    """Return a check that raises AttributeError unless the classifier has a method."""

    def check(self: "ProjectedClassifierCV") -> bool:
        default = MLkNN() if self.estimator is None else self.estimator
        getattr(getattr(self, "estimator_", default), method)
        return True

    return check


class ProjectedClassifierCV(
    ClassifierMixin,  # type: ignore[misc]
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
    ) -> None:
        self.estimator = estimator
        self.projection = projection
        self.dimensions = dimensions
        self.cv = cv
        self.scoring = scoring
        self.verbose = verbose

    @all_or_nothing
    def fit(self, X: Any, y: Any, **fit_params: Any) -> "ProjectedClassifierCV":
        """Choose the dimension, and fit the projection and the classifier.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The samples.
        y : array-like or sparse matrix of shape (n_samples, n_labels), or array-like of classes
            The 0/1 label matrix, or a vector of classes.
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
        held_out = DimensionScores(
            projection, classifier, X, Y, wanted, self.cv, self.scoring, routed
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
        return self

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

        The result is sparse if y was sparse.

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

    @available_if(_delegates("decision_function"))  # type: ignore[untyped-decorator]
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

    @available_if(_delegates("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Any:
        """Return the probabilities of the classifier.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        probabilities : ndarray
            The probabilities, in the shape that the classifier returns.
        """
        Z = self._project(X)
        return self.estimator_.predict_proba(Z)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        projection = MDDM() if self.projection is None else self.projection
        if hasattr(projection, "__sklearn_tags__"):  # otherwise fit reports what is wrong
            tags.input_tags = get_tags(projection).input_tags
        tags.classifier_tags.multi_label = True
        return tags
