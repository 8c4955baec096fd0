"""The command line as a user meets it: files in, files and words out, exit codes."""

import csv
import json
import os
import pty
import subprocess
import sys
import termios
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from eigenlabel import __version__, metrics
from eigenlabel.catalogue import METHODS
from eigenlabel.cli import main
from eigenlabel.cli.common import format_table, in_options, parse_settings, parse_value, words
from eigenlabel.cli.predictions import _labels, _Notes
from eigenlabel.cli.runs import _print_comparison
from eigenlabel.datasets import load, make_shared_subspace, save
from eigenlabel.experiment import read_records
from eigenlabel.labels.codec import LabelCodec
from eigenlabel.persistence import load_model
from eigenlabel.reproduce import TABLES, Row


@pytest.fixture(scope="module")
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


def run(*words):
    return main([str(word) for word in words])


def test_demo_shows_a_real_result_and_a_page(tmp_path, capsys):
    page = tmp_path / "demo.html"
    assert run("demo", "--samples", 300, "--min-positives", 1000, "--report", page) == 0
    out = capsys.readouterr().out
    figures = {line[:30].strip(): line[30:].split() for line in out.splitlines()}
    ours, plain = figures["shared subspace, tuned"], figures["one-vs-rest linear SVM"]
    assert float(ours[0]) > float(plain[0]) > 0.3
    assert "devel::library" in out.split("first eigenlabels:")[1]
    assert "role::program" in page.read_text()


def test_tune_saves_the_model_it_tells_of(folder, capsys):
    page = folder / "page.html"
    words = ["--betas", "0.01,1", "--alphas", "0,1,inf", "--dimensions", "1,2", "--cv", 3]
    assert (
        run("tune", folder / "train.arff", "-o", folder / "n.skops", "--report", page, *words) == 0
    )
    out = capsys.readouterr().out
    model = load_model(folder / "n.skops").model[-1]
    assert f"held-out f1_macro: {model.best_score_:.4f}, best of 12 grid points" in out
    assert f"alpha = {model.alpha_:g}, beta = {model.beta_:g}" in out
    assert model.score_grid_.shape == (3, 2, 2)
    text = page.read_text()
    assert "label_3" in text
    assert "http://" not in text.replace("http://www.w3.org", "")


@pytest.mark.parametrize("form", ["csv", "jsonl", "libsvm"])
@pytest.mark.parametrize("rows", [7, 4096])
def test_predictions_in_every_form_equal_the_models(folder, tmp_path, form, rows):
    output = tmp_path / f"p.{form}"
    words = ["-o", output, "--scores", "--rows", rows, "--format", form]
    assert run("predict", folder / "m.skops", folder / "test.arff", *words) == 0
    saved, data = load_model(folder / "m.skops"), load(folder / "test.arff")
    decided, scores = saved.model.predict(data.X), saved.model.decision_function(data.X)
    names = data.label_names.tolist()
    lines = output.read_text().splitlines()
    if form == "csv":
        found = list(csv.DictReader(lines))
        labels = [[names.index(w) for w in r["labels"].split("|") if w] for r in found]
        values = [[float(r[f"score:{n}"]) for n in names] for r in found]
        assert [r["sample"] for r in found] == [str(i) for i in range(100)]
    elif form == "jsonl":
        found = [json.loads(line) for line in lines]
        labels = [[names.index(w) for w in r["labels"]] for r in found]
        values = [[r["scores"][n] for n in names] for r in found]
    else:
        parts = [line.split(" ") for line in lines]
        labels = [[int(w) for w in p[0].split(",") if w] for p in parts]
        values = [[float(w.partition(":")[2]) for w in p[1:]] for p in parts]
    assert labels == [np.flatnonzero(row).tolist() for row in decided]
    np.testing.assert_allclose(values, scores, rtol=1e-5)  # six digits are written


def test_the_best_labels_come_first(folder, capsys):
    assert run("predict", folder / "m.skops", folder / "test.arff", "--top", 2) == 0
    rows = list(csv.DictReader(capsys.readouterr().out.splitlines()))
    saved, data = load_model(folder / "m.skops"), load(folder / "test.arff")
    best = np.argsort(-saved.model.decision_function(data.X), axis=1)[:, :2]
    assert [r["labels"] for r in rows] == ["|".join(data.label_names[row]) for row in best]


def test_a_failed_prediction_leaves_no_file(folder, tmp_path, capsys):
    bad = tmp_path / "bad.arff"
    text = (folder / "test.arff").read_text().rstrip("\n")
    bad.write_text(text + "\nnonsense\n")
    (tmp_path / "bad.xml").write_bytes((folder / "test.xml").read_bytes())
    words = ["-o", tmp_path / "p.csv", "--rows", 10]
    assert run("predict", folder / "m.skops", bad, *words) == 1
    assert f"bad.arff, line {text.count(chr(10)) + 2}:" in capsys.readouterr().err
    assert sorted(p.name for p in tmp_path.iterdir()) == ["bad.arff", "bad.xml"]


