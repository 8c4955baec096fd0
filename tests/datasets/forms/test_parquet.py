"""Parquet files are read, also in pieces; damaged files raise DataError."""

import io
import sys
from datetime import timedelta

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.pipeline import make_pipeline

from eigenlabel import SharedSubspaceClassifier
from eigenlabel.cli import main
from eigenlabel.datasets import (
    DataError,
    from_frame,
    load,
    load_table,
)
from eigenlabel.persistence import save_model
from eigenlabel.preprocessing import TablePreparation
from noise import noisy, read_or_refuse


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


def test_parquet_in_several_groups_of_rows(tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    table = pa.table({"x": ["d", "c", "b", None, "a"], "labels": [["l"], ["m"], None, ["l"], []]})
    pq.write_table(table, tmp_path / "it.parquet", row_group_size=2)
    data = load(tmp_path / "it.parquet")
    assert data.categories == {"x": ("a", "b", "c", "d")}
    np.testing.assert_array_equal(data.X[:, 0], [3, 2, 1, np.nan, 0])
    assert data.Y.toarray().tolist() == [[1, 0], [0, 1], [0, 0], [1, 0], [0, 0]]


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_durations_are_seconds(tmp_path, unit):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    spans = [timedelta(minutes=2), None, timedelta(days=-1), timedelta(seconds=3)]
    table = pa.table({"x": pa.array(spans, pa.duration(unit)), "labels": ["u", "v", "u", "v"]})
    pq.write_table(table, tmp_path / "it.parquet")
    data = load(tmp_path / "it.parquet")
    np.testing.assert_array_equal(data.X[:, 0], [120, np.nan, -86400, 3])
    assert data.column_types == {"x": "number"}
    for frame in (pl.from_arrow(table), table.to_pandas(), table.to_pandas().astype({"x": object})):
        np.testing.assert_array_equal(from_frame(frame, like=data).X, data.X)


def test_commands_read_durations(tmp_path, capsys):
    spans = [timedelta(seconds=i % 2) for i in range(40)]
    frame = pl.DataFrame({"x": spans, "labels": ["u", "v"] * 20})
    frame.write_parquet(tmp_path / "it.parquet")
    files = [str(tmp_path / "m.skops"), str(tmp_path / "it.parquet")]
    assert main(["fit", files[1], "-o", files[0]]) == 0
    capsys.readouterr()
    assert main(["predict", *files]) == 0
    labels = [line.split(",")[1] for line in capsys.readouterr().out.splitlines()[1:]]
    assert labels == ["u", "v"] * 20
    model = make_pipeline(TablePreparation(), SharedSubspaceClassifier())
    labels = [{label} for label in frame["labels"]]
    save_model(model.fit(frame.select("x"), labels), files[0])
    assert main(["predict", *files]) == 0
    labels = [line.split(",")[1] for line in capsys.readouterr().out.splitlines()[1:]]
    assert labels == ["u", "v"] * 20


def test_parquet_that_declares_too_many_values_raises(tmp_path):
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "it.parquet"
    n = 2**22
    table = pa.table(
        {"x": pa.array(np.zeros(n)), "labels": pa.array(["a"] * n).dictionary_encode()}
    )
    pq.write_table(table, path)
    assert path.stat().st_size < 2**16
    with pytest.raises(DataError, match="declares 8,388,608 values; pass max_bytes"):
        load(path, max_bytes=2**20)


def test_a_long_repeated_word_is_stored_once(tmp_path):
    import subprocess

    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "it.parquet"
    codes, values = pa.array(np.arange(2**12) % 2), pa.array(["x" * 2**16, "b"])
    words = pa.DictionaryArray.from_arrays(codes, values)
    pq.write_table(pa.table({"x": words, "labels": words}), path, store_schema=False)
    assert pq.read_schema(path).field("x").type == pa.string()
    code = (
        "import sys, pyarrow; from eigenlabel.datasets import load; data = load(sys.argv[1]);"
        "print(len(data.categories['x'][1]), pyarrow.default_memory_pool().max_memory())"
    )
    run = subprocess.run(  # a peak of its own
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True
    )
    length, peak = map(int, run.stdout.split())
    assert length == 2**16
    assert peak < 2**24  # 256 MiB, written out


@pytest.mark.parametrize("cut", [4, 8, 20, 60])
def test_cut_parquet(tmp_path, cut):
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "it.parquet"
    pq.write_table(pa.table({"x": [1.0], "labels": ["a"]}), path)
    whole = path.read_bytes()
    path.write_bytes(whole[:-cut])
    with pytest.raises(DataError, match="not a Parquet file, or damaged"):
        load(path)
