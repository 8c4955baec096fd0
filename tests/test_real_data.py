"""On the papers' own data, where it is at hand."""

import numpy as np
import pytest
from sklearn.datasets import load_svmlight_file
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.preprocessing import MultiLabelBinarizer

from eigenlabel import SharedSubspaceClassifierCV, metrics
from eigenlabel.preprocessing import drop_rare

# TKDD 2010, Table II: features on file, then samples, features, labels, most and fewest positives
SIZES = {
    "Arts": (23146, (7441, 17973, 19, 1838, 104)),
    "Education": (27534, (11817, 20782, 14, 3738, 127)),
    "Health": (30605, (9109, 18430, 14, 4703, 114)),
    "Reference": (39679, (7929, 26397, 15, 3782, 156)),
    "Science": (37187, (6345, 24002, 22, 1548, 102)),
}


def load(folder, name):
    path = folder / "yahoo" / f"{name}.svm.gz"
    if not path.is_file():
        pytest.skip(f"no real data: {path} is not there")
    X, y = load_svmlight_file(path, n_features=SIZES[name][0], multilabel=True, zero_based=False)
    return drop_rare(X, MultiLabelBinarizer().fit_transform(y))


@pytest.mark.parametrize("name", list(SIZES))
def test_prepared_data_have_the_published_sizes(name, data_folder):
    kept = load(data_folder, name)
    positives = kept.Y.sum(axis=0)
    found = (*kept.X.shape, kept.Y.shape[1], positives.max(), positives.min())
    assert found == SIZES[name][1]


def test_one_split_of_arts_beats_the_published_mean(data_folder):
    # The benchmark measures means over splits; one split is enough to notice that something broke.
    kept = load(data_folder, "Arts")
    order = np.random.default_rng(0).permutation(len(kept.Y))
    train, test = order[:1000], order[1000:]
    weigh = TfidfTransformer().fit(kept.X[train])
    model = SharedSubspaceClassifierCV().fit(weigh.transform(kept.X[train]), kept.Y[train])
    X = weigh.transform(kept.X[test])
    figures = metrics.evaluate(kept.Y[test], model.decision_function(X), model.predict(X))
    assert figures["f1_macro"] > 0.3572
    assert figures["f1_micro"] > 0.4700
    assert figures["auc_macro"] > 0.7500
