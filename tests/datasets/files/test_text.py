"""Text files are decoded and split into lines."""

import pytest

from eigenlabel.datasets import DataError
from eigenlabel.datasets.files.text import decode, find_encoding, read_lines, split_lines, to_utf8

TEXT = "a\nbé\n\nc"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("chunk_size", [1, 2, 2**20])
def test_all_ways_of_reading_find_the_same_lines(tmp_path, encoding, end, chunk_size):
    data = TEXT.replace("\n", end).encode(encoding)
    path = tmp_path / "it.txt"
    path.write_bytes(data)
    if chunk_size > 1 or encoding != "utf-16":  # the mark of UTF-16 has two bytes
        assert list(read_lines(path, chunk_size=chunk_size)) == TEXT.split("\n")
    assert decode(path, data) == TEXT
    assert list(split_lines(to_utf8(path, data))) == TEXT.split("\n")


def test_an_unknown_encoding_raises():
    with pytest.raises(DataError, match="unknown encoding: nothing"):
        find_encoding("it", b"a", "nothing")


def test_binary_content_raises():
    with pytest.raises(DataError, match="a binary file, not text"):
        to_utf8("it", b"a\x00b")
