import numpy as np
import pytest
from matplotlib import pyplot
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler

from eigenlabel import MDDM, DimensionsPath, MLkNN, ProjectedClassifierCV, dimensions_path
from eigenlabel.inspection import DimensionDisplay


@pytest.fixture
def path(rng):
    return DimensionsPath(np.array([4, 1, 2]), rng.uniform(size=(3, 5)))


def test_lines_are_means_and_bands_standard_errors(path):
    shown = DimensionDisplay.from_paths(path, scoring="f1_macro")
    x, mean = shown.lines_[0].get_data()
    assert x.tolist() == [1, 2, 4]
    vertices = shown.bands_[0].get_paths()[0].vertices
    for d, value in zip(x, mean, strict=True):
        scores = path.scores[path.dimensions.tolist().index(d)]
        assert value == pytest.approx(sum(scores) / 5)
        error = np.sqrt(sum((scores - value) ** 2) / 4 / 5)
        near = vertices[vertices[:, 0] == d][:, 1]
        np.testing.assert_allclose([near.min(), near.max()], [value - error, value + error])
    assert shown.rings_[0].get_xdata().tolist() == [x[np.argmax(mean)]]
    assert shown.legend_ is None
    assert shown.ax_.get_ylabel() == "f1_macro"


def test_the_lowest_loss_is_the_best(path):
    shown = DimensionDisplay.from_paths(path, scoring="ranking_loss")
    x, mean = shown.lines_[0].get_data()
    assert shown.rings_[0].get_xdata().tolist() == [x[np.argmin(mean)]]
    assert shown.ax_.get_ylabel() == "ranking_loss (lower is better)"


def test_several_paths_have_a_legend(path):
    paths = {"$a$": path, "_b": DimensionsPath(path.dimensions, path.scores / 2)}
    shown = DimensionDisplay.from_paths(paths)
    assert [text.get_text() for text in shown.legend_.get_texts()] == ["$a$", "_b"]
    assert len(shown.lines_) == len(shown.bands_) == len(shown.rings_) == 2
    bare = shown.plot(band=False, legend=False)
    assert bare.bands_ == []
    assert bare.legend_ is None


def test_the_path_of_a_projected_classifier_is_drawn(planted):
    model = ProjectedClassifierCV(cv=3).fit(planted.X, planted.Y)
    shown = DimensionDisplay.from_estimator(model)
    np.testing.assert_allclose(shown.lines_[0].get_xdata(), model.path_.dimensions)
    np.testing.assert_allclose(shown.lines_[0].get_ydata(), model.path_.scores.mean(axis=1))
    assert shown.rings_[0].get_xdata().tolist() == [model.best_params_["n_components"]]
    path = dimensions_path(MDDM(), MLkNN(), planted.X, planted.Y, [1, 2, 4, 6], cv=3)
    other = DimensionDisplay.from_paths(path, ax=shown.ax_)
    assert other.ax_ is shown.ax_
    np.testing.assert_allclose(other.lines_[0].get_ydata(), path.scores.mean(axis=1))


def test_the_best_score_of_each_dimension_of_a_grid_is_drawn(planted):
    shown = DimensionDisplay.from_estimator(planted.model)
    x, y = shown.lines_[0].get_data()
    assert x.tolist() == [1, 2, 3]
    np.testing.assert_allclose(y, planted.model.score_grid_.max(axis=(0, 1)))
    assert shown.bands_ == []
    assert shown.rings_[0].get_xdata().tolist() == [planted.model.best_params_["n_components"]]


def test_dimensions_that_differ_much_are_logarithmic():
    for dimensions, scale in [([1, 8], "log"), ([2, 8], "linear")]:
        shown = DimensionDisplay.from_paths(DimensionsPath(np.array(dimensions), np.eye(2)))
        assert shown.ax_.get_xscale() == scale
        ticks = [t.get_text() for t in shown.ax_.get_xticklabels()]
        assert ticks == [str(d) for d in dimensions]
    many = DimensionDisplay.from_paths(DimensionsPath(np.arange(1, 41), np.zeros((40, 2))))
    assert len(many.ax_.get_xticks()) < 15


def test_undefined_scores_are_never_the_best():
    path = DimensionsPath(np.array([1, 2]), np.array([[np.nan, 1.0], [0.2, 0.3]]))
    assert DimensionDisplay.from_paths(path).rings_[0].get_xdata().tolist() == [2]


def test_bad_input_raises_an_error():
    with pytest.raises(TypeError, match="StandardScaler has no best_params_: pass a fitted Proj"):
        DimensionDisplay.from_estimator(StandardScaler())
    search = GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 3]}, cv=2)
    with pytest.raises(TypeError, match="GridSearchCV compares no dimensions: pass a fitted Proj"):
        DimensionDisplay.from_estimator(search.fit(np.eye(8), [0, 1] * 4))
    with pytest.raises(ValueError, match="paths is empty"):
        DimensionDisplay.from_paths({})
    with pytest.raises(TypeError, match=r"paths\['a'\] must be a DimensionsPath .* got 3"):
        DimensionDisplay.from_paths({"a": 3})
    short = DimensionsPath(np.array([1, 2]), np.zeros((3, 2)))
    with pytest.raises(TypeError, match="one row of scores for each dimension"):
        DimensionDisplay.from_paths(short)
    assert pyplot.get_fignums() == []
