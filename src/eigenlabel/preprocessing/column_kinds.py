"""The columns of a table as numbers: which kind each one is, and how it is read again later."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp

from eigenlabel.datasets.files.errors import show
from eigenlabel.datasets.tables.columns import (
    BOOLEAN,
    Dates,
    RawTable,
    Words,
    factorise,
    find_order,
    is_absent,
    read_date,
    spell,
)
from eigenlabel.datasets.tables.features import known_column, new_column
from eigenlabel.datasets.tables.frames import FrameTable
from eigenlabel.datasets.tables.texts import count_words, holds_text
from eigenlabel.inputs.warning import warn
from eigenlabel.linalg._types import Matrix
from eigenlabel.preprocessing.sample_forms import infinite

KINDS = ("number", "boolean", "category", "date", "text", "drop")
PLAIN = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?", re.ASCII)
ISO = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
SEVERAL = 3  # values from which it is odd that none of them is known
BETWEEN = "\n"  # words of a vocabulary; no word contains it


@dataclass(frozen=True)
class Settings:
    """How columns are read.

    Attributes
    ----------
    columns : mapping of str to str
        The kinds of columns that are not found by their content.
    lengths : (int, int)
        The least and the largest number of consecutive words that are one feature of a text.
    min_df : int
        The number of samples below which a word is left out.
    max_words : int
        The number of words of a text, those of most samples, that are features.
    """

    columns: Mapping[str, str]
    lengths: tuple[int, int]
    min_df: int
    max_words: int


@dataclass(frozen=True)
class TableLayout:
    """What is known of the columns of a table.

    Attributes
    ----------
    kinds : dict of str to str
        The kind of each column.
    categories : dict of str to list of str
        The values of each category.
    vocabulary : dict of str to str
        The words of each text, in one string.
    orders : dict of str to str
        What comes first in written dates such as 1/2/2024, "day" or "month".
    """

    kinds: dict[str, str]
    categories: dict[str, list[str]] = field(default_factory=dict)
    vocabulary: dict[str, str] = field(default_factory=dict)
    orders: dict[str, str] = field(default_factory=dict)

    @property
    def columns(self) -> list[str]:
        """The columns that are numbers, dates or categories."""
        return [name for name, kind in self.kinds.items() if kind not in ("text", "drop")]

    @property
    def texts(self) -> list[str]:
        """The columns whose words are features."""
        return [name for name, kind in self.kinds.items() if kind == "text"]

    @property
    def used(self) -> list[str]:
        """The columns that are not left out."""
        return [*self.columns, *self.texts]

    @property
    def column_types(self) -> dict[str, str]:
        """The types of the columns, as in a Dataset."""
        plain = {"boolean": "number"}
        return {name: plain.get(self.kinds[name], self.kinds[name]) for name in self.columns}

    def words(self, text: str) -> list[str]:
        """Return the words of a text that are features."""
        joined = self.vocabulary[text]
        return joined.split(BETWEEN) if joined else []

    def describe(self, called: Mapping[str, str] | None = None) -> dict[str, Any]:
        """Return the arguments that describe the layout to ``make_preparation``.

        ``called`` has the names of columns in the names of features.
        """
        called = called or {}
        names, places = [called.get(name, name) for name in self.columns], {}
        for text in self.texts:
            words = [word_name(called.get(text, text), word) for word in self.words(text)]
            places[text] = slice(len(names), len(names) + len(words))
            names += words
        return {
            "feature_names": names,
            "categories": self.categories,
            "column_types": self.column_types,
            "words": places,
        }


def word_name(text: str, word: str) -> str:
    """Return the name of a word of a text; texts without a name have plain words."""
    return f"{text}: '{word}'" if text else word


def learn_layout(
    table: RawTable, settings: Settings, notes: list[str]
) -> tuple[TableLayout, Matrix]:
    """Return the layout of a table, and the table as numbers; add notes to ``notes``."""
    kinds: dict[str, str] = {}
    categories: dict[str, list[str]] = {}
    vocabulary: dict[str, str] = {}
    orders: dict[str, str] = {}
    columns, counts = [], []
    for name in table.names:
        kind = settings.columns.get(name) or _declared(table, name)
        if kind is None and holds_text(table.column(name)):
            kind = "text"
        if kind == "text":
            words, found = _learn_words(table, name, settings)
            if not words:
                what = f"column {name!r} has" if name else "the texts have"
                notes.append(f"{what} no word in {settings.min_df} or more samples: left out")
                kind = "drop"
            else:
                vocabulary[name] = BETWEEN.join(words)
                counts.append(found)
        elif kind != "drop":
            values, kind, known = _learn_column(table, name, kind, notes)
            if values is None:
                kind = "drop"
            else:
                columns.append(values)
                if kind == "category":
                    categories[name] = known
                if kind == "date" and isinstance(written := table.column(name), Words):
                    orders[name] = find_order(written.values) or ""
        kinds[name] = kind
    layout = TableLayout(kinds, categories, vocabulary, orders)
    return layout, _join(columns, counts, table.height)


def read_layout(table: RawTable, layout: TableLayout, lengths: tuple[int, int]) -> Matrix:
    """Return a table with a known layout as numbers.

    A value of a category that is not known is NaN. Columns are found by name, and others are
    ignored.
    """
    missing = [name for name in layout.used if name not in set(table.names)]
    if missing:
        raise ValueError(
            f"X has no column {show(missing)}, which fit used: pass every column that fit used, in "
            "any order."
        )
    columns = [_read_column(table, name, layout) for name in layout.columns]
    counts = [count_words(table, [text], layout.words(text), lengths)[1] for text in layout.texts]
    return _join(columns, counts, table.height)


def _join(columns: list[np.ndarray], counts: list[Matrix], n: int) -> Matrix:
    """Return columns of numbers and counts of words side by side, sparse if there are counts."""
    X = np.column_stack(columns) if columns else np.zeros((n, 0))
    if not counts:
        return X
    joined = sp.csr_array(sp.hstack([sp.csr_array(X), *counts], format="csr"))
    joined.sort_indices()  # sums over a row have the same order in fit and transform
    return joined


# Kinds of columns


def _declared(table: RawTable, name: str) -> str | None:
    """Return the kind of column that the type of a frame declares, or None."""
    return table.declared(name) if isinstance(table, FrameTable) else None


def _learn_column(
    table: RawTable, name: str, kind: str | None, notes: list[str]
) -> tuple[np.ndarray | None, str, list[str]]:
    """Return a column as numbers, its kind, and the values of a category.

    The numbers are None if the column says nothing: it has one value, or a different one in each
    row.
    """
    if kind is None:
        values, kind, known = new_column(table, name, notes)
        categories = list(known)
        if kind == "number" and _says_yes_or_no(table.column(name)):
            kind = "boolean"
    else:
        words = list(_spelled(table, name).values) if kind == "category" else []
        like = TableLayout({name: kind}, {name: words} if kind == "category" else {})
        values, categories = _read_column(table, name, like), words
    if values is None:
        return None, "drop", []
    _check_finite(name, values)
    there = values[~np.isnan(values)]
    if not there.size:
        notes.append(f"column {name!r} has no value: left out")
        return None, "drop", []
    if there.size == len(values) and (there == there[0]).all():
        notes.append(f"column {name!r} has one value only: left out")
        return None, "drop", []
    return values, kind, categories


def _says_yes_or_no(column: Any) -> bool:
    """Return True if the words of a column are yes and no, or true and false."""
    if not isinstance(column, Words):
        return False
    return all(v.strip().lower() in BOOLEAN for v in column.values if not is_absent(v))


def _read_column(table: RawTable, name: str, layout: TableLayout) -> np.ndarray:
    """Return a column of a known kind as numbers."""
    if layout.kinds[name] == "category":
        words = _spelled(table, name)
        position = {value: float(k) for k, value in enumerate(layout.categories[name])}
        places = np.array([*(_find(value, position) for value in words.values), np.nan])
        if len(words.values) >= SEVERAL and np.isnan(places).all():  # a few may just be new
            warn(
                f"No value of column {name!r}, such as {words.values[0]!r}, is one that fit saw, "
                f"such as {layout.categories[name][0]!r}: the column says nothing about these "
                "samples. Read it in the same way as for fit."
            )
        return np.asarray(places[words.codes])
    column = table.column(name)
    if layout.kinds[name] == "boolean" and isinstance(column, Words):
        return _truth(name, column)
    values, _, _ = known_column(table, name, False, layout, [])
    _check_finite(name, values)
    return values


def _truth(name: str, words: Words) -> np.ndarray:
    """Return words as 1 and 0; other words are missing values, with a warning."""
    known = {**BOOLEAN, "1": 1.0, "0": 0.0, "1.0": 1.0, "0.0": 0.0}
    found = [known.get(value.strip().lower(), np.nan) for value in words.values]
    odd = [v for v, t in zip(words.values, found, strict=True) if np.isnan(t) and not is_absent(v)]
    if odd:
        warn(f"Column {name!r} is {odd[0]!r}, neither yes nor no: it counts as missing.")
    return np.asarray(np.array([*found, np.nan])[words.codes])


def _find(value: str, position: Mapping[str, float]) -> float:
    """Return the position of a value of a category, or NaN.

    A frame may hold numbers, truth values or dates where a file holds words: 1.0 is the category 1,
    True is 1, and 2024-01-01 is 19723, the day. Codes with leading zeros are other categories.
    """
    if value in position:
        return position[value]
    word = value.strip()
    if PLAIN.fullmatch(word):
        word = spell(np.array([float(word)])).values[0]
    elif word.lower() in ("true", "false"):
        word = "1" if word.lower() == "true" else "0"
    elif ISO.match(word) and (day := read_date(word, "day")) is not None:
        word = f"{day:g}"
    return position.get(word, np.nan)


def _spelled(table: RawTable, name: str) -> Words:
    """Return the values of a category as words, also those of dates."""
    column = table.column(name)
    if isinstance(column, Dates):
        moments = [None if np.isnan(day) else f"{day:g}" for day in column.days]
        return factorise(moments)
    return table.words(name)


def _check_finite(name: str, values: np.ndarray) -> None:
    if np.isinf(values).any():
        raise infinite(name, int(np.argmax(np.isinf(values))))


# Words of texts


def _learn_words(table: RawTable, name: str, settings: Settings) -> tuple[list[str], Matrix]:
    """Return the words of a text that are features, and their counts."""
    words, counts = count_words(table, [name], None, settings.lengths)
    documents = np.bincount(counts.indices, minlength=len(words))
    kept = np.flatnonzero(documents >= settings.min_df)
    if len(kept) > settings.max_words:
        most = np.argsort(-documents[kept], kind="stable")[: settings.max_words]
        kept = np.sort(kept[most])
    return [words[k] for k in kept], counts[:, kept]
