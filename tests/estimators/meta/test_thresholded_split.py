"""Rules that are fitted to samples kept aside: what sees them, and the bounds that hold exactly."""

import numpy as np
import pytest
import scipy.sparse as sp
from joblib import parallel_config
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import ClassifierChain
from sklearn.pipeline import make_pipeline

from eigenlabel import SharedSubspaceClassifier, SharedSubspaceClassifierCV, ThresholdedClassifier
from eigenlabel.datasets import make_shared_subspace
from eigenlabel.persistence import SavedModel, load_model, save_model
from eigenlabel.thresholds import PerLabelF1, RiskControl, fit_calibration


class LeastSquares(ClassifierMixin, BaseEstimator):
    """Least squares with the logistic function of scores: quick, and it overfits."""

    def fit(self, X, Y):
        self.classes_ = np.arange(Y.shape[1])
        self.n_seen_ = len(X)
        self.coef_ = np.linalg.lstsq(X, Y, rcond=None)[0]
        return self

    def predict_proba(self, X):
        return expit(8 * (X @ self.coef_))


@pytest.fixture(scope="module")
def data():
    return make_shared_subspace(200, 10, 5, prevalence=0.3, random_state=0)


@pytest.mark.parametrize("calibration", [None, "sigmoid"])
def test_neither_the_classifier_nor_the_calibration_sees_what_is_kept_aside(data, calibration):
    inner = SharedSubspaceClassifier(calibration="sigmoid")
    model = ThresholdedClassifier(
        inner,
        strategy=RiskControl(recall=0.8),
        calibration=calibration,
        cv=3,
        split=0.25,
        random_state=1,
    ).fit(data.X, data.Y)
    aside = model.aside_
    rest = np.setdiff1d(np.arange(200), aside)
    assert len(aside) == 50
    own = SharedSubspaceClassifier(calibration="sigmoid").fit(data.X[rest], data.Y[rest])
    np.testing.assert_array_equal(model.estimator_.coef_, own.coef_)
    if calibration is None:
        P = own.predict_proba
        assert not hasattr(model, "oof_scores_")
        assert not hasattr(model, "calibration_")
    else:
        oof = ThresholdedClassifier(inner, cv=3).fit(data.X[rest], data.Y[rest]).oof_scores_
        np.testing.assert_array_equal(model.oof_scores_[rest], oof)
        assert np.isnan(model.oof_scores_[aside]).all()
        maps = fit_calibration(oof, data.Y[rest], method="sigmoid")

        def P(X):
            return maps.probabilities(own.decision_function(X))

    rule = RiskControl(recall=0.8)
    cuts = rule.fit(P(data.X[aside]), data.Y[aside])
    np.testing.assert_allclose(model.thresholds_, cuts, rtol=1e-10)
    np.testing.assert_allclose(model.predict_proba(data.X), P(data.X), rtol=1e-10)
    np.testing.assert_array_equal(model.predict(data.X), rule.decide(P(data.X), cuts))


def test_rules_on_scores_use_the_scores_of_the_samples_kept_aside(data):
    model = ThresholdedClassifier(
        RidgeClassifier(), strategy="f1", calibration=None, split=0.5, random_state=0
    ).fit(data.X, data.Y)
    aside, rest = model.aside_, np.setdiff1d(np.arange(200), model.aside_)
    own = RidgeClassifier().fit(data.X[rest], data.Y[rest])
    scores = own.decision_function(data.X[aside])
    np.testing.assert_array_equal(model.thresholds_, PerLabelF1().fit(scores, data.Y[aside]))


def test_the_seed_decides_which_samples_are_kept_aside(data):
    def kept(seed):
        model = ThresholdedClassifier(
            RidgeClassifier(), calibration=None, split=0.1, random_state=seed
        )
        return model.fit(data.X, data.Y).aside_

    np.testing.assert_array_equal(kept(0), kept(0))
    assert set(kept(0)) != set(kept(1))
    assert (np.diff(kept(0)) > 0).all()


def simulate(rule, rng, n=60, d=15, m=4, new=400, noise=1, **settings):
    """Fit to samples of a drawn model, and return labels and predictions of new ones."""
    W = rng.standard_normal((d, m))
    X = rng.standard_normal((n + new, d))
    Y = (X @ W + noise * np.sqrt(d) * rng.standard_normal((n + new, m)) > 1).astype(int)
    model = ThresholdedClassifier(
        LeastSquares(), strategy=rule, calibration=None, random_state=0, **settings
    )
    model.fit(X[:n], Y[:n])
    return Y[n:], model.predict(X[n:])


