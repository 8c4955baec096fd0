"""The kinds of columns, found by type and content, and how they are read again."""

from itertools import pairwise

import numpy as np
import pytest

from eigenlabel.preprocessing.column_kinds import Settings, learn_layout, read_layout, word_name
from eigenlabel.preprocessing.sample_forms import read_samples
from forms import dense

COMMENTS = [f"the {a} was {b} today" for a in ("food", "room", "staff") for b in ("good", "bad")]


def table_of(**columns):
    width = {len(values) for values in columns.values()}.pop()
    cells = np.empty((width, len(columns)), dtype=object)
    for j, values in enumerate(columns.values()):
        cells[:, j] = values
    table = read_samples(cells).table
    table.rename(list(columns))
    return table


def learn(table, min_df=1, max_words=1000, lengths=(1, 1), **columns):
    notes = []
    layout, X = learn_layout(table, Settings(columns, lengths, min_df, max_words), notes)
    return layout, dense(X), notes


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1, 2, 3, 4, 5, 6], "number"),
        (["1", "2.5", "n/a", "-3", "1e3", "6"], "number"),
        ([1, "n/a", 2.5, None, "unknown", 6], "number"),
        ([True, False, None, True, True, False], "number"),
        (["$1,200", "$300", "n/a", "-$4,500.50", "$0", "12"], "number"),
        (["12%", "30 %", "45.5%", None, "1%", "2%"], "number"),
        (["1,200", "300", "1,234,567.5", "12", "1", "2"], "number"),
        (["$1", "2%", "$3", "$1", "2%", "$3"], "category"),
        (["1,5", "2,5", "3", "1,5", "2,5", "3"], "category"),
        (["yes", "no", "Yes", "n/a", "NO", "yes"], "boolean"),
        (["true", "false", "true", "", "false", "true"], "boolean"),
        (["red", "blue", "red", None, "red", "blue"], "category"),
        (["01234", "00012", "01234", "00012", "1", "2"], "category"),
        (["2024-01-31", "2024-02-01", None, "n/a", "2023-01-01", "2020-01-01"], "date"),
        (["31.1.2024", "1.2.2024", None, "2.3.2024", "1.1.2023", "1.1.2020"], "date"),
        (["31/1/2024", "1/2/2024", None, "2/3/2024", "1/1/2023", "1/1/2020"], "date"),
        (["31 Jan 2024", "1 feb 2024", None, "2 March 2024", "1 May 2023", "1 Oct. 2020"], "date"),
        (COMMENTS, "text"),
        ([COMMENTS[0]] * 3 + [COMMENTS[1]] * 3, "category"),
        (["one", "two", "three", "four", "five", "six"], "category"),
        ([7] * 6, "drop"),
        ([None] * 6, "drop"),
        (["same"] * 6, "drop"),
    ],
)
def test_kinds_are_found_by_content(values, kind):
    layout, X, notes = learn(table_of(other=[1, 2, 3, 4, 5, 7], column=values))
    assert layout.kinds == {"other": "number", "column": kind}
    assert bool(X.shape[1] - 1) == (kind != "drop")
    assert any("'column'" in note and "left out" in note for note in notes) == (kind == "drop")


def test_many_different_values_are_texts_or_names():
    rng = np.random.default_rng(0)
    cities = [f"{a} {b}" for a in ("Old", "New", "Saint") for b in map(str, range(20))]
    answers = [f"{a} {b}" for a in ("too", "very", "quite") for b in map("abc".__add__, "defghijk")]
    n = 60
    table = table_of(
        id=[f"u{i}" for i in range(n)],
        answer=[answers[i % 24] if i < 50 else f"new answer {i}" for i in range(n)],
        city=[cities[i] for i in rng.integers(0, 20, n)],
    )
    layout, _, notes = learn(table)
    assert layout.kinds == {"id": "drop", "answer": "text", "city": "category"}
    assert "different value in every sample" in notes[0]


