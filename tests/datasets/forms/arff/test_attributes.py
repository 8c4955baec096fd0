"""The header of an ARFF file is read, and values are split outside quotes."""

import pytest

from eigenlabel.datasets import (
    DataError,
    load_mulan,
)
from eigenlabel.datasets.forms.arff.attributes import split_values


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("a, 'b, c' ,d", ["a", "b, c", "d"]),
        ("'a',", ["a", ""]),
        ("'it\\'s',\"x\"", ["it's", "x"]),
        ("'", ["'"]),
        ("'a", ["'a"]),
        ("a,,'b'", ["a", "", "b"]),
        ("'a'b,c", ["'a'b", "c"]),
    ],
)
def test_splitting_at_commas_outside_quotes(line, words):
    assert split_values(line) == words


def test_a_repeated_value_has_the_position_of_the_first(tmp_path):
    path = tmp_path / "a.arff"
    path.write_text("@relation '-C 1'\n@attribute L {0,1}\n@attribute c {a,b,a}\n@data\n0,b\n0,a\n")
    assert load_mulan(path).X.tolist() == [[1], [0]]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("@attribute", "cannot read the attribute '@attribute'"),
        ("@attribute   x  ", "cannot read the attribute '@attribute   x'"),
        ("@attribute x{0,1}", "cannot read the attribute"),
        ("@attribute x date", "is of type 'date'"),
        ("@attributes x numeric", "cannot read the attribute"),
        ("@end", "expected @attribute or @data, found '@end'"),
    ],
)
def test_broken_header_lines_raise_an_error(tmp_path, line, message):
    path = tmp_path / "a.arff"
    path.write_text(f"% first\n\n{line}\n@attribute a numeric\n@data\n1\n")
    with pytest.raises(DataError, match=message) as caught:
        load_mulan(path)
    assert "line 3: " in str(caught.value)


def test_header_lines_may_be_written_in_different_ways(tmp_path):
    path = tmp_path / "a.arff"
    path.write_text(
        " % comment\n\t@RELATION\t'x: -C 1'  \n @attribute L\t{0,1} \n"
        "@ATTRIBUTE 'it\\'s {x}'  REAL [0,1]\n@attribute \"a b\" integer\n@attribute %c { x , y }\n"
        "@Data whatever\n1,2,3,y\n"
    )
    data = load_mulan(path)
    assert data.feature_names.tolist() == ["it's {x}", "a b", "%c"]
    assert data.categories == {"%c": ("x", "y")}
    assert data.X.tolist() == [[2, 3, 1]]
