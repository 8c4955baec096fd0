"""Threshold rules that users write: documented as a subclass with its own ``fit``."""

import os
import subprocess
import sys
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB

from eigenlabel import (
    KGHA,
    MtSDA,
    MtSDACV,
    SharedSubspaceClassifierCV,
    ThresholdedClassifier,
)
from eigenlabel.datasets import DataError, make_shared_subspace
from eigenlabel.persistence import SavedModel, load_model, save_model
from eigenlabel.thresholds import Global, PerLabelF1, Rule, Zero


@dataclass(frozen=True)
class Midpoint(Rule):
    """The middle between the mean scores of positives and negatives, with the documented fit."""

    shift: float = 0.0

    def fit(self, scores, Y):
        assert scores.shape == Y.shape
        means = [[s[y == k].mean() for k in (0, 1)] for s, y in zip(scores.T, Y.T, strict=True)]
        return np.mean(means, axis=1) + self.shift


@dataclass(frozen=True)
class WeightedMean(Rule):
    """The weighted mean score of each label."""

    name: ClassVar[str] = "mean"

    def fit(self, scores, Y, sample_weight=None):  # noqa: ARG002
        return np.average(scores, axis=0, weights=sample_weight)


class Inherited(PerLabelF1):
    """Another ``fit`` for a rule that has its own ``fit_grid``."""

    def fit(self, scores, Y):
        return Midpoint().fit(scores, Y)


class Quarter(Zero):
    """A rule that is not the zero rule, although it is derived from it."""

    def fit(self, scores, Y):  # noqa: ARG002
        return np.full(scores.shape[1], 0.25)


class GridAgain(Midpoint):
    """``fit_grid`` for a rule whose parent has its own ``fit``."""

    def fit_grid(self, scores, truth, weights):
        return Global().fit_grid(scores, truth, weights)


class Shrunk(PerLabelF1):
    """A ``fit`` that uses the one of its parent."""

    def fit(self, scores, Y, sample_weight=None):
        return 0.9 * super().fit(scores, Y, sample_weight)


class Shift:
    """A ``fit`` in a class beside the rules."""

    def fit(self, scores, Y, sample_weight=None):
        return 1 + super().fit(scores, Y, sample_weight)


class ShiftBefore(Shift, PerLabelF1):
    pass


class ShiftBehind(PerLabelF1, Shift):
    pass


class Wrong(Rule):
    def fit(self, scores, Y):  # noqa: ARG002
        return 0.0


@pytest.fixture(scope="module")
def data():
    return make_shared_subspace(120, 6, 4, 2, prevalence=0.3, random_state=0)


@pytest.mark.parametrize("rule", [Midpoint(0.1), Inherited(), GridAgain()])
@pytest.mark.parametrize("on", ["heldout", "training"])
def test_tuned_models_use_the_rule(data, rule, on):
    model = SharedSubspaceClassifierCV([0.0, 1.0], [0.1], threshold=rule, threshold_on=on)
    model.fit(data.X, data.Y)
    scores = model.oof_scores_ if on == "heldout" else model.decision_function(data.X)
    np.testing.assert_allclose(model.thresholds_, rule.fit(scores, np.asarray(data.Y)))
    expected = model.decision_function(data.X) > model.thresholds_
    np.testing.assert_array_equal(model.predict(data.X), expected)


@pytest.mark.parametrize("model", [MtSDA(0.1), MtSDACV(), KGHA()], ids=str)
def test_other_methods_use_the_rule(data, model):
    model.set_params(threshold=Midpoint()).fit(data.X, data.Y)
    assert np.isfinite(model.thresholds_).all()


def test_any_classifier_uses_the_rule(data):
    inner = OneVsRestClassifier(LogisticRegression())
    for rule in (Midpoint(), Inherited(), GridAgain()):
        model = ThresholdedClassifier(inner, strategy=rule, cv=3).fit(data.X, data.Y)
        found = rule.fit(model.oof_scores_, np.asarray(data.Y))
        np.testing.assert_allclose(model.thresholds_, found)
    proba = ThresholdedClassifier(OneVsRestClassifier(GaussianNB()), strategy=Quarter(), cv=3)
    np.testing.assert_array_equal(proba.fit(data.X, data.Y).thresholds_, 0.25)


def test_weights_reach_a_fit_that_takes_them(data):
    weights = np.linspace(0.5, 2, 120)
    model = SharedSubspaceClassifierCV([0.0], [0.1], threshold=WeightedMean())
    model.fit(data.X, data.Y, sample_weight=weights)
    expected = np.average(model.oof_scores_, axis=0, weights=weights)
    np.testing.assert_allclose(model.thresholds_, expected)
    with pytest.raises(ValueError, match=r"Midpoint\.fit takes no sample_weight: add it"):
        model.set_params(threshold=Midpoint()).fit(data.X, data.Y, sample_weight=weights)


def test_labels_that_are_not_observed_are_nan(data):
    Y = np.asarray(data.Y, dtype=float).copy()
    Y[::3, 1] = np.nan
    model = SharedSubspaceClassifierCV([0.0], [0.1], threshold=Midpoint()).fit(data.X, Y)
    seen = ~np.isnan(Y[:, 1])
    expected = Midpoint().fit(model.oof_scores_[seen], Y[seen])[1]
    np.testing.assert_allclose(model.thresholds_[1], expected)
    scores = np.zeros((1, 2, 3))
    observed = np.array([[True] * 3, [False] * 3])
    found = WeightedMean().find_grid(scores, np.zeros((2, 3), dtype=bool), None, observed)
    np.testing.assert_array_equal(found, [[0, np.inf]])