def test_evaluate_gives_every_metric(folder, tmp_path, capsys):
    page = tmp_path / "page.html"
    words = ["--json", "--report", page]
    assert run("evaluate", folder / "m.skops", folder / "test.arff", *words) == 0
    found = json.loads(capsys.readouterr().out)
    saved, data = load_model(folder / "m.skops"), load(folder / "test.arff")
    scores = saved.model.decision_function(data.X)
    assert found == pytest.approx(metrics.evaluate(data.Y, scores, saved.model.predict(data.X)))
    assert "label_3" in page.read_text()
    assert run("evaluate", folder / "m.skops", folder / "test.arff") == 0
    shown = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["f1_macro", f"{found['f1_macro']:.4f}"] in shown


def test_a_table_of_texts_from_fit_to_predict(tmp_path, capsys):
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
    assert run(*words, *reading, "--set", "betas=[0.01]") == 0
    (tmp_path / "new.csv").write_text("body,id\nthe scarlet hammer unheard,a\nplum,b\n")
    assert run("predict", tmp_path / "m.skops", tmp_path / "new.csv") == 0
    out = capsys.readouterr().out.splitlines()
    assert out[-3:] == ["sample,labels", "a,red|tool", "b,fruit"]
    assert run("evaluate", tmp_path / "m.skops", tmp_path / "new.csv") == 1
    assert "no labels to compare with" in capsys.readouterr().err


def test_compare_goes_on_and_prints_the_same(folder, tmp_path, capsys):
    words = ["compare", folder / "train.arff", "--methods", "ridge,linear-svm-plain,logistic"]
    words += ["--splits", 3, "--metrics", "f1_macro,hamming_loss", "-o", tmp_path / "runs"]
    assert run(*words, "--dry-run") == 0
    assert "9 of 9 runs to do" in capsys.readouterr().out
    assert run(*words, "--so-far") == 1
    assert "no such folder: nothing is recorded yet" in capsys.readouterr().err
    assert run(*words, "--so-far", "--dry-run") == 2
    assert not (tmp_path / "runs").exists()
    assert run(*words, "--report", tmp_path / "page.html") == 0
    first = capsys.readouterr().out
    records = read_records(tmp_path / "runs")
    mean = np.mean([r["metrics"]["f1_macro"] for r in records if r["method"] == "logistic"])
    assert f"logistic          {mean:.4f} ±" in first
    assert run(*words, "--format", "markdown") == 0
    assert f"| logistic | {mean:.4f} ±" in capsys.readouterr().out
    lines = (tmp_path / "runs" / "records.jsonl").read_text().splitlines(keepends=True)
    (tmp_path / "half").mkdir()
    (tmp_path / "half" / "records.jsonl").write_text("".join(lines[:4]))
    page = tmp_path / "half.html"
    assert run(*words[:-1], tmp_path / "half", "--so-far", "--report", page) == 0
    partly, told = capsys.readouterr()
    assert "ridge" in partly
    assert "logistic" not in partly
    assert "nan" not in partly
    assert "4 of 9 runs are recorded" in told
    assert len(read_records(tmp_path / "half")) == 4, "nothing is run"
    assert "A closer look" not in page.read_text(), "nor fitted for the page"
    assert read_records(tmp_path / "runs") == records
    assert "A closer look" in (tmp_path / "page.html").read_text()
    assert run("report", tmp_path / "runs", "-o", tmp_path / "again.html") == 0
    assert "logistic" in (tmp_path / "again.html").read_text()


def test_report_of_a_model(folder, tmp_path, capsys):
    words = ["report", folder / "m.skops", "-o", tmp_path / "page.html"]
    assert run(*words) == 2
    assert "pass --data" in capsys.readouterr().err
    assert run(*words, "--data", folder / "test.arff") == 0
    assert "ranking_loss" in (tmp_path / "page.html").read_text()


def test_failed_runs_are_an_exit_code(folder, tmp_path, capsys):
    (tmp_path / "p.toml").write_text(
        'methods = [{name = "bad", method = "ridge", parameters = {kernel = "none"}}, "ridge"]\n'
        f'splits = {{n_splits = 2}}\n[[data]]\nname = "d"\nsource = "{folder / "train.svm"}"\n'
    )
    assert run("compare", tmp_path / "p.toml", "-o", tmp_path / "runs", "--splits", 1) == 1
    captured = capsys.readouterr()
    assert "1 of 2 runs failed; the first: bad on d, split 0" in captured.err
    assert "ridge" in captured.out
    again = ["compare", tmp_path / "p.toml", "-o", tmp_path / "runs", "--splits", 1, "--so-far"]
    assert run(*again) == 1
    assert "1 of 2 runs failed" in capsys.readouterr().err


