"""Every public estimator, found by discovery, and what tests of all of them share."""

import inspect

from sklearn.base import BaseEstimator, clone

import eigenlabel
from eigenlabel.preprocessing import DocumentFrequencySelector, TablePreparation

OUTPUTS = ("predict", "decision_function", "predict_proba", "transform")
QUICK = {
    "cv": 2,
    "random_state": 0,  # every fit runs the same lines
    "n_blocks": 1,
    "param_grid": {"C": [1.0]},
    "alphas": [0.1],
    "betas": [0.1],
    "l1s": [1.0],
    "l2s": [1.0],
}


def instances():
    """Return every public estimator, kernel methods with a linear kernel and with another one.

    ``kernel="precomputed"`` is left out: some checks pass matrices that are not kernels.
    """
    found = []
    for name in eigenlabel.__all__:
        thing = getattr(eigenlabel, name)
        if inspect.isclass(thing) and issubclass(thing, BaseEstimator):
            parameters = inspect.signature(thing).parameters
            if parameters.get("estimator") and parameters["estimator"].default is inspect._empty:
                found.append(thing(eigenlabel.SharedSubspaceClassifier()))
                continue
            # The check of sparsify has classes of three samples.
            few = {"cv": 3} if "cv" in parameters and hasattr(thing, "sparsify") else {}
            found.append(thing(**few))
            if "kernel" in parameters:
                linear = parameters["kernel"].default == "linear"
                found.append(thing(kernel="rbf" if linear else "linear"))
    return [*found, DocumentFrequencySelector(1), TablePreparation()]


def settled(model):
    """Return an unfitted copy of the model with a fixed seed and little to tune."""
    model = clone(model)
    return model.set_params(**{k: v for k, v in QUICK.items() if k in model.get_params()})


def outputs(model, X):
    """Return what each method of a fitted model returns for X."""
    return {name: getattr(model, name)(X) for name in OUTPUTS if hasattr(model, name)}
