"""Metadata routing, as scikit-learn tests its own meta-estimators."""

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin, clone
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV
from sklearn.metrics import get_scorer, make_scorer
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, cross_validate
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils.metadata_routing import MetadataRouter, get_routing_for_object

from eigenlabel import (
    MtSDACV,
    OneVsRestSearchCV,
    ProjectedClassifierCV,
    SharedSubspaceClassifier,
    SharedSubspaceClassifierCV,
    ThresholdedClassifier,
)
from eigenlabel.metrics import f1_macro
from eigenlabel.model_selection import (
    MultilabelStratifiedKFold,
    MultilabelStratifiedShuffleSplit,
)

N = 40


@pytest.fixture
def routing():
    with config_context(enable_metadata_routing=True):
        yield


@pytest.fixture
def data(rng):
    X = rng.standard_normal((N, 4))
    Y = (X[:, :3] + 0.5 * rng.standard_normal((N, 3)) > 0).astype(int)
    return X, Y


WEIGHTS = np.linspace(1, 2, N)  # every value once, so that a weight identifies its row
GROUPS = np.arange(N) // 4
MARKS = np.arange(N)  # metadata of another name


class Recorder:
    """Keep what was passed; clones share the list."""

    def __init__(self):
        self.calls = []

    def __deepcopy__(self, memo):
        return self

    def __copy__(self):
        return self


class Consumer(ClassifierMixin, BaseEstimator):
    """A classifier of labels that records the metadata of its fits."""

    def __init__(self, record=None, shift=0.0):
        self.record = record
        self.shift = shift

    def fit(self, X, y, sample_weight=None, marks=None):
        self.record.calls.append({"X": X, "sample_weight": sample_weight, "marks": marks})
        self.classes_ = np.arange(np.shape(y)[1]) if np.ndim(y) == 2 else np.unique(y)
        self.n_labels_ = np.shape(y)[1] if np.ndim(y) == 2 else 1
        self.n_features_in_ = np.shape(X)[1]
        return self

    def decision_function(self, X):
        scores = np.asarray(X)[:, :1] + self.shift + np.zeros(self.n_labels_)
        return scores if self.n_labels_ > 1 else scores[:, 0]

    def predict(self, X):
        return (self.decision_function(X) > 0).astype(int)


class Projection(TransformerMixin, BaseEstimator):
    """A projection that records the metadata of its fits."""

    def __init__(self, record=None, n_components=None):
        self.record = record
        self.n_components = n_components

    def fit(self, X, y=None, sample_weight=None):  # noqa: ARG002
        self.record.calls.append({"X": X, "sample_weight": sample_weight})
        self.n_components_ = self.n_components or X.shape[1]
        return self

    def transform(self, X):
        return X[:, : self.n_components_]


class Splitter(KFold):
    """A splitter that records its metadata."""

    __metadata_request__split = {"groups": None, "marks": None}  # noqa: RUF012

    def __init__(self, record=None):
        super().__init__(2)
        self.record = record

    def split(self, X, y=None, groups=None, marks=None):
        self.record.calls.append({"groups": groups, "marks": marks})
        return super().split(X, y)


def make_meta(kind, estimator, **settings):
    if kind is OneVsRestSearchCV:
        return kind(estimator, {"shift": [0.0, 0.1]}, **settings)
    if kind is ProjectedClassifierCV:
        settings = {"projection": Projection(Recorder()), "dimensions": [2, 3], **settings}
    return kind(estimator, **settings)


routed = pytest.mark.usefixtures("routing")
META = (ThresholdedClassifier, OneVsRestSearchCV, ProjectedClassifierCV)
metas = pytest.mark.parametrize("kind", META)
TUNED = {
    SharedSubspaceClassifierCV: {"alphas": [0.1], "betas": [0.1, 1.0], "n_components": 1},
    MtSDACV: {"l1s": [0.1], "l2s": [1.0]},
}
tuned = pytest.mark.parametrize("kind", TUNED)


