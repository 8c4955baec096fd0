import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV, KFold, cross_val_predict
from sklearn.multiclass import OneVsRestClassifier
from sklearn.utils.parallel import Parallel

from eigenlabel import SharedSubspaceClassifier, ThresholdedClassifier, metrics
from eigenlabel.datasets import make_shared_subspace
from eigenlabel.estimators import heldout_by_refitting
from eigenlabel.labels.codec import LabelCodec
from eigenlabel.model_selection import MultilabelStratifiedKFold
from eigenlabel.model_selection.classifier_scores import scores_matrix
from eigenlabel.thresholds import Mixed, PerLabelF1, Top, fit_calibration
from eigenlabel.thresholds.calibration import fit_probabilities


@pytest.fixture(scope="module")
def data():
    return make_shared_subspace(150, 10, 5, prevalence=0.3, random_state=0)


def test_thresholds_come_from_held_out_scores(data):
    inner = SharedSubspaceClassifier()
    model = ThresholdedClassifier(inner, strategy="f1", cv=KFold(3)).fit(data.X, data.Y)
    scores = cross_val_predict(inner, data.X, data.Y, cv=KFold(3), method="decision_function")
    np.testing.assert_allclose(model.oof_scores_, scores, atol=1e-12)
    np.testing.assert_allclose(model.thresholds_, PerLabelF1().fit(scores, data.Y), atol=1e-12)
    fitted = inner.fit(data.X, data.Y).decision_function(data.X)
    np.testing.assert_array_equal(model.predict(data.X), fitted > model.thresholds_)
    np.testing.assert_array_equal(model.decision_function(data.X), fitted)


def test_an_int_is_a_stratified_split(data):
    by_int = ThresholdedClassifier(SharedSubspaceClassifier(), cv=4).fit(data.X, data.Y)
    by_name = ThresholdedClassifier(SharedSubspaceClassifier(), cv=MultilabelStratifiedKFold(4))
    np.testing.assert_array_equal(by_int.thresholds_, by_name.fit(data.X, data.Y).thresholds_)


def test_training_scores_on_request(data):
    model = ThresholdedClassifier(SharedSubspaceClassifier(), cv=None).fit(data.X, data.Y)
    scores = SharedSubspaceClassifier().fit(data.X, data.Y).decision_function(data.X)
    np.testing.assert_array_equal(model.oof_scores_, scores)


@pytest.mark.parametrize(
    "inner",
    [
        OneVsRestClassifier(LogisticRegression()),
        RandomForestClassifier(20, random_state=0),
        RidgeClassifier(),
    ],
    ids=lambda e: type(e).__name__,
)
def test_any_scoring_classifier_gains(inner, data):
    train, test = slice(100), slice(100, 150)
    plain = inner.fit(data.X[train], data.Y[train]).predict(data.X[test])
    model = ThresholdedClassifier(inner).fit(data.X[train], data.Y[train])
    assert metrics.f1_macro(data.Y[test], model.predict(data.X[test])) > metrics.f1_macro(
        data.Y[test], plain
    )
    calibration = fit_calibration(model.oof_scores_, data.Y[train])
    scores = scores_matrix(model.estimator_, data.X[test], 5)
    P = model.predict_proba(data.X[test])
    np.testing.assert_allclose(P, calibration.probabilities(scores), rtol=1e-10)
    model.set_params(calibration=None)
    assert hasattr(clone(model), "predict_proba") == hasattr(inner, "predict_proba")


def test_zero_means_one_half_for_probabilities(data):
    inner = RandomForestClassifier(20, random_state=0)
    model = ThresholdedClassifier(inner, strategy="zero").fit(data.X, data.Y)
    np.testing.assert_array_equal(model.thresholds_, [0.5] * 5)
    assert not hasattr(clone(model), "decision_function")
    scores = model.decision_function(data.X)  # what thresholds refer to
    np.testing.assert_array_equal(scores, scores_matrix(model.estimator_, data.X, 5))
    np.testing.assert_array_equal(model.predict(data.X), scores > 0.5)
    model.fit(data.X, data.Y[:, 0])
    with pytest.raises(AttributeError, match="RandomForestClassifier has no decision_function"):
        model.decision_function(data.X)