def test_reproduce_lists_and_prints(data_folder, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("EIGENLABEL_DATA", str(data_folder))
    assert run("reproduce", "--list") == 0
    listed = capsys.readouterr().out
    assert "mlls-table3" in listed
    assert "not available" in listed
    row = next(line for line in listed.splitlines() if line.startswith("mddm-table1 "))
    assert row.endswith("11 of 11 data sets, 9 of 9 methods")
    words = ["reproduce", "mlls-table3", "--methods", "ML_LS", "--splits", 1, "-o", tmp_path]
    assert run(*words, "--dry-run") == 0
    assert "Arts, ML_LS" in capsys.readouterr().out
    assert run("reproduce", "mlls-table2") == 0
    out = capsys.readouterr().out
    row = next(line for line in out.splitlines() if line.startswith("Arts") and "features" in line)
    assert row.split() == ["Arts", "features", "published", "17973", "17973", "+0.0000"]
    assert "missing data: Computers" in out


def test_datasets(capsys):
    assert run("datasets", "list") == 0
    assert "emotions" in capsys.readouterr().out
    assert run("datasets", "info", "emotion") == 1
    assert "did you mean emotions" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ([], 2, "required: COMMAND"),
        (["nonsense"], 2, "invalid choice: 'nonsense'"),
        (["demo", "--samples", "many"], 2, "invalid int value"),
        (["demo", "--samples", "3"], 1, "eigenlabel: samples must be an integer between 50 and"),
        (["fit", "nowhere.csv", "-o", "m.skops"], 1, "nowhere.csv: no such file"),
        (["fit", "x.csv", "-o", "nowhere/m.skops"], 1, "its folder does not exist"),
        (["fit", "x.csv", "-o", "m.skops", "--method", "ridg"], 2, "did you mean ridge?"),
        (["fit", "x.csv", "-o", "m", "--method", "!"], 2, "'eigenlabel fit --list-methods' lists"),
        (["fit", "x.csv", "-o", "m.skops", "--set", "cv"], 2, "expected NAME=VALUE, got 'cv'"),
        (
            ["fit", "x.csv", "-o", "m.skops", "--method", "JEC", "--set", "foo=1"],
            2,
            "eigenlabel: JEC has no parameter 'foo'; it has metric, n_neighbors, threshold,",
        ),
        (["tune", "x.csv", "-o", "m", "--scoring", "f1"], 2, "invalid choice: 'f1'"),
        (["compare", "x.csv", "-o", "r", "--methods", "ridg"], 2, "did you mean ridge?"),
        (["compare", "x.csv", "-o", "r", "--metrics", "f1macro"], 2, "did you mean f1_macro"),
        (["compare", "x.csv", "-o", "r", "--splits", "0"], 2, "expected a whole number from 1"),
        (["predict", "m.skops", "x.csv", "--rows", "0"], 2, "expected a whole number from 1"),
        (["predict", ".", "x.csv"], 1, "a folder, not a file"),
        (["datasets", "fetch"], 2, "name the data sets to fetch, or pass --all-for TABLE"),
        (["datasets", "fetch", "--all-for", "x"], 2, "'eigenlabel reproduce --list' lists them"),
        (["datasets", "fetch", "--all-for", "mlls-table7"], 1, "the FlyExpress images"),
        (["reproduce"], 2, "which table? 'eigenlabel reproduce --list' lists them"),
        (["reproduce", "mlls-table3", "--methods", "SWM"], 2, "did you mean SVM"),
        (["report", "nowhere", "-o", "x.html"], 2, "pass --data"),
        (
            ["tune", "x.csv", "-o", "m.skops", "--alphas", "a"],
            2,
            "expected numbers such as 0.1,1,inf",
        ),
        (["predict", "nowhere.skops", "x.csv"], 1, "nowhere.skops: no such file"),
        (["reproduce", "mlls-table33"], 2, "did you mean mlls-table3"),
        (["reproduce", "!"], 2, "no table '!'; 'eigenlabel reproduce --list' lists them"),
        (["report", "nowhere", "-o", "x.html", "--data", "x"], 1, "nowhere: no such file"),
    ],
)
def test_wrong_calls_and_failures_have_their_exit_codes(arguments, code, message, capsys):
    assert main(arguments) == code
    assert message in capsys.readouterr().err