@pytest.mark.parametrize("missing", [False, True])
def test_a_fit_may_use_the_one_of_its_parent(data, missing):
    rng = np.random.default_rng(0)
    Y = np.asarray(data.Y, dtype=float)
    Y[rng.random(Y.shape) < 0.1 * missing] = np.nan
    scores = rng.standard_normal(Y.shape)
    plain = PerLabelF1().fit(scores, Y)
    np.testing.assert_allclose(Shrunk().fit(scores, Y), 0.9 * plain, rtol=1e-12)
    np.testing.assert_allclose(ShiftBefore().fit(scores, Y), 1 + plain, rtol=1e-12)
    np.testing.assert_allclose(ShiftBehind().fit(scores, Y), plain, rtol=1e-12)
    model = SharedSubspaceClassifierCV([0.0, 1.0], [0.1], threshold=Shrunk()).fit(data.X, Y)
    expected = 0.9 * PerLabelF1().fit(model.oof_scores_, Y)
    np.testing.assert_allclose(model.thresholds_, expected, rtol=1e-12)


def test_any_classifier_uses_a_fit_that_uses_its_parents(data):
    inner = OneVsRestClassifier(LogisticRegression())
    model = ThresholdedClassifier(inner, strategy=Shrunk(), cv=3).fit(data.X, data.Y)
    expected = 0.9 * PerLabelF1().fit(model.oof_scores_, np.asarray(data.Y))
    np.testing.assert_allclose(model.thresholds_, expected, rtol=1e-12)


def test_an_incomplete_rule_raises_an_error(data):
    class Empty(Rule):
        pass

    model = SharedSubspaceClassifierCV([0.0], [0.1])
    with pytest.raises(NotImplementedError, match=r"Empty finds no thresholds: implement fit\("):
        model.set_params(threshold=Empty()).fit(data.X, data.Y)
    with pytest.raises(ValueError, match=r"one threshold for each label, shape \(4,\); it"):
        model.set_params(threshold=Wrong()).fit(data.X, data.Y)


def test_a_model_with_a_rule_of_ones_own_is_saved_and_loaded_by_trust(data, tmp_path):
    model = SharedSubspaceClassifierCV([0.0], [0.1], threshold=Midpoint(0.1)).fit(data.X, data.Y)
    saved = SavedModel(model, data.feature_names, data.label_names)
    path, name = tmp_path / "m.skops", f"{__name__}.Midpoint"
    with pytest.raises(DataError, match=rf"not trusted: {name}; pass trusted=\['{name}'\] if"):
        save_model(saved, path)
    assert not path.exists()
    save_model(saved, path, trusted=[Midpoint])
    for trusted in ([Midpoint], [name]):
        again = load_model(path, trusted=trusted).model
        assert again.threshold == Midpoint(0.1)
        np.testing.assert_array_equal(again.predict(data.X), model.predict(data.X))
    with pytest.raises(DataError, match=f"not trusted: {name}"):
        load_model(path)
    with pytest.raises(DataError, match=f"not trusted: {name}"):
        load_model(path, trusted=["other.Midpoint"])
    with pytest.raises(TypeError, match="trusted must be a list of classes or names"):
        load_model(path, trusted=name)


def test_no_code_of_a_rule_runs_before_it_is_trusted(tmp_path):
    module = tmp_path / "noisy_rules.py"
    module.write_text(
        "import pathlib\n"
        "from eigenlabel.thresholds import Zero\n"
        "pathlib.Path(__file__).with_suffix('.ran').touch()\n"
        "class Noisy(Zero):\n    pass\n"
    )
    script = (
        "import sys, noisy_rules\n"
        "from eigenlabel import SharedSubspaceClassifier, ThresholdedClassifier\n"
        "from eigenlabel.datasets import make_shared_subspace\n"
        "from eigenlabel.persistence import SavedModel, save_model\n"
        "data = make_shared_subspace(60, 6, 4, 2, random_state=0)\n"
        "rule = noisy_rules.Noisy()\n"
        "model = ThresholdedClassifier(SharedSubspaceClassifier(), strategy=rule, cv=2)\n"
        "saved = SavedModel(model.fit(data.X, data.Y), data.feature_names, data.label_names)\n"
        "save_model(saved, 'm.skops', trusted=[noisy_rules.Noisy])\n"
    )
    paths = os.pathsep.join([str(tmp_path), *sys.path])
    environment = {**os.environ, "PYTHONPATH": paths}
    subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, env=environment, check=True, timeout=120
    )
    ran = module.with_suffix(".ran")
    ran.unlink()
    sys.path.insert(0, str(tmp_path))
    try:
        with pytest.raises(DataError, match=r"not trusted: noisy_rules\.Noisy"):
            load_model(tmp_path / "m.skops")
        assert not ran.exists()
        rule = load_model(tmp_path / "m.skops", trusted=["noisy_rules.Noisy"]).model.strategy
        assert (type(rule).__name__, ran.exists()) == ("Noisy", True)
    finally:
        sys.path.remove(str(tmp_path))
        sys.modules.pop("noisy_rules", None)
