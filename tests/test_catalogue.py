"""The catalogue: every named method learns, and names are unique."""

import subprocess
import sys

import pytest

from eigenlabel import catalogue, metrics
from eigenlabel.catalogue import METHODS, make
from eigenlabel.datasets import make_shared_subspace
from eigenlabel.experiment import Method
from eigenlabel.reproduce.papers import PAPERS

SLOW = ("+SVM", "ASO_SVM")  # grids of SVMs, made of the same parts as those below
SOME = ("mddm:MDDM_p+SVM", "mddm:ORI+SVM-rbf")
QUICK = [n for n in METHODS if n in SOME or not any(part in n for part in SLOW)]


@pytest.mark.parametrize("name", QUICK)
def test_every_method_of_the_catalogue_learns(name):
    data = make_shared_subspace(150, 10, 4, 2, prevalence=0.3, noise=0.1, random_state=0)
    quick = {
        "SVM": {"estimator__svm__param_grid": {"C": [0.1, 1.0]}},
        "SVM-squared": {"estimator__param_grid": {"C": [0.1, 1.0]}},
        "kernel:SVM": {"estimator__then__param_grid": {"C": [0.1, 1.0]}},
        "kernel:CCA+Ridge": {"then__penalties": [0.1, 1.0]},
        "CCA+Ridge": {"penalties": [0.1, 1.0]},
        "HSML": {"penalties": [0.1, 1.0]},
        "many-labels": {"n_components": 3},
    }
    if METHODS[name].grid:  # a tagger that assigns five labels, and these data have four
        quick[name] = {"threshold": "mixed"}
    model = make(name, quick.get(name)).fit(data.X[:100], data.Y[:100])
    if METHODS[name].grid:
        assert metrics.auc_micro(data.Y[100:], model.decision_function(data.X[100:])) > 0.85
    assert metrics.f1_micro(data.Y[100:], model.predict(data.X[100:])) > 0.7
    assert METHODS[name].about


def test_the_catalogue_has_the_general_methods_and_those_of_the_papers():
    parts = [catalogue.GENERAL, *(paper.methods for paper in PAPERS)]
    assert sum(map(len, parts)) == len(METHODS), "a name stands for one method"
    assert all(METHODS[name] is recipe for part in parts for name, recipe in part.items())


def test_protocols_find_named_methods_without_an_import_of_the_catalogue():
    script = "from eigenlabel.experiment import Method; print(Method('ridge').make().cv)"
    found = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert found.stdout == "5\n"


def test_there_is_one_class_named_method():
    assert catalogue.Method.__name__ == "Recipe"
    assert Method is not catalogue.Method
