"""Shared fixtures: seeds, matrices of every shape, and where real data lie."""

import os
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

# The same examples on every machine, so that a change that breaks nothing never turns red: a few in
# ``make test``, many in ``make test-all``. ``make test-random`` draws new ones.
_same = {"derandomize": True, "database": None, "deadline": None}
settings.register_profile("few", max_examples=20, **_same)
settings.register_profile("many", max_examples=200, **_same)
settings.register_profile("random", max_examples=200, deadline=None, print_blob=True)
settings.load_profile("few")


def pytest_collection_modifyitems(items):
    """Call scikit-learn's checks slow for estimators that differ little or take long.

    These are the second kernel of an estimator, the search for each label, and all but one of
    the classifiers that are checked again with probabilities.
    """
    for item in items:
        if item.name.startswith("test_scikit_learn_contract"):
            other = "(kernel=" in item.name or "[OneVsRestSearchCV(" in item.name
            again = "(calibration=" in item.name and "[SharedSubspaceClassifier(" not in item.name
            if other or again:
                item.add_marker(pytest.mark.slow)


@pytest.fixture
def rng():
    return np.random.default_rng(20080824)


def make_matrix(shape, rng):
    """Draw an X of a named shape; two of them are not of full rank."""
    sizes = {"tall": (40, 6), "wide": (12, 30), "square": (15, 15)}
    if shape in sizes:
        return rng.standard_normal(sizes[shape]) + rng.standard_normal(sizes[shape][1])
    if shape == "deficient":
        return rng.standard_normal((25, 3)) @ rng.standard_normal((3, 9)) + 1.0
    if shape == "duplicates":
        return np.repeat(rng.standard_normal((7, 10)), 3, axis=0)
    if shape == "zero":
        return np.zeros((10, 4))
    raise KeyError(shape)


SHAPES = ("tall", "wide", "square", "deficient", "duplicates", "zero")


@pytest.fixture(params=SHAPES)
def X(request, rng):
    return make_matrix(request.param, rng)


@pytest.fixture(params=SHAPES[:-1])
def X_informative(request, rng):
    return make_matrix(request.param, rng)


@pytest.fixture(scope="session")
def data_folder():
    """The folder of real data sets: EIGENLABEL_DATA, or shared/data beside the clone."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    folder = Path(os.environ.get("EIGENLABEL_DATA", beside))
    if not folder.is_dir():
        pytest.skip(f"no real data: {folder} is not there; set EIGENLABEL_DATA to a folder with it")
    return folder


@pytest.fixture
def write(tmp_path):
    def write(content, name="it.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


@pytest.fixture(params=["polars", "pandas"])
def engine(request, monkeypatch):
    """Read tables with polars, then as if only pandas were there."""
    if request.param == "pandas":
        monkeypatch.setitem(sys.modules, "polars", None)
    return request.param
