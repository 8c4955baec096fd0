import numpy as np
import pytest
import scipy.sparse as sp
from matplotlib import pyplot
from matplotlib.text import Text
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from eigenlabel import SharedSubspaceClassifier
from eigenlabel.datasets import make_shared_subspace
from eigenlabel.drawing.axes import COLOURS
from eigenlabel.inspection import LabelMapDisplay
from eigenlabel.inspection.displays.label_map import LARGEST, SMALLEST


@pytest.fixture(scope="module")
def fitted():
    data = make_shared_subspace(300, n_labels=10, random_state=1)
    return data, SharedSubspaceClassifier(n_components=4).fit(data.X, data.Y)


def test_labels_are_placed_by_their_weights_in_the_eigenlabels(fitted):
    data, model = fitted
    shown = LabelMapDisplay.from_estimator(model, data.Y, dimensions=(2, 0), normalize=False)
    expected = np.empty((10, 2))
    for j in range(10):
        for column, k in enumerate((2, 0)):
            expected[j, column] = model.eigenlabels_[j, k] * np.sqrt(model.eigenvalues_[k])
    np.testing.assert_allclose(shown.points_.get_offsets(), expected)
    share = model.eigenvalues_[2] / model.eigenvalues_.sum()
    assert shown.ax_.get_xlabel() == f"eigenlabel 3 ({share:.0%} of eigenvalues)"
    assert shown.ax_.get_aspect() == 1


def test_coordinates_are_divided_by_the_standard_deviation_of_the_label(fitted, rng):
    data, model = fitted
    weights = rng.integers(0, 3, len(data.Y))
    Y = np.where(rng.uniform(size=data.Y.shape) < 0.1, np.nan, data.Y)
    raw = LabelMapDisplay.from_estimator(model, Y, normalize=False).coordinates
    shown = LabelMapDisplay.from_estimator(model, Y, sample_weight=weights)
    for j in range(10):
        observed = ~np.isnan(Y[:, j])
        copies = np.repeat(Y[observed, j], weights[observed])
        np.testing.assert_allclose(shown.coordinates[j], raw[j] / copies.std())
        assert shown.support[j] == copies.sum()


def test_areas_are_proportional_to_the_positives(fitted):
    data, model = fitted
    sizes = LabelMapDisplay.from_estimator(model, sp.csr_array(data.Y)).points_.get_sizes()
    count = data.Y.sum(axis=0)
    np.testing.assert_allclose(sizes, np.maximum(SMALLEST, LARGEST * count / count.max()))
    assert len(set(LabelMapDisplay.from_estimator(model).points_.get_sizes())) == 1


def test_names_are_written_without_overlap(fitted):
    data, model = fitted
    names = [f"$x_{{{j}}}$_" for j in range(10)]
    shown = LabelMapDisplay.from_estimator(model, data.Y, label_names=names)
    shown.figure_.canvas.draw()
    written = [text for text in shown.texts_ if text is not None]
    assert len(written) >= 8
    assert {text.get_text() for text in written} <= set(names)
    for text, name in zip(shown.texts_, names, strict=True):
        assert text is None or text.get_text() == name
    boxes = [Text.get_window_extent(text) for text in written]
    assert not any(b.overlaps(other) for k, b in enumerate(boxes) for other in boxes[:k])


def test_the_number_of_names_is_bounded_and_said(fitted):
    data, model = fitted
    shown = LabelMapDisplay.from_estimator(model, data.Y, max_names=3)
    assert sum(text is not None for text in shown.texts_) == 3
    assert shown.ax_.get_title(loc="left") == "10 labels, 3 of them named"
    far = np.argsort(-np.hypot(*shown.coordinates.T))[:3]
    assert all(shown.texts_[j] is not None for j in far)


def test_the_most_frequent_labels_are_shown(fitted):
    data, model = fitted
    shown = LabelMapDisplay.from_estimator(
        model, data.Y, max_labels=4, label_names=list("abcdefghij")
    )
    kept = np.sort(np.argsort(-data.Y.sum(axis=0), kind="stable")[:4])
    assert shown.names == ["abcdefghij"[j] for j in kept]
    assert shown.chosen == "4 most frequent of 10 labels"
    alone = LabelMapDisplay.from_estimator(model, max_labels=4)
    assert alone.chosen == "4 outermost of 10 labels"
    chosen = LabelMapDisplay.from_estimator(model, data.Y, labels=[3, 1])
    assert chosen.names == ["label 3", "label 1"]
    assert chosen.chosen == "2 chosen of 10 labels"


