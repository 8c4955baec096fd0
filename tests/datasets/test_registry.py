"""Known data sets: the registry agrees with itself and with the files, and the command line."""

import argparse
import hashlib
import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest

from eigenlabel import datasets
from eigenlabel.cli import datasets as cli_datasets
from eigenlabel.datasets import DataError, find, known, load
from eigenlabel.datasets import registry as _registry
from eigenlabel.inputs.progress import progress
from eigenlabel.reproduce import TABLES, data_sets

KNOWN = known()
PAPERS = ("mlls", "kdd", "mtsda", "kgha", "mddm")
SOURCE = re.compile(r"https://raw\.githubusercontent\.com/[\w.-]+/[\w.-]+/[0-9a-f]{40}/[\w./-]+")
LOADED = [  # data set, its part, the files that make it up
    ("emotions", "all", ["mulan/emotions/emotions.arff"]),
    ("emotions", "train", ["mulan/emotions/emotions-train.arff"]),
    ("emotions", "test", ["mulan/emotions/emotions-test.arff"]),
    ("yeast", "all", ["mulan/yeast/yeast.arff"]),
    ("scene", "all", ["mulan/scene/scene-train.arff", "mulan/scene/scene-test.arff"]),
    ("birds", "all", ["mulan/birds/birds-train.arff", "mulan/birds/birds-test.arff"]),
    ("genbase", "all", ["mulan/genbase/genbase.arff"]),
    ("corel5k", "test", ["mulan/corel5k/Corel5k-test.arff"]),
    ("cal500", "all", ["mulan/cal500/cal500.arff"]),
    *[("yahoo-lamda", name, [f"yahoo_lamda/{name}.mat"]) for name in KNOWN["yahoo-lamda"].counts],
    *[
        (f"yahoo-{name.lower()}", "all", [f"yahoo/{name}.svm.gz"])
        for name in ("Arts", "Reference", "Science")
    ],
    *[
        ("rcv1", k, [f"rcv1/rcv1_topics_{k}_{half}.svm.gz" for half in ("train", "test")])
        for k in "12345"
    ],
    ("bibtex-xmc", "all", ["xmc/Bibtex/Bibtex_data.txt.gz"]),
    ("3sources-views", "all", ["multiview/3sources_views.mat"]),
]
MADE = """[made]
title = "Made elsewhere"
home = "https://example.invalid/made"
licence = "none"
serves = ["mddm-table1", "mddm-table12", "kdd-table3"]
defects = ["one defect"]
how = "Make it yourself."
files = [{ path = "made.bin", size = 3, sha256 = "SHA" }]
[made.counts]
one = { samples = 2, features = 3, labels = 2, cardinality = 1.5 }
two = { samples = 2, features = 5, labels = 4, cardinality = 1.0 }
"""


@pytest.fixture
def made(tmp_path, monkeypatch):
    """A data set of one file that cannot be fetched, and its place in an empty data folder."""
    (tmp_path / "data").mkdir()
    text = MADE.replace("SHA", hashlib.sha256(b"abc").hexdigest())
    (tmp_path / "registry.toml").write_text(text)
    monkeypatch.setattr(_registry, "REGISTRY", tmp_path / "registry.toml")
    monkeypatch.setenv("EIGENLABEL_DATA", str(tmp_path / "data"))
    return tmp_path / "data" / "made.bin"


@pytest.fixture
def run(capsys):
    def run(*words):
        command, parser = cli_datasets.DATASETS, argparse.ArgumentParser()
        command.add_options(parser)
        command.run(parser.parse_args(words))
        return capsys.readouterr().out

    return run


@pytest.mark.parametrize("entry", KNOWN.values(), ids=KNOWN)
def test_an_entry_is_complete(entry):
    assert entry.title
    assert entry.licence
    assert entry.home.startswith("https://github.com/")
    assert set(entry.counts) >= {"all"} or len(entry.counts) > 1
    for table in entry.serves:
        assert re.fullmatch(rf"({'|'.join(PAPERS)})-table[1-9]\d?", table)
    for file in entry.files:
        assert re.fullmatch("[0-9a-f]{64}", file.sha256)
        assert file.size > 0
        assert bool(SOURCE.fullmatch(file.url)) != bool(entry.how)  # fetched or made, not both


