"""Sections on models and labels equal naive computations."""

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

import eigenlabel as el
from eigenlabel import report
from eigenlabel.report import model_sections
from pages import make_model


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.coo_matrix])
def test_coordinates_of_labels_are_scaled_eigenlabels(rng, form):
    m = 8
    Y = (rng.uniform(size=(50, m)) < 0.3).astype(int)
    W = np.linalg.qr(rng.standard_normal((m, m)))[0]
    eigenvalues = np.sort(rng.uniform(size=m))[::-1]
    shown = report.label_map(make_model(W, eigenvalues), form(Y), [f"n{j}" for j in range(m)])
    where = W[:, :6] * np.sqrt(eigenvalues[:6])
    np.testing.assert_allclose(shown["coordinates"], where, rtol=1e-3)  # four digits are kept
    assert shown["support"] == Y.sum(axis=0).tolist()
    assert shown["group"] == np.abs(where).argmax(axis=1).tolist()
    assert shown["groups"] == [f"eigenlabel {k}" for k in range(1, 7)]
    assert shown["n_samples"] == 50


def test_an_eigenlabel_lists_its_largest_weights():
    W = np.array([[0.7, -0.6, 0.3, 0.04, -0.2, 0.09, -0.06]]).T  # weights below 0.07 are left out
    shown = report.label_map(make_model(W, [2.0]), np.eye(7, dtype=int), "abcdefg")
    told = shown["eigenlabels"][0]
    assert told["eigenvalue"] == 2.0
    assert told["positive"] == [[0, 0.7], [2, 0.3], [5, 0.09]]
    assert told["negative"] == [[1, -0.6], [4, -0.2]]


def test_facets_determine_the_colours():
    names = [f"{facet}::{k}" for k in range(2) for facet in "abcdefgh"] + ["a::9", "plain"]
    m = len(names)
    shown = report.label_map(make_model(np.eye(m), np.ones(m)), np.eye(m, dtype=int), names)
    assert shown["groups"] == [*"abcdefg", "other"]  # seven colours, the most common first
    assert (shown["group"][0], shown["group"][7], shown["group"][-1]) == (0, 7, 7)
    few = ["a::1", "b", "c"]
    shown = report.label_map(make_model(np.eye(3), np.ones(3)), np.eye(3, dtype=int), few)
    assert shown["groups"] == ["eigenlabel 1", "eigenlabel 2", "eigenlabel 3"]


def test_a_model_without_eigenlabels_has_a_map():
    shown = report.label_map(make_model(np.zeros((2, 0)), np.ones(2)), [[1, 0]], "ab")
    assert (shown["eigenlabels"], shown["coordinates"], shown["groups"]) == (
        [],
        [[], []],
        ["labels"],
    )
    assert "The model has no eigenlabels" in report.render(report.page("t", [shown]))


def test_the_most_frequent_of_many_labels_are_shown(monkeypatch):
    monkeypatch.setattr(model_sections, "MAX_LABELS", 2)
    Y = np.array([[1, 0, 1, 1], [1, 0, 0, 1], [0, 0, 0, 1]])
    shown = [
        report.label_map(make_model(np.eye(4), np.ones(4)), Y, "abcd"),
        report.threshold_curves(Y, np.zeros((3, 4)), 0.0, "abcd"),
    ]
    assert [s["names"] for s in shown] == [["a", "d"]] * 2
    assert len(shown[0]["coordinates"]) == len(shown[0]["neighbours"]) == 2
    rows = report.per_label(Y, Y, "abcd")
    assert [row[0] for row in rows["rows"]] == ["d", "a"]
    assert "Only the 2 most frequent of 4 labels are shown." in report.render(
        report.page("t", shown)
    )


def test_the_surface_is_the_score_grid(fitted):
    _, model = fitted
    shown = report.surface(model)
    assert (shown["alphas"], shown["betas"], shown["dimensions"]) == (
        ["0", "0.1", "∞"],
        ["0.01", "1"],
        [1, 3],
    )
    ascending = np.moveaxis(model.score_grid_[::-1, ::-1], 2, 0)  # the lists were descending
    np.testing.assert_allclose(shown["scores"], ascending, rtol=1e-3)
    i, j, k = shown["chosen"]
    assert shown["scores"][k][i][j] == np.max(shown["scores"]) == shown["best_score"]