def check_rows(record, X, name, values):
    """Check that every fit got the values of its own rows; fits may get a projected X."""
    assert record.calls
    place = {row.tobytes(): i for i, row in enumerate(X)}
    for call in record.calls:
        got = np.asarray(call[name])
        assert got.shape == (len(call["X"]),)
        if call["X"].shape[1] == X.shape[1]:
            rows = [place[row.tobytes()] for row in call["X"]]
            np.testing.assert_array_equal(got, values[rows])


@routed
@metas
def test_sub_estimators_request_nothing_by_default(kind):
    router = get_routing_for_object(make_meta(kind, Consumer(Recorder())))
    assert isinstance(router, MetadataRouter)
    assert router.consumes("fit", ["sample_weight", "marks", "groups"]) == {"groups"}


@routed
@metas
def test_unset_requests_are_an_error(kind, data):
    X, Y = data
    model = make_meta(kind, Consumer(Recorder()), cv=2)
    with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
        model.fit(X, Y, sample_weight=WEIGHTS)
    with pytest.raises(TypeError, match="unexpected argument"):
        model.fit(X, Y, nothing=WEIGHTS)


@routed
@metas
@pytest.mark.parametrize("alias", [True, "importance"])
def test_requested_metadata_reach_every_fit(kind, alias, data):
    X, Y = data
    record = Recorder()
    estimator = Consumer(record).set_fit_request(sample_weight=alias, marks=True)
    model = make_meta(kind, estimator, cv=2)
    if kind is ProjectedClassifierCV:
        model.projection.set_fit_request(sample_weight=alias)
    name = "sample_weight" if alias is True else alias
    model.fit(X, Y, **{name: WEIGHTS}, marks=MARKS)
    check_rows(record, X, "sample_weight", WEIGHTS)
    check_rows(record, X, "marks", MARKS)
    assert len(record.calls) > 2
    if kind is ProjectedClassifierCV:
        check_rows(model.projection.record, X, "sample_weight", WEIGHTS)


@routed
@metas
def test_refused_metadata_do_not_reach_the_estimator(kind, data):
    X, Y = data
    record, splits = Recorder(), Recorder()
    estimator = Consumer(record).set_fit_request(sample_weight=False, marks=False)
    cv = Splitter(splits).set_split_request(groups=True, marks=True)
    model = make_meta(kind, estimator, cv=cv)
    model.fit(X, Y, groups=GROUPS, marks=MARKS)
    assert all(call["marks"] is None for call in record.calls)
    assert splits.calls
    for call in splits.calls:
        np.testing.assert_array_equal(call["groups"], GROUPS)
        np.testing.assert_array_equal(call["marks"], MARKS)


@metas
@pytest.mark.parametrize("enabled", [False, True])
def test_groups_stay_whole_in_folds_of_a_number(kind, enabled, data):
    X, Y = data
    record = Recorder()
    model = make_meta(kind, Consumer(record), cv=3)
    if kind is ProjectedClassifierCV:
        record = model.projection.record
    with config_context(enable_metadata_routing=enabled):
        model.fit(X, Y, groups=GROUPS)
    place = {row.tobytes(): i for i, row in enumerate(X)}
    for call in record.calls:
        counts = np.bincount(GROUPS[[place[row.tobytes()] for row in call["X"]]])
        assert set(counts.tolist()) <= {0, 4}


@metas
def test_weights_reach_every_fit_without_routing(kind, data):
    X, Y = data
    record = Recorder()
    model = make_meta(kind, Consumer(record), cv=2).fit(X, Y, sample_weight=WEIGHTS)
    check_rows(record, X, "sample_weight", WEIGHTS)
    if kind is ProjectedClassifierCV:
        check_rows(model.projection.record, X, "sample_weight", WEIGHTS)


@routed
@metas
def test_group_splitters_work_inside_cross_validate(kind, data):
    X, Y = data
    model = make_meta(kind, Consumer(Recorder()), cv=GroupKFold(2))
    scorer = make_scorer(f1_macro)
    cross_validate(
        model,
        X,
        Y,
        params={"groups": GROUPS},
        cv=GroupKFold(2),
        scoring=scorer,
        error_score="raise",
    )


