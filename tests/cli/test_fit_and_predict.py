"""Fitting, tuning, predicting and evaluating models from files."""

import csv
import json
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from commands import run_command
from eigenlabel import metrics
from eigenlabel.catalogue import METHODS
from eigenlabel.cli import main
from eigenlabel.datasets import load, make_shared_subspace, save
from eigenlabel.labels.codec import LabelCodec
from eigenlabel.persistence import load_model


def test_evaluate_prints_every_metric(folder, tmp_path, capsys):
    page = tmp_path / "page.html"
    words = ["--json", "--report", page]
    assert run_command("evaluate", folder / "m.skops", folder / "test.arff", *words) == 0
    found = json.loads(capsys.readouterr().out)
    saved, data = load_model(folder / "m.skops"), load(folder / "test.arff")
    P, decided = saved.model.predict_proba(data.X), saved.model.predict(data.X)
    assert found == pytest.approx(metrics.evaluate(data.Y, P, decided, probabilities=P))
    assert "label_3" in page.read_text()
    assert run_command("evaluate", folder / "m.skops", folder / "test.arff") == 0
    shown = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["f1_macro", f"{found['f1_macro']:.4f}"] in shown


def test_a_table_of_texts_can_be_fitted_and_predicted(tmp_path, capsys):
    words = {"fruit": "apple pear plum", "tool": "hammer saw drill", "red": "crimson scarlet ruby"}
    rng = np.random.default_rng(0)
    rows = []
    for k in range(90):
        labels = [name for j, name in enumerate(words) if (k + j) % 3 or rng.uniform() < 0.2]
        text = " ".join(rng.choice(words[name].split()) for name in labels)
        rows.append([f"doc{k}", text, ";".join(labels)])
    with (tmp_path / "texts.csv").open("w", newline="") as stream:
        csv.writer(stream).writerows([["id", "body", "topics"], *rows])
    reading = ["--text", "body", "--labels", "topics", "--separator", ";", "--samples", "id"]
    words = ["fit", tmp_path / "texts.csv", "-o", tmp_path / "m.skops", "--method", "ridge"]
    assert run_command(*words, *reading, "--set", "betas=[0.01]") == 0
    (tmp_path / "new.csv").write_text("body,id\nthe scarlet hammer unheard,a\nplum,b\n")
    assert run_command("predict", tmp_path / "m.skops", tmp_path / "new.csv") == 0
    out = capsys.readouterr().out.splitlines()
    assert out[-3:] == ["sample,labels", "a,red;tool", "b,fruit"]
    assert run_command("evaluate", tmp_path / "m.skops", tmp_path / "new.csv") == 1
    assert "no labels to compare with" in capsys.readouterr().err


def test_a_model_file_keeps_categories_and_columns(tmp_path, capsys, monkeypatch):
    rows = [
        f"{(k % 3 and 'red') or 'blue'},{k},{k % 7},{int(k % 3 > 0)},{int(k % 2)}"
        for k in range(60)
    ]
    (tmp_path / "t.csv").write_text("colour,id,x,l_a,l_b\n" + "\n".join(rows) + "\n")
    reading = ["--labels", "l_*", "--drop", "id", "-o", tmp_path / "m.skops", "--method", "ridge"]
    assert run_command("fit", tmp_path / "t.csv", *reading) == 0
    saved = load_model(tmp_path / "m.skops")
    assert saved.categories == {"colour": ("blue", "red")}
    assert saved.options == {"labels": "l_*", "drop": ["id"]}
    assert saved.feature_names.tolist() == ["colour", "x"]
    assert saved.model[0].transform([[1.0, 3.0]]).shape == (1, 3), "a column for each colour"
    (tmp_path / "new.csv").write_text("x,colour\n1,red\n1,blue\n")
    capsys.readouterr()
    assert run_command("predict", tmp_path / "m.skops", tmp_path / "new.csv", "--top", 2) == 0
    assert capsys.readouterr().out.splitlines()[1].startswith("0,l_a")
    (tmp_path / "odd.csv").write_text("x,colour\n1,green\n2,red\n3,grey\n")
    monkeypatch.chdir(tmp_path)
    assert run_command("predict", "m.skops", "odd.csv", "-o", "-", "--rows", 1) == 0
    out, err = capsys.readouterr()
    assert len(out.splitlines()) == 4
    assert not (tmp_path / "-").exists()
    assert err == (
        "note: 'colour': 2 cells count as missing, because the value is not one of 'blue', 'red'\n"
    )
    assert run_command("predict", tmp_path / "m.skops", tmp_path / "new.csv", "--top", 3) == 2
    assert "--top must be between 1 and 2" in capsys.readouterr().err