def test_the_surface_of_the_default_grid_has_rows_of_alpha_over_beta(fitted):
    data, _ = fitted
    model = el.SharedSubspaceClassifierCV(cv=3).fit(data.X, data.Y)
    shown = report.surface(model)
    assert shown["rows"] == "alpha / beta"
    assert shown["alphas"] == ["0", "9", "∞"]
    np.testing.assert_allclose(shown["scores"][0], model.score_grid_[..., 0], rtol=1e-3)
    html = report.render(report.page("t", [shown]))
    assert "f1_macro by alpha / beta (rows)" in html


def test_undefined_scores_leave_empty_cells(fitted):
    _, model = fitted
    results = dict(model.cv_results_)
    results["pooled_test_score"] = results["pooled_test_score"].copy()
    hole = int(np.flatnonzero(results["param_alpha"] == 0)[0])
    results["pooled_test_score"][hole] = np.nan
    odd = SimpleNamespace(cv_results_=results, scoring=len, best_index_=1, best_score_=0.5)
    shown = report.surface(odd)
    assert sum(v is None for plane in shown["scores"] for row in plane for v in row) == 1
    assert shown["scoring"] == "score"
    assert report.render(report.page("t", [shown]))


@pytest.mark.parametrize("form", [np.asarray, sp.csc_matrix])
def test_results_by_label_equal_naive_ones(rng, form):
    Y, P = (rng.uniform(size=(2, 40, 6)) < 0.3).astype(int)
    P[:, 0] = 0
    Y[:, 1] = 0
    Y[:, 2] = P[:, 2] = 0
    rows = {row[0]: row[1:] for row in report.per_label(form(Y), form(P), "abcdef")["rows"]}
    for j, name in enumerate("abcdef"):
        hits = sum(y and p for y, p in zip(Y[:, j], P[:, j], strict=True))
        positives, predicted = Y[:, j].sum(), P[:, j].sum()
        precision = hits / predicted if predicted else 0
        recall = hits / positives if positives else 0
        f1 = 2 * hits / (positives + predicted) if positives + predicted else 0
        np.testing.assert_allclose(
            rows[name], [positives, predicted, precision, recall, f1], atol=6e-5
        )
    supports = [row[1] for row in report.per_label(Y, P, "abcdef")["rows"]]
    assert supports == sorted(supports, reverse=True)


def test_samples_that_were_never_held_out_are_left_out():
    scores = np.array([[0.9], [np.nan], [0.1]])
    shown = report.threshold_curves([[1], [1], [0]], scores, 0.5, ["a"])
    assert (shown["n_samples"], shown["support"], shown["curves"][0]["at"]) == (2, [1], [1, 1])


def test_models_without_the_needed_attributes_raise_errors():
    with pytest.raises(TypeError, match="has no eigenlabels_: fit a SharedSubspaceClassifier"):
        report.label_map(el.SharedSubspaceClassifier(), [[1]], ["a"])
    with pytest.raises(TypeError, match="only a SharedSubspaceClassifierCV has a grid"):
        report.surface(el.SharedSubspaceClassifier())


def test_arguments_are_not_modified(rng):
    Y = sp.csc_array((np.array([1.0, 0.0, 1.0]), ([0, 1, 2], [0, 1, 1])), shape=(3, 2))
    before = Y.copy()
    scores = rng.standard_normal((3, 2))
    kept = scores.copy()
    report.per_label(Y, Y, "ab")
    report.threshold_curves(Y, scores, 0.0, "ab")
    assert (Y.nnz, Y.data.tolist()) == (before.nnz, before.data.tolist())
    np.testing.assert_array_equal(scores, kept)


def test_labels_of_later_eigenlabels_have_a_colour_of_their_own():
    model = make_model(np.eye(9), np.ones(9))
    shown = report.label_map(model, np.eye(9), [f"label {j}" for j in range(9)])
    assert shown["group"] == [0, 1, 2, 3, 4, 5, 6, 6, 6]
    assert shown["groups"][5:] == ["eigenlabel 6", "a later eigenlabel (7 to 9)"]
    few = report.label_map(make_model(np.eye(9)[:, :6], np.ones(6)), np.eye(9), list("abcdefghi"))
    assert len(few["groups"]) == 6
    assert max(few["group"]) == 5
