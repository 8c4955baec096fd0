import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from eigenlabel import MtSDACV, SharedSubspaceClassifierCV
from eigenlabel.inspection import GridDisplay
from eigenlabel.inspection.displays.grid import format_value


def cell_texts(shown):
    return {tuple(text.get_position()[::-1]): text.get_text() for text in shown.texts_}


def test_the_map_shows_the_scores_at_the_chosen_dimension(planted):
    model = planted.model
    shown = GridDisplay.from_estimator(model)
    k = [1, 2, 3].index(model.best_params_["n_components"])
    expected = model.score_grid_[:, :, k]
    np.testing.assert_allclose(shown.image_.get_array(), expected)
    assert shown.parameters == ("alpha", "beta")
    row, column = shown.best
    assert [0.01, 1, np.inf][row] == model.alpha_
    assert [0, 0.1][column] == model.beta_
    assert expected[row, column] == pytest.approx(model.best_score_)
    corners = shown.mark_.get_xydata()
    np.testing.assert_allclose(corners.min(axis=0), [column - 0.5, row - 0.5])
    np.testing.assert_allclose(corners.max(axis=0), [column + 0.5, row + 0.5])
    assert cell_texts(shown)[row, column] == f"{model.best_score_:.3f}"
    assert len(shown.texts_) == 6
    assert [t.get_text() for t in shown.ax_.get_yticklabels()] == ["0.01", "1", "∞"]
    assert shown.ax_.get_title() == f"n_components = {[1, 2, 3][k]}"
    assert shown.colorbar_.ax.get_ylabel() == "f1_macro"


def test_other_parameters_can_be_fixed_and_drawn(planted):
    model = planted.model
    other = next(r for r in (1, 2, 3) if r != model.best_params_["n_components"])
    shown = GridDisplay.from_estimator(model, fixed={"n_components": other})
    np.testing.assert_allclose(shown.scores, model.score_grid_[:, :, other - 1])
    assert shown.best is None
    assert shown.mark_ is None
    turned = GridDisplay.from_estimator(model, parameters=("n_components", "alpha"), colorbar=False)
    b = [0, 0.1].index(model.beta_)
    np.testing.assert_allclose(turned.scores, model.score_grid_[:, b].T)
    assert turned.colorbar_ is None


def test_the_default_grid_is_drawn_by_alpha_over_beta(planted):
    model = SharedSubspaceClassifierCV(cv=3).fit(planted.X, planted.Y)
    shown = GridDisplay.from_estimator(model)
    assert shown.parameters == ("alpha / beta", "beta")
    assert shown.values[0] == [0.0, 9.0, np.inf]
    np.testing.assert_allclose(shown.scores, model.score_grid_[:, :, 0])
    named = GridDisplay.from_estimator(model, parameters=("alpha", "beta"))
    assert len(named.values[0]) == 2 + 13
    fixed = GridDisplay.from_estimator(
        model, parameters=("beta", "n_components"), fixed={"alpha": 0.0}
    )
    np.testing.assert_allclose(fixed.scores, model.score_grid_[0])


def test_lists_in_any_order_are_drawn_ascending(planted):
    grid = {"alphas": [1, 0.01], "betas": [10.0, 0.1], "n_components": [2]}
    model = SharedSubspaceClassifierCV(**grid, cv=3).fit(planted.X, planted.Y)
    shown = GridDisplay.from_estimator(model)
    np.testing.assert_allclose(shown.scores, model.score_grid_[::-1, ::-1, 0])
    assert shown.values == ([0.01, 1.0], [0.1, 10.0])


def test_a_pipeline_and_other_searches_are_drawn(planted):
    grid = {"alphas": [0.1, 1], "betas": [0.1, 1]}
    pipe = make_pipeline(StandardScaler(), SharedSubspaceClassifierCV(**grid, cv=2))
    shown = GridDisplay.from_estimator(pipe.fit(planted.X, planted.Y))
    assert shown.scores.shape == (2, 2)
    assert shown.scoring == "f1_macro"
    sparse = MtSDACV([1.0, 2.0], [1.0], [0.0, 0.5], cv=2).fit(planted.X, planted.Y)
    assert GridDisplay.from_estimator(sparse).parameters == ("l1", "rho")
    params = {"n_neighbors": [3, 5, 7], "weights": ["uniform", "distance"]}
    search = GridSearchCV(KNeighborsClassifier(), params, cv=2).fit(planted.X, planted.Y)
    shown = GridDisplay.from_estimator(search)
    np.testing.assert_allclose(
        shown.scores.ravel(), search.cv_results_["mean_test_score"].reshape(3, 2)[:, ::-1].ravel()
    )
    assert [t.get_text() for t in shown.ax_.get_xticklabels()] == ["distance", "uniform"]
    assert shown.scoring == "score"
    params = [{"n_neighbors": [3, 5]}, {"n_neighbors": [7], "weights": ["distance"]}]
    uneven = GridSearchCV(KNeighborsClassifier(), params, cv=2).fit(planted.X, planted.Y)
    shown = GridDisplay.from_estimator(uneven)
    assert shown.values == ([3, 5, 7], [None, "distance"])
    assert np.isfinite(shown.scores).tolist() == [[True, False], [True, False], [False, True]]