def test_vectors_are_left_to_the_classifier(data):
    y = data.Y[:, 0]
    model = ThresholdedClassifier(LogisticRegression()).fit(data.X, y)
    expected = LogisticRegression().fit(data.X, y).predict(data.X)
    np.testing.assert_array_equal(model.predict(data.X), expected)
    assert not hasattr(model, "thresholds_")
    assert not hasattr(model, "calibration_")
    own = LogisticRegression().fit(data.X, y).predict_proba(data.X)
    np.testing.assert_array_equal(model.predict_proba(data.X), own)


def test_grid_search_over_rules(data):
    search = GridSearchCV(
        ThresholdedClassifier(SharedSubspaceClassifier(), cv=3),
        {"strategy": ["zero", Mixed(0.5)], "estimator__beta": [1e-3, 1e-1]},
        scoring="f1_macro",
        cv=3,
    ).fit(data.X, data.Y)
    assert search.best_params_["strategy"] == Mixed(0.5)


def test_sparse_labels_with_weights_have_the_same_predictions(data):
    w = np.linspace(1, 2, 150)
    model = ThresholdedClassifier(SharedSubspaceClassifier())
    dense = model.fit(data.X, data.Y, sample_weight=w).predict(data.X)
    sparse = model.fit(data.X, sp.csr_array(data.Y), sample_weight=w).predict(data.X)
    assert sp.issparse(sparse)
    np.testing.assert_array_equal(sparse.toarray(), dense)


def test_classifiers_without_scores_raise_an_error(data):
    with pytest.raises(ValueError, match="Unknown threshold rule"):
        ThresholdedClassifier(RidgeClassifier(), strategy="no").fit(data.X, data.Y)

    class Silent(SharedSubspaceClassifier):
        decision_function = property()

    with pytest.raises(TypeError, match="Silent has neither decision_function nor predict_proba"):
        ThresholdedClassifier(Silent()).fit(data.X, data.Y)


@pytest.mark.parametrize("cv", [None, 3])
def test_a_label_that_never_occurs_is_predicted_for_nobody(data, cv):
    Y = data.Y.copy()
    Y[:, 0], Y[:, 1] = 0, 1
    model = ThresholdedClassifier(RandomForestClassifier(3, random_state=0), cv=cv).fit(data.X, Y)
    np.testing.assert_array_equal(model.oof_scores_[:, :2], Y[:, :2])
    np.testing.assert_array_equal(model.predict(data.X)[:, :2], Y[:, :2])


def test_weights_reach_the_folds_and_the_thresholds(data):
    w = np.where(np.arange(150) % 2, 0.1, 10.0)
    model = ThresholdedClassifier(SharedSubspaceClassifier(), strategy="f1", cv=KFold(3))
    model.fit(data.X, data.Y, sample_weight=w.tolist())
    for train, test in KFold(3).split(data.X):
        part = SharedSubspaceClassifier().fit(data.X[train], data.Y[train], w[train])
        expected = part.decision_function(data.X[test])
        np.testing.assert_allclose(model.oof_scores_[test], expected, atol=1e-12)
    expected = PerLabelF1().fit(model.oof_scores_, data.Y, w)
    assert (expected != PerLabelF1().fit(model.oof_scores_, data.Y)).any()
    np.testing.assert_array_equal(model.thresholds_, expected)


def test_one_label_may_have_flat_scores(data):
    class Flat(SharedSubspaceClassifier):
        def decision_function(self, X):
            return super().decision_function(X)[:, 0]

    model = ThresholdedClassifier(Flat(), strategy="f1").fit(data.X, data.Y[:, :1])
    assert model.oof_scores_.shape == model.predict(data.X).shape == data.Y[:, :1].shape


