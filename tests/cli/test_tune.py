"""The command that tunes a model: its options, its bound and its page."""

import numpy as np
import pytest

from commands import run_command
from eigenlabel.cli import tune
from eigenlabel.datasets import load
from eigenlabel.persistence import load_model
from eigenlabel.thresholds import RiskControl


def test_tune_saves_the_model_that_it_describes(folder, capsys):
    page = folder / "page.html"
    words = ["--betas", "0.01,1", "--alphas", "0,1,inf", "--dimensions", "1,2", "--cv", 3]
    words += ["-o", folder / "n.skops", "--report", page]
    assert run_command("tune", folder / "train.arff", *words) == 0
    out = capsys.readouterr().out
    model = load_model(folder / "n.skops").model[-1]
    assert f"held-out f1_macro: {model.best_score_:.4f}, best of 12 grid points" in out
    assert f"alpha = {model.alpha_:g}, beta = {model.beta_:g}" in out
    assert model.score_grid_.shape == (3, 2, 2)
    text = page.read_text()
    assert "label_3" in text
    assert "http://" not in text.replace("http://www.w3.org", "")


def test_every_option_of_tune_reaches_the_model(folder, tmp_path):
    words = ["--cv", 3, "--scoring", "f1_micro", "--threshold", "global", "--kernel", "rbf"]
    words += ["--gamma", 0.25, "--betas", 0.1, "--prepare", "unit", "-o", tmp_path / "m.skops"]
    assert run_command("tune", folder / "train.svm", *words) == 0
    prepare, tuned = load_model(tmp_path / "m.skops").model
    assert type(prepare).__name__ == "Normalizer"
    found = (tuned.cv, tuned.scoring, tuned.threshold, tuned.kernel, tuned.gamma, tuned.betas)
    assert found == (3, "f1_micro", "global", "rbf", 0.25, [0.1])


def test_tune_keeps_a_bound_on_recall(folder, capsys):
    words = ["--cv", 3, "--betas", "0.1", "--alphas", "1", "-o", folder / "r.skops"]
    assert run_command("tune", folder / "train.arff", *words, "--risk", "recall=0.9") == 0
    capsys.readouterr()
    model = load_model(folder / "r.skops").model[-1]
    assert model.threshold == RiskControl(recall=0.9)
    assert len(set(model.thresholds_.tolist())) == 1  # one cut of the probabilities
    data = load(folder / "train.arff")
    found = load_model(folder / "r.skops").model.predict(data.X)
    Y = data.Y.toarray() if hasattr(data.Y, "toarray") else data.Y
    found = found.toarray() if hasattr(found, "toarray") else found
    recalls = [row[truth > 0].mean() for row, truth in zip(found, Y, strict=True) if truth.any()]
    assert np.mean(recalls) > 0.85  # of the training samples; the bound is about new ones


@pytest.mark.parametrize("bound", ["recall", "recall=2", "recall=.9,precision=.9", "speed=1", ""])
def test_a_bound_that_is_none_is_a_wrong_call(folder, bound, capsys):
    words = ["tune", folder / "train.arff", "-o", folder / "x.skops", "--risk", bound]
    assert run_command(*words) == 2
    assert "such as recall=0.9" in capsys.readouterr().err


def test_tune_keeps_samples_aside_for_a_bound(folder, tmp_path, capsys):
    output, page = tmp_path / "m.skops", tmp_path / "m.html"
    words = ["--cv", 3, "--betas", "0.1", "--alphas", "1", "-o", output, "--report", page]
    bound = ["--risk", "recall=0.9", "--risk-split", "0.3", "--seed", 5]
    assert run_command("tune", folder / "train.arff", *words, *bound) == 0
    out = capsys.readouterr().out
    assert "on 60 samples kept aside" in out
    text = page.read_text()
    for word in ("Bound on new samples", "The statement is exact", "140 samples", "Suspected"):
        assert word in text
    model = load_model(output).model
    assert (model.split, model.random_state, len(model.aside_)) == (0.3, 5, 60)
    assert model.estimator_[-1].oof_scores_.shape == (140, 5)
    X = load(folder / "test.arff").X
    P = model.predict_proba(X)
    np.testing.assert_array_equal(model.predict(X), model.thresholds_[0] < P)
    rows = ["--sample", 0, "-o", tmp_path / "e.html"]
    assert run_command("explain", output, folder / "test.arff", *rows) == 0
    assert f"threshold {model.thresholds_[0]:.3f}" in capsys.readouterr().out
    assert run_command("evaluate", output, folder / "test.arff") == 0


def test_a_share_without_a_bound_is_a_wrong_call(folder, tmp_path, capsys):
    words = ["tune", folder / "train.arff", "-o", tmp_path / "x.skops"]
    assert run_command(*words, "--risk-split", "0.3") == 2
    assert "--risk-split needs a bound" in capsys.readouterr().err
    for option in ("0", "1", "a", "nan"):
        assert run_command(*words, "--risk", "recall=0.9", "--risk-split", option) == 2
        assert "between 0 and 1 (excluded)" in capsys.readouterr().err
    assert run_command(*words, "--risk", "recall=0.9", "--seed", "-1") == 2
    assert "from 0 to 2^32 - 1" in capsys.readouterr().err


def test_an_effort_blends_models(folder, tmp_path, capsys):
    output, page = tmp_path / "m.skops", tmp_path / "m.html"
    words = ["--effort", "good", "--cv", 3, "-o", output, "--report", page, "--seed", 3]
    assert run_command("tune", folder / "train.arff", *words) == 0
    out = capsys.readouterr().out
    model = load_model(output).model[-1]
    assert (type(model).__name__, model.members, model.cv) == ("MultilabelBlend", "auto", 3)
    assert (model.random_state, model.time_budget) == (3, None)
    assert str(model.leaderboard_) in out
    text = page.read_text()
    for word in ("The blend and its members", "Reliability", "Suspected", "Results by label"):
        assert word in text
    assert run_command("evaluate", output, folder / "test.arff") == 0


def test_a_time_implies_a_blend_that_keeps_it(folder, tmp_path):
    words = ["--time", "2h", "--cv", 3, "-o", tmp_path / "m.skops"]
    assert run_command("tune", folder / "train.arff", *words) == 0
    assert load_model(tmp_path / "m.skops").model[-1].time_budget == 7200


def test_the_best_effort_has_all_members_and_ten_folds(folder, tmp_path, monkeypatch):
    made = []

    class StoppedError(RuntimeError):
        pass

    def blend(*args, **options):
        made.append((args, options))
        raise StoppedError

    monkeypatch.setattr(tune, "MultilabelBlend", blend)
    words = ["tune", str(folder / "train.arff"), "--effort", "best", "-o", str(tmp_path / "m")]
    with pytest.raises(StoppedError):
        run_command(*words)
    (members,), options = made[0]
    assert (members, options["cv"]) == ("all", 10)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--effort", "good", "--kernel", "rbf"], "--kernel is an option of a single model"),
        (["--effort", "quick", "--time", "9s"], "--time needs a blend"),
        (["--time", "soon"], "expected a time such as 90s, 10m or 1.5h, got 'soon'"),
        (["--time", "-1"], "expected a time such as"),
        (["--time", "m"], "expected a time such as"),
    ],
)
def test_options_that_do_not_belong_together_are_wrong_calls(words, message, folder, capsys):
    assert run_command("tune", folder / "train.arff", "-o", folder / "x.skops", *words) == 2
    assert message in capsys.readouterr().err
