"""Columns of 0 and 1 from categories and dates, and what else is made of numbers, with names."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator

from eigenlabel.inputs.fitting import TransformerMixin, all_or_nothing
from eigenlabel.linalg._types import Floats, Ints, Matrix

OTHER = "(other)"  # the group of rare values
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
THURSDAY = 3  # the first day of 1970
PARTS = ("month", "weekday", "hour")
FARTHEST = 3_000_000.0  # days from 1970; dates with a year of four digits are nearer


class OneHotLevels(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """One column for each value of a category, or for its rare values together.

    Parameters
    ----------
    names : list of list of str
        For each column of X, the names of the columns that are made of it.
    places : list of int arrays
        For each column of X, which contains positions in a list of values, the new column of each
        value.
    sparse : bool
        Whether the result is sparse.
    """

    def __init__(self, names: Any, places: Any, sparse: bool = False) -> None:
        self.names = names
        self.places = places
        self.sparse = sparse

    @all_or_nothing
    def fit(self, X: Any, y: Any = None) -> "OneHotLevels":  # noqa: ARG002
        """Do nothing: the parameters say all."""
        return self

    def transform(self, X: Any) -> Matrix:
        """Return the columns of 0 and 1; a missing or unknown value is zero in all of them."""
        columns = zip(np.asarray(X).T, self.places, strict=True)
        return _ones([_new_places(*pair) for pair in columns], self.widths(), self.sparse)

    def widths(self) -> list[int]:
        """Return the number of columns that are made of each column of X."""
        return [len(names) for names in self.names]

    def get_feature_names_out(self, input_features: Any) -> np.ndarray:
        """Return names such as colour=red."""
        named = zip(input_features, self.names, strict=True)
        return np.array([f"{column}={v}" for column, values in named for v in values], dtype=object)

    def __sklearn_is_fitted__(self) -> bool:
        return True


class DateParts(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """One column for each month, weekday and hour of dates.

    Parameters
    ----------
    parts : list of dict
        For each column of X, which contains days since 1970-01-01: the name of a part -> its values
        that have a column, in ascending order.
    sparse : bool
        Whether the result is sparse.
    """

    def __init__(self, parts: Any, sparse: bool = False) -> None:
        self.parts = parts
        self.sparse = sparse

    @all_or_nothing
    def fit(self, X: Any, y: Any = None) -> "DateParts":  # noqa: ARG002
        """Do nothing: the parameters say all."""
        return self

    def transform(self, X: Any) -> Matrix:
        """Return the columns of 0 and 1; a missing date is zero in all of them."""
        places, widths = [], []
        for days, parts in zip(np.asarray(X).T, self.parts, strict=True):
            for part, values in parts.items():
                places.append(_find(np.asarray(values), date_part(days, part)))
                widths.append(len(values))
        return _ones(places, widths, self.sparse)

    def widths(self) -> list[int]:
        """Return the number of columns that are made of each column of X."""
        return [sum(map(len, parts.values())) for parts in self.parts]

    def get_feature_names_out(self, input_features: Any) -> np.ndarray:
        """Return names such as joined: month=3."""
        names = [
            f"{column}: {part}={WEEKDAYS[value] if part == 'weekday' else value}"
            for column, parts in zip(input_features, self.parts, strict=True)
            for part, values in parts.items()
            for value in values
        ]
        return np.array(names, dtype=object)

    def __sklearn_is_fitted__(self) -> bool:
        return True


def _ones(places: list[Ints], widths: Sequence[int], sparse: bool) -> Matrix:
    """Return groups of columns with a one at the place (n,) of each row; -1 stands for none."""
    starts = np.cumsum([0, *widths])
    at = np.column_stack([np.where(p < 0, -1, p + s) for p, s in zip(places, starts, strict=False)])
    rows, groups = np.nonzero(at >= 0)
    parts = np.ones(len(rows)), (rows, at[rows, groups])
    found = sp.csr_array(parts, shape=(len(at), int(starts[-1])))
    return found if sparse else found.toarray()


def _new_places(codes: Floats, places: Ints) -> Ints:
    """Return the places of values; -1 for NaN and for positions outside of the list."""
    known = np.isin(codes, np.arange(len(places)))
    return np.append(places, -1)[np.where(known, codes, len(places)).astype(np.int64)]


def _find(values: Ints, numbers: Ints) -> Ints:
    """Return the positions of numbers among ascending values; -1 for those that are not there."""
    at = np.minimum(np.searchsorted(values, numbers), len(values) - 1)
    return np.where(values[at] == numbers, at, -1)


def date_part(days: Floats, part: str) -> Ints:
    """Return the year, month, weekday (0 is Monday) or hour of dates; -1 if there is no date.

    The dates are days since 1970-01-01.
    """
    there = np.abs(days) < FARTHEST  # not true for NaN
    moments = np.where(there, days, 0.0)
    seconds = np.round(moments * 86_400).astype(np.int64)
    whole = seconds // 86_400
    if part == "weekday":
        found = (whole + THURSDAY) % 7
    elif part == "hour":
        found = seconds % 86_400 // 3600
    else:
        months = whole.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64)
        found = months // 12 + 1970 if part == "year" else months % 12 + 1
    return np.where(there, found, -1)


def find_parts(days: Floats, least: int) -> dict[str, list[int]]:
    """Return the parts of dates that vary, with their values that at least some dates have."""
    found = {}
    for part in PARTS:
        values, counts = np.unique(date_part(days, part), return_counts=True)
        values, counts = values[values >= 0], counts[values >= 0]
        if len(values) > 1 and (counts >= least).any():
            found[part] = values[counts >= least].tolist()
    return found


def find_levels(
    codes: Floats, values: Sequence[str], least: int, most: int
) -> tuple[list[str], Ints]:
    """Return the names of the columns of a category, and the column of each of its values.

    Values with fewer than ``least`` samples have one column together, and so have those after the
    ``most`` most frequent ones. A single value is not grouped.
    """
    there = codes[np.isin(codes, np.arange(len(values)))].astype(np.int64)
    counts = np.bincount(there, minlength=len(values))
    rare = counts < least if least > 1 else np.zeros(len(values), dtype=bool)
    rare[np.argsort(-counts, kind="stable")[most:]] = True
    if rare.sum() < 2:
        rare[:] = False
    own = np.flatnonzero(~rare)
    places = np.full(len(values), len(own))
    places[own] = np.arange(len(own))
    return [*(values[int(k)] for k in own), *([OTHER] if rare.any() else [])], places


def flag_missing(X: Floats) -> Floats:
    """Return 1 where a number is missing, else 0."""
    return np.isnan(X).astype(float)


def name_missing(transformer: Any, names: Any) -> np.ndarray:  # noqa: ARG001
    """Return the names of the columns that say where a number is missing."""
    return np.array([f"{name} is missing" for name in names], dtype=object)


def years(X: Floats) -> Floats:
    """Return the years of dates, NaN if there is no date."""
    found = np.column_stack([date_part(days, "year") for days in np.asarray(X).T])
    return np.where(np.isnan(X), np.nan, found)


def name_years(transformer: Any, names: Any) -> np.ndarray:  # noqa: ARG001
    """Return the names of the years of dates."""
    return np.array([f"{name}: year" for name in names], dtype=object)