def test_a_model_predicts_files_of_another_format_or_without_labels(tmp_path, capsys):
    rows = [f"{k % 5},{k % 3},{k % 2},{int(k % 3 > 0)}" for k in range(60)]
    (tmp_path / "t.csv").write_text("x,y,l_a,l_b\n" + "\n".join(rows) + "\n")
    model = tmp_path / "m.skops"
    assert run_command("fit", tmp_path / "t.csv", "--labels", "l_a,l_b", "-o", model) == 0
    np.savez(tmp_path / "bare.npz", X=np.ones((2, 2)))
    (tmp_path / "some.csv").write_text("l_b,y,x\n,1,1\nwhat,1,1\n")
    capsys.readouterr()
    assert run_command("predict", model, tmp_path / "bare.npz") == 0
    expected = capsys.readouterr().out
    assert run_command("predict", model, tmp_path / "some.csv") == 0
    assert capsys.readouterr() == (expected, "")
    assert run_command("evaluate", model, tmp_path / "some.csv") == 1
    assert "no column for the label 'l_a'" in capsys.readouterr().err


def test_a_model_remembers_whether_features_are_numbered_from_zero(tmp_path, capsys):
    lines = [f"{k % 2} {k % 2}:1 2:{k % 5}" for k in range(30)]
    (tmp_path / "train.svm").write_text("\n".join(lines))
    model, test = tmp_path / "m.skops", tmp_path / "test.svm"
    assert run_command("fit", tmp_path / "train.svm", "-o", model) == 0
    test.write_text("0 1:1\n")  # feature 1 implies label 1; feature 0 would imply label 0
    capsys.readouterr()
    assert run_command("predict", model, test) == 0
    assert capsys.readouterr().out.splitlines()[1] == "0,1"


def test_one_label_column_is_enough_but_few_samples_are_not(tmp_path, capsys):
    rows = "".join(f"{k % 5},{int(k % 5 > 2)},{k % 2}\n" for k in range(40))
    (tmp_path / "t.csv").write_text("x,a,b\n" + rows)
    for named in ("a", "a,"):
        words = ["--labels", named, "-o", tmp_path / "m.skops"]
        assert run_command("fit", tmp_path / "t.csv", *words) == 0
        assert "1 labels" in capsys.readouterr().out
    assert load_model(tmp_path / "m.skops").label_names.tolist() == ["a"]
    (tmp_path / "few.csv").write_text("x,a\n1,0\n2,1\n")
    assert (
        run_command("fit", tmp_path / "few.csv", "--labels", "a", "-o", tmp_path / "m.skops") == 1
    )
    assert "2 samples are too few for 5 folds; use fewer with tune --cv" in capsys.readouterr().err


def test_all_methods_are_listed(capsys):
    assert run_command("fit", "--list-methods") == 0
    listed = [line.split()[0] for line in capsys.readouterr().out.splitlines()[1:]]
    assert listed == list(METHODS)
    assert run_command("fit", "--help") == 0
    assert "mddm:" not in capsys.readouterr().out


def test_options_of_predict_override_those_of_the_model(tmp_path, capsys):
    rows = [f"{'tea milk' if k % 2 else 'cake'},{'drink' if k % 2 else 'food'}" for k in range(40)]
    (tmp_path / "t.csv").write_text("words,kinds\n" + "\n".join(rows) + "\n")
    reading = ["--text", "words", "--labels", "kinds", "--method", "ridge"]
    assert run_command("fit", tmp_path / "t.csv", "-o", tmp_path / "m.skops", *reading) == 0
    (tmp_path / "new.csv").write_text("body\nmore tea\n")
    capsys.readouterr()
    assert run_command("predict", tmp_path / "m.skops", tmp_path / "new.csv", "--text", "body") == 0
    assert capsys.readouterr().out == "sample,labels\n0,drink\n"


