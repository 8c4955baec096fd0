"""Labels in every form: matrices, frames and label sets, for every classifier."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone, is_classifier
from sklearn.model_selection import GridSearchCV

from discovery import instances, settled
from eigenlabel import MDDM, MLkNN, SharedSubspaceClassifier
from eigenlabel.model_selection import MultilabelStratifiedKFold

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


def test_frames_of_predictions_have_the_index_of_the_samples():
    pd = pytest.importorskip("pandas")
    X, Y = make_data()
    samples = pd.DataFrame(X, index=range(100, 140))
    samples.columns = [f"f{j}" for j in range(5)]
    model = SharedSubspaceClassifier(calibration="auto").fit(samples, as_sets(Y))
    model.set_output(predict="pandas")
    found = model.predict(samples)
    assert found.index.tolist() == list(range(100, 140))
    assert list(found.columns) == NAMES
    assert list(model.predict_proba(samples).columns) == NAMES
    assert clone(model).fit(samples, Y).predict(samples).columns.tolist() == ["0", "1", "2"]
    sparse = clone(model).fit(samples, sp.csr_array(Y)).predict(samples)
    np.testing.assert_array_equal(sparse.to_numpy(), found.to_numpy())
    classes = clone(model).fit(samples, Y[:, 0])
    assert isinstance(classes.predict(samples), np.ndarray), "a vector stays a vector"


def test_the_form_of_transformed_samples_is_set_as_before():
    pd = pytest.importorskip("pandas")
    X, Y = make_data()
    model = SharedSubspaceClassifier().set_output(transform="pandas").fit(X, Y)
    assert isinstance(model.transform(X), pd.DataFrame)
    assert isinstance(model.predict(X), np.ndarray)
    model.set_output(predict="pandas")
    assert isinstance(model.transform(X), pd.DataFrame)
    with pytest.raises(ValueError, match="predict must be one of"):
        model.set_output(predict="numpy")
    with pytest.raises(TypeError, match="MLkNN has no transform: pass predict"):
        MLkNN().set_output(transform="pandas")


def test_label_sets_that_are_not_observed():
    X, Y = make_data()
    sets, cells = as_sets(Y), Y.astype(float)
    sets[3] = sets[7] = None
    cells[[3, 7]] = np.nan
    found = SharedSubspaceClassifier().fit(X, sets).decision_function(X)
    expected = SharedSubspaceClassifier().fit(X, cells).decision_function(X)
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-10)
    model = SharedSubspaceClassifier().fit(X, as_sets(Y))
    known = [i for i in range(40) if i not in (3, 7)]
    score = model.score(X[known], [sets[i] for i in known])
    assert model.score(X, sets) == pytest.approx(score)


def test_samples_with_unknown_labels_are_not_predicted_correctly():
    X, Y = make_data()
    model = SharedSubspaceClassifier().fit(X, as_sets(Y))
    right = model.predict(X)
    assert model.score(X, right) == 1.0
    assert model.score(X, [[*right[0], "musical"], *right[1:]]) == pytest.approx(39 / 40)


def test_label_sets_come_in_blocks():
    X, Y = make_data()
    sets = as_sets(Y)
    model = SharedSubspaceClassifier()
    model.partial_fit(X[:20], sets[:20], classes=NAMES).partial_fit(X[20:], sets[20:])
    whole = SharedSubspaceClassifier().fit(X, sets)
    assert model.predict(X) == whole.predict(X)


def test_scikit_learn_splits_lists_of_sets():
    X, Y = make_data()
    sets = list(map(set, as_sets(Y)))
    search = GridSearchCV(SharedSubspaceClassifier(), {"beta": [0.1, 1.0]}, cv=2)
    assert search.fit(X, sets).predict(X) == search.best_estimator_.predict(X)
    folds = list(MultilabelStratifiedKFold(2).split(X, as_sets(Y)))
    for found, expected in zip(folds, MultilabelStratifiedKFold(2).split(X, Y), strict=True):
        np.testing.assert_array_equal(found[1], expected[1])


def test_projections_read_label_sets():
    X, Y = make_data()
    found = MDDM(n_components=2).fit(X, as_sets(Y)).transform(X)
    np.testing.assert_allclose(found, MDDM(n_components=2).fit(X, Y).transform(X), rtol=1e-8)