def test_no_file_belongs_to_two():
    paths = [file.path for entry in KNOWN.values() for file in entry.files]
    assert len(paths) == len({path.lower() for path in paths})


@pytest.mark.parametrize(
    "entry", [e for e in KNOWN.values() if "train" in e.counts], ids=lambda e: e.name
)
def test_the_parts_add_up(entry):
    whole, train, test = (entry.counts[part] for part in ("all", "train", "test"))
    assert train.samples + test.samples == whole.samples
    assert train.features == test.features == whole.features
    assert train.labels == test.labels == whole.labels
    positives = train.samples * train.cardinality + test.samples * test.cardinality
    assert positives / whole.samples == pytest.approx(whole.cardinality, abs=1e-4)  # 4 digits


def test_every_file_at_hand_is_the_registered_one(data_folder):
    files = [file for entry in KNOWN.values() for file in entry.files]
    states = {file.path: file.state(data_folder, check=True) for file in files}
    wrong = {path: state for path, state in states.items() if state not in ("there", "missing")}
    assert not wrong


@pytest.mark.parametrize(("name", "part", "paths"), LOADED)
def test_counts_are_those_of_the_files(data_folder, name, part, paths):
    paths = [data_folder / path for path in paths]
    if not all(path.is_file() for path in paths):
        pytest.skip(f"{name} is not at hand")
    counts = KNOWN[name].counts[part]
    options = {"n_features": counts.features} if name == "rcv1" else {}
    sets = [load(path, **options) for path in paths]
    assert {data.X.shape[1] for data in sets} == {counts.features}
    assert {data.Y.shape[1] for data in sets} == {counts.labels}
    assert sum(data.X.shape[0] for data in sets) == counts.samples
    positives = sum(data.Y.sum() for data in sets)
    np.testing.assert_allclose(positives / counts.samples, counts.cardinality, atol=5.1e-5)


def test_an_unknown_name_has_close_ones():
    with pytest.raises(DataError, match="yaho-arts: no known data set; did you mean yahoo-arts"):
        find("yaho-arts")
    with pytest.raises(DataError, match="!: no known data set; 'eigenlabel datasets list' lists"):
        find("!")


@pytest.mark.slow
def test_a_data_set_serves_the_tables_that_use_it():
    for entry in KNOWN.values():
        tables = [name for name, table in TABLES.items() if entry.name in data_sets(table)]
        assert sorted(entry.serves) == sorted(tables), entry.name


@pytest.mark.parametrize(
    ("platform", "environment", "expected"),
    [
        ("linux", {"EIGENLABEL_DATA": "~/sets"}, "/home/me/sets"),
        ("linux", {"EIGENLABEL_DATA": "/sets", "XDG_CACHE_HOME": "/cache"}, "/sets"),
        ("linux", {"EIGENLABEL_DATA": "", "XDG_CACHE_HOME": "/cache"}, "/cache/eigenlabel"),
        ("linux", {"LOCALAPPDATA": "/local"}, "/home/me/.cache/eigenlabel"),
        ("win32", {"LOCALAPPDATA": "/local", "XDG_CACHE_HOME": "/cache"}, "/local/eigenlabel"),
    ],
)
def test_the_data_folder_depends_on_the_environment(monkeypatch, platform, environment, expected):
    for name in ("EIGENLABEL_DATA", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {"HOME": "/home/me", "USERPROFILE": "/home/me", **environment}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "platform", platform)
    assert datasets.data_folder() == Path(expected)


def test_data_that_cannot_be_fetched_have_instructions(made):
    for get in (find, datasets.fetch):
        with pytest.raises(DataError, match=r"made\.bin: missing.* Make it yourself\."):
            get("made")
    made.write_bytes(b"other bytes")  # another conversion may be as good
    assert find("made") == datasets.fetch("made") == [made]


