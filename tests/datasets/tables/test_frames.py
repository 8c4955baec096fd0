"""Frames of pandas and polars become the same data as files."""

import bz2
import gzip
import lzma

import numpy as np
import pytest

from eigenlabel.datasets import (
    DataError,
    find_form,
    from_frame,
    load,
)
from forms import FILMS, both, films, same


@both
def test_the_same_film_as_everything(write):
    expected = films(write)
    plain = FILMS.encode()
    for pack in (gzip.compress, bz2.compress, lzma.compress):
        same(load(write(pack(plain)), labels="genres", samples="title"), expected)
    forms = {
        "tabs": FILMS.replace(",", "\t"),
        "semicolons": FILMS.replace(",", ";"),
        "CRLF": FILMS.replace("\n", "\r\n"),
        "CR": FILMS.replace("\n", "\r"),
        "mark": b"\xef\xbb\xbf" + plain,
        "UTF-16": FILMS.encode("utf-16"),
        "no last line end": FILMS.removesuffix("\n"),
        "blank lines": FILMS.replace("\n", "\n\n  \n"),
        "all quoted": "\n".join(
            ",".join(f'"{c}"' for c in line.replace('"', "").split(","))
            for line in FILMS.split("\n")[:-1]
        ),
    }
    for text in forms.values():
        path = write(text, "it.dat")
        assert find_form(path) == "table"
        same(load(path, labels="genres", samples="title"), expected)


def test_frames_and_parquet_are_the_same_table(write, tmp_path):
    pl, pd = pytest.importorskip("polars"), pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    expected = films(write)
    options = {"labels": "genres", "samples": "title"}
    path = write(FILMS)
    for frame in (pl.read_csv(path), pd.read_csv(path)):
        same(from_frame(frame, **options), expected)
        listed = from_frame(
            frame.rename(columns=str) if hasattr(frame, "iloc") else frame, **options
        )
        assert listed.source == "frame"
    pl.read_csv(path).write_parquet(tmp_path / "a.parquet")
    pd.read_csv(path).to_parquet(tmp_path / "b.parquet")
    for name in ("a.parquet", "b.parquet"):
        assert find_form(tmp_path / name) == "table"
        same(load(tmp_path / name, **options), expected)
        packed = write(gzip.compress((tmp_path / name).read_bytes()), "packed.gz")
        same(load(packed, **options), expected)


def test_wrong_frames_raise_an_error():
    pl = pytest.importorskip("polars")
    with pytest.raises(TypeError, match="must be a pandas or polars DataFrame, got list"):
        from_frame([1, 2])
    with pytest.raises(TypeError, match=r"got LazyFrame; call its collect\(\) first"):
        from_frame(pl.LazyFrame({"a": [1]}))


def test_mixed_cells_in_a_frame():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"x": [1, "a"], "labels": ["a", "b"]})
    with pytest.raises(DataError, match=r"frame: 'x' holds words here, numbers before \(row 1\)"):
        from_frame(frame)
    frame = pd.DataFrame({"x": pd.Categorical(["u", "v"], ["w", "v", "u"]), 5: [1, 2]})
    data = from_frame(frame.assign(labels=["a", None]))
    assert data.categories == {"x": ("u", "v")}
    assert data.feature_names.tolist() == ["x", "5"]
    assert data.Y.toarray().tolist() == [[1], [0]]
    numbers = from_frame(pd.DataFrame({"x": pd.Categorical([3, 1]), "labels": ["a", "b"]}))
    assert numbers.X.tolist() == [[3], [1]]


@pytest.mark.parametrize("kind", ["Categorical", "Enum"])
def test_categories_of_polars(tmp_path, kind):
    pl = pytest.importorskip("polars")
    kind = pl.Categorical if kind == "Categorical" else pl.Enum(["v", "u"])
    frame = pl.DataFrame({"x": pl.Series(["v", None, "u"], dtype=kind), "labels": ["a", "b", "a"]})
    data = from_frame(frame)
    assert data.categories == {"x": ("u", "v")}
    np.testing.assert_array_equal(data.X[:, 0], [1, np.nan, 0])
    pytest.importorskip("pyarrow")
    frame.write_parquet(tmp_path / "it.parquet")
    same(load(tmp_path / "it.parquet"), data)


def test_the_frame_of_the_user_does_not_change():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"x": [1.0, None], "labels": ["a|b", None]})
    copy = frame.copy(deep=True)
    data = from_frame(frame)
    data.X[:] = 7
    pd.testing.assert_frame_equal(frame, copy)
