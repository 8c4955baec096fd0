"""Homogeneity analysis against a dense SVD, hand-worked tables and its objective."""

import sys
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.linalg as sl
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from eigenlabel import HomogeneityAnalysis
from eigenlabel.estimators.agreement import homogeneity
from eigenlabel.persistence import SavedModel, load_model, save_model
from helpers import projector


@pytest.fixture
def table(rng):
    """Four variables of which three follow a hidden class."""
    hidden = rng.integers(0, 3, 70)
    noise = rng.random((70, 4)) < [0.2, 0.3, 0.4, 1.0]
    values = np.where(noise, rng.integers(0, 4, (70, 4)), hidden[:, None])
    return np.array(list("abcd"))[values]


def indicators(table):
    """List dense indicator matrices; None or nan have no category."""
    out = []
    for column in table.T:
        known = sorted({v for v in column.tolist() if v is not None})
        out.append(np.array([[v == k for k in known] for v in column.tolist()], dtype=float))
    return out


def naive(G, p):
    """Solve P x = lambda D x off the constant, P the mean of category-mean matrices, densely."""
    J = len(G)
    P = sum(g @ np.diag(1 / g.sum(axis=0)) @ g.T for g in G) / J
    D = sum(g.sum(axis=1) for g in G) / J
    E = sl.null_space(D[None])
    values, V = sl.eigh(E.T @ P @ E, E.T @ (D[:, None] * E))
    return values[::-1][:p], (E @ V)[:, ::-1][:, :p], D


@pytest.mark.parametrize("dense", [0, 2000], ids=["Lanczos", "LAPACK"])
def test_scores_are_singular_vectors_of_the_indicator_matrix(table, dense, monkeypatch):
    monkeypatch.setattr(homogeneity, "DENSE", dense)
    G = indicators(table)
    scaled = np.hstack(G) / np.sqrt(np.hstack(G).sum(axis=0)) / 2  # sqrt(J) = 2
    U, s, _ = np.linalg.svd(scaled)
    model = HomogeneityAnalysis(3).fit(table)
    assert s[0] == pytest.approx(1)
    np.testing.assert_allclose(model.eigenvalues_, s[1:4] ** 2, rtol=1e-10)
    np.testing.assert_allclose(projector(model.object_scores_), projector(U[:, 1:4]), atol=1e-9)
    for k in range(3):
        assert abs(U[:, 1 + k] @ model.object_scores_[:, k]) == pytest.approx(1, abs=1e-9)
    np.testing.assert_allclose(model.object_scores_.sum(axis=0), 0, atol=1e-12)  # Eq. 11
    np.testing.assert_allclose(
        model.object_scores_.T @ model.object_scores_, np.eye(3), atol=1e-12
    )  # Eq. 12


def test_quantifications_are_means_and_measures_add_up(table):
    model = HomogeneityAnalysis(3).fit(table)
    X = model.object_scores_
    for j, known in enumerate(model.categories_):
        assert known == sorted(set(table[:, j]))
        for k, category in enumerate(known):
            mean = X[table[:, j] == category].mean(axis=0)
            np.testing.assert_allclose(model.quantifications_[j][k], mean, atol=1e-14)
        fitted = np.array([X[table[:, j] == v].mean(axis=0) for v in table[:, j]])
        np.testing.assert_allclose(model.discrimination_[j], (fitted**2).sum(axis=0), rtol=1e-12)
    np.testing.assert_allclose(model.discrimination_.mean(axis=0), model.eigenvalues_, rtol=1e-10)
    n_categories = sum(map(len, model.categories_))
    assert model.inertia_ == pytest.approx(n_categories / 4 - 1)
    everything = HomogeneityAnalysis(50).fit(table)
    assert everything.n_components_ <= n_categories - 4
    assert everything.explained_inertia_ratio_.sum() == pytest.approx(1)
    assert everything.eigenvalues_.sum() == pytest.approx(everything.inertia_)


def test_two_binary_variables_by_hand():
    """Red is always round, blue half the time: phi = 1 / sqrt 3, eigenvalue (1 + phi) / 2."""
    table = [["red", "round"], ["red", "round"], ["blue", "round"], ["blue", "long"]]
    model = HomogeneityAnalysis().fit(table)
    phi = 1 / np.sqrt(3)
    # The other dimension, (1 - phi) / 2, is where colour and shape disagree.
    np.testing.assert_allclose(model.eigenvalues_, [(1 + phi) / 2, (1 - phi) / 2], rtol=1e-12)
    assert model.inertia_ == pytest.approx(1)
    # Both variables discriminate alike, and means weighted by size are zero.
    np.testing.assert_allclose(model.discrimination_[:, 0], (1 + phi) / 2, rtol=1e-12)
    colour, shape = (Y[:, 0] for Y in model.quantifications_)
    np.testing.assert_allclose(np.abs(colour), np.sqrt((1 + phi) / 8), rtol=1e-12)
    np.testing.assert_allclose(shape, [np.sqrt(3 * (1 + phi) / 8), -np.sqrt((1 + phi) / 24)])


