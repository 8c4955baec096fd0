"""``eigenlabel explain``: what it prints, the page it writes, and wrong calls."""

import csv
import json
from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from commands import run_command
from eigenlabel import GaussianFields
from eigenlabel.cli import explain, main
from eigenlabel.datasets import load
from eigenlabel.persistence import SavedModel, load_model, save_model
from pages import Reader

FRUIT = ["apple", "pear", "plum", "sweet", "tree"]
ROAD = ["car", "wheel", "fast", "engine", "street"]
NASTY = 'Sweet <script>alert(1)</script> "plum" & engine,\nsweet APPLE'


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Texts about fruit and cars, a model of them, and new samples."""
    folder = tmp_path_factory.mktemp("explain")
    rng = np.random.default_rng(5)
    rows = []
    for i in range(80):
        labels = [name for name in ("fruit", "road") if rng.random() < 0.5]
        words = [w for name, w in (("fruit", FRUIT), ("road", ROAD)) if name in labels]
        text = [str(rng.choice(words[k % len(words)])) for k in range(8)] if words else ["nothing"]
        rows.append(
            [f"n{i}", " ".join(text), str(rng.choice(["red", "blue"])), i, "|".join(labels)]
        )
    with (folder / "train.csv").open("w", newline="") as stream:
        csv.writer(stream).writerows([["id", "text", "colour", "size", "labels"], *rows])
    with (folder / "new.csv").open("w", newline="") as stream:
        header = ["id", "text", "colour", "size"]
        new = [["first", NASTY, "red", 3], ["7", "fast car", "blue", 4], ["none", "", "", ""]]
        csv.writer(stream).writerows([header, *new])
    model = folder / "m.skops"
    assert main(["tune", str(folder / "train.csv"), "-o", str(model), "--cv", "3"]) == 0
    return folder


def words(place, *more):
    return ["explain", place / "m.skops", place / "new.csv", *more]


def test_the_sum_is_printed(place, capsys):
    assert run_command(*words(place, "--sample", "first", "--label", "fruit", "--top", 3)) == 0
    lines = capsys.readouterr().out.splitlines()
    saved = load_model(place / "m.skops")
    data = load(place / "new.csv", like=saved)
    score = saved.model.decision_function(data.X[[0]])[0, saved.label_names.tolist().index("fruit")]
    assert lines[0] == "sample first"
    assert lines[1].startswith(f"  fruit: score {score:.3f}, threshold ")
    assert lines[1].endswith(", predicted")
    shared = "through the shared subspace" in lines[-1]
    assert shared == (saved.model[-1].alpha_ > 0)
    parts = [float(line.split()[-1]) for line in (lines[2:-1] if shared else lines[2:])]
    assert len(parts) == 1 + 3 + 1 + 1  # intercept, three terms, others, score
    assert sum(parts[:-1]) == pytest.approx(parts[-1], abs=5e-3)  # three decimals are printed


def test_predicted_labels_are_explained_by_default(place, capsys):
    assert run_command(*words(place, "--sample", "7", "--json")) == 0
    found = json.loads(capsys.readouterr().out)
    assert [cell["label"] for cell in found["samples"][0]["labels"]] == ["road"]
    cell = found["samples"][0]["labels"][0]
    total = cell["intercept"] + sum(t["contribution"] for t in cell["contributions"])
    assert total + cell["remainder"] == pytest.approx(cell["score"])
    names = [term["name"] for term in cell["contributions"]]
    assert {"fast", "car", "colour=blue", "size"} == set(names)


def test_the_page_marks_the_words_in_the_text(place, tmp_path, capsys):
    page = tmp_path / "why.html"
    more = ["--sample", "first", "--label", "fruit", "--label", "road", "-o", page, "--top", 1]
    assert run_command(*words(place, *more)) == 0
    assert f"page: {page}" in capsys.readouterr().out
    html = page.read_text()
    assert "<script>alert" not in html
    assert "http" not in html.replace("http-equiv", "")
    reader = Reader(html)
    assert "".join(reader.text).count("Sweet <script>alert(1)</script>") == 2
    marks = [tag for tag, _ in reader.tags if tag == "mark"]
    assert len(marks) == 2 * (5 + 2)  # Sweet, plum, engine, sweet, APPLE; the legend
    assert "Why sample first has its labels" in reader.text


def test_samples_are_found_by_name_before_number(place, capsys):
    assert run_command(*words(place, "--sample", "7", "--label", "road")) == 0
    assert capsys.readouterr().out.startswith("sample 7\n")
    assert run_command(*words(place, "--sample", "2", "--label", "road")) == 0  # the third row
    out = capsys.readouterr().out
    assert out.startswith("sample none\n")
    assert "car" not in out


def test_a_sample_without_predicted_labels_shows_the_best_ones(place, capsys):
    assert run_command(*words(place, "--sample", "none")) == 0
    assert capsys.readouterr().out.count("not predicted") == 2


def test_wrong_names_are_wrong_calls(place, capsys):
    assert run_command(*words(place, "--sample", "frist")) == 2
    assert "new.csv; did you mean first?" in capsys.readouterr().err
    assert run_command(*words(place, "--sample", "99")) == 2
    assert "there are 3 samples" in capsys.readouterr().err
    assert run_command(*words(place, "--sample", "first", "--label", "fruits")) == 2
    assert "no label 'fruits'; did you mean fruit?" in capsys.readouterr().err
    assert run_command(*words(place)) == 2
    assert run_command(*words(place, "--sample", "first", "-o", place / "new.csv")) == 1
    assert "is also another file of this command" in capsys.readouterr().err


def test_training_samples_have_their_names(place, tmp_path, capsys):
    model = tmp_path / "knn.skops"
    fit = ["fit", place / "train.csv", "-o", model, "--method", "MLkNN"]
    assert run_command(*fit) == 0
    capsys.readouterr()
    call = ["explain", model, place / "new.csv", "--sample", "7", "--label", "road"]
    assert run_command(*call) == 0
    assert "training sample " in capsys.readouterr().out
    assert run_command(*call, "--training", place / "train.csv", "-o", tmp_path / "p.html") == 0
    out = capsys.readouterr().out
    assert "    n" in out
    assert "log-odds" in out
    assert "mark class" not in (tmp_path / "p.html").read_text()


def test_the_training_file_is_read_with_the_options(place, tmp_path, capsys):
    renamed = {}
    for name in ("train.csv", "new.csv"):
        renamed[name] = tmp_path / name
        renamed[name].write_text((place / name).read_text().replace("id,", "who,", 1))
    model = tmp_path / "knn.skops"
    fit = ["fit", renamed["train.csv"], "-o", model, "--method", "MLkNN", "--drop", "who"]
    assert run_command(*fit) == 0
    call = ["explain", model, renamed["new.csv"], "--label", "road"]
    call += ["--training", renamed["train.csv"]]
    capsys.readouterr()
    assert run_command(*call, "--sample", "7", "--samples", "who") == 0
    assert "    n" in capsys.readouterr().out
    assert run_command(*call, "--sample", "1") == 0
    out, err = capsys.readouterr()
    assert "    training sample " in out
    assert "train.csv has no names of samples; a column is named by --samples" in err


def test_texts_are_read_for_a_page_only(place, tmp_path, monkeypatch):
    read = []
    monkeypatch.setattr(explain, "read_texts", lambda *_, **__: read.append(1) or {})
    assert run_command(*words(place, "--sample", "first", "--json")) == 0
    assert not read
    assert run_command(*words(place, "--sample", "first", "-o", tmp_path / "p.html")) == 0
    assert read


def test_names_are_compared_only_if_no_sample_is_found(place, monkeypatch):
    compared = []
    monkeypatch.setattr(explain, "ROWS", 1)
    monkeypatch.setattr(explain, "get_close_matches", lambda *_, **__: compared.append(1) or [])
    assert run_command(*words(place, "--sample", "none", "--label", "road")) == 0
    assert not compared
    assert run_command(*words(place, "--sample", "nobody", "--label", "road")) == 2
    assert compared


class PredictsNothing(BaseEstimator):
    """A model without scores that predicts no label."""

    def predict(self, X):
        return np.zeros((X.shape[0], 2), dtype=int)


def test_nothing_is_explained_if_there_are_neither_scores_nor_labels(place, capsys, monkeypatch):
    saved = replace(load_model(place / "m.skops"), model=PredictsNothing())
    monkeypatch.setattr(explain, "open_model", lambda _: saved)
    assert run_command(*words(place, "--sample", "first")) == 2
    assert "predicts no label for sample first; pass --label" in capsys.readouterr().err


def test_a_model_that_cannot_be_explained_is_a_failure(place, tmp_path, capsys):
    model = tmp_path / "graph.skops"
    data = load(place / "train.csv")
    fields = GaussianFields().fit(data.X.toarray(), data.Y.toarray())
    layout = {"categories": data.categories, "views": data.views, "words": data.words}
    layout |= {"column_types": data.column_types, "options": data.options}
    save_model(SavedModel(fields, data.feature_names, data.label_names, **layout), model)
    call = ["explain", model, place / "train.csv", "--sample", "n7"]
    assert run_command(*call) == 1
    assert "cannot be explained" in capsys.readouterr().err


def test_several_texts_are_marked_by_their_own_words(tmp_path, capsys):
    rows = ["title,body,tags"]
    rows += [
        f"red {w},green {v},{t}" for w, v, t in [("apple", "car", "x"), ("car", "apple", "y")] * 8
    ]
    data = tmp_path / "two.csv"
    data.write_text("\n".join(rows) + "\n")
    fit = ["tune", data, "-o", tmp_path / "m.skops", "--text", "title,body", "--cv", "2"]
    assert run_command(*fit) == 0
    page = tmp_path / "p.html"
    call = ["explain", tmp_path / "m.skops", data, "--sample", "0", "--label", "x", "-o", page]
    assert run_command(*call) == 0
    assert "title=apple" in capsys.readouterr().out
    reader = Reader(page.read_text())
    assert {"title", "body"} <= set(reader.text)
    classes = [attributes["class"] for tag, attributes in reader.tags if tag == "mark"]
    assert classes[:2] == ["for", "for"]  # the apple of the title and the car of the body


def test_files_without_texts(folder, capsys):
    call = ["explain", folder / "m.skops", folder / "test.arff", "--sample", "3", "--top", "2"]
    assert run_command(*call) == 0
    assert "= score" in capsys.readouterr().out
