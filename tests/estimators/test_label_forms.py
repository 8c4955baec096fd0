"""Labels in every form: matrices, frames and label sets, for every classifier."""

import numpy as np
import pytest
from sklearn.base import is_classifier

from discovery import instances, settled

NAMES = ["crime", "drama", "western"]
CLASSIFIERS = [e for e in instances() if is_classifier(e)]


def make_data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 5))
    Y = (X[:, :3] + 0.3 * rng.standard_normal((40, 3)) > 0).astype(int)
    return X, Y


def as_sets(Y):
    """Return label sets by hand."""
    return [[NAMES[j] for j in range(3) if row[j]] for row in Y]


def name(estimator):
    return f"{type(estimator).__name__}-{getattr(estimator, 'kernel', '')}"


@pytest.mark.parametrize("estimator", CLASSIFIERS, ids=name)
def test_label_sets_come_back_as_label_sets(estimator):
    X, Y = make_data()
    with_matrix = settled(estimator).fit(X, Y)
    with_sets = settled(estimator).fit(X, as_sets(Y))
    expected = [tuple(labels) for labels in as_sets(with_matrix.predict(X))]
    assert with_sets.predict(X) == expected
    assert list(with_sets.classes_) == NAMES
    truth = as_sets(Y)
    exact = np.mean([set(p) == set(t) for p, t in zip(expected, truth, strict=True)])
    assert with_sets.score(X, truth) == pytest.approx(exact)
    assert with_sets.score(X, Y) == pytest.approx(exact)
    assert with_matrix.score(X, Y) == pytest.approx(exact)


def pairs():
    """Return samples of exactly two labels, so that all label sets have the same size."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((45, 4))
    return X, [
        [NAMES[j] for j in sorted(np.argsort(row)[-2:])] for row in X[:, :3] + 0.1 * X[:, 3:]
    ]


def indicator(sets):
    return np.array([[int(label in labels) for label in NAMES] for labels in sets])


def _objects(sets):
    found = np.empty(len(sets), dtype=object)
    found[:] = sets
    return found


FORMS = {
    "tuples": lambda sets: tuple(map(tuple, sets)),
    "sets": lambda sets: list(map(set, sets)),
    "objects": _objects,
    "pandas": lambda sets: pytest.importorskip("pandas").Series(sets),
    "polars": lambda sets: pytest.importorskip("polars").Series(sets),
    "arrays": lambda sets: list(map(np.array, sets)),
}


@pytest.mark.parametrize("estimator", CLASSIFIERS, ids=name)
@pytest.mark.parametrize("form", FORMS)
def test_label_sets_of_equal_size_in_every_form(estimator, form):
    X, sets = pairs()
    plain = settled(estimator).fit(X, indicator(sets))
    model = settled(estimator).fit(X, FORMS[form](sets))
    scores = "decision_function" if hasattr(plain, "decision_function") else "predict_proba"
    found, expected = (getattr(m, scores)(X) for m in (model, plain))
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-10)
    assert isinstance(model.predict(X), list)


@pytest.mark.parametrize("estimator", CLASSIFIERS, ids=name)
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_of_labels_name_the_labels(estimator, library):
    module = pytest.importorskip(library)
    X, Y = make_data()
    frame = module.DataFrame(dict(zip(NAMES, Y.T, strict=True)))
    model = settled(estimator).fit(X, frame)
    assert list(model.classes_) == NAMES
    plain = settled(estimator).fit(X, Y)
    np.testing.assert_array_equal(model.predict(X), plain.predict(X))
    assert model.score(X, frame) == pytest.approx(plain.score(X, Y))
    assert model.set_output(predict=library) is model
    for method in ("predict", "predict_proba"):
        if hasattr(model, method):
            found = getattr(model, method)(X)
            assert isinstance(found, module.DataFrame)
            assert list(found.columns) == NAMES
            np.testing.assert_array_equal(found.to_numpy(), getattr(plain, method)(X))
    assert model.score(X, frame) == pytest.approx(plain.score(X, Y))
    model.set_output(predict="default")
    assert isinstance(model.predict(X), np.ndarray)
