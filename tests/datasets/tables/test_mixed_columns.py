"""Columns that are mostly numbers or dates are noted."""

import numpy as np
import pandas as pd
import pytest

from eigenlabel.datasets import DataError, from_frame, iterate, load, load_table
from eigenlabel.preprocessing import TablePreparation
from forms import both


def table(cells, name="size"):
    """Write a column between a column of numbers and two labels."""
    lines = [f"{i},{cell},{i % 2},{i % 3 // 2}" for i, cell in enumerate(cells)]
    return "\n".join([f"noise,{name},y_a,y_b", *lines, ""])


@both
@pytest.mark.parametrize(
    "word", ["n/a", "N/A", "#N/A", "-", "--", ".", "missing", "Unknown", "none", "  ", "NULL"]
)
@pytest.mark.parametrize("kind", ["number", "date"])
def test_words_for_missing_among_numbers_and_dates_count_as_missing(write, word, kind):
    cells = [f"2024-01-{i + 1:02}" if kind == "date" else f"{i}.5" for i in range(24)]
    cells[5] = cells[9] = word
    path = write(table(cells))
    data = load_table(path, labels="y_*")
    assert data.column_types["size"] == kind
    assert np.flatnonzero(np.isnan(data.X[:, 1])).tolist() == [5, 9]
    if kind == "date" or word not in ("N/A", "NULL"):
        assert data.notes == (
            f"column 'size' has 2 cells such as {word!r} (line 7), read as missing",
        )
    again = load_table(path, like=data)
    np.testing.assert_array_equal(again.X, data.X)
    assert again.notes == data.notes
    pieces = list(iterate(path, labels="y_*", rows=8))
    np.testing.assert_array_equal(np.vstack([piece.X for piece in pieces]), data.X)


def test_words_for_missing_that_only_a_file_to_predict_has_are_missing(write):
    like = load_table(write(table(range(4))), labels="y_*")
    data = load_table(write(table(["1", "n/a", "unknown"])), like=like)
    np.testing.assert_array_equal(data.X[:, 1], [1, np.nan, np.nan])
    assert data.notes == ("column 'size' has 2 cells such as 'n/a' (line 3), read as missing",)
    with pytest.raises(DataError, match=r"line 3.*'<0.1', not a number"):
        load_table(write(table(["n/a", "<0.1"])), like=like)


def test_words_for_missing_stay_categories_among_words(write):
    data = load_table(write(table(["none", "some", "none", "some"])), labels="y_*")
    assert data.categories == {"size": ("none", "some")}
    assert data.notes == ()


@both
@pytest.mark.parametrize("repeated", [True, False])
def test_a_few_other_words_among_numbers_are_noted(write, repeated):
    cells = [str(i % 7 if repeated else i) for i in range(40)]
    cells[5] = "<0.1"
    cells[8] = "<0.1" if repeated else "<0.2"
    data = load_table(write(table(cells)), labels="y_*")
    fate = "read as categories" if repeated else "left out, as every sample has a different value"
    assert data.notes == (
        "column 'size' holds numbers except for 2 cells such as '<0.1' (line 7): it is "
        f"{fate}; correct or empty these cells",
    )


def test_a_few_other_words_among_dates_are_noted(write):
    cells = [f"2024-01-{i % 9 + 1:02}" for i in range(40)]
    cells[3] = "soon"
    (note,) = load_table(write(table(cells)), labels="y_*").notes
    assert note.startswith("column 'size' holds dates except for 1 cell such as 'soon' (line 5)")


def save_frame(frame, path):
    """Write a frame in the form of the name of a file."""
    if path.suffix == ".parquet":
        frame.to_parquet(path)
    elif path.suffix == ".jsonl":
        frame.to_json(path, orient="records", lines=True)
    else:
        frame.to_csv(path, index=False, sep="," if path.suffix == ".csv" else "\t")


