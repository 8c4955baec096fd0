"""How an estimator is made from the name of a method."""

from eigenlabel import KGHA, catalogue
from eigenlabel.experiment import Method


def test_another_grid_or_an_empty_one_replaces_the_grid_of_a_method():
    assert isinstance(catalogue.make("KGHA", {"ridge": 2.0}, grid={}), KGHA)
    tuned = catalogue.make("KGHA", {"n_components": 3}, {"ridge": [1.0]}, "ranking_accuracy")
    assert (tuned.param_grid, tuned.estimator.n_components) == ({"ridge": [1.0]}, 3)
    assert Method("ridge").make().cv == 5
    assert set(Method("KGHA").make().param_grid) == {"trade_off", "ridge"}
    assert Method("KGHA", grid={"ridge": [1.0]}).make().param_grid == {"ridge": [1.0]}


def test_a_parameter_that_is_set_is_not_tuned():
    assert catalogue.make("JEC", {"n_neighbors": 7}).n_neighbors == 7  # nothing is left to tune
    tuned = catalogue.make("KGHA", {"ridge": 2.0})
    assert (set(tuned.param_grid), tuned.estimator.ridge) == ({"trade_off"}, 2.0)
    inner = {"estimator__estimator__alpha": 3.0}
    assert not hasattr(catalogue.make("ASO_SVM", inner), "param_grid")
    inner = {"estimator__projection__label_gamma": 3.0}
    tuned = catalogue.make("mddm:MDDM_p^k+MLkNN-rbf", inner)
    assert set(tuned.param_grid) == {"projection__gamma"}
    own = {"projection__gamma": [0.1, 1.0]}
    assert catalogue.make("mddm:MDDM_p^k+MLkNN-rbf", {"param_grid": own}).param_grid == own
    tuned = catalogue.make("mddm:MDDM_p+SVM-rbf", {"costs": [3.0], "kernel_grid": {"gamma": [0.1]}})
    assert (tuned.costs, tuned.kernel_grid) == ([3.0], {"gamma": [0.1]})
    chosen = {"grid": {"alpha": [3.0]}, "penalties": [0.1]}
    assert catalogue.make("CCA+Ridge", chosen).get_params()["grid"] == {"alpha": [3.0]}