@routed
def test_weights_reach_all_inner_fits_in_a_grid_search(data):
    X, Y = data
    record = Recorder()
    inner = Consumer(record).set_fit_request(sample_weight=True, marks=False)
    model = ThresholdedClassifier(inner, cv=3)
    scorer = make_scorer(f1_macro).set_score_request(sample_weight=False)
    search = GridSearchCV(model, {"strategy": ["f1", "zero"]}, scoring=scorer, cv=2)
    search.fit(X, Y, sample_weight=WEIGHTS)
    assert len(record.calls) == 20  # five candidates and parts, four fits each
    check_rows(record, X, "sample_weight", WEIGHTS)


@routed
def test_weights_reach_a_classifier_inside_a_pipeline(data):
    X, Y = data
    inner = OneVsRestClassifier(LogisticRegression().set_fit_request(sample_weight=True))
    pipeline = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), inner)
    weights = np.where(np.arange(N) % 2, 0.01, 1.0)
    model = ThresholdedClassifier(pipeline, cv=KFold(2)).fit(X, Y, sample_weight=weights)
    train, test = np.arange(20, N), np.arange(20)
    expected = clone(pipeline).fit(X[train], Y[train], sample_weight=weights[train])
    np.testing.assert_allclose(
        model.oof_scores_[test], expected.decision_function(X[test]), rtol=1e-8
    )


def test_default_estimators_use_weights(data):
    X, Y = data
    weights = np.where(np.arange(N) % 2, 0.01, 1.0)
    expected = [LinearSVC(random_state=0).fit(X, t, sample_weight=weights) for t in Y.T]
    for enabled in (False, True):
        with config_context(enable_metadata_routing=enabled):
            model = OneVsRestSearchCV(param_grid={"C": [1.0]}, cv=2)
            model.fit(X, Y, sample_weight=weights)
        for one, other in zip(model.estimators_, expected, strict=True):
            np.testing.assert_allclose(one.coef_, other.coef_, rtol=1e-8)


def test_weight_zero_leaves_a_sample_out_of_the_search_by_label(data):
    X, Y = data
    weights = np.r_[np.zeros(10), np.full(N - 10, 2.0)]
    folds = [(np.arange(20), np.arange(20, N)), (np.arange(20, N), np.arange(20))]
    model = OneVsRestSearchCV(param_grid={"C": [0.01, 1.0]}, cv=folds)
    model.fit(X, Y, sample_weight=weights)
    less = [(train[train >= 10] - 10, test[test >= 10] - 10) for train, test in folds]
    other = clone(model).set_params(cv=less).fit(X[10:], Y[10:], sample_weight=weights[10:])
    np.testing.assert_allclose(model.best_scores_, other.best_scores_, rtol=1e-8)
    np.testing.assert_allclose(model.decision_function(X), other.decision_function(X), rtol=1e-8)


@pytest.mark.parametrize("scoring", ["f1", "auc", "average_precision"])
def test_weights_count_in_the_scores_by_label(scoring, data):
    X, Y = data
    counts = 1 + np.arange(N) % 3
    folds = [(np.arange(20), np.arange(20, N)), (np.arange(20, N), np.arange(20))]
    rows = np.repeat(np.arange(N), counts)
    repeated = [tuple(np.flatnonzero(np.isin(rows, part)) for part in fold) for fold in folds]
    # Scores of the shift alone, so that repeating a sample changes nothing but its weight.
    model = make_meta(OneVsRestSearchCV, Consumer(Recorder()), cv=folds, scoring=scoring)
    other = clone(model).set_params(cv=repeated).fit(X[rows], Y[rows])
    model.fit(X, Y, sample_weight=counts)
    np.testing.assert_allclose(model.best_scores_, other.best_scores_, rtol=1e-8)


