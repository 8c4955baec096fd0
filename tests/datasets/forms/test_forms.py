"""One form is not taken for another, and noise in any of them is read or refused."""

import io
import json
import sys

import numpy as np
import pytest
from hypothesis import HealthCheck, event, example, given, settings
from hypothesis import strategies as st

from eigenlabel.datasets import (
    DataError,
    find_form,
    load,
    load_hvecs,
    load_jsonlines,
    load_mulan,
    load_svmlight,
    load_table,
    save,
)
from forms import FILMS, GOOD, hvecs, lines, same


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("1,2 3:4 5:6", "svmlight"),
        ("1 1:1", "svmlight"),
        ("1:1 2:1", "svmlight"),
        (" 1:1\n", "svmlight"),
        ("0,2 1:0.5e-3 3:nan\n", "svmlight"),
        ("1.0,2.0 1:1\n", "svmlight"),
        ("# a, remark\n1,2 3:4\n", "svmlight"),
        ("1,2 " + " ".join(f"{j}:1.5" for j in range(2000)), "svmlight"),
        ("1,2 3:x\n", "table"),
        ("z 3:1 4:1\n", "svmlight"),
        ("3 5 2\n0,1 0:1\n", "xmc"),
        ("3\t5\t2\n0,1 0:1\n", "xmc"),
        ("1 5 2\n\n", "xmc"),
        ("3\t5\t2\n1\t2\t3\n", "table"),
        ("3,5,2\n1,2,3\n", "table"),
        ("a,b\n1:1,2:2\n", "table"),
        ("ratio 1:2,x\n1,2\n", "table"),
        ("name,ratio 1:2\n1,2\n", "table"),
        ("ratio 1:2\tx\n1\t2\n", "table"),
        ("0:00,1:00\n1,2\n", "table"),
        ("time: start,value\n1,2\n", "table"),
        ("%id,b\n1,2\n", "table"),
        ("a;b\n1;2\n", "table"),
        ('"a","b"\n1,2\n', "table"),
        ('{"a": 1}\n', "jsonl"),
        ('\n \n{"a": 1}\n', "jsonl"),
        ("@relation x,y\n", "arff"),
        ("% a, comment\n@relation x\n", "arff"),
    ],
)
def test_forms_are_not_confused(write, text, form):
    assert find_form(write(text, "it.dat")) == form
    assert find_form(write(b"\xef\xbb\xbf" + text.encode(), "it.dat")) == form
    assert find_form(write(text.replace("\n", "\r\n"), "it.dat")) == form


def test_the_name_counts_where_the_content_tells_nothing(write):
    assert find_form(write("text\nhello there\n", "it.csv.gz")) == "table"
    with pytest.raises(DataError, match="cannot tell"):
        find_form(write("text\nhello there\n", "it.dat"))
    with pytest.raises(DataError, match="write one object a line"):
        find_form(write('[{"a": 1}]', "it.json"))


def test_excel_is_told_apart(write):
    import zipfile

    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
    with pytest.raises(DataError, match="an Excel file; save the sheet as CSV"):
        load(write(stream.getvalue(), "it.xlsx"))


def test_options_of_another_form(write):
    path = write("0 1:1\n", "it.svm")
    with pytest.raises(
        DataError,
        match=r"load_svmlight, which reads this form \(svmlight\), has no option 'labels'; it has "
        "n_features, n_labels, zero_based, like, labelled, max_bytes",
    ):
        load(path, labels="x")


def test_names_never_become_paths(write, tmp_path):
    name = "../../outside"
    path = write(f'"{name}","label:{name}x"\n1,0\n2,1\n')
    data = load(path)
    for suffix in ("csv", "npz", "svm", "arff", "mat", "jsonl", "parquet"):
        save(data, tmp_path / f"it.{suffix}")
    assert {p.name.partition(".")[0] for p in tmp_path.iterdir()} == {"it"}
    assert not list(tmp_path.parent.glob("outside*"))


# Noise


TABLE_SEEDS = [
    FILMS.encode(),
    b'a;b;labels\n1,5;"x\n";u|v\n2;"y""z";v\n',
    b"text\tlabels\nred car\ta\nblue\tb\n",
    b"label:x,f\n1,2\n0,3\n",
]
JSON_SEEDS = [
    lines(GOOD, {"x": None, "labels": ["b"], "features": {"u": 1.5}}).encode(),
    lines({"text": "a red car", "tags": "a|b", "k": "u"}, {"text": "x", "tags": "a"}).encode(),
]
BITS = [b'"', b",", b"\n", b"\r", b";", b"\t", b"\xff", b"\x00", b"9" * 400, b"[" * 2000, b"-", b""]


