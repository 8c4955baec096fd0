"""Lines of LIBSVM text are parsed; errors name the line."""

import pytest

from eigenlabel.datasets import DataError
from eigenlabel.datasets.forms.libsvm.parsing import FileSizes, Lines, is_sample, parse_svmlight


@pytest.mark.parametrize(
    ("line", "found"), [(b"0 1:1", True), (b"1:1 # comment", True), (b" ", False), (b"# 1", False)]
)
def test_blank_lines_and_comments_are_not_samples(line, found):
    assert is_sample(line) == found


def test_lines_are_parsed_with_known_sizes(tmp_path):
    path = tmp_path / "it.svm"
    path.write_bytes(b"1 1:2\n")
    X, Y, zero_based = parse_svmlight(path, Lines(b"1 1:2\n"), FileSizes(3, 2, False))
    assert X.toarray().tolist() == [[2, 0, 0]]
    assert Y.toarray().tolist() == [[0, 1]]
    assert zero_based is False


def test_errors_name_the_line_of_the_file(tmp_path):
    path = tmp_path / "it.svm"
    path.write_bytes(b"1 1:2\n")
    with pytest.raises(DataError, match="line 12: label 'x' is not a number"):
        parse_svmlight(path, Lines(b"1 1:2\n\nx 1:1\n", 10), FileSizes())