def test_weights_that_no_step_accepts_raise_an_error(data):
    X, Y = data
    with pytest.raises(TypeError, match="fit of MDDM and MLkNN takes none"):
        ProjectedClassifierCV(cv=2).fit(X, Y, sample_weight=WEIGHTS)


@pytest.mark.parametrize("enabled", [False, True])
def test_weights_count_in_the_choice_of_a_dimension(enabled, data):
    X, Y = data
    weights = np.where(np.arange(N) % 2, 0.01, 1.0)
    with config_context(enable_metadata_routing=enabled):
        inner = SharedSubspaceClassifier()
        if enabled:
            inner.set_fit_request(sample_weight=True)
        settings = {"dimensions": [2], "cv": KFold(2), "scoring": "auc_macro"}
        model = ProjectedClassifierCV(inner, Projection(Recorder()), **settings)
        if enabled:
            model.projection.set_fit_request(sample_weight=False)
        model.fit(X, Y, sample_weight=weights)
        plain = clone(model).fit(X, Y)
    assert (model.path_.scores != plain.path_.scores).any()
    seen = [call["sample_weight"] is not None for call in model.projection.record.calls[:3]]
    assert seen == [not enabled] * 3


@routed
@pytest.mark.parametrize("cls", [MultilabelStratifiedKFold, MultilabelStratifiedShuffleSplit])
def test_splitters_request_groups(cls, data):
    X, Y = data
    assert get_routing_for_object(cls()).consumes("split", ["groups"]) == {"groups"}
    off = cls().set_split_request(groups=False)
    assert not get_routing_for_object(off).consumes("split", ["groups"])
    found = cross_validate(
        SharedSubspaceClassifier(),
        X,
        Y,
        params={"groups": GROUPS},
        cv=cls(2),
        scoring=make_scorer(f1_macro),
        return_indices=True,
    )
    for test in found["indices"]["test"]:
        assert set(np.bincount(GROUPS[test]).tolist()) <= {0, 4}
    search = GridSearchCV(
        SharedSubspaceClassifier(), {"beta": [0.1]}, scoring=make_scorer(f1_macro), cv=cls(2)
    )
    search.fit(X, Y, groups=GROUPS)


def scorer_with_record(record):
    def metric(y_true, y_pred, sample_weight=None, marks=None):
        record.calls.append({"n": len(y_true), "sample_weight": sample_weight, "marks": marks})
        return f1_macro(y_true, y_pred)

    return make_scorer(metric)


@routed
@tuned
@pytest.mark.parametrize("wanted", [True, False, "importance"])
def test_scorers_get_what_they_request(kind, wanted, data):
    X, Y = data
    record = Recorder()
    scorer = scorer_with_record(record).set_score_request(sample_weight=wanted, marks=True)
    model = kind(**TUNED[kind], cv=KFold(2), scoring=scorer)
    more = {"importance": 3 * WEIGHTS} if wanted == "importance" else {}
    model.fit(X, Y, sample_weight=WEIGHTS, marks=MARKS, **more)
    assert record.calls
    expected = {True: WEIGHTS, False: None, "importance": 3 * WEIGHTS}[wanted]
    for call in record.calls:
        np.testing.assert_array_equal(call["marks"] % 20, np.arange(call["n"]) % 20)
        if expected is None:
            assert call["sample_weight"] is None
        else:
            np.testing.assert_array_equal(call["sample_weight"], expected[call["marks"]])


def refuses(model, X, y):
    """Return True if fit wants the requests for weights to be set."""
    try:
        model.fit(X, y, sample_weight=WEIGHTS)
    except UnsetMetadataPassedError:
        return True
    return False


@routed
@tuned
@pytest.mark.filterwarnings("ignore::FutureWarning")  # of new defaults in LogisticRegressionCV
def test_scorers_without_requests_are_treated_as_in_scikit_learn(kind, data):
    X, Y = data
    for scoring in (get_scorer("roc_auc"), "roc_auc"):
        model = kind(**TUNED[kind], cv=2, scoring=scoring)
        other = LogisticRegressionCV(Cs=[1.0], cv=2, scoring=scoring)
        assert refuses(model, X, Y) == refuses(other, X, Y[:, 0])