def test_variables_that_agree_have_eigenvalue_one():
    model = HomogeneityAnalysis(1).fit([[0, "x"], [0, "x"], [1, "y"], [1, "y"]])
    assert model.eigenvalues_[0] == pytest.approx(1)
    np.testing.assert_allclose(np.abs(model.object_scores_), 0.5, rtol=1e-12)


@pytest.mark.parametrize("missing", [False, True])
def test_als_reaches_the_same_scores(table, missing):
    table = with_gaps(table) if missing else table
    setting = {"missing": "passive" if missing else "error"}
    eigen = HomogeneityAnalysis(2, **setting).fit(table)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        als = HomogeneityAnalysis(2, **setting, solver="als", n_sweeps=5000, tol=1e-11).fit(table)
    np.testing.assert_allclose(als.eigenvalues_, eigen.eigenvalues_, rtol=1e-10)
    np.testing.assert_allclose(als.object_scores_, eigen.object_scores_, atol=1e-8)
    assert (np.diff(als.objective_) <= 1e-13).all()
    assert als.objective_[-1] == pytest.approx(2 - eigen.eigenvalues_.sum())
    assert objective(als, table) == pytest.approx(als.objective_[-1])
    with pytest.warns(ConvergenceWarning, match=r"wanted 1e-12.*after 2 sweeps"):
        HomogeneityAnalysis(solver="als", n_sweeps=2, tol=1e-12, **setting).fit(table)


def objective(model, table):
    """Eq. 10 over the values that are there."""
    total = 0.0
    for j, known in enumerate(model.categories_):
        for x, v in zip(model.object_scores_, table[:, j], strict=True):
            if v is not None:
                total += np.sum((x - model.quantifications_[j][known.index(v)]) ** 2)
    return total / table.shape[1]


def with_gaps(table):
    table = table.astype(object)
    table[[3, 10, 11], 0] = None
    table[[3, 40], 2] = None
    table[20] = None
    return table


def test_passive_missing_values_solve_the_weighted_problem(table):
    table = with_gaps(table)
    model = HomogeneityAnalysis(2, missing="passive").fit(table)
    here = np.arange(70) != 20
    values, X, D = naive([g[here] for g in indicators(table)], 2)
    np.testing.assert_allclose(model.eigenvalues_, values, rtol=1e-10)
    np.testing.assert_allclose(model.coverage_[here], D, rtol=1e-12)
    assert model.coverage_[3] == 0.5
    root = np.sqrt(D)[:, None]
    np.testing.assert_allclose(
        projector(root * model.object_scores_[here]), projector(root * X), atol=1e-9
    )
    assert not model.object_scores_[20].any()
    np.testing.assert_allclose(model.coverage_ @ model.object_scores_, 0, atol=1e-12)
    np.testing.assert_allclose(model.discrimination_.mean(axis=0), model.eigenvalues_, rtol=1e-10)
    np.testing.assert_allclose(model.transform(table), model.object_scores_, atol=1e-10)
    whole = HomogeneityAnalysis(50, missing="passive").fit(table)
    assert whole.eigenvalues_.sum() == pytest.approx(whole.inertia_)


def test_missing_values_can_be_a_category(table):
    gaps = with_gaps(table)
    model = HomogeneityAnalysis(missing="category").fit(gaps)
    named = HomogeneityAnalysis().fit(np.where(gaps == None, "zz", gaps))  # noqa: E711
    np.testing.assert_allclose(model.object_scores_, named.object_scores_, atol=1e-10)
    assert model.categories_[0] == ["a", "b", "c", "d", None]
    assert (model.coverage_ == 1).all()
    with pytest.raises(ValueError, match=r"Variable 0 is missing.*row 3.*missing='category'"):
        HomogeneityAnalysis().fit(gaps)