def test_help_and_version(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.strip() == f"eigenlabel {__version__}"
    assert main(["--help"]) == 0
    out = capsys.readouterr().out
    for command in ("demo", "fit", "predict", "evaluate", "tune", "compare", "reproduce", "report"):
        assert f"\n    {command}" in out
        assert main([command, "--help"]) == 0
        assert len(capsys.readouterr().out) > 100


def test_it_runs_as_a_program_and_bears_a_closed_pipe():
    command = f"{sys.executable} -m eigenlabel.cli"
    done = subprocess.run(
        f"{command} --version; {command} datasets list | head -1",
        shell=True,
        capture_output=True,
        text=True,
        check=False,
    )
    version, listing = done.stdout.splitlines()
    assert version == f"eigenlabel {__version__}"
    assert "name" in listing
    assert done.stderr == ""


def test_progress_on_a_terminal_and_none_in_a_pipe(folder, tmp_path):
    words = ["compare", folder / "train.svm", "--methods", "ridge", "--splits", "3"]
    command = [sys.executable, "-m", "eigenlabel.cli", *map(str, words)]
    piped = subprocess.run(
        [*command, "-o", str(tmp_path / "a")], capture_output=True, text=True, check=True
    )
    assert piped.stderr == ""
    master, slave = pty.openpty()
    termios.tcsetwinsize(slave, (24, 80))
    subprocess.run([*command, "-o", str(tmp_path / "b")], stderr=slave, stdout=slave, check=True)
    os.close(slave)
    assert b"/3 [" in os.read(master, 2**16)
    os.close(master)


def test_values_of_settings():
    assert parse_settings(["a=1", "b=inf", "c=[1, 2]", "d=text", "e=None", "f=x=y"]) == {
        "a": 1, "b": np.inf, "c": [1, 2], "d": "text", "e": None, "f": "x=y"
    }  # fmt: skip
    assert parse_value("__import__('os')") == "__import__('os')"


def test_tables_in_every_form():
    header, rows = ("a", "b|c"), [("x_1", "2 ± 1"), ("long word", "%")]
    assert format_table(header, rows) == "a          b|c\nx_1        2 ± 1\nlong word  %"
    assert format_table(header, rows, "markdown").splitlines()[0] == r"| a | b\|c |"
    assert format_table(header, rows, "csv") == "a,b|c\nx_1,2 ± 1\nlong word,%"
    latex = format_table(header, rows, "latex").splitlines()
    assert latex[3] == r"x\_1 & 2 $\pm$ 1 \\"
    assert latex[4] == r"long word & \% \\"


def test_every_option_of_tune_reaches_the_model(folder, tmp_path):
    words = ["--cv", 3, "--scoring", "f1_micro", "--threshold", "global", "--kernel", "rbf"]
    words += ["--gamma", 0.25, "--betas", 0.1, "--prepare", "unit", "-o", tmp_path / "m.skops"]
    assert run("tune", folder / "train.svm", *words) == 0
    prepare, tuned = load_model(tmp_path / "m.skops").model
    assert type(prepare).__name__ == "Normalizer"
    found = (tuned.cv, tuned.scoring, tuned.threshold, tuned.kernel, tuned.gamma, tuned.betas)
    assert found == (3, "f1_micro", "global", "rbf", 0.25, [0.1])


def test_categories_and_columns_go_with_the_model(tmp_path, capsys, monkeypatch):
    rows = [
        f"{(k % 3 and 'red') or 'blue'},{k},{k % 7},{int(k % 3 > 0)},{int(k % 2)}"
        for k in range(60)
    ]
    (tmp_path / "t.csv").write_text("colour,id,x,l_a,l_b\n" + "\n".join(rows) + "\n")
    reading = ["--labels", "l_*", "--drop", "id", "-o", tmp_path / "m.skops", "--method", "ridge"]
    assert run("fit", tmp_path / "t.csv", *reading) == 0
    saved = load_model(tmp_path / "m.skops")
    assert saved.categories == {"colour": ("blue", "red")}
    assert saved.options == {"labels": "l_*", "drop": ["id"]}
    assert saved.feature_names.tolist() == ["colour", "x"]
    assert saved.model[0].transform([[1.0, 3.0]]).shape == (1, 3), "a column for each colour"
    (tmp_path / "new.csv").write_text("x,colour\n1,red\n1,blue\n")
    capsys.readouterr()
    assert run("predict", tmp_path / "m.skops", tmp_path / "new.csv", "--top", 2) == 0
    assert capsys.readouterr().out.splitlines()[1].startswith("0,l_a")
    (tmp_path / "odd.csv").write_text("x,colour\n1,green\n2,red\n3,grey\n")
    monkeypatch.chdir(tmp_path)
    assert run("predict", "m.skops", "odd.csv", "-o", "-", "--rows", 1) == 0
    out, err = capsys.readouterr()
    assert len(out.splitlines()) == 4
    assert not (tmp_path / "-").exists()
    assert err == (
        "note: 'colour': 2 cells count as missing, because the value is not one of 'blue', 'red'\n"
    )
    assert run("predict", tmp_path / "m.skops", tmp_path / "new.csv", "--top", 3) == 2
    assert "--top must be between 1 and 2" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("pass text='title' or drop=\"a b\"", "pass --text title or --drop 'a b'"),
        ("labels=['a', 'b'] or labels='a_*'", "--labels a,b or --labels 'a_*'"),
        ("pass separator=' ' to cut", "pass --separator ' ' to cut"),
        ("pass xml=", "pass --xml"),
        ("pass n_features and n_labels, or like", "pass --n-features and --n-labels, or like"),
        ("pass zero_based=True if", "pass --zero-based if"),
        ("as like does not have them; 3 features, like has 5", "as the model does not have them; "),
        ("x.csv, line 3: 'size' is 'big'", "x.csv, line 3: 'size' is 'big'"),
    ],
)
def test_advice_is_given_in_options(said, expected):
    assert in_options(said).startswith(expected)