def test_many_labels_stay_sparse(tmp_path, monkeypatch, capsys):
    rng = np.random.default_rng(0)
    lines = [
        f"{','.join(map(str, rng.choice(12_000, 3, replace=False)))} {i % 5}:1 5:{i}"
        for i in range(60)
    ]
    path, model = tmp_path / "many.svm", tmp_path / "m.skops"
    path.write_text("\n".join(["60 6 12000", *lines]) + "\n")
    held = []
    monkeypatch.setattr(
        LabelCodec, "fit_sparse", lambda y, fit=LabelCodec.fit_sparse: held.append(y) or fit(y)
    )
    words = ["--method", "many-labels", "--set", "n_components=4"]
    assert run_command("fit", path, "-o", model, *words) == 0, capsys.readouterr().err
    assert [y.shape for y in held] == [(60, 12_000)]
    assert sp.issparse(held[0])
    assert run_command("predict", model, path, "--top", 3) == 0
    predicted = capsys.readouterr().out.splitlines()[-60:]
    assert {len(line.split(",")[-1].split("|")) for line in predicted} == {3}


def test_labels_may_be_unobserved(tmp_path, capsys):
    data = make_shared_subspace(80, 5, 3, random_state=0)
    path, model, page = tmp_path / "d.csv", tmp_path / "m.skops", tmp_path / "p.html"
    rows = [
        ",".join([*map(str, x), *("" if (i + j) % 7 == 0 else str(v) for j, v in enumerate(y))])
        for i, (x, y) in enumerate(zip(data.X.tolist(), data.Y.tolist(), strict=True))
    ]
    path.write_text("\n".join(["p,q,r,s,t,a,b,c", *rows]) + "\n")
    words = ["tune", path, "--labels", "a,b,c", "-o", model, "--cv", 3]
    assert run_command(*words) == 1
    assert "pass --missing-labels nan if that means not observed" in capsys.readouterr().err
    assert run_command(*words, "--missing-labels", "nan", "--report", page) == 0
    assert "Not all labels are observed" in page.read_text()
    assert run_command("evaluate", model, path, "--missing-labels", "nan", "--json") == 0
    figures = json.loads(capsys.readouterr().out.splitlines()[-1])
    saved, Y = load_model(model).model, load(path, labels=["a", "b", "c"], missing_labels="nan").Y
    expected = metrics.f1_macro(Y.toarray(), saved.predict(data.X))
    assert figures["f1_macro"] == pytest.approx(expected)
    assert run_command("evaluate", model, path, "--missing-labels", "nan", "--report", page) == 0
    assert f"{expected:.2f}" in page.read_text()


def test_label_sets_may_be_unobserved(tmp_path, capsys):
    path, model = tmp_path / "d.csv", tmp_path / "m.skops"
    cells = ["u;v" if i % 2 else "v" for i in range(60)]
    rows = [f"{i % 2},{cell}\n" for i, cell in enumerate(cells)]
    path.write_text("x,labels\n" + "".join(rows) + "1,\n" * 40)
    words = ["tune", path, "-o", model, "--cv", 3, "--missing-labels", "nan"]
    assert run_command(*words) == 0
    new = tmp_path / "new.csv"
    new.write_text("x\n0\n1\n")
    capsys.readouterr()
    assert run_command("predict", model, new) == 0
    assert [line.split(",")[1] for line in capsys.readouterr().out.splitlines()[1:]] == ["v", "u;v"]
    assert run_command("evaluate", model, path, "--missing-labels", "nan", "--json") == 0
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["f1_micro"] == 1


def test_a_method_uses_the_views_of_a_file(tmp_path):
    data = make_shared_subspace(80, 8, 6, 2, random_state=0)
    views = {"left": slice(0, 3), "right": slice(3, 8)}
    file, model = tmp_path / "two.npz", tmp_path / "m.skops"
    save(replace(data, views=views), file)
    words = ["fit", str(file), "-o", str(model), "--method", "JEC", "--set", "n_neighbors=3"]
    assert main([*words, "--set", "threshold=mixed"]) == 0
    assert load_model(model).model[-1].view_names_ == ("left", "right")
    assert main([*words, "--set", "threshold=mixed", "--set", "views={'a': [0, 5]}"]) == 0
    assert load_model(model).model[-1].view_names_ == ("a",)


