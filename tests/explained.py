"""Models that can be explained, and what must hold for the explanation of any of them."""

import numpy as np
from scipy.special import logit
from sklearn import decomposition
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression, RidgeClassifier, SGDClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, Normalizer, StandardScaler
from sklearn.svm import SVC, LinearSVC

import eigenlabel as el
from eigenlabel.model_selection.classifier_scores import scores_matrix


def _select(X, y):
    """Score features for a label matrix: the largest absolute correlation with a label."""
    A = X.toarray() if hasattr(X, "toarray") else np.asarray(X)
    A, T = A - A.mean(axis=0), y - y.mean(axis=0)
    return np.abs(A.T @ T).max(axis=1)


MODELS = {
    "subspace": lambda: el.SharedSubspaceClassifier(n_components=2),
    "subspace alpha=inf": lambda: el.SharedSubspaceClassifier(np.inf, n_components=2),
    "subspace without intercept": lambda: el.SharedSubspaceClassifier(fit_intercept=False),
    "subspace r=0": lambda: el.SharedSubspaceClassifier(n_components=0),
    "subspace rbf": lambda: el.SharedSubspaceClassifier(n_components=2, kernel="rbf"),
    "subspace rbf alpha=inf": lambda: el.SharedSubspaceClassifier(
        np.inf, n_components=2, kernel="rbf"
    ),
    "tuned": lambda: el.SharedSubspaceClassifierCV([0.1, np.inf], [0.01], 2),
    "tuned poly": lambda: el.SharedSubspaceClassifierCV([0.1], [0.1], 2, kernel="poly"),
    "mtsda": lambda: el.MtSDA(l1=2.0),
    "mtsda cv": lambda: el.MtSDACV([2.0], [1.0], cv=2),
    "aso": lambda: el.ASOClassifier(1e-2, n_components=2, loss="squared"),
    "svm-perf": lambda: el.SVMPerfClassifier(C=10),
    "ridge": RidgeClassifier,
    "one-vs-rest": lambda: OneVsRestClassifier(LinearSVC(random_state=0)),
    "multi-output": lambda: MultiOutputClassifier(LogisticRegression()),
    "thresholded": lambda: el.ThresholdedClassifier(OneVsRestClassifier(LogisticRegression())),
    "thresholded probabilities": lambda: el.ThresholdedClassifier(
        MultiOutputClassifier(LogisticRegression())
    ),
    "one search for each label": lambda: el.OneVsRestSearchCV(param_grid={"C": [0.1, 1.0]}, cv=2),
    "pipelines inside": lambda: OneVsRestClassifier(
        make_pipeline(MaxAbsScaler(), LogisticRegression())
    ),
    "grid search": lambda: GridSearchCV(
        el.SharedSubspaceClassifier(n_components=2), {"beta": [0.1]}, cv=2
    ),
    "scaled": lambda: make_pipeline(StandardScaler(with_mean=False), RidgeClassifier()),
    "selected": lambda: make_pipeline(
        SelectKBest(_select, k=4), el.SharedSubspaceClassifier(n_components=2)
    ),
    "svd": lambda: make_pipeline(
        TruncatedSVD(4, random_state=0), el.SharedSubspaceClassifier(n_components=2)
    ),
    "svd, unit length": lambda: make_pipeline(
        TruncatedSVD(4, random_state=0), Normalizer(), StandardScaler(), RidgeClassifier()
    ),
    "mddm": lambda: make_pipeline(el.MDDM(4), el.SharedSubspaceClassifier(n_components=2)),
    "projected": lambda: el.ProjectedClassifierCV(
        el.SharedSubspaceClassifier(n_components=1), el.OPLS(), [2, 3], cv=2
    ),
    "projected neighbours": lambda: el.ProjectedClassifierCV(dimensions=[2], cv=2),
    "kernel svm": lambda: OneVsRestClassifier(SVC(gamma=0.2)),
    "kernel svm after a scaler": lambda: OneVsRestClassifier(
        make_pipeline(MaxAbsScaler(), SVC(kernel="poly", degree=2, coef0=1.0))
    ),
    "mlknn": lambda: el.MLkNN(5),
    "thresholded mlknn": lambda: el.ThresholdedClassifier(el.MLkNN(5), cv=2),
    "jec": el.JEC,
    "mbrm": lambda: el.MBRM(bandwidth=0.5),
    "tagprop": lambda: el.TagProp(10),
    "tagprop by rank": lambda: el.TagProp(10, weights="rank", sigmoid=False),
    "kgha": lambda: el.KGHA(random_state=0),
    "kgha linear": lambda: el.KGHA(kernel="linear", random_state=0),
    "kernel ridge": el.KernelRidgeTagger,
    "fasttag": el.FastTag,
}
# Models that need dense samples.
DENSE = {
    "pca": lambda: make_pipeline(
        StandardScaler(), decomposition.PCA(4), el.SharedSubspaceClassifier(n_components=2)
    ),
    "pca, whitened": lambda: make_pipeline(decomposition.PCA(3, whiten=True), RidgeClassifier()),
    "sgd": lambda: OneVsRestClassifier(SGDClassifier(random_state=0)),
}


def make_data(rng, n=60, d=8, m=4):
    """Return samples with some zeros, and labels that all samples do not have, nor none."""
    X = rng.standard_normal((n, d)) * (rng.random((n, d)) < 0.7)
    W = rng.standard_normal((d, m))
    Y = (X @ W + 0.5 * rng.standard_normal((n, m)) > 0.3).astype(int)
    return X, Y


def total(found):
    """Return the scores that the parts of an explanation add up to."""
    return found.intercept + found.contributions.sum(axis=2) + found.remainder


def expected_scores(model, X, found):
    """Return the scores of a model on the scale of its explanation."""
    if isinstance(model, el.ProjectedClassifierCV):
        # Its own probabilities are calibrated; the sum is that of the classifier behind it.
        model, X = model.estimator_, model._project(X)
    scores = scores_matrix(model, X, found.score.shape[1]).astype(float)
    if found.scale == "score":
        return scores
    return logit(scores if hasattr(model, "predict_proba") else (1 + scores) / 2)


def assert_adds_up(model, X, found):
    """Check that all parts of an explanation add up, to rounding of the largest parts.

    The expected log-odds are computed from probabilities near one here, which have few digits.
    """
    size = np.abs(found.contributions).sum(axis=2) + np.abs(found.intercept) + 1.0
    error = np.abs(total(found) - expected_scores(model, X, found)) / size
    assert error.max() < (1e-9 if found.scale == "log-odds" else 1e-12)
    assert (np.abs(total(found) - found.score) / size).max() < 1e-12
    if found.shared is not None:
        parts = found.intercept + found.own + found.shared
        assert (np.abs(parts - found.score) / size).max() < 1e-12
    if found.borrowed is not None:
        lent = found.borrowed
        parts = lent.itself + lent.contributions.sum(axis=2) + lent.remainder
        assert (np.abs(parts - found.shared) / size).max() < 1e-12