def damage(draw, seed):
    """Cut, drop or insert something."""
    for _ in range(draw(st.integers(1, 3))):
        at, cut = draw(st.integers(0, len(seed))), draw(st.integers(0, 8))
        noise = draw(st.one_of(st.binary(max_size=6), st.sampled_from(BITS)))
        seed = seed[:at] + noise + seed[at + cut :]
    return seed


def read_or_refuse(read, path, **options):
    """Read a file; what comes is a Dataset or a DataError."""
    try:
        found = read(path, **options)
    except DataError as error:
        event("refused")
        return str(error)
    event("read")
    n, d = found.X.shape
    assert found.Y.shape == (n, len(found.label_names))
    assert d == len(found.feature_names)
    assert n > 0
    assert d > 0
    assert set(np.unique(found.Y.toarray())) <= {0, 1}
    return found


noisy = settings(
    max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@noisy
@given(data=st.data())
def test_noise_in_tables_and_both_engines_agree(data, tmp_path):
    pytest.importorskip("polars")
    pytest.importorskip("pandas")
    path = tmp_path / "it.csv"
    path.write_bytes(damage(data.draw, data.draw(st.sampled_from(TABLE_SEEDS))))
    found = []
    for hidden in (None, "polars"):
        with pytest.MonkeyPatch.context() as patch:
            if hidden:
                patch.setitem(sys.modules, hidden, None)
            found.append(read_or_refuse(load_table, path))
    if isinstance(found[0], str):
        assert found[0] == found[1]
    else:
        same(*found)


@noisy
@given(content=st.binary(max_size=80) | st.text(max_size=80).map(str.encode))
@example(content=b'a,labels\n"\r",x\n')
@example(content=b"\xff\xfea\x00,\x00l\x00a\x00b\x00e\x00l\x00s\x00\n\x001\x00")
def test_any_bytes_as_a_table(content, tmp_path):
    path = tmp_path / "it.csv"
    path.write_bytes(b"a,labels\n" + content)
    read_or_refuse(load_table, path)
    path.write_bytes(content)
    read_or_refuse(load, path)


@noisy
@given(data=st.data())
def test_noise_in_json_lines(data, tmp_path):
    path = tmp_path / "it.jsonl"
    path.write_bytes(damage(data.draw, data.draw(st.sampled_from(JSON_SEEDS))))
    read_or_refuse(load_jsonlines, path)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=6,
)


@noisy
@given(
    objects=st.lists(
        st.dictionaries(
            st.sampled_from(["text", "labels", "features", "x", "y", ""]), json_values, max_size=4
        ),
        min_size=1,
        max_size=4,
    )
)
def test_any_objects_as_json_lines(objects, tmp_path):
    path = tmp_path / "it.jsonl"
    path.write_text("\n".join(map(json.dumps, objects)))
    read_or_refuse(load_jsonlines, path)


@noisy
@given(data=st.data())
def test_noise_in_hvecs(data, tmp_path):
    (tmp_path / "a_annot.hvecs").write_bytes(hvecs([0, 1], [1, 0]))
    path = tmp_path / "a_x.hvecs"
    path.write_bytes(damage(data.draw, hvecs([1, 2, 3], [4, 5, 6])))
    read_or_refuse(load_hvecs, path)


def parquet_seed():
    import pyarrow as pa
    import pyarrow.parquet as pq

    stream = io.BytesIO()
    columns = {"x": [1.0, None], "k": ["u", "v"], "t": [True, False], "labels": [["a"], ["b"]]}
    pq.write_table(pa.table(columns), stream)
    return stream.getvalue()


@noisy
@given(data=st.data())
def test_noise_in_parquet(data, tmp_path):
    pytest.importorskip("pyarrow")
    path = tmp_path / "it.parquet"
    seed = bytearray(parquet_seed())
    for _ in range(data.draw(st.integers(1, 4))):
        seed[data.draw(st.integers(4, len(seed) - 1))] = data.draw(
            st.sampled_from([0, 1, 127, 128, 255]) | st.integers(0, 255)
        )
    path.write_bytes(bytes(seed))
    read_or_refuse(load_table, path)


def test_readers_called_by_name_refuse_what_is_no_file(tmp_path):
    for read in (load_table, load_jsonlines, load_hvecs, load_mulan, load_svmlight):
        with pytest.raises(DataError, match="no such file"):
            read(tmp_path / "nothing")
        with pytest.raises(DataError, match="a folder, not a file"):
            read(tmp_path)