@pytest.mark.parametrize("form", ["csv", "tsv", "jsonl", "parquet"])
@pytest.mark.parametrize(
    ("cells", "numbers"),
    [
        (["$40", "$1,200.50", "n/a", "9", "$ 5"], [40, 1200.5, np.nan, 9, 5]),
        (["12%", "-3.5 %", "100 %", "unknown", "7%"], [12, -3.5, 100, np.nan, 7]),
        (["1,234,000", "12,345,678", "1", "20", "3"], [1234000, 12345678, 1, 20, 3]),
    ],
)
def test_numbers_with_a_sign_or_groups_are_numbers_in_every_form(tmp_path, form, cells, numbers):
    frame = pd.DataFrame({"size": cells, "y": [0, 1, 0, 1, 1]})
    path = tmp_path / f"data.{form}"
    save_frame(frame, path)
    data = load(path, labels="y")
    assert data.column_types == {"size": "number"}
    np.testing.assert_array_equal(data.X[:, 0], numbers)
    again = load(path, like=data)
    np.testing.assert_array_equal(again.X, data.X)
    assert again.notes == data.notes
    np.testing.assert_array_equal(from_frame(frame, like=data).X, data.X)
    assert TablePreparation().fit(frame[["size"]]).kinds_ == {"size": "number"}


@pytest.mark.parametrize("cells", [["$1,200", "$3"], ["$40", "€40"], ["$40", "cheap"]])
def test_signs_without_one_meaning_are_categories(tmp_path, cells):
    frame = pd.DataFrame({"size": cells * 5, "y": [0, 1] * 5})
    save_frame(frame, tmp_path / "data.tsv")  # a comma may be decimal
    assert list(load(tmp_path / "data.tsv", labels="y").categories) == ["size"]


@both
@pytest.mark.parametrize("cell", ['"{},5"', '"{},234.50"', "EUR {}"])
def test_numbers_in_other_spellings_are_noted(write, cell):
    cells = [cell.format(i % 7) for i in range(40)]
    (note,) = load_table(write(table(cells)), labels="y_*").notes
    first = cells[0].strip('"')
    assert note == (
        f"column 'size' holds numbers with signs or commas, 40 cells such as {first!r} (line 2): "
        "it is read as categories; write numbers such as 1234.5"
    )


@pytest.mark.parametrize("word", ["n/a", "<0.1"])
def test_words_of_a_frame_that_are_numbers_for_the_most_part_are_noted(word):
    cells = [str(i % 7) for i in range(40)]
    cells[4] = word
    frame = pd.DataFrame({"size": cells, "y": np.arange(40) % 2})
    (note,) = from_frame(frame, labels=["y"]).notes
    assert note.startswith(
        f"column 'size' holds numbers except for 1 cell such as {word!r} (row 4)"
    )
    assert note.endswith("empty these cells and turn the column into numbers or dates")
    assert from_frame(frame.drop(4), labels=["y"]).notes == ()


@both
@pytest.mark.parametrize("quote", ["", '"'])
def test_codes_with_leading_zeros_are_categories(write, quote):
    cells = [f"{quote}{code}{quote}" for code in ("01234", "1234", "99999", "01234")]
    path = write(table(cells, "zip"))
    data = load_table(path, labels="y_*")
    assert data.categories == {"zip": ("01234", "1234", "99999")}
    assert data.X[:, 1].tolist() == [0, 1, 2, 0]
    assert data.notes == (
        "column 'zip' holds codes with leading zeros, 2 cells such as '01234' (line 2): it is read "
        "as categories; remove the zeros if they are numbers, or pass drop='zip'",
    )
    again = load_table(write(table(["1234", "99999"], "zip")), like=data)
    assert again.X[:, 1].tolist() == [1, 2]


@both
def test_numbers_that_begin_with_zero_are_numbers(write):
    data = load_table(write(table(["0", "0.5", "00.5", "-0", "07"], "part")), labels="y_*")
    assert data.X[:, 1].tolist() == [0, 0.5, 0.5, 0, 7]
    assert data.notes == ()


def test_codes_where_like_has_numbers_are_noted(write):
    like = load_table(write(table([1, 2, 3])), labels="y_*")
    data = load_table(write(table(["01", "2"])), like=like)
    assert data.X[:, 1].tolist() == [1, 2]
    (note,) = data.notes
    assert note.startswith("column 'size' holds codes with leading zeros, which are read as numb")