def test_the_views_of_a_wide_table_are_those_of_its_prepared_columns(tmp_path):
    data = make_shared_subspace(20, 30, 4, 2, random_state=0)  # fewer samples than columns
    X = data.X.copy()
    X[:, 1] = np.arange(20) % 3
    views = {"left": slice(0, 10), "right": slice(10, 30)}
    colours = {data.feature_names[1]: ("red", "green", "blue")}
    file, model = tmp_path / "wide.npz", tmp_path / "m.skops"
    save(replace(data, X=X, views=views, categories=colours), file)
    words = ["--method", "JEC", "--set", "n_neighbors=3", "--set", "threshold=mixed"]
    assert run_command("fit", file, "-o", model, *words) == 0
    prepared = load_model(model).model[-1].views  # a category of three values has three columns
    assert prepared == {"left": slice(0, 12), "right": slice(12, 32)}


def id_table(path, ids, labels=True):
    """Write a table with an uninformative id, and two columns that determine the labels."""
    rng = np.random.default_rng(0)
    lines = ["id,x,z,a,b" if labels else "id,x,z"]
    for i in ids:
        x, z = rng.random(2).round(3)
        known = f",{int(x > 0.5)},{int(z > 0.5)}" if labels else ""
        lines.append(f"{i},{x},{z}{known}")
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize("ids", [[f"doc-{i}" for i in range(40)], range(1000, 1040)])
def test_an_id_column_names_the_samples_and_is_not_a_feature(ids, tmp_path, capsys):
    ids = list(ids)
    train = id_table(tmp_path / "train.csv", ids)
    new = id_table(tmp_path / "new.csv", ids[:3], labels=False)
    model = tmp_path / "m.skops"
    fit = ["fit", train, "--labels", "a,b", "--method", "ridge", "--set", "betas=[0.1]"]
    assert run_command(*fit, "-o", model) == 0
    assert "note: column 'id' names the samples; rename it" in capsys.readouterr().out
    assert load_model(model).feature_names.tolist() == ["x", "z"]
    assert run_command("predict", model, new) == 0
    rows = list(csv.DictReader(capsys.readouterr().out.splitlines()))
    assert [row["sample"] for row in rows] == [str(i) for i in ids[:3]]
    assert run_command("predict", model, new, "--format", "jsonl") == 0
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["sample"] for row in found] == [str(i) for i in ids[:3]]
    assert run_command("predict", model, new, "--format", "libsvm", "--scores") == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(" # ")[2] for line in lines] == [str(i) for i in ids[:3]]


def test_a_dropped_id_column_may_name_the_samples(tmp_path, capsys):
    train = id_table(tmp_path / "train.csv", range(40))
    fit = ["fit", train, "--labels", "a,b", "--method", "ridge", "--set", "betas=[0.1]"]
    assert run_command(*fit, "--drop", "id", "-o", tmp_path / "m.skops") == 0
    capsys.readouterr()
    for given, expected in (([], ["0", "1"]), (["--samples", "id"], ["7", "8"])):
        new = id_table(tmp_path / "new.csv", [7, 8], labels=False)
        assert run_command("predict", tmp_path / "m.skops", new, *given) == 0
        rows = csv.DictReader(capsys.readouterr().out.splitlines())
        assert [row["sample"] for row in rows] == expected


@pytest.mark.parametrize("ids", [[1, 1, 2, 3] * 10, [i / 2 for i in range(40)]])
def test_an_id_column_with_repeats_or_fractions_is_a_feature(ids, tmp_path):
    data = load(id_table(tmp_path / "train.csv", ids), labels=["a", "b"])
    assert data.feature_names.tolist() == ["id", "x", "z"]
    assert data.sample_names is None
    new = load(id_table(tmp_path / "new.csv", [4, 5], labels=False), like=data)
    assert new.feature_names.tolist() == ["id", "x", "z"]