def test_the_list_shows_sizes_and_tables(run, made):
    lines = run("list").splitlines()
    assert lines[0].split("  ")[0] == "name"
    tables = "mddm-table1,12 kdd-table3"
    assert re.split("  +", lines[1]) == ["made", "2 sets: 2 x 3-5 x 2-4", "no", tables]
    made.write_bytes(b"abc")
    assert "  yes   " in run("list").splitlines()[1]


def test_list_shows_the_size_of_a_whole_set(run, monkeypatch, tmp_path):
    monkeypatch.setenv("EIGENLABEL_DATA", str(tmp_path))
    assert re.search(r"^emotions +593 x 72 x 6 +no$", run("list"), flags=re.MULTILINE)


def test_the_list_can_be_json(run, made):
    (entry,) = json.loads(run("list", "--json"))
    assert (entry["name"], entry["here"], entry["how"]) == ("made", False, "Make it yourself.")
    assert entry["counts"]["two"]["features"] == 5
    assert entry["files"][0]["path"] == made.name


def test_info_shows_all_about_a_data_set(run, made):
    out = run("info", "made")
    for word in (
        "made: Made elsewhere",
        "https://example.invalid/made",
        "mddm-table1 mddm-table12 kdd-table3",
        "one defect",
        "Make it yourself.",
        "1.5000",
        hashlib.sha256(b"abc").hexdigest(),
        str(made.parent),
    ):
        assert word in out
    assert re.search(r"^missing +3 bytes +made\.bin$", out, flags=re.MULTILINE)


def test_info_checks_when_asked(run, made):
    made.write_bytes(b"xyz")
    assert "there  " in run("info", "made")
    assert "different" in run("info", "made", "--check")
    made.write_bytes(b"abc")
    assert "there  " in run("info", "made", "--check")


def test_only_a_fetched_file_can_be_damaged(tmp_path):
    file = _registry.File("toy.bin", 3, hashlib.sha256(b"abc").hexdigest(), "https://a.invalid/")
    (tmp_path / "toy.bin").write_bytes(b"xyz")
    assert (file.state(tmp_path), file.state(tmp_path, check=True)) == ("there", "damaged")
    (tmp_path / "toy.bin").write_bytes(b"ab")
    assert file.state(tmp_path) == "damaged"


def test_path_prints_the_files_of_a_data_set(run, made):
    made.write_bytes(b"abc")
    assert run("path", "made") == f"{made}\n"
    made.unlink()
    with pytest.raises(DataError, match="missing"):
        run("path", "made")


def test_fetch_continues_after_a_failure(run, made, monkeypatch, capsys):
    calls = []

    def fetch(name):
        calls.append(name)
        if name == "bad":
            raise DataError(name, "no such thing")
        return [made]

    monkeypatch.setattr(cli_datasets, "fetch", fetch)
    with pytest.raises(ValueError, match="bad: no such thing"):
        run("fetch", "bad", "--all-for", "kdd-table3")
    assert calls == ["bad", "made"]
    assert capsys.readouterr().out == f"{made}\n"


@pytest.mark.usefixtures("made")
def test_fetch_needs_something_to_fetch(run):
    with pytest.raises(ValueError, match="name the data sets to download"):
        run("fetch")
    with pytest.raises(ValueError, match="mddm-table2 uses no known data set: 11 of 11"):
        run("fetch", "--all-for", "mddm-table2")


def test_a_bar_is_shown_to_a_terminal_only(monkeypatch, capsys):
    for terminal in (False, True):
        monkeypatch.setattr(sys.stderr, "isatty", lambda t=terminal: t)
        with progress(2**20, "toy", "B") as bar:
            bar.update(2**19)
            bar.refresh()
        shown = capsys.readouterr().err
        assert ("toy:  50%" in shown and "524k/1.05M" in shown) == terminal