def test_the_fitted_rule_decides(data):
    model = ThresholdedClassifier(SharedSubspaceClassifier(), strategy=Top(3)).fit(data.X, data.Y)
    before = model.predict(data.X)
    np.testing.assert_array_equal(model.set_params(strategy="mixed").predict(data.X), before)
    model.fit(data.X, data.Y[:, 0])
    assert not hasattr(model, "thresholds_")


def test_sparse_labels_reach_classifiers_that_want_them_dense(data):
    inner = RandomForestClassifier(5, random_state=0)
    model = ThresholdedClassifier(inner, cv=3).fit(data.X, sp.csr_array(data.Y))
    assert sp.issparse(model.predict(data.X))


def test_many_labels_in_int8_keep_their_columns(rng):
    # scikit-learn numbers the columns of a label matrix in its own dtype: 130 overflow int8.
    X = rng.standard_normal((60, 130))
    Y = (X > 1).astype(np.int8)
    Y[0], Y[1] = 0, 1
    plain = OneVsRestClassifier(LogisticRegression())
    model = ThresholdedClassifier(plain, cv=None).fit(X, Y)
    expected = plain.fit(X, Y.astype(int)).decision_function(X)
    # Two fits and products may sum in another order, depending on threads.
    np.testing.assert_allclose(model.decision_function(X), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("cv", [3, None])
@pytest.mark.parametrize(
    "inner",
    [
        OneVsRestClassifier(LogisticRegression()),
        RandomForestClassifier(10, random_state=0),
        SharedSubspaceClassifier(),
    ],
    ids=lambda m: type(m).__name__,
)
@pytest.mark.filterwarnings("ignore:A column-vector y")  # of scikit-learn's forests
def test_a_matrix_of_one_label_is_one_label(inner, cv):
    data = make_shared_subspace(90, 6, 3, 2, prevalence=0.3, random_state=0)
    Y = data.Y[:, :1]
    model = ThresholdedClassifier(inner, strategy="f1", cv=cv).fit(data.X, Y)
    assert model.oof_scores_.shape == (90, 1)
    assert model.predict(data.X).shape == (90, 1)
    assert metrics.f1_micro(Y, model.predict(data.X)) > 0.8
    if cv:
        folds = MultilabelStratifiedKFold(cv)
        train, test = next(iter(folds.split(data.X, Y)))
        part = clone(inner).fit(data.X[train], Y[train, 0])
        if hasattr(part, "decision_function"):
            expected = part.decision_function(data.X[test])
        else:
            expected = part.predict_proba(data.X[test])[:, 1]
        np.testing.assert_allclose(model.oof_scores_[test, 0], expected)


def test_one_label_weighs_samples_in_every_fold():
    data = make_shared_subspace(60, 4, 3, 2, prevalence=0.3, noise=1.0, random_state=0)
    Y, weights = data.Y[:, :1], np.where(np.arange(60) < 30, 1.0, 0.1)
    model = ThresholdedClassifier(SharedSubspaceClassifier(0.0, 0.1), cv=KFold(3))
    model.fit(data.X, Y, sample_weight=weights)
    part = SharedSubspaceClassifier(0.0, 0.1).fit(data.X[20:], Y[20:], sample_weight=weights[20:])
    np.testing.assert_allclose(model.oof_scores_[:20], part.decision_function(data.X[:20]))


def test_folds_that_leave_samples_out_and_empty_folds_raise_an_error():
    data = make_shared_subspace(60, 4, 3, 2, prevalence=0.3, random_state=0)
    some = [(np.arange(30), np.arange(30, 50))]
    with pytest.raises(ValueError, match="cover all samples"):
        ThresholdedClassifier(SharedSubspaceClassifier(), cv=some).fit(data.X, data.Y[:, :1])
    for Y in (data.Y, data.Y[:, :1]):
        with pytest.raises(ValueError, match="cv is empty"):
            ThresholdedClassifier(SharedSubspaceClassifier(), cv=[]).fit(data.X, Y)


def test_a_label_that_was_constant_has_its_answer():
    data = make_shared_subspace(60, 4, 3, 2, prevalence=0.3, random_state=0)
    Y = np.column_stack([data.Y, np.zeros(60, int), np.ones(60, int)])
    model = ThresholdedClassifier(RandomForestClassifier(5, random_state=0), cv=None)
    model.fit(data.X, Y)
    np.testing.assert_array_equal(model.oof_scores_[:, 3:], np.tile([0.0, 1.0], (60, 1)))


@pytest.mark.parametrize("classes", [2, 3])
def test_vectors_of_a_classifier_without_probabilities_are_held_out(classes, data, rng):
    y = data.Y[:, 0] + (data.Y[:, 1] if classes == 3 else 0)
    w = rng.integers(1, 4, 150).astype(float)
    cv = KFold(3, shuffle=True, random_state=0)
    model = ThresholdedClassifier(RidgeClassifier(), cv=cv).fit(data.X, y, sample_weight=w)
    expected = np.zeros((150, 1 if classes == 2 else 3))
    for train, test in cv.split(data.X):
        part = RidgeClassifier().fit(data.X[train], y[train], sample_weight=w[train])
        expected[test] = part.decision_function(data.X[test]).reshape(len(test), -1)
    np.testing.assert_allclose(model.oof_scores_, expected, rtol=1e-10)
    codec, Y = LabelCodec.fit(y)
    calibration = fit_probabilities(codec, expected, Y, w)
    scores = model.decision_function(data.X).reshape(150, -1)
    wanted = codec.shape_probabilities(calibration.probabilities(scores))
    P = model.predict_proba(data.X)
    np.testing.assert_allclose(P, wanted, rtol=1e-10)
    np.testing.assert_array_equal(P.argmax(axis=1), model.predict(data.X))
    model.set_params(cv=None).fit(data.X, y)
    np.testing.assert_array_equal(
        model.oof_scores_, model.decision_function(data.X).reshape(150, -1)
    )
    model.set_params(cv=3).fit(data.X[:3], [0, 1, 1])
    assert np.isnan(model.oof_scores_[0, 0])  # the other two are of one class
    with pytest.raises(ValueError, match="n_samples = 1"):
        model.fit(data.X[:1], [0])


def test_many_labels_have_the_probabilities_of_the_classifier(data, monkeypatch):
    monkeypatch.setattr("eigenlabel.estimators.meta.thresholded.MANY", 5)
    monkeypatch.setattr("eigenlabel.estimators.subspace.many_labels.MANY", 5)
    Y = sp.csr_array(data.Y)
    inner = SharedSubspaceClassifier(np.inf, 0.1, 2, calibration="auto")
    model = ThresholdedClassifier(inner, strategy=Top(2)).fit(data.X, Y)
    assert not hasattr(model, "oof_scores_")
    np.testing.assert_array_equal(
        model.predict_proba(data.X), model.estimator_.predict_proba(data.X)
    )
    model.set_params(estimator__calibration=None).fit(data.X, Y)
    with pytest.raises(AttributeError, match=r"SharedSubspaceClassifier\(calibration='auto'\)"):
        model.predict_proba(data.X)


class CountsFits(RidgeClassifier):
    """A classifier that counts the fits of all its clones."""

    fits = 0

    def fit(self, X, y, sample_weight=None):
        type(self).fits += 1
        return super().fit(X, y, sample_weight)


class OnlyPredicts(ClassifierMixin, BaseEstimator):
    """A classifier without scores."""

    def fit(self, X, y):  # noqa: ARG002
        self.classes_, self.shape_ = np.unique(y), np.shape(y)[1:]
        return self

    def predict(self, X):
        return np.full((len(X), *self.shape_), self.classes_[0])


@pytest.fixture
def counting(monkeypatch):
    monkeypatch.setattr(CountsFits, "fits", 0)
    return CountsFits()


def test_names_of_an_earlier_fit_are_forgotten(data):
    pd = pytest.importorskip("pandas")
    names = [f"x{j}" for j in range(10)]
    model = ThresholdedClassifier(RidgeClassifier(), cv=None)
    model.fit(pd.DataFrame(data.X, columns=names), data.Y)
    assert model.feature_names_in_.tolist() == names
    model.fit(data.X, data.Y)
    assert not hasattr(model, "feature_names_in_")
    assert model.n_features_in_ == 10
    assert not hasattr(model.set_params(estimator=Inner()).fit(data.X, data.Y), "n_features_in_")


class Inner(OnlyPredicts):
    """A classifier that does not know the number of its features."""

    def decision_function(self, X):
        return np.zeros((len(X), *self.shape_))


def test_rules_on_probabilities_are_refused_before_any_fit(counting, data):
    model = ThresholdedClassifier(counting, strategy="expected_f1", calibration=None)
    with pytest.raises(ValueError, match="calibration=None leaves out"):
        model.fit(data.X, data.Y)
    assert CountsFits.fits == 0


@pytest.mark.parametrize("strategy", ["zero", Top(2)])
def test_rules_without_scores_hold_nothing_out(strategy, counting, data, rng):
    Y = data.Y.astype(float)
    model = ThresholdedClassifier(counting, strategy=strategy, calibration=None, cv=3)
    model.fit(data.X, Y)
    assert CountsFits.fits == 1
    assert not hasattr(model, "oof_scores_")
    expected = ThresholdedClassifier(RidgeClassifier(), strategy=strategy, cv=3).fit(data.X, Y)
    assert expected.oof_scores_.shape == Y.shape
    np.testing.assert_array_equal(model.predict(data.X), expected.predict(data.X))
    Y[:, 1] = np.nan  # never observed
    Y[rng.permutation(150)[:5], 0] = np.nan
    subspace = SharedSubspaceClassifier()
    model = ThresholdedClassifier(subspace, strategy=strategy, calibration=None).fit(data.X, Y)
    assert not model.predict(data.X)[:, 1].any()


def test_vectors_need_scores_or_no_calibration(data):
    model, y = ThresholdedClassifier(OnlyPredicts()), data.Y[:, 0]
    with pytest.raises(TypeError, match=r"OnlyPredicts has neither .* Pass calibration=None"):
        model.fit(data.X, y)
    np.testing.assert_array_equal(model.set_params(calibration=None).fit(data.X, y).predict(y), 0)


@pytest.mark.parametrize("vector", [True, False])
def test_folds_are_checked_alike_for_vectors_and_matrices(vector, data):
    X, y = data.X[:40], data.Y[:40, 0] if vector else data.Y[:40]
    rows = np.arange(40)
    model = ThresholdedClassifier(RidgeClassifier())
    with pytest.raises(ValueError, match="5 folds need at least 5 samples, got 4"):
        model.fit(X[:4], y[:4])
    with pytest.raises(ValueError, match=r"leaves sample 30 .* cover all samples"):
        model.set_params(cv=[(rows[20:], rows[:20]), (rows[:20], rows[20:30])]).fit(X, y)
    with pytest.raises(ValueError, match=r"tests sample 10 2 times"):
        model.set_params(cv=[(rows[20:], rows[:20]), (rows[:10], rows[10:])]).fit(X, y)


@pytest.mark.parametrize("kind", ["vector", "one label", "matrix"])
def test_folds_are_fitted_in_parallel(kind, data, monkeypatch):
    y = {"vector": data.Y[:, 0], "one label": data.Y[:, :1], "matrix": data.Y}[kind]
    asked = []

    class Recording(Parallel):
        def __init__(self, n_jobs=None):
            asked.append(n_jobs)
            super().__init__(n_jobs=1)

    monkeypatch.setattr(heldout_by_refitting, "Parallel", Recording)
    inner = SharedSubspaceClassifier(calibration=None)
    ThresholdedClassifier(inner, n_jobs=2, cv=2).fit(data.X, y)
    assert asked == [2]


def test_estimators_that_have_a_length_are_asked_for_probabilities(data):
    forest = RandomForestClassifier(3, random_state=0).fit(data.X, data.Y[:, 0])
    forest.estimators_ = []  # its length is zero, so that it is false
    model = ThresholdedClassifier(RidgeClassifier(), calibration=None)
    model.estimator_ = forest
    assert hasattr(model, "predict_proba")
