"""Methods of the open contest: what users would try instead, and ours.

Each method is a function of training samples, their label matrix and test samples. It returns an
`Answer`: scores and label sets of the test samples, and probabilities where the method has them.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.decomposition import TruncatedSVD
from sklearn.ensemble import (
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, TunedThresholdClassifierCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import ClassifierChain
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler
from sklearn.svm import LinearSVC

import eigenlabel as el

PENALTIES = {"estimator__C": [0.01, 0.1, 1.0, 10.0, 100.0]}


class Answer(NamedTuple):
    """What a method says of the test samples."""

    scores: np.ndarray
    labels: np.ndarray
    probabilities: np.ndarray | None = None


def _dense(Y):
    return Y.toarray() if sp.issparse(Y) else np.asarray(Y)


def _probabilities(model, X):
    """Return the probability of each label, from one array of a list for each label if need be."""
    found = model.predict_proba(X)
    if not isinstance(found, list):
        return found
    columns = []
    for P, classes in zip(found, model.classes_, strict=True):
        known = np.flatnonzero(classes == 1)
        columns.append(P[:, known[0]] if len(known) else np.zeros(len(P)))
    return np.column_stack(columns)


def by_scores(model, X, Y, X_test):
    """Fit a classifier with a decision function."""
    model.fit(X, Y)
    return Answer(model.decision_function(X_test), _dense(model.predict(X_test)))


def by_probabilities(model, X, Y, X_test):
    """Fit a classifier with probabilities."""
    model.fit(X, Y)
    P = _probabilities(model, X_test)
    return Answer(P, _dense(model.predict(X_test)), P)


def ours(model, X, Y, X_test):
    """Fit a classifier of eigenlabel, which ranks by its probabilities."""
    model.fit(X, Y)
    P = model.predict_proba(X_test)
    return Answer(P, _dense(model.predict(X_test)), P)


def tuned(model):
    """Return a search over C by macro F1, as users of scikit-learn write it."""
    return GridSearchCV(model, PENALTIES, scoring="f1_macro", cv=3)


def logistic_with_thresholds(X, Y, X_test):
    """Fit a logistic regression with a tuned threshold for each label."""
    P, labels = np.empty((X_test.shape[0], Y.shape[1])), np.empty((X_test.shape[0], Y.shape[1]))
    for j, y in enumerate(Y.T):
        base = LogisticRegression(max_iter=1000)
        enough = min(y.sum(), len(y) - y.sum()) >= 5
        model = TunedThresholdClassifierCV(base, scoring="f1") if enough else base
        model.fit(X, y)
        P[:, j], labels[:, j] = model.predict_proba(X_test)[:, 1], model.predict(X_test)
    return Answer(P, labels.astype(int), P)


def lightgbm(X, Y, X_test):
    """Fit LightGBM one-vs-rest with its defaults."""
    from lightgbm import LGBMClassifier

    model = OneVsRestClassifier(LGBMClassifier(verbose=-1, n_jobs=1))
    to_csr = sp.csr_matrix if sp.issparse(X) else np.asarray
    return by_probabilities(model, to_csr(X).astype(float), Y, to_csr(X_test).astype(float))


class LabelMatrix(sp.csc_matrix):
    """A matrix whose axis 2 is its axis 0, as LibMultiLabel 0.10 expects of older SciPy."""

    def sum(self, axis=None, dtype=None, out=None):
        """Return sums over an axis."""
        return super().sum(0 if axis == 2 else axis, dtype, out)


def libmultilabel(technique, X, Y, X_test):
    """Train a linear technique of LibMultiLabel; its features are sparse, with a bias column."""
    from libmultilabel import linear

    np.random.seed(0)  # noqa: NPY002 - its folds are drawn from the global generator
    A, B = (sp.csr_matrix(part) for part in (X, X_test))
    model = getattr(linear, f"train_{technique}")(LabelMatrix(Y), A, verbose=False)
    scores = np.asarray(linear.predict_values(model, B))
    return Answer(scores, (scores > 0).astype(int))


def _narrow(X, model):
    """Return the model behind 100 singular vectors if X is sparse, which it does not accept."""
    if not sp.issparse(X):
        return model
    size = min(100, min(X.shape) - 1)
    return make_pipeline(TruncatedSVD(size, random_state=0), model)


RIVALS: dict[str, Callable] = {
    "LinearSVC": lambda *data: by_scores(OneVsRestClassifier(LinearSVC()), *data),
    "LinearSVC, C tuned": lambda *data: by_scores(tuned(OneVsRestClassifier(LinearSVC())), *data),
    "logistic regression, thresholds tuned": logistic_with_thresholds,
    "logistic regression, C tuned": lambda *data: by_probabilities(
        tuned(OneVsRestClassifier(LogisticRegression(max_iter=1000))), *data
    ),
    "classifier chain": lambda *data: by_probabilities(
        ClassifierChain(LogisticRegression(max_iter=1000), order="random", random_state=0), *data
    ),
    "extra trees": lambda *data: by_probabilities(ExtraTreesClassifier(200, random_state=0), *data),
    "random forest": lambda *data: by_probabilities(
        RandomForestClassifier(200, random_state=0), *data
    ),
    "histogram boosting": lambda X, Y, X_test: by_probabilities(
        _narrow(X, OneVsRestClassifier(HistGradientBoostingClassifier(random_state=0))),
        X,
        Y,
        X_test,
    ),
    "LightGBM": lightgbm,
    "MLP": lambda *data: by_probabilities(
        make_pipeline(MaxAbsScaler(), MLPClassifier(random_state=0)), *data
    ),
    "LibMultiLabel, thresholding": lambda *data: libmultilabel("thresholding", *data),
    "LibMultiLabel, cost-sensitive": lambda *data: libmultilabel("cost_sensitive", *data),
}


OURS: dict[str, Callable] = {
    "ML-kNN": lambda *data: ours(el.MLkNN(), *data),
    "LinearSVC, our thresholds": lambda *data: ours(
        el.ThresholdedClassifier(OneVsRestClassifier(LinearSVC()), calibration="auto"), *data
    ),
    "ML-LS, linear, raw scores": lambda *data: by_scores(
        el.SharedSubspaceClassifierCV(calibration=None), *data
    ),
    "ML-LS, linear": lambda *data: ours(el.SharedSubspaceClassifierCV(), *data),
    "ML-LS, Gaussian": lambda *data: ours(el.SharedSubspaceClassifierCV(kernel="rbf"), *data),
    "blend": lambda *data: ours(el.MultilabelBlend(random_state=0), *data),
}
METHODS = RIVALS | OURS
