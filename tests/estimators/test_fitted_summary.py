"""What a notebook shows of fitted classifiers: escaped, cheap, and inside scikit-learn's page."""

import numpy as np
import pytest
from sklearn import config_context
from sklearn.svm import LinearSVC

import eigenlabel as el
from discovery import instances
from eigenlabel.datasets import make_shared_subspace
from eigenlabel.estimators.fitted_summary import summary_html, summary_rows
from eigenlabel.thresholds import Top

DATA = make_shared_subspace(80, 5, 4, 2, random_state=0)
HOSTILE = "<img src=x onerror=alert(1)>"


def shown(model):
    return [f"{name}: {text}" for name, text in summary_rows(model)]


def test_a_tuned_model_shows_what_was_chosen_and_its_score():
    model = el.SharedSubspaceClassifierCV([0.0], [0.1, 1.0], cv=3).fit(DATA.X, DATA.Y)
    size, chosen, held_out, rule, maps = shown(model)
    assert size == "Fitted to: 4 labels, 80 samples, 5 features"
    assert chosen == f"Chosen: alpha = 0, beta = {model.beta_:.4g}, n_components = 1"
    expected = f"Held out: f1_macro {model.best_score_:.4f}, the best of 2 grid points"
    assert held_out == expected
    assert rule.startswith("Decides by: rule mixed, thresholds ")
    assert maps == "Probabilities: 4 sigmoid maps, 0 isotonic"


def test_other_models():
    blend = el.MultilabelBlend(["linear", "gaussian"], weights="equal", cv=3, random_state=0)
    text = "\n".join(shown(blend.fit(DATA.X, DATA.Y)))
    assert "Chosen: weights linear 0.50, gaussian 0.50" in text
    assert f"f1_macro {blend.leaderboard_[0]['f1_macro']:.3f}" in text
    search = el.OneVsRestSearchCV(LinearSVC(), {"C": [0.1]}, cv=3).fit(DATA.X, DATA.Y)
    text = "\n".join(shown(search))
    assert "C = 0.1 for 4 labels" in text
    assert f"{np.mean(search.best_scores_):.4f} (mean over labels)" in text
    projected = el.ProjectedClassifierCV(el.SharedSubspaceClassifier(), el.PCA(), [1, 2], cv=3)
    text = "\n".join(shown(projected.fit(DATA.X, DATA.Y)))
    chosen = projected.best_params_["n_components"]
    assert f"Chosen: n_components = {chosen}" in text
    at = [1, 2].index(chosen)
    assert f"average_precision {projected.path_.scores[at].mean():.4f}" in text
    top = el.ThresholdedClassifier(el.SharedSubspaceClassifier(), strategy=Top(1), cv=3)
    assert "Decides by: rule Top(n_labels=1)" in shown(top.fit(DATA.X, DATA.Y))


def test_names_are_escaped_and_cut():
    pandas = pytest.importorskip("pandas")
    names = [HOSTILE, *(f"l{k}" for k in range(1, 12))]
    Y = pandas.DataFrame(np.tile(DATA.Y, (1, 3)), columns=names)
    model = el.SharedSubspaceClassifier().fit(DATA.X, Y)
    html = model._repr_html_()
    assert "<img" not in html
    assert "&lt;img src=x onerror=alert(1)&gt;, l1" in html
    assert "l7, …" in html
    assert "l8" not in html.partition("eigenlabel-summary")[2]


def test_the_page_of_scikit_learn_is_kept():
    model = el.SharedSubspaceClassifierCV(cv=3)
    plain = model._repr_html_()
    assert "sk-top-container" in plain
    assert "eigenlabel-summary" not in plain
    model.fit(DATA.X, DATA.Y)
    html, bundle = model._repr_html_(), model._repr_mimebundle_()
    for each in (html, bundle["text/html"]):
        assert "sk-top-container" in each
        assert each.count("eigenlabel-summary") == 1
    assert bundle["text/plain"] == repr(model)
    with config_context(display="text"):
        assert not hasattr(model, "_repr_html_")
        assert "text/html" not in model._repr_mimebundle_()


@pytest.mark.parametrize("model", instances(), ids=lambda model: type(model).__name__)
def test_no_model_shows_a_summary_before_fit(model):
    assert summary_html(model) == ""


def test_showing_a_stream_solves_nothing():
    model = el.SharedSubspaceClassifierCV(cv=3).partial_fit(DATA.X, DATA.Y)
    assert "sk-top-container" in model._repr_html_()
    assert model._stream.solution is None
    model.predict(DATA.X)
    assert "Held out" in model._repr_html_()


def test_classes():
    y = np.array(["no", "yes"])[(DATA.X[:, 0] > 0).astype(int)]
    model = el.SharedSubspaceClassifierCV(cv=3).fit(DATA.X, y)
    assert shown(model)[0].startswith("Fitted to: 2 classes (no, yes), 80 samples")