def test_undefined_scores_are_empty_cells():
    scores = np.array([[0.1, np.nan], [0.3, 0.4]])
    shown = GridDisplay(scores=scores, values=([1, 2], [3, 4]), parameters=("a", "b"), best=(1, 1))
    shown.plot()
    assert set(cell_texts(shown)) == {(0, 0), (1, 0), (1, 1)}
    nothing = GridDisplay(
        scores=np.full((1, 2), np.nan), values=([1], [1, 2]), parameters=("a", "b")
    )
    assert nothing.plot().texts_ == []
    nothing.figure_.canvas.draw()


def test_a_large_map_has_no_values_unless_they_are_wanted(rng):
    shown = GridDisplay(
        scores=rng.uniform(size=(12, 12)), values=(range(12), range(12)), parameters=("a", "b")
    )
    assert shown.plot().texts_ == []
    assert len(shown.plot(include_values=True, values_format=".1f").texts_) == 144
    assert set(map(len, cell_texts(shown).values())) == {3}


def test_colours_begin_at_the_lower_quartile_and_the_scale_says_so():
    scores = np.array([[0.0, 0.5], [0.6, 0.7]])
    shown = GridDisplay(scores=scores, values=([1, 2], [3, 4]), parameters=("a", "b")).plot()
    assert shown.image_.norm.vmin == pytest.approx(np.quantile(scores, 0.25))
    assert shown.colorbar_.extend == "min"
    whole = shown.plot(im_kwargs={"vmin": 0.0})
    assert whole.colorbar_.extend == "neither"


def test_losses_are_called_negated(planted):
    model = SharedSubspaceClassifierCV([0.1, 1], [0.1, 1], cv=2, scoring="hamming_loss")
    shown = GridDisplay.from_estimator(model.fit(planted.X, planted.Y))
    assert shown.scoring == "negated hamming_loss"
    assert (shown.scores < 0).all()


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1e-6, "1e-6"),
        (0.0001, "1e-4"),
        (0.00125, "1.25e-3"),
        (0.01, "0.01"),
        (0, "0"),
        (0.0, "0"),
        (1.0, "1"),
        (1e20, "1e+20"),
        (np.inf, "∞"),
        (np.int64(5), "5"),
        (True, "True"),
        ("a\nb", "a b"),
        (None, "None"),
    ],
)
def test_values_are_short(value, text):
    assert format_value(value) == text


def test_bad_input_raises_an_error(planted):
    with pytest.raises(TypeError, match="StandardScaler has no cv_results_: only a fitted search"):
        GridDisplay.from_estimator(StandardScaler())
    for options, message in [
        ({"parameters": ("alpha", "gamma")}, "no parameter 'gamma'; it has: 'alpha', 'beta', 'n_c"),
        ({"parameters": "alpha"}, "parameters must be two names .* got 'alpha'"),
        ({"parameters": ("beta", "beta")}, "parameters must be two names"),
        ({"fixed": {"n_components": 7}}, "n_components=7 is not in the grid, which has: 1, 2, 3"),
        ({"fixed": {"x": 7}}, "no parameter 'x'"),
    ]:
        with pytest.raises(ValueError, match=message):
            GridDisplay.from_estimator(planted.model, **options)
    params = {"n_neighbors": [3, 5]}
    search = GridSearchCV(KNeighborsClassifier(), params, cv=2).fit(planted.X, planted.Y)
    with pytest.raises(ValueError, match="A map needs two parameters; the grid has 1: 'n_neighb"):
        GridDisplay.from_estimator(search)
    search.set_params(
        param_grid={"n_neighbors": [3, 5], "p": [1, 2]},
        scoring=["accuracy", "f1_macro"],
        refit="accuracy",
    )
    with pytest.raises(
        ValueError, match="GridSearchCV have no mean_test_score: search with a sing"
    ):
        GridDisplay.from_estimator(search.fit(planted.X, planted.Y))
