"""The embedded data and the tool that makes it."""

import gzip
import importlib.util
import io
import lzma
import re
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from eigenlabel.datasets import load_debtags

TOOL = Path(__file__).resolve().parents[2] / "tools" / "build_debtags.py"
INDEX = """\
Package: gimp
Source: gimp (2.10)
Depends: libgimp2.0 (>= 2.10), graphviz, libc6:any | libc6-dev
Pre-Depends: init
Description: GNU Image manipulation Program 2
Tag: field::arts, role::program,
 works-with::image, culture::TODO, special::auto-inst-parts
Section: contrib/graphics

Package: untagged
Description: nothing

Package: abiword
Description: efficient, featureful word word processor
Tag: role::program
Section: editors

Package: gimp
Description: a second version of it
Tag: role::program
"""


@pytest.fixture(scope="module")
def tool():
    spec = importlib.util.spec_from_file_location("build_debtags", TOOL)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_an_index_becomes_counts(tool):
    data = tool.build(io.StringIO(INDEX), "Debian 0", least=1)
    assert data.sample_names.tolist() == ["abiword", "gimp"]
    assert data.label_names.tolist() == ["field::arts", "role::program", "works-with::image"]
    assert data.Y.toarray().tolist() == [[0, 1, 0], [1, 1, 1]]

    def found(view):
        names = data.feature_names[data.views[view]]
        rows = data.view(view).toarray()
        return [dict(zip(names[r > 0].tolist(), r[r > 0].tolist(), strict=True)) for r in rows]

    abiword, gimp = found("words")
    assert abiword["words:word"] == 2
    assert gimp == dict.fromkeys(
        ["words:gimp", "words:gnu", "words:image", "words:manipulation", "words:program"], 1
    )
    assert list(found("depends")[1]) == [
        f"depends:{p}" for p in ("graphviz", "init", "libc6", "libc6-dev", "libgimp2.0")
    ]
    assert found("section") == [{"section:editors": 1}, {"section:graphics": 1}]


def test_rare_features_are_dropped(tool):
    data = tool.build(io.StringIO(INDEX), "Debian 0", least=2)
    assert data.X.shape == (2, 0)
    assert data.Y.shape == (2, 3)


@pytest.mark.parametrize(("suffix", "opener"), [(".gz", gzip.open), (".xz", lzma.open), ("", open)])
def test_compressed_indices_produce_the_same_bytes(tool, tmp_path, monkeypatch, suffix, opener):
    outputs = []
    for run in range(2):
        index, output = tmp_path / f"Packages{suffix}", tmp_path / f"{run}.npz"
        with opener(index, "wt") as stream:
            stream.write(INDEX)
        words = ["build_debtags.py", "--release", "Debian 0", "--output", str(output), str(index)]
        monkeypatch.setattr("sys.argv", words)
        tool.main()
        outputs.append(output.read_bytes())
    assert outputs[0] == outputs[1]


def test_an_index_without_tags_says_what_to_do(tool):
    with pytest.raises(SystemExit, match="apt-get update"):
        tool.build(io.StringIO("Package: x\n"), "Debian 0")


def test_the_embedded_data_are_small_and_complete():
    assert (files("eigenlabel.datasets") / "debtags.npz").stat().st_size < 2 * 2**20
    data = load_debtags(min_positives=1)
    assert data.Y.shape[0] == data.X.shape[0] > 29_000
    assert list(data.views) == ["words", "depends", "section"]
    assert data.X.shape[1] == len(data.feature_names) == len(set(data.feature_names.tolist()))
    assert data.Y.sum(axis=1).min() >= 1
    assert data.Y.sum(axis=0).min() >= 1
    assert all("::" in name for name in data.label_names)
    assert not any(re.search(r"\s", name) for name in data.feature_names), "words, no sentences"
    assert data.sample_names.tolist() == sorted(set(data.sample_names.tolist()))


def test_rare_tags_are_dropped_and_the_rest_fits_together():
    whole, data = load_debtags(min_positives=1), load_debtags(min_positives=100)
    frequent = np.asarray(whole.Y.sum(axis=0)) >= 100
    assert data.label_names.tolist() == whole.label_names[frequent].tolist()
    assert data.Y.sum() == whole.Y[:, np.flatnonzero(frequent)].sum()
    train, test = data.splits["by source"]
    np.testing.assert_array_equal(np.sort(np.r_[train, test]), np.arange(data.X.shape[0]))
    name = whole.sample_names[whole.splits["by source"][1][0]]
    assert name in data.sample_names[test]


def test_packages_of_one_source_stay_together(tool):
    both = INDEX.replace("Package: abiword", "Package: gimp-data\nSource: gimp")
    for release in range(5):
        train, test = tool.build(io.StringIO(both), f"{release}", least=1).splits["by source"]
        assert sorted([len(train), len(test)]) == [0, 2]