def recalls(Y, found):
    size = Y.sum(axis=1)
    return np.where(size > 0, (Y & found).sum(axis=1) / np.maximum(size, 1), 1.0).mean()


def false_discoveries(Y, found):
    return ((found & (1 - Y)).sum(axis=1) / np.maximum(found.sum(axis=1), 1)).mean()


def test_expected_recall_keeps_its_bound_in_a_thousand_draws(rng):
    rule = RiskControl(recall=0.8)
    kept = np.array([recalls(*simulate(rule, rng, split=1 / 3)) for _ in range(1000)])
    # The mean over draws is at least the bound, and a few label sets of 21 above it at most.
    error = kept.std(ddof=1) / np.sqrt(1000)
    assert 0.8 - 3 * error <= kept.mean() <= 0.8 + 3 / 21 + 3 * error
    seen = [recalls(*simulate(rule, rng, cv=None)) for _ in range(200)]
    assert np.mean(seen) < 0.8 - 3 * error  # training scores break it: the test has power


@pytest.mark.filterwarnings("ignore:No cut keeps")
@pytest.mark.parametrize("draws", [200, pytest.param(1000, marks=pytest.mark.slow)])
def test_false_discoveries_keep_their_bound_with_confidence(rng, draws):
    rule = RiskControl(false_discovery=0.35, confidence=0.8)
    settings = {"n": 120, "d": 50, "new": 500, "noise": 2}
    found = [false_discoveries(*simulate(rule, rng, **settings, split=0.5)) for _ in range(draws)]
    assert np.mean(np.array(found) > 0.35) <= 0.2 + 3 * np.sqrt(0.2 * 0.8 / draws)
    assert np.mean(found) > 0.05  # labels are predicted
    seen = [false_discoveries(*simulate(rule, rng, **settings, cv=None)) for _ in range(20)]
    assert np.mean(np.array(seen) > 0.35) > 0.5  # training scores break it: the test has power


def test_own_probabilities_are_cross_validated_without_a_split(data):
    inner = OneVsRestClassifier(LogisticRegression())
    rule = RiskControl(recall=0.8)
    model = ThresholdedClassifier(inner, strategy=rule, calibration=None).fit(data.X, data.Y)
    assert ((model.oof_scores_ >= 0) & (model.oof_scores_ <= 1)).all()
    np.testing.assert_array_equal(model.thresholds_, rule.fit(model.oof_scores_, data.Y))
    P = model.predict_proba(data.X)
    expected = inner.fit(data.X, data.Y).predict_proba(data.X)
    np.testing.assert_allclose(P, expected, rtol=1e-9)  # sums in another order with more threads
    np.testing.assert_array_equal(model.predict(data.X), model.thresholds_ < P)


def test_pipelines_do_not_see_the_words_of_samples_kept_aside(data):
    texts = [f"common {'abc'[i % 3]} only{i}" for i in range(200)]
    inner = make_pipeline(TfidfVectorizer(), SharedSubspaceClassifierCV(n_components=1))
    model = ThresholdedClassifier(
        inner, strategy=RiskControl(recall=0.9), calibration=None, split=0.3, random_state=0
    ).fit(texts, data.Y)
    words = model.estimator_[0].vocabulary_
    assert not any(f"only{i}" in words for i in model.aside_)
    assert "only" + str(np.setdiff1d(np.arange(200), model.aside_)[0]) in words


def test_weights_and_labels_that_are_not_observed_reach_both_parts(data, rng):
    Y = data.Y.astype(float)
    Y[rng.random(Y.shape) < 0.2] = np.nan
    weights = np.repeat([0.0, 1.0], [40, 160])
    rule = RiskControl(recall=0.8)
    model = ThresholdedClassifier(
        SharedSubspaceClassifier(), strategy=rule, calibration="sigmoid", split=0.3, random_state=0
    ).fit(data.X, Y, sample_weight=weights)
    aside, rest = model.aside_, np.setdiff1d(np.arange(200), model.aside_)
    own = SharedSubspaceClassifier().fit(data.X[rest], Y[rest], weights[rest])
    np.testing.assert_array_equal(model.estimator_.coef_, own.coef_)
    P = model.predict_proba(data.X[aside])
    cuts = rule.fit(P, Y[aside], weights[aside])
    np.testing.assert_allclose(model.thresholds_, cuts, rtol=1e-10)


