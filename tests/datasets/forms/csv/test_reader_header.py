"""The delimiter of comma-separated text is found in its first lines."""

from eigenlabel.datasets import (
    load,
)
from forms import both


@both
def test_the_delimiter_is_what_all_rows_have(write):
    data = load(write("first;second;third,labels\n1,a\n2,b\n"))
    assert data.feature_names.tolist() == ["first;second;third"]
    data = load(write('"a,b,c";labels\n1;"x,y"\n2;x\n'))
    assert data.feature_names.tolist() == ["a,b,c"]