def test_groups_have_colours(fitted):
    data, model = fitted
    names = [f"{'abcdefgh'[j % 8]}::{j}" for j in range(10)]
    shown = LabelMapDisplay.from_estimator(model, data.Y, label_names=names)
    total = {g: sum(data.Y[:, j].sum() for j in range(10) if names[j][0] == g) for g in "abcdefgh"}
    ranked = sorted(total, key=lambda g: -total[g])[: len(COLOURS)]
    texts = [text.get_text() for text in shown.legend_.get_texts()]
    assert texts == [*ranked, "other"]
    colours = {
        name: tuple(c) for name, c in zip(names, shown.points_.get_facecolors(), strict=True)
    }
    assert len({colours[name] for name in names if name[0] in ranked}) == len(ranked)
    assert len({colours[name] for name in names if name[0] not in ranked}) == 1
    own = LabelMapDisplay.from_estimator(model, data.Y, groups=["$x$"] * 9 + ["_y"])
    assert {text.get_text() for text in own.legend_.get_texts()} == {"$x$", "_y"}
    assert LabelMapDisplay.from_estimator(model, groups=None, label_names=names).legend_ is None
    assert LabelMapDisplay.from_estimator(model, data.Y).legend_ is None


def test_constant_labels_are_in_the_middle(fitted):
    data, _ = fitted
    Y = data.Y.copy()
    Y[:, 3] = 0
    model = SharedSubspaceClassifier(n_components=4).fit(data.X, Y)
    shown = LabelMapDisplay.from_estimator(model, Y)
    np.testing.assert_array_equal(shown.coordinates[3], 0)
    assert np.isfinite(shown.coordinates).all()


def test_a_single_eigenlabel_is_drawn_against_zero(fitted):
    data, _ = fitted
    model = SharedSubspaceClassifier(n_components=1).fit(data.X, data.Y)
    shown = LabelMapDisplay.from_estimator(model, data.Y)
    assert (shown.coordinates[:, 1] == 0).all()
    assert shown.ax_.get_ylabel() == ""
    nothing = SharedSubspaceClassifier().fit(np.zeros_like(data.X), data.Y)
    with pytest.raises(ValueError, match="The model has no eigenlabel"):
        LabelMapDisplay.from_estimator(nothing, data.Y)


def test_pipelines_and_axes_of_any_layout_are_used(fitted):
    data, _ = fitted
    pipe = make_pipeline(StandardScaler(), SharedSubspaceClassifier(n_components=2))
    pipe.fit(data.X, data.Y)
    figure = pyplot.figure(layout="constrained")
    inner = figure.subfigures(1, 2)[1].subplots(2)[0]
    assert LabelMapDisplay.from_estimator(pipe, data.Y, ax=inner).ax_ is inner
    plain = pyplot.figure().add_axes([0.1, 0.1, 0.4, 0.4])
    shown = LabelMapDisplay.from_estimator(pipe, data.Y, ax=plain, text_kwargs={"fontsize": 5})
    assert next(t for t in shown.texts_ if t is not None).get_fontsize() == 5


def test_bad_input_raises_an_error(fitted):
    data, model = fitted
    with pytest.raises(TypeError, match="StandardScaler has no eigenlabels_: fit a Shared"):
        LabelMapDisplay.from_estimator(StandardScaler())
    for Y, options, message in [
        (data.Y[:, :4], {}, "Y has 4 labels, the model 10"),
        (data.Y, {"dimensions": (0, 4)}, "dimensions must be an integer between 0 and 3, got 4"),
        (data.Y, {"dimensions": (0,)}, r"dimensions must be two .* got \(0,\)"),
        (data.Y, {"groups": "other"}, "groups must be 'auto', None or one group per label"),
        (data.Y, {"groups": ["a"]}, "1 groups for 10 labels"),
        (data.Y, {"max_labels": 0}, "max_labels must be an integer >= 1, got 0"),
        (data.Y, {"max_names": -1}, "max_names must be an integer >= 0, got -1"),
        (data.Y, {"labels": ["x"]}, "There is no label 'x'"),
    ]:
        with pytest.raises(ValueError, match=message):
            LabelMapDisplay.from_estimator(model, Y, **options)
