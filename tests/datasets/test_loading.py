"""The reader of the form of a file is called, with options that it has."""

import pytest

from eigenlabel.datasets import (
    DataError,
    load,
    load_hvecs,
    load_jsonlines,
    load_mulan,
    load_svmlight,
    load_table,
)


def test_options_of_another_form_are_an_error(write):
    path = write("0 1:1\n", "it.svm")
    with pytest.raises(
        DataError,
        match=r"load_svmlight, which reads this form \(svmlight\), has no option 'labels'; it has "
        "n_features, n_labels, zero_based, like, labelled, max_bytes",
    ):
        load(path, labels="x")


def test_readers_raise_for_missing_files_and_folders(tmp_path):
    for read in (load_table, load_jsonlines, load_hvecs, load_mulan, load_svmlight):
        with pytest.raises(DataError, match="no such file"):
            read(tmp_path / "nothing")
        with pytest.raises(DataError, match="a folder, not a file"):
            read(tmp_path)


def test_missing_files_raise_an_error(tmp_path):
    with pytest.raises(DataError, match="no such file"):
        load(tmp_path / "nothing")
    with pytest.raises(DataError, match="a folder, not a file"):
        load(tmp_path)