def test_a_model_reads_files_of_another_form_or_without_labels(tmp_path, capsys):
    rows = [f"{k % 5},{k % 3},{k % 2},{int(k % 3 > 0)}" for k in range(60)]
    (tmp_path / "t.csv").write_text("x,y,l_a,l_b\n" + "\n".join(rows) + "\n")
    model = tmp_path / "m.skops"
    assert run("fit", tmp_path / "t.csv", "--labels", "l_a,l_b", "-o", model) == 0
    np.savez(tmp_path / "bare.npz", X=np.ones((2, 2)))
    (tmp_path / "some.csv").write_text("l_b,y,x\n,1,1\nwhat,1,1\n")
    capsys.readouterr()
    assert run("predict", model, tmp_path / "bare.npz") == 0
    expected = capsys.readouterr().out
    assert run("predict", model, tmp_path / "some.csv") == 0
    assert capsys.readouterr() == (expected, "")
    assert run("evaluate", model, tmp_path / "some.csv") == 1
    assert "no column for the label 'l_a'" in capsys.readouterr().err


def test_a_model_knows_from_which_number_its_features_count(tmp_path, capsys):
    lines = [f"{k % 2} {k % 2}:1 2:{k % 5}" for k in range(30)]
    (tmp_path / "train.svm").write_text("\n".join(lines))
    model, test = tmp_path / "m.skops", tmp_path / "test.svm"
    assert run("fit", tmp_path / "train.svm", "-o", model) == 0
    test.write_text("0 1:1\n")  # feature 1 means label 1; were it the first, it would mean 0
    capsys.readouterr()
    assert run("predict", model, test) == 0
    assert capsys.readouterr().out.splitlines()[1] == "0,1"


def test_one_label_column_and_few_samples(tmp_path, capsys):
    rows = "".join(f"{k % 5},{int(k % 5 > 2)},{k % 2}\n" for k in range(40))
    (tmp_path / "t.csv").write_text("x,a,b\n" + rows)
    for named in ("a", "a,"):
        assert run("fit", tmp_path / "t.csv", "--labels", named, "-o", tmp_path / "m.skops") == 0
        assert "1 labels" in capsys.readouterr().out
    assert load_model(tmp_path / "m.skops").label_names.tolist() == ["a"]
    (tmp_path / "few.csv").write_text("x,a\n1,0\n2,1\n")
    assert run("fit", tmp_path / "few.csv", "--labels", "a", "-o", tmp_path / "m.skops") == 1
    assert "2 samples are too few for 5 folds; tune has --cv" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0 1:1\n1 1:nan 2:1\n", "feature '0' of sample 2 is nan; sparse features must be finite"),
        ("0 1:inf\n1 2:1\n", "feature '0' of sample 1 is inf"),
        ("x,labels\n1,a\ninf,b\n", "feature 'x' of sample 2 is inf; features must be finite"),
    ],
)
def test_numbers_that_no_model_takes_are_told_by_sample(tmp_path, text, message, capsys):
    (tmp_path / "t.txt").write_text(text)
    assert run("fit", tmp_path / "t.txt", "-o", tmp_path / "m.skops") == 1
    assert message in capsys.readouterr().err


def test_all_methods_are_listed(capsys):
    assert run("fit", "--list-methods") == 0
    listed = [line.split()[0] for line in capsys.readouterr().out.splitlines()[1:]]
    assert listed == list(METHODS)
    assert run("fit", "--help") == 0
    assert "mddm:" not in capsys.readouterr().out


