"""Contributions have the names of the user's own features, whatever stands before the model."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import decomposition
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import NMF, TruncatedSVD
from sklearn.feature_extraction.text import (
    CountVectorizer,
    HashingVectorizer,
    TfidfTransformer,
    TfidfVectorizer,
)
from sklearn.linear_model import RidgeClassifier
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    Normalizer,
    OneHotEncoder,
    PolynomialFeatures,
    QuantileTransformer,
    StandardScaler,
    add_dummy_feature,
)

import eigenlabel as el
from eigenlabel.catalogue import AtDimensionOfMDDM
from eigenlabel.inputs.warning import ignored
from eigenlabel.inspection import explain
from eigenlabel.preprocessing import make_preparation
from explained import assert_adds_up, make_data

TEXTS = [
    "red apple and green apple",
    "a green pear",
    "the red car",
    "a fast car, a fast red train",
    "slow green train",
    "apple pear",
]
Y = np.array([[1, 0], [1, 0], [0, 1], [0, 1], [0, 1], [1, 0]])


def subspace():
    return el.SharedSubspaceClassifier(n_components=1)


def test_words_of_a_text():
    for vectorizer in (TfidfVectorizer(), CountVectorizer(ngram_range=(1, 2))):
        model = make_pipeline(vectorizer, subspace()).fit(TEXTS, Y)
        found = explain(model, TEXTS[:2], n_top=None)
        assert_adds_up(model, TEXTS[:2], found)
        Z = model[0].transform(TEXTS[:1]).toarray()[0]
        words = model[0].get_feature_names_out()
        naive = {w: Z[k] * model[1].coef_[0, k] for k, w in enumerate(words) if Z[k]}
        assert found.terms(0, 0) == pytest.approx(naive)


def test_components_are_pulled_back_to_words():
    model = make_pipeline(
        TfidfVectorizer(),
        TruncatedSVD(3, random_state=0),
        Normalizer(),
        StandardScaler(),
        subspace(),
    ).fit(TEXTS, Y)
    found = explain(model, TEXTS[:2], n_top=None)
    assert_adds_up(model, TEXTS[:2], found)
    assert found.notes == ()
    tfidf, svd, _, scaler, last = (step for _, step in model.steps)
    x = tfidf.transform(TEXTS[:1]).toarray()[0]
    length = np.linalg.norm(svd.transform(tfidf.transform(TEXTS[:1])))
    weights = svd.components_.T @ (last.coef_[0] / scaler.scale_) / length
    words = tfidf.get_feature_names_out()
    naive = {w: x[k] * weights[k] for k, w in enumerate(words) if x[k]}
    assert found.terms(0, 0) == pytest.approx(naive)
    assert found.intercept[0, 0] == pytest.approx(
        last.intercept_[0] - (scaler.mean_ / scaler.scale_) @ last.coef_[0]
    )


def test_centring_of_a_projection_goes_to_the_intercept(rng):
    X, labels = make_data(rng)
    X = X + 5.0
    model = make_pipeline(decomposition.PCA(3), RidgeClassifier()).fit(X, labels)
    found = explain(model, X[:2], n_top=None)
    weights = model[1].coef_ @ model[0].components_
    naive = {f"x{k}": weights[1, k] * X[0, k] for k in range(8)}
    assert found.terms(0, 1) == pytest.approx(naive)
    assert found.intercept[0, 1] == pytest.approx(
        model[1].intercept_[1] - weights[1] @ model[0].mean_
    )


@pytest.fixture
def table():
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame(
        {
            "title": TEXTS,
            "colour": ["red", "green", "red", "red", "green", "blue"],
            "size": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
            "weight": [0.5, 0.1, 0.9, 0.4, 0.2, 0.3],
        }
    )


def test_column_transformers_with_text_categories_numbers_and_a_projection(table):
    inside = ColumnTransformer(
        [
            ("words", make_pipeline(TfidfVectorizer(), TruncatedSVD(2, random_state=0)), "title"),
            ("kind", OneHotEncoder(), ["colour"]),
            ("number", decomposition.PCA(1), ["size", "weight"]),
            ("nothing", "drop", ["size"]),
        ],
        remainder="passthrough",
    )
    model = make_pipeline(inside, subspace()).fit(table, Y)
    found = explain(model, table[:3], n_top=None)
    assert_adds_up(model, table[:3], found)
    assert {"words__apple", "kind__colour_red", "number__size", "number__weight"} <= set(
        found.terms(0, 0)
    )
    assert found.notes == ()
    assert found.texts[0].texts == TEXTS[:3]
    marked = found.mark(0, 0)[0]
    words = [v for k, v in found.terms(0, 0).items() if k.startswith("words__")]
    assert sum(span.contribution for span in marked.spans) == pytest.approx(sum(words))


def test_column_transformers_without_prefixes_and_with_positions(table):
    inside = ColumnTransformer(
        [("words", CountVectorizer(), 0), ("number", StandardScaler(), slice(2, 4))],
        verbose_feature_names_out=False,
    )
    model = make_pipeline(inside, subspace()).fit(table, Y)
    found = explain(model, table[:2], n_top=None)
    assert_adds_up(model, table[:2], found)
    assert {"apple", "size", "weight"} <= set(found.terms(0, 0))
    assert found.mark(0, 0)[0].text == TEXTS[0]


def test_unions(rng):
    X, labels = make_data(rng)
    union = FeatureUnion(
        [("all", StandardScaler()), ("two", decomposition.PCA(2)), ("none", "drop")]
    )
    model = make_pipeline(union, subspace()).fit(X, labels)
    found = explain(model, X[:3], n_top=None)
    assert_adds_up(model, X[:3], found)
    assert {"all__x1", "two__x1"} <= set(found.names.ravel())


def test_groups_of_columns_of_our_own(rng):
    X = sp.csr_array(np.column_stack([rng.poisson(1.0, (30, 4)), rng.integers(0, 3, 30)]) * 1.0)
    labels = (X.toarray()[:, :2] > 0).astype(int)
    names = ["a", "b", "c", "d", "colour"]
    prepare = make_preparation(
        "auto",
        X,
        feature_names=names,
        categories={"colour": ("red", "green", "blue")},
        words={"text": slice(0, 4)},
    )
    model = make_pipeline(prepare, subspace()).fit(X, labels)
    found = explain(model, X[:4], feature_names=names, n_top=None)
    assert_adds_up(model, X[:4], found)
    assert set(found.terms(0, 0)) <= {*"abcd", "colour=red", "colour=green", "colour=blue"}


def test_steps_that_keep_drop_or_lack_names(rng):
    X, labels = make_data(rng)
    names = [f"f{k}" for k in range(8)]
    for steps, expected, note in [
        (("passthrough", FunctionTransformer()), names, ""),
        ((FunctionTransformer(add_dummy_feature),), names, ""),
        ((AtDimensionOfMDDM(el.PCA()),), names, ""),
        ((None, PolynomialFeatures(2, include_bias=False)), ["f0^2"], ""),
        ((FunctionTransformer(np.abs),), ["functiontransformer0"], "does not name its columns"),
        (
            (decomposition.PCA(3), QuantileTransformer(n_quantiles=5)),
            ["pca0"],
            "outputs of QuantileTransformer",
        ),
        ((el.MDDM(2, kernel="rbf"),), ["mddm0"], "outputs of MDDM"),
    ]:
        model = make_pipeline(*steps, RidgeClassifier()).fit(X, labels)
        found = explain(model, X[:5], feature_names=names, n_top=None)
        assert_adds_up(model, X[:5], found)
        assert set(expected) <= set(found.names.ravel())
        assert (note in " ".join(found.notes)) if note else not found.notes


def test_notes_are_left_out_if_training_samples_contribute(rng):
    X, labels = make_data(rng)
    model = make_pipeline(NMF(3, max_iter=5000, random_state=0), el.MLkNN(5)).fit(np.abs(X), labels)
    found = explain(model, np.abs(X[:2]))
    assert found.notes == ()
    text = make_pipeline(TfidfVectorizer(), el.SharedSubspaceClassifier(kernel="rbf")).fit(TEXTS, Y)
    assert explain(text, TEXTS[:2]).texts == ()


def test_hashed_words_are_numbered():
    model = make_pipeline(HashingVectorizer(n_features=32), TfidfTransformer(), subspace())
    found = explain(model.fit(TEXTS, Y), TEXTS[:2])
    assert_adds_up(model, TEXTS[:2], found)
    assert "HashingVectorizer does not name its columns" in found.notes[0]


def test_frames_between_steps(table):
    model = make_pipeline(StandardScaler(), decomposition.PCA(2), subspace()).set_output(
        transform="pandas"
    )
    numbers = table[["size", "weight"]]
    model.fit(numbers, Y)
    found = explain(model, numbers[:2])
    assert_adds_up(model, numbers[:2], found)
    assert set(found.terms(0, 0)) == {"size", "weight"}


def test_a_projection_before_columns_side_by_side(rng):
    X, labels = make_data(rng)
    model = make_pipeline(
        decomposition.PCA(4),
        ColumnTransformer([("a", StandardScaler(), [0, 1])], remainder="passthrough"),
        RidgeClassifier(),
    ).fit(X, labels)
    found = explain(model, X[:3])
    assert_adds_up(model, X[:3], found)
    assert "outputs of ColumnTransformer" in found.notes[0]


def test_names_seen_in_fit_are_those_of_an_array_without_names(table):
    numbers = table[["size", "weight"]]
    for model in (RidgeClassifier(), make_pipeline(StandardScaler(), RidgeClassifier())):
        model.fit(numbers, Y)
        with ignored(UserWarning, "X does not have valid feature names"):
            found = explain(model, numbers.to_numpy()[:2])
        assert set(found.terms(0, 0)) == {"size", "weight"}
