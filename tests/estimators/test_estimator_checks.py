"""scikit-learn's own checks for every public estimator, found by discovery."""

import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from discovery import instances


def calibrated():
    """Return the classifiers that have probabilities only if they are asked for, with them."""
    found = {type(e): e for e in reversed(instances()) if getattr(e, "calibration", "") is None}
    return [clone(e).set_params(calibration="auto") for e in found.values()]


def expected_failures(estimator):
    """Return the checks that cannot pass.

    scikit-learn knows its own CCA by name, and passes targets that are no labels to ours. Copies of
    a sample, unlike its weight, may be in different folds of a calibration.
    """
    if getattr(estimator, "calibration", None) is not None and not hasattr(estimator, "cv"):
        kinds = ("dense", "sparse")
        checks = (f"check_sample_weight_equivalence_on_{kind}_data" for kind in kinds)
        return dict.fromkeys(checks, "five folds of its own, which repeated samples are split over")
    if type(estimator).__name__ == "MultilabelBlend":
        checks = (f"check_sample_weight_equivalence_on_{kind}_data" for kind in ("dense", "sparse"))
        return dict.fromkeys(checks, "trees and neighbours, which differ for repeated samples")
    if type(estimator).__name__ != "CCA":
        return {}
    reason = "called with real-valued targets, because of the name"
    checks = ("check_transformer_general", "check_transformer_data_not_an_array")
    return dict.fromkeys(checks, reason)


# The two checks that skip themselves: array API input needs an environment variable set before
# scipy is imported, and without a calibration there is no predict_proba to check the format of.
@pytest.mark.filterwarnings("ignore:.*:sklearn.exceptions.SkipTestWarning")
# One check calls partial_fit after fit, which warns that the model starts again.
@pytest.mark.filterwarnings("ignore:fit keeps no statistics to add to:UserWarning")
# LIBLINEAR finds the random labels of some checks hard.
@pytest.mark.filterwarnings("ignore:The SVMs of ASO stopped:sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks([*instances(), *calibrated()], expected_failed_checks=expected_failures)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def test_every_estimator_is_checked():
    assert {type(e).__name__ for e in instances()} >= {
        "SharedSubspaceClassifier",
        "SharedSubspaceClassifierCV",
        "ThresholdedClassifier",
    }