def test_reproduce_runs_what_is_there(data_folder, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("EIGENLABEL_DATA", str(tmp_path))
    assert run("reproduce", "mlls-table2") == 1
    error = capsys.readouterr().err
    assert "mlls-table2: none of its data is there. yahoo/Arts.svm.gz: no such file" in error
    assert "Take additional-data/yahoo_arts.rda" in error
    (tmp_path / "yahoo").symlink_to(data_folder / "yahoo")
    assert run("reproduce", "mlls-table2") == 0
    assert "missing data: Business" not in capsys.readouterr().err
    (tmp_path / "yahoo").unlink()
    (tmp_path / "yahoo").mkdir()
    for file in (data_folder / "yahoo").glob("Arts.*"):
        (tmp_path / "yahoo" / file.name).symlink_to(file)
    assert run("reproduce", "mlls-table2") == 0
    out, err = capsys.readouterr()
    assert [line.split()[0] for line in out.splitlines()[3:8]] == ["Arts"] * 5
    assert "Health " not in out.split("missing data")[0]
    assert "missing data: Health: yahoo/Health.svm.gz: no such file" in err
    assert "* another number" not in out
    words = ["reproduce", "mlls-table3", "--dry-run", "--methods", "ML_LS", "--splits", 1]
    assert run(*words, "-o", tmp_path / "r") == 0
    assert capsys.readouterr().out.splitlines()[-1].startswith("1 of 1 runs to do")


def test_closed_output_and_folders_that_cannot_be_written_to(folder, monkeypatch, capsys):
    predict = ["predict", folder / "m.skops", folder / "test.arff"]
    monkeypatch.setattr(os, "access", lambda place, mode: mode != os.W_OK)
    assert run(*predict, "-o", folder / "x.csv") == 1
    assert "x.csv: its folder cannot be written to" in capsys.readouterr().err
    monkeypatch.undo()
    monkeypatch.setattr(sys, "stdout", None)
    assert run(*predict) == 2
    assert run(*predict, "-o", folder / "x.csv") == 0


def test_what_is_known_of_the_spread_is_said(capsys):
    table = replace(TABLES["mlls-table3"], data=dict(list(TABLES["mlls-table3"].data.items())[:1]))
    for outside, said in (
        (True, "* further from the paper"),
        (False, ""),
        (None, "No spread is known"),
    ):
        row = Row("Arts", "f1_macro", "SVM", 0.3, None, 0.4, None, 1, outside)
        _print_comparison(table, [row], "text")
        out = capsys.readouterr().out
        assert ("further from" in out, "No spread" in out) == (outside is True, outside is None)
        assert said in out


def test_what_is_said_now_goes_before_what_was_said_then(tmp_path, capsys):
    rows = [f"{'tea milk' if k % 2 else 'cake'},{'drink' if k % 2 else 'food'}" for k in range(40)]
    (tmp_path / "t.csv").write_text("words,kinds\n" + "\n".join(rows) + "\n")
    reading = ["--text", "words", "--labels", "kinds", "--method", "ridge"]
    assert run("fit", tmp_path / "t.csv", "-o", tmp_path / "m.skops", *reading) == 0
    (tmp_path / "new.csv").write_text("body\nmore tea\n")
    capsys.readouterr()
    assert run("predict", tmp_path / "m.skops", tmp_path / "new.csv", "--text", "body") == 0
    assert capsys.readouterr().out == "sample,labels\n0,drink\n"


def test_data_by_name(tmp_path, monkeypatch, capsys, data_folder):
    monkeypatch.setenv("EIGENLABEL_DATA", str(data_folder))
    words = ["--methods", "ridge", "--splits", 1, "-o", tmp_path / "runs"]
    assert run("compare", "emotions", *words, "--metrics", "f1_macro") == 0
    assert read_records(tmp_path / "runs")[0]["train_size"] > 390
    assert run("compare", "debtags", *words, "--min-positives", 3000, "--dry-run") == 0
    monkeypatch.setenv("EIGENLABEL_DATA", str(tmp_path))
    assert run("compare", "emotions", *words) == 1
    assert "Run: eigenlabel datasets fetch emotions" in capsys.readouterr().err


def test_an_interrupted_run_says_so(tmp_path, folder, monkeypatch, capsys):
    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("eigenlabel.cli.runs.run", stop)
    assert run("compare", folder / "train.svm", "-o", tmp_path, "--methods", "ridge") == 1
    assert "stopped; what was finished is kept" in capsys.readouterr().err
    monkeypatch.setattr("eigenlabel.cli.models.make_preparation", stop)
    for command in ("fit", "tune"):
        assert run(command, folder / "train.svm", "-o", tmp_path / "m.skops") == 1
        assert "stopped; nothing was written" in capsys.readouterr().err

    def overflow(*_, **__):
        raise MemoryError("no room")

    monkeypatch.setattr("eigenlabel.cli.runs.run", overflow)
    assert run("compare", folder / "train.svm", "-o", tmp_path, "--methods", "ridge") == 1
    assert "eigenlabel: no room" in capsys.readouterr().err


def test_odd_words_of_settings_and_lists():
    with pytest.raises(ValueError, match="expected NAME=VALUE, got '=1'"):
        parse_settings(["=1"])
    assert parse_value("-inf") == -np.inf
    assert words(" a, b ,,c") == ["a", "b", "c"]
    assert format_table(("a\\b",), [], "latex").splitlines()[1] == r"a\textbackslash b \\"


def test_predictions_are_not_written_as_plain_text_under_a_packed_name(folder, tmp_path, capsys):
    out = tmp_path / "labels.csv.gz"
    assert run("predict", folder / "m.skops", folder / "train.arff", "-o", out) == 2
    assert "plain text, not as .gz" in capsys.readouterr().err
    assert not out.exists()


def test_an_output_that_is_an_input_is_refused(folder, tmp_path, capsys):
    data, model = folder / "train.arff", folder / "m.skops"
    before = data.read_bytes(), model.read_bytes()
    for call in (
        ["fit", data, "-o", data],
        ["tune", data, "-o", tmp_path / "m.skops", "--report", data],
        ["predict", model, data, "-o", data],
        ["predict", model, data, "-o", model],
        ["evaluate", model, data, "--report", data],
        ["compare", data, "-o", tmp_path, "--report", data],
        ["report", model, "--data", data, "-o", data],
    ):
        assert run(*call) == 1
        assert "is also another file of this command" in capsys.readouterr().err
    assert (data.read_bytes(), model.read_bytes()) == before


def test_nothing_is_printed_of_a_file_that_cannot_be_read(folder, capsys):
    assert run("predict", folder / "m.skops", "nowhere.csv") == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "nowhere.csv: no such file" in captured.err


def test_a_terminal_without_the_sign_gets_its_number(folder, tmp_path):
    words = ["compare", folder / "train.svm", "--methods", "ridge", "--splits", "2", "-o", tmp_path]
    done = subprocess.run(
        [sys.executable, "-m", "eigenlabel.cli", *map(str, words)],
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0
    assert rb"\xb1" in done.stdout


def test_remarks_on_pieces_are_said_once_with_what_they_count():
    notes = _Notes()
    for count in (3, 4):
        notes.add(["a column is left out", f"'c2': {count} cells count as missing"])
    assert notes.all() == ["a column is left out", "'c2': 7 cells count as missing"]


def test_the_package_runs_as_a_module():
    found = subprocess.run(
        [sys.executable, "-m", "eigenlabel", "--version"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stdout == f"eigenlabel {__version__}\n"


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
    assert run("fit", path, "-o", model, *words) == 0, capsys.readouterr().err
    assert [y.shape for y in held] == [(60, 12_000)]
    assert sp.issparse(held[0])
    assert run("predict", model, path, "--top", 3) == 0
    predicted = capsys.readouterr().out.splitlines()[-60:]
    assert {len(line.split(",")[-1].split("|")) for line in predicted} == {3}


def test_labels_that_are_not_observed(tmp_path, capsys):
    data = make_shared_subspace(80, 5, 3, random_state=0)
    path, model, page = tmp_path / "d.csv", tmp_path / "m.skops", tmp_path / "p.html"
    rows = [
        ",".join([*map(str, x), *("" if (i + j) % 7 == 0 else str(v) for j, v in enumerate(y))])
        for i, (x, y) in enumerate(zip(data.X.tolist(), data.Y.tolist(), strict=True))
    ]
    path.write_text("\n".join(["p,q,r,s,t,a,b,c", *rows]) + "\n")
    words = ["tune", path, "--labels", "a,b,c", "-o", model, "--cv", 3]
    assert run(*words) == 1
    assert "pass --missing-labels nan if that means not observed" in capsys.readouterr().err
    assert run(*words, "--missing-labels", "nan", "--report", page) == 0
    assert "Not all labels are observed" in page.read_text()
    assert run("evaluate", model, path, "--missing-labels", "nan", "--json") == 0
    figures = json.loads(capsys.readouterr().out.splitlines()[-1])
    saved, Y = load_model(model).model, load(path, labels=["a", "b", "c"], missing_labels="nan").Y
    expected = metrics.f1_macro(Y.toarray(), saved.predict(data.X))
    assert figures["f1_macro"] == pytest.approx(expected)
    assert run("evaluate", model, path, "--missing-labels", "nan", "--report", page) == 0
    assert f"{expected:.2f}" in page.read_text()


def test_views_of_a_file_are_those_of_the_method(tmp_path):
    data = make_shared_subspace(80, 8, 6, 2, random_state=0)
    views = {"left": slice(0, 3), "right": slice(3, 8)}
    file, model = tmp_path / "two.npz", tmp_path / "m.skops"
    save(replace(data, views=views), file)
    words = ["fit", str(file), "-o", str(model), "--method", "JEC", "--set", "n_neighbors=3"]
    assert main([*words, "--set", "threshold=mixed"]) == 0
    assert load_model(model).model[-1].view_names_ == ("left", "right")
    assert main([*words, "--set", "threshold=mixed", "--set", "views={'a': [0, 5]}"]) == 0
    assert load_model(model).model[-1].view_names_ == ("a",)


def id_table(path, ids, labels=True):
    """Write a table with an id that says nothing, and two columns that say the labels."""
    rng = np.random.default_rng(0)
    lines = ["id,x,z,a,b" if labels else "id,x,z"]
    for i in ids:
        x, z = rng.random(2).round(3)
        known = f",{int(x > 0.5)},{int(z > 0.5)}" if labels else ""
        lines.append(f"{i},{x},{z}{known}")
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize("ids", [[f"doc-{i}" for i in range(40)], range(1000, 1040)])
def test_an_id_names_the_samples_and_is_no_feature(ids, tmp_path, capsys):
    ids = list(ids)
    train = id_table(tmp_path / "train.csv", ids)
    new = id_table(tmp_path / "new.csv", ids[:3], labels=False)
    model = tmp_path / "m.skops"
    fit = ["fit", train, "--labels", "a,b", "--method", "ridge", "--set", "betas=[0.1]"]
    assert run(*fit, "-o", model) == 0
    assert "note: column 'id' names the samples; rename it" in capsys.readouterr().out
    assert load_model(model).feature_names.tolist() == ["x", "z"]
    assert run("predict", model, new) == 0
    rows = list(csv.DictReader(capsys.readouterr().out.splitlines()))
    assert [row["sample"] for row in rows] == [str(i) for i in ids[:3]]
    assert run("predict", model, new, "--format", "jsonl") == 0
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["sample"] for row in found] == [str(i) for i in ids[:3]]
    assert run("predict", model, new, "--format", "libsvm", "--scores") == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(" # ")[2] for line in lines] == [str(i) for i in ids[:3]]


def test_an_id_that_was_left_out_may_name_the_samples(tmp_path, capsys):
    train = id_table(tmp_path / "train.csv", range(40))
    fit = ["fit", train, "--labels", "a,b", "--method", "ridge", "--set", "betas=[0.1]"]
    assert run(*fit, "--drop", "id", "-o", tmp_path / "m.skops") == 0
    capsys.readouterr()
    for given, expected in (([], ["0", "1"]), (["--samples", "id"], ["7", "8"])):
        new = id_table(tmp_path / "new.csv", [7, 8], labels=False)
        assert run("predict", tmp_path / "m.skops", new, *given) == 0
        rows = csv.DictReader(capsys.readouterr().out.splitlines())
        assert [row["sample"] for row in rows] == expected


@pytest.mark.parametrize("ids", [[1, 1, 2, 3] * 10, [i / 2 for i in range(40)]])
def test_an_id_that_repeats_or_has_fractions_is_a_feature(ids, tmp_path):
    data = load(id_table(tmp_path / "train.csv", ids), labels=["a", "b"])
    assert data.feature_names.tolist() == ["id", "x", "z"]
    assert data.sample_names is None
    new = load(id_table(tmp_path / "new.csv", [4, 5], labels=False), like=data)
    assert new.feature_names.tolist() == ["id", "x", "z"]


def test_columns_may_be_named_by_several_options(tmp_path):
    path = tmp_path / "t.csv"
    rows = ["title,body,n,m,k,a,b", *(f"old tea {i},hot milk,1,{i},2,{i % 2},1" for i in range(30))]
    path.write_text("\n".join(rows) + "\n")
    call = ["fit", path, "--method", "ridge", "--set", "betas=[0.1]", "-o", tmp_path / "m.skops"]
    several = ["--text", "title", "--text", "body", "--drop", "n", "--drop", "m,k"]
    assert run(*call, *several, "--labels", "a", "--labels", "b") == 0
    saved = load_model(tmp_path / "m.skops")
    assert saved.label_names.tolist() == ["a", "b"]
    assert {"title=tea", "body=milk"} <= set(saved.feature_names)
    assert not {"n", "m", "k"} & set(saved.feature_names)
    assert saved.options["text"] == ["title", "body"]
    assert saved.options["drop"] == ["n", "m", "k"]


@pytest.mark.parametrize(
    "words",
    [
        ["fit", "d.csv", "-o", "m", "--separator", ";", "--separator", ";"],
        ["fit", "d.csv", "-o", "m", "-o", "n"],
        ["fit", "d.csv", "-o", "m", "--samples", "a", "--samples", "b"],
        ["fit", "d.csv", "-o", "m", "--zero-based", "--no-zero-based"],
        ["compare", "d.csv", "-o", "m", "--methods", "ridge", "--methods", "MLkNN"],
        ["tune", "d.csv", "-o", "m", "--cv", "3", "--cv", "4"],
    ],
)
def test_an_option_given_twice_is_refused(words, capsys):
    assert run(*words) == 2
    assert "is given twice; give it once" in capsys.readouterr().err


def test_a_parameter_set_twice_is_refused(capsys):
    assert run("fit", "d.csv", "-o", "m", "--set", "alpha=1", "--set", "alpha=2") == 2
    assert "parameter 'alpha' is set twice" in capsys.readouterr().err


def test_top_labels_that_tie_up_to_rounding_go_by_order():
    assert _labels(None, None, np.array([[0.3, 0.1 + 0.2, 0.1]]), 2) == [[0, 1]]