@routed
@tuned
def test_metrics_of_the_library_take_the_weights_of_the_fit(kind, data):
    X, Y = data
    model = kind(**TUNED[kind], cv=2).fit(X, Y, sample_weight=WEIGHTS)
    with config_context(enable_metadata_routing=False):
        other = clone(model).fit(X, Y, sample_weight=WEIGHTS)
    np.testing.assert_allclose(model.best_score_, other.best_score_, rtol=1e-12)
    np.testing.assert_allclose(model.oof_scores_, other.oof_scores_, rtol=1e-12)


@routed
@tuned
def test_tuned_classifiers_route_to_their_splitter(kind, data):
    X, Y = data
    record = Recorder()
    cv = Splitter(record).set_split_request(groups=True, marks=True)
    kind(**TUNED[kind], cv=cv).fit(X, Y, groups=GROUPS, marks=MARKS)
    assert len(record.calls) == 1
    np.testing.assert_array_equal(record.calls[0]["groups"], GROUPS)
    np.testing.assert_array_equal(record.calls[0]["marks"], MARKS)
    with pytest.raises(TypeError, match="unexpected argument"):
        kind(**TUNED[kind], cv=2).fit(X, Y, nothing=MARKS)


@routed
@tuned
def test_tuned_classifiers_inside_cross_validate(kind, data):
    X, Y = data
    model = kind(**TUNED[kind], cv=GroupKFold(2))
    scorer = make_scorer(f1_macro).set_score_request(sample_weight=True)
    params = {"groups": GROUPS, "sample_weight": WEIGHTS}
    with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
        cross_validate(model, X, Y, params=params, cv=GroupKFold(2), scoring=scorer)
    model.set_fit_request(sample_weight=True)
    found = cross_validate(
        model, X, Y, params=params, cv=GroupKFold(2), scoring=scorer, error_score="raise"
    )
    assert np.isfinite(found["test_score"]).all()


@tuned
def test_other_metadata_need_routing(kind, data):
    X, Y = data
    with pytest.raises(TypeError, match="takes no 'marks'"):
        kind(**TUNED[kind], cv=2).fit(X, Y, marks=MARKS)


@tuned
@pytest.mark.parametrize("enabled", [False, True])
def test_classes_are_split_by_groups_too(kind, enabled, data):
    X, Y = data
    with config_context(enable_metadata_routing=enabled):
        model = kind(**TUNED[kind], cv=2).fit(X, Y[:, 0], groups=GROUPS)
        splits = list(MultilabelStratifiedKFold(2).split(X, Y[:, 0], GROUPS))
        other = clone(model).set_params(cv=splits).fit(X, Y[:, 0])
    np.testing.assert_allclose(model.oof_scores_, other.oof_scores_, rtol=1e-10)


@routed
def test_a_stream_respects_the_request_of_its_scorer(data):
    X, Y = data
    for wanted in (True, False):
        record = Recorder()
        scorer = scorer_with_record(record).set_score_request(sample_weight=wanted, marks=False)
        settings = TUNED[SharedSubspaceClassifierCV]
        model = SharedSubspaceClassifierCV(**settings, cv=2, scoring=scorer)
        model.partial_fit(X, Y, sample_weight=WEIGHTS)
        model.predict(X)
        assert record.calls
        assert all((call["sample_weight"] is not None) == wanted for call in record.calls)


def test_precomputed_kernels_of_one_label_are_split_by_columns(data):
    X, Y = data
    K = X @ X.T
    kernel = SharedSubspaceClassifier(kernel="precomputed")
    model = ThresholdedClassifier(kernel, cv=KFold(2)).fit(K, Y[:, :1])
    linear = ThresholdedClassifier(SharedSubspaceClassifier(), cv=KFold(2)).fit(X, Y[:, :1])
    np.testing.assert_allclose(model.oof_scores_, linear.oof_scores_, rtol=1e-7, atol=1e-10)