def test_every_form_of_table_leads_to_the_same_model(table):
    wanted = HomogeneityAnalysis().fit(table)
    names = ["w", "x", "y", "z"]
    codes = np.array([[ord(v) for v in row] for row in table])
    frame = pd.DataFrame(table, columns=names)
    mixed = frame.assign(w=codes[:, 0], x=frame["x"].astype("category"))
    forms = {
        "list": table.tolist(),
        "objects": table.astype(object),
        "integers": codes,
        "floats": codes.astype(float),
        "pandas": frame,
        "mixed": mixed,
        "polars": pl.DataFrame({n: table[:, j].tolist() for j, n in enumerate(names)}),
        "polars, mixed": pl.DataFrame(
            {**{n: table[:, j].tolist() for j, n in enumerate(names)}, "w": codes[:, 0]}
        ),
    }
    for name, form in forms.items():
        model = HomogeneityAnalysis().fit(form)
        np.testing.assert_allclose(
            model.object_scores_, wanted.object_scores_, atol=1e-9, err_msg=name
        )
        np.testing.assert_allclose(model.transform(form), wanted.object_scores_, atol=1e-9)
    assert HomogeneityAnalysis().fit(mixed).categories_[0] == [97, 98, 99, 100]
    assert HomogeneityAnalysis().fit(frame).feature_names_in_.tolist() == names


@pytest.mark.parametrize(
    "gaps",
    [
        pd.DataFrame({"a": ["x", None, "y", "x"], "b": [1.0, 2.0, np.nan, 1.0]}),
        pd.DataFrame({"a": pd.array(["x", pd.NA, "y", "x"]), "b": pd.array([1, 2, pd.NA, 1])}),
        pl.DataFrame({"a": ["x", None, "y", "x"], "b": [1, 2, None, 1]}),
        np.array([["x", 1], [None, 2], ["y", np.nan], ["x", 1]], dtype=object),
    ],
    ids=["pandas", "nullable", "polars", "objects"],
)
def test_missing_values_of_every_library(gaps):
    model = HomogeneityAnalysis(1, missing="category").fit(gaps)
    assert [known[-1] for known in model.categories_] == [None, None]
    passive = HomogeneityAnalysis(1, missing="passive").fit(gaps)
    np.testing.assert_array_equal(passive.coverage_, [1, 0.5, 0.5, 1])
    with pytest.raises(ValueError, match=r"missing|NaN"):
        HomogeneityAnalysis().fit(gaps)


def test_values_of_several_types_are_categories():
    table = np.array([[1, "x"], ["one", "x"], [1, "y"], [(2, 3), "y"]], dtype=object)
    model = HomogeneityAnalysis(1).fit(table)
    assert model.categories_[0] == [1, "one", (2, 3)]
    np.testing.assert_allclose(model.transform(table), model.object_scores_, atol=1e-12)


def test_new_samples_have_the_mean_of_their_categories(table):
    model = HomogeneityAnalysis().fit(table)
    np.testing.assert_allclose(model.transform(table), model.object_scores_, atol=1e-10)
    new = table[:2].copy()
    new[0, 1] = "z"
    with pytest.raises(ValueError, match=r"Variable 1 has the category .*'z'.*unknown='passive'"):
        model.transform(new)
    passive = HomogeneityAnalysis(unknown="passive").fit(table).transform(new)
    known = [0, 2, 3]
    mean = np.mean(
        [model.quantifications_[j][model.categories_[j].index(table[0, j])] for j in known],
        axis=0,
    )
    np.testing.assert_allclose(passive[0], mean / model.eigenvalues_, atol=1e-12)
    new[0] = "z"
    assert not HomogeneityAnalysis(unknown="passive").fit(table).transform(new)[0].any()


def test_order_of_samples_and_names_of_categories_do_not_matter(table, rng):
    scores = HomogeneityAnalysis().fit(table).object_scores_
    order = rng.permutation(70)
    renamed = np.char.add("q", table)[order]
    found = HomogeneityAnalysis().fit(renamed).object_scores_
    signs = np.sign(np.sum(found * scores[order], axis=0))
    np.testing.assert_allclose(found * signs, scores[order], atol=1e-9)


def test_the_indicator_matrix_is_never_densified(table, monkeypatch):
    original = sp.csr_array.toarray

    def fail_to_densify(self, *args, **kwargs):
        if self.shape[0] >= 70:
            raise AssertionError("densified")
        return original(self, *args, **kwargs)

    monkeypatch.setattr(sp.csr_array, "toarray", fail_to_densify)
    HomogeneityAnalysis().fit(table).transform(table)


def test_variables_with_one_category_have_no_influence(table):
    constant = np.column_stack([table, np.full(70, "c")])
    model = HomogeneityAnalysis().fit(constant)
    wanted = HomogeneityAnalysis().fit(table)
    np.testing.assert_allclose(model.object_scores_, wanted.object_scores_, atol=1e-9)
    np.testing.assert_allclose(model.discrimination_[4], 0, atol=1e-12)
    nothing = HomogeneityAnalysis().fit(np.full((5, 2), "c"))
    assert nothing.n_components_ == 0
    assert nothing.transform(np.full((2, 2), "c")).shape == (2, 0)


