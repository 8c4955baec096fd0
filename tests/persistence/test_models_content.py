"""The content of a model file."""

import numpy as np
import pytest
import skops.io
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from eigenlabel import MLkNN, SharedSubspaceClassifier
from eigenlabel.datasets import DataError, make_shared_subspace
from eigenlabel.persistence import SavedModel, load_model, save_model
from eigenlabel.persistence.models import PARTS
from model_files import content

DATA = make_shared_subspace(40, 5, 3, 2, prevalence=0.3, random_state=0)


def test_a_saved_model_is_read_from_its_content(tmp_path):
    path = tmp_path / "m.skops"
    path.write_bytes(skops.io.dumps(content()))
    saved = load_model(path)
    assert saved.views == {"text": slice(0, 2)}
    assert saved.categories == {"a": ("u", "v")}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        *(({name: None}, f"it lacks {name}") for name in PARTS),
        ({"feature_names": ["a", "b"]}, "feature_names must be a vector of strings"),
        ({"feature_names": np.array([["a"]])}, "feature_names must be a vector of strings"),
        ({"label_names": np.array([1.0])}, "label_names must be a vector of strings"),
        ({"categories": [1]}, "categories must be a dict"),
        ({"categories": {"a": 3}}, "categories of 'a' must be a list of strings"),
        ({"categories": {"a": [3]}}, "categories of 'a' must be a list of strings"),
        ({"views": {"text": [0]}}, "view 'text' must have a first and a last column"),
        ({"views": {"text": [0, 1.5]}}, "view 'text' must have a first and a last column"),
        ({"views": {"text": [1, 3]}}, r"view 'text' has columns \[1, 3\], but there are 2"),
        ({"views": {"text": [-1, 1]}}, "but there are 2"),
        ({"options": {1: "t"}}, "options must be a dict with strings as keys"),
        ({"about": "me"}, "about must be a dict"),
        ({"column_types": {"a": 1}}, "column_types must be strings"),
        ({"words": {"t": [0, 9]}}, r"view 't' has columns \[0, 9\], but there are 2"),
    ],
)
def test_each_part_of_the_content_is_checked(changes, message, tmp_path):
    path = tmp_path / "m.skops"
    path.write_bytes(skops.io.dumps(content(**changes)))
    with pytest.raises(DataError, match=message):
        load_model(path)


def test_names_that_do_not_fit_the_model_are_neither_saved_nor_loaded(tmp_path):
    model = SharedSubspaceClassifier().fit(DATA.X, DATA.Y)
    with pytest.raises(ValueError, match="4 feature_names for a model of 5 features"):
        save_model(SavedModel(model, DATA.feature_names[:4], DATA.label_names), tmp_path / "m")
    assert list(tmp_path.iterdir()) == []
    changed = content(model=model, views={})
    (tmp_path / "m").write_bytes(skops.io.dumps(changed))
    with pytest.raises(DataError, match="2 feature_names for a model of 5 features"):
        load_model(tmp_path / "m")


@pytest.mark.parametrize(
    "model",
    [
        SharedSubspaceClassifier(),
        MLkNN(),
        make_pipeline(StandardScaler(), SharedSubspaceClassifier()),
        OneVsRestClassifier(LogisticRegression()),
    ],
    ids=lambda m: type(m).__name__,
)
def test_an_estimator_is_saved_without_further_information(model, tmp_path):
    path = tmp_path / "m.skops"
    with pytest.raises(ValueError, match="not fitted"):
        save_model(model, path)
    save_model(model.fit(DATA.X, DATA.Y), path)
    saved = load_model(path)
    assert saved.feature_names.tolist() == ["0", "1", "2", "3", "4"]
    assert saved.label_names.tolist() == ["0", "1", "2"]
    np.testing.assert_array_equal(saved.model.predict(DATA.X), model.predict(DATA.X))
    save_model(load_model(path), path)  # a loaded model can be saved again
    assert load_model(path).label_names.tolist() == ["0", "1", "2"]


def test_the_column_names_of_a_frame_are_saved_with_an_estimator(tmp_path):
    pd = pytest.importorskip("pandas")
    X = pd.DataFrame(DATA.X, columns=list("abcde"))
    save_model(SharedSubspaceClassifier().fit(X, DATA.Y), tmp_path / "m.skops")
    assert load_model(tmp_path / "m.skops").feature_names.tolist() == list("abcde")


def test_labels_may_be_words_but_must_be_known(tmp_path):
    words = np.array(["tea", "milk", "water", "tea"] * 10)  # one label per sample
    save_model(SharedSubspaceClassifier().fit(DATA.X, words), tmp_path / "m.skops")
    assert load_model(tmp_path / "m.skops").label_names.tolist() == ["milk", "tea", "water"]
    with pytest.raises(ValueError, match="labels of the model are unknown"):
        save_model(StandardScaler().fit(DATA.X), tmp_path / "m.skops")
    with pytest.raises(ValueError, match="number of features of the model is unknown"):
        save_model(TfidfVectorizer().fit(["a word"]), tmp_path / "m.skops")