def test_labels_that_are_not_observed_have_held_out_scores(data, rng):
    Y = data.Y.astype(float)
    Y[rng.random(Y.shape) < 0.2] = np.nan
    model = ThresholdedClassifier(SharedSubspaceClassifier(), strategy="f1").fit(data.X, Y)
    np.testing.assert_array_equal(model.thresholds_, PerLabelF1().fit(model.oof_scores_, Y))
    P = fit_calibration(model.oof_scores_, Y).probabilities(model.decision_function(data.X))
    np.testing.assert_allclose(model.predict_proba(data.X), P, rtol=1e-10)
    message = r"y contains NaN, at \[\d+, \d\], .* RidgeClassifier was not fitted to it"
    with pytest.raises(ValueError, match=message):
        ThresholdedClassifier(RidgeClassifier()).fit(data.X, Y)


def test_chains_of_classifiers_have_held_out_scores(data):
    inner = ClassifierChain(LogisticRegression())
    model = ThresholdedClassifier(inner, strategy="f1", cv=4).fit(data.X, data.Y)
    assert np.isfinite(model.oof_scores_).all()
    with parallel_config("threading"):
        both = ThresholdedClassifier(inner, strategy="f1", cv=4, n_jobs=2).fit(data.X, data.Y)
    np.testing.assert_array_equal(both.thresholds_, model.thresholds_)


def test_groups_are_kept_together(data):
    groups = np.arange(200) // 4
    model = ThresholdedClassifier(RidgeClassifier(), split=0.3, random_state=0)
    model.fit(data.X, data.Y, groups=groups)
    assert len(model.aside_) == 60
    rest = np.setdiff1d(np.arange(200), model.aside_)
    assert not set(groups[model.aside_]) & set(groups[rest])


def test_kernel_matrices_keep_the_columns_of_the_samples_fitted_to(data):
    K = data.X @ data.X.T
    settings = {"strategy": RiskControl(recall=0.8), "split": 0.3, "random_state": 0, "cv": 3}
    model = ThresholdedClassifier(SharedSubspaceClassifier(kernel="precomputed"), **settings)
    model.fit(K, data.Y)
    rest = np.setdiff1d(np.arange(200), model.aside_)
    plain = ThresholdedClassifier(SharedSubspaceClassifier(), **settings).fit(data.X, data.Y)
    np.testing.assert_array_equal(model.predict(K[:, rest]), plain.predict(data.X))


def test_sparse_labels_vectors_and_saved_models(data, tmp_path):
    settings = {"strategy": RiskControl(recall=0.8), "split": 0.3, "random_state": 0, "cv": 3}
    model = ThresholdedClassifier(SharedSubspaceClassifier(), **settings).fit(
        data.X, sp.csr_array(data.Y)
    )
    found = model.predict(data.X)
    assert sp.issparse(found)
    names = np.array([f"x{j}" for j in range(10)]), np.array([f"y{j}" for j in range(5)])
    save_model(SavedModel(model, *names), tmp_path / "model.skops")
    loaded = load_model(tmp_path / "model.skops").model
    np.testing.assert_array_equal(loaded.predict(data.X).toarray(), found.toarray())
    np.testing.assert_array_equal(loaded.aside_, model.aside_)
    model.fit(data.X, data.Y[:, 0])  # no rule decides on classes
    assert not hasattr(model, "aside_")
    assert not hasattr(model, "thresholds_")


@pytest.mark.parametrize("share", [0, 1.5, "a", True])
def test_shares_are_between_zero_and_one(data, share):
    with pytest.raises((ValueError, TypeError), match="split must be a number between 0"):
        ThresholdedClassifier(RidgeClassifier(), split=share).fit(data.X, data.Y)


def test_parts_without_samples_and_samples_without_labels_raise_an_error(data):
    model = ThresholdedClassifier(RidgeClassifier(), split=0.999)
    with pytest.raises(ValueError, match="keeps 200 of 200 samples aside"):
        model.fit(data.X, data.Y)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.set_params(split=0.3).fit(data.X, data.Y[:150])
    rule = RiskControl(recall=0.8)
    with pytest.raises(ValueError, match="which calibration=None leaves out"):
        ThresholdedClassifier(RidgeClassifier(), strategy=rule, calibration=None, split=0.3).fit(
            data.X, data.Y
        )


def test_folds_that_test_a_sample_twice_raise_an_error(data):
    half = np.arange(200) < 100
    cv = [(half, ~half), (~half, half)]  # masks, as scikit-learn accepts them
    model = ThresholdedClassifier(RidgeClassifier(), cv=cv).fit(data.X, data.Y)
    one = RidgeClassifier().fit(data.X[half], data.Y[half]).decision_function(data.X[~half])
    np.testing.assert_array_equal(model.oof_scores_[~half], one)
    with pytest.raises(ValueError, match="tests sample 0 2 times"):
        ThresholdedClassifier(RidgeClassifier(), cv=[*cv, cv[1]]).fit(data.X, data.Y)
