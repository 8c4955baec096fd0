"""Files of planted data, and a model tuned on them."""

import pytest

from eigenlabel.cli import main
from eigenlabel.datasets import make_shared_subspace, save


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """Training and test files of planted data, and a model tuned on them."""
    place = tmp_path_factory.mktemp("cli")
    data = make_shared_subspace(300, 8, 5, 2, prevalence=0.3, noise=0.2, random_state=0)
    for name, rows in (("train", range(200)), ("test", range(200, 300))):
        save(data.subset(samples=list(rows)), place / f"{name}.arff")
        save(data.subset(samples=list(rows)), place / f"{name}.svm")
    words = ["tune", place / "train.arff", "-o", place / "m.skops", "--betas", "0.01,1"]
    assert main([*map(str, words), "--alphas", "0,1,inf", "--dimensions", "1,2"]) == 0
    return place