def test_words_are_counted_by_hand():
    texts = ["Red red apple", "green apple", None, "red car, green car", ""]
    layout, X, _ = learn(table_of(t=texts, x=range(5)), lengths=(1, 2), t="text")
    assert layout.columns == ["x"]
    words = layout.words("t")
    expected = []
    for text in texts:
        tokens = (text or "").lower().replace(",", "").split()
        grams = [*tokens, *(" ".join(pair) for pair in pairwise(tokens))]
        expected.append([grams.count(word) for word in words])
    np.testing.assert_array_equal(X[:, 1:], expected)
    assert set(words) >= {"red", "red red", "apple", "green car"}


def test_rare_words_are_left_out_and_frequent_ones_kept():
    table = table_of(t=["aa bb cc", "aa bb bb", "aa dd", "bb dd"], x=range(4))
    assert learn(table, min_df=2, t="text")[0].words("t") == ["aa", "bb", "dd"]
    assert learn(table, max_words=2, t="text")[0].words("t") == ["aa", "bb"]
    assert learn(table, max_words=3, t="text")[0].words("t") == ["aa", "bb", "dd"]
    layout, X, notes = learn(table, min_df=5, t="text")
    assert layout.kinds["t"] == "drop"
    assert X.shape == (4, 1)
    assert notes == ["column 't' has no word in 5 or more samples: left out"]


def test_a_known_layout_reads_other_types():
    table = table_of(
        number=[1, 2, 3],
        colour=["red", "blue", "red"],
        day=["1/2/2024", "13/2/2024", "5/5/2024"],
        extra=["q", "r", "r"],
    )
    layout, X, _ = learn(table, extra="drop")
    assert layout.orders == {"day": "day"}
    new = table_of(day=["1/2/2024", "n/a"], colour=["green", "blue"], number=["3", "n/a"])
    found = read_layout(new, layout, (1, 1))
    np.testing.assert_array_equal(found, [[3, np.nan, X[0, 2]], [np.nan, 0, np.nan]])
    for columns, message in [
        ({"number": ["x"]}, "'number' is 'x', not a number"),
        ({"day": ["soon"]}, "'day' is 'soon', not a date"),
        ({"number": [np.inf]}, "'number' of X contains infinity, in row 0"),
    ]:
        row = {"number": [1], "colour": ["red"], "day": ["1/2/2024"], **columns}
        with pytest.raises(ValueError, match=message):
            read_layout(table_of(**row), layout, (1, 1))
    with pytest.raises(ValueError, match="no column 'colour', 'day', which fit used"):
        read_layout(table_of(number=[1]), layout, (1, 1))


def test_numbers_with_signs_and_commas():
    words = ["$1,200", "$300", "n/a", "-$4,500.50", "$ 0", "12"]
    expected = [1200, 300, np.nan, -4500.5, 0, 12]
    layout, X, _ = learn(table_of(money=words, x=range(6)))
    np.testing.assert_array_equal(X[:, 0], expected)
    new = table_of(money=["7", "£1,000", None], x=range(3))
    np.testing.assert_array_equal(read_layout(new, layout, (1, 1))[:, 0], [7, 1000, np.nan])
    with pytest.raises(ValueError, match="'money' is 'lots', not a number"):
        read_layout(table_of(money=["lots"], x=[1]), layout, (1, 1))


def test_chosen_kinds_are_respected():
    table = table_of(zip=[1000, 1000, 2000, 3000], note=["a b", "c d", "e f", "g h"], x=range(4))
    layout, X, _ = learn(table, zip="category", note="drop")
    assert layout.categories == {"zip": ["1000", "2000", "3000"]}
    np.testing.assert_array_equal(X, [[0, 0], [0, 1], [1, 2], [2, 3]])
    with pytest.raises(ValueError, match="'note' is 'a b', not a number"):
        learn(table, note="number")


def test_names_of_words():
    assert word_name("title", "red car") == "title: 'red car'"
    assert word_name("", "red") == "red"
