"""What the readers of all forms share."""

import gzip

import pytest

from eigenlabel.datasets import (
    DataError,
    load,
)


def test_lack_of_memory_is_an_error_about_the_file(write, monkeypatch):
    def parse(*_, **__):
        raise MemoryError

    monkeypatch.setattr("eigenlabel.datasets.forms.libsvm.parsing.load_svmlight_file", parse)
    path = write(gzip.compress(b"0 1:1\n"), "it.svm.gz")
    with pytest.raises(DataError, match="needs more memory than there is; read it in pieces"):
        load(path)
