"""Files are opened by what they are; damaged and oversized content is an error."""

import gzip
import os

import pytest

from eigenlabel.datasets import (
    DataError,
    load,
    load_svmlight,
)


def test_bombs_and_large_files_are_stopped(tmp_path):
    path = tmp_path / "m.svm.gz"
    with gzip.open(path, "wb") as stream:
        for _ in range(300):
            stream.write(b"\n" * 2**20)
    with pytest.raises(DataError, match="compression bomb"):
        load_svmlight(path)
    with pytest.raises(DataError, match="larger than 1 MiB; pass max_bytes"):
        load_svmlight(path, max_bytes=2**20)


def test_devices_raise():
    if not os.path.exists("/dev/null"):
        pytest.skip("this system has no devices")
    with pytest.raises(DataError, match="a device or socket; pipe its content in"):
        load("/dev/null")