def test_bad_input_raises_an_error(table):
    gone = table.astype(object)
    gone[:, 1] = None
    for parameters, X, message in [
        ({"n_components": 0}, table, "n_components"),
        ({"missing": "other"}, table, "missing"),
        ({"unknown": "other"}, table, "unknown"),
        ({"solver": "other"}, table, "solver"),
        ({"n_sweeps": 0}, table, "n_sweeps"),
        ({"tol": -1.0}, table, "tol"),
        ({"missing": "passive"}, gone, "Variable 1 is missing for every sample"),
        ({"missing": "passive"}, pd.DataFrame(gone, columns=list("wxyz")), "Variable 'x' is"),
        ({"missing": "passive"}, [["a", None], [None, None], [None, None]], "every|Fewer than 2"),
        ({"missing": "passive"}, [["a", "b"], [None, None]], "Fewer than 2"),
    ]:
        with pytest.raises(ValueError, match=message):
            HomogeneityAnalysis(**parameters).fit(X)


def test_a_model_is_saved_and_loaded(table, tmp_path):
    model = HomogeneityAnalysis().fit(table)
    save_model(SavedModel(model, np.arange(4), np.arange(1)), tmp_path / "m.skops")
    again = load_model(tmp_path / "m.skops").model
    np.testing.assert_array_equal(again.transform(table), model.transform(table))


def test_biplot_draws_every_category(table):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    frame = pd.DataFrame(with_gaps(table), columns=["colour", "shape", "size", "noise"])
    model = HomogeneityAnalysis(3, missing="category").fit(frame)
    ax = model.biplot(dimensions=(0, 2))
    every = ["missing" if c is None else c for known in model.categories_ for c in known]
    points = np.vstack(model.quantifications_)[:, [0, 2]]
    assert sorted(text.get_text() for text in ax.texts) == sorted(every)
    for text in ax.texts:
        at = int(np.abs(points - text.xy).sum(axis=1).argmin())
        np.testing.assert_allclose(points[at], text.xy)
        assert every[at] == text.get_text()
    assert [t.get_text() for t in ax.get_legend().get_texts()] == list(frame.columns)
    assert len(ax.lines[0].get_xdata()) == 70
    assert f"{model.explained_inertia_ratio_[2]:.1%}" in ax.get_ylabel()
    given = pyplot.subplots()[1]
    assert model.biplot(given, samples=False) is given
    assert len(given.lines) == 4
    with pytest.raises(ValueError, match="dimensions must be an integer between 0 and 2, got 3"):
        model.biplot(dimensions=(0, 3))
    pyplot.close("all")


def test_names_of_a_biplot_do_not_overlap(rng):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot
    from matplotlib.text import Text

    words = np.array([f"category {k}" for k in range(12)])
    same = words[rng.integers(0, 12, 200)]
    other = words[rng.integers(0, 12, 200)]
    frame = pd.DataFrame({"a": same, "b": np.char.add("copy of ", same), "c": other})
    ax = HomogeneityAnalysis(2).fit(frame).biplot()
    ax.figure.canvas.draw()
    boxes = [Text.get_window_extent(text) for text in ax.texts]  # without the lines to points
    assert len(boxes) > 5
    for k, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[:k])
    with pytest.raises(ValueError, match="A biplot needs two dimensions"):
        HomogeneityAnalysis(1).fit(frame).biplot()
    pyplot.close("all")


def test_without_matplotlib_the_biplot_raises_an_error_with_advice(table, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"eigenlabel\[plot\]"):
        HomogeneityAnalysis().fit(table).biplot()


def test_values_of_lists_keep_their_types():
    rows = [["a", "x"], ["b", float("nan")], ["a", "y"], ["b", "x"]]
    with pytest.raises(ValueError, match=r"Variable 1 is missing .* in row 1"):
        HomogeneityAnalysis(1).fit(rows)
    passive = HomogeneityAnalysis(1, missing="passive").fit(rows)
    assert passive.categories_ == [["a", "b"], ["x", "y"]]
    frame = HomogeneityAnalysis(1, missing="passive").fit(pd.DataFrame(rows))
    np.testing.assert_allclose(passive.object_scores_, frame.object_scores_, atol=1e-12)
    numbers = HomogeneityAnalysis(1).fit([[1, "x"], [2.5, "y"], [1, "y"]])
    assert numbers.categories_[0] == [1, 2.5]
    np.testing.assert_array_equal(
        numbers.transform([[1, "x"]]), numbers.transform(np.array([[1, "x"]], dtype=object))
    )
    with pytest.warns(UserWarning, match="The word 'nan' is a category"):
        HomogeneityAnalysis(1).fit(np.array(rows))
