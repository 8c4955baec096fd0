"""Columns of 0 and 1 against the calendar of Python and loops over cells."""

import calendar
import datetime

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eigenlabel.preprocessing.encoders import (
    OTHER,
    DateParts,
    OneHotLevels,
    date_part,
    find_levels,
    find_parts,
    flag_missing,
    years,
)
from forms import dense

START = datetime.datetime(1970, 1, 1)
moments = st.datetimes(datetime.datetime(1, 1, 2), datetime.datetime(9999, 12, 30))


def days_of(dates):
    return np.array([np.nan if d is None else (d - START) / datetime.timedelta(1) for d in dates])


@given(st.lists(st.one_of(st.none(), moments), min_size=1, max_size=8))
@settings(deadline=None)
def test_parts_of_dates_are_those_of_the_calendar(dates):
    # A day is a float, so that seconds are exact and microseconds are not.
    dates = [d and d.replace(microsecond=0) for d in dates]
    days = days_of(dates)
    for part, read in {
        "year": lambda d: d.year,
        "month": lambda d: d.month,
        "weekday": lambda d: d.weekday(),
        "hour": lambda d: d.hour,
    }.items():
        expected = [-1 if d is None else read(d) for d in dates]
        assert date_part(days, part).tolist() == expected, part


@pytest.mark.parametrize("sparse", [False, True])
def test_columns_of_dates_have_a_one_where_the_calendar_has_it(sparse):
    dates = [datetime.datetime(2024, month, 5, hour) for month, hour in ((1, 3), (7, 3), (7, 21))]
    days = days_of([*dates, None])
    parts = find_parts(days, 1)
    assert parts == {"month": [1, 7], "hour": [3, 21]}, "all are Fridays"
    parts["weekday"] = [0, 4]
    encoder = DateParts([parts], sparse).fit(days[:, None])
    names = encoder.get_feature_names_out(["due"]).tolist()
    found = dense(encoder.transform(days[:, None]))
    assert len(names) == found.shape[1] == sum(encoder.widths())
    for j, name in enumerate(names):
        part, _, value = name.removeprefix("due: ").partition("=")
        read = {
            "month": lambda d: str(d.month),
            "weekday": lambda d: calendar.day_name[d.weekday()],
            "hour": lambda d: str(d.hour),
        }[part]
        assert found[:, j].tolist() == [*(float(read(d) == value) for d in dates), 0.0]


def test_parts_that_do_not_vary_and_rare_values_have_no_column():
    days = days_of([datetime.datetime(2024, 3, day) for day in (4, 4, 5, 6)])
    assert find_parts(days, 2) == {"weekday": [0]}
    assert find_parts(days, 3) == {}
    assert find_parts(np.array([np.nan, 1e300, np.inf]), 1) == {}


def levels_by_hand(codes, values, least, most):
    """Return the name of the column of each value, from counts in a loop."""
    counts = [sum(code == k for code in codes) for k in range(len(values))]
    order = sorted(range(len(values)), key=lambda k: (-counts[k], k))
    own = {k for k in order[:most] if least == 1 or counts[k] >= least}
    if len(values) - len(own) == 1:
        own = set(range(len(values)))
    return [values[k] if k in own else OTHER for k in range(len(values))]


@given(
    st.lists(st.one_of(st.integers(0, 5), st.just(np.nan)), min_size=1, max_size=30),
    st.integers(1, 4),
    st.integers(1, 7),
)
def test_rare_values_share_a_column(codes, least, most):
    values = list("abcdef")
    names, places = find_levels(np.array(codes, dtype=float), values, least, most)
    expected = levels_by_hand(codes, values, least, most)
    assert [names[place] for place in places] == expected
    found = OneHotLevels([names], [places]).transform(np.array(codes, dtype=float)[:, None])
    for row, code in zip(found, codes, strict=True):
        one = [] if np.isnan(code) else [expected[int(code)]]
        assert [names[j] for j in np.flatnonzero(row)] == one


def test_values_with_just_enough_samples_are_not_rare():
    codes = np.array([0, 0, 1, 1, 2, 3, 4.0])
    names, places = find_levels(codes, list("abcde"), 2, 9)
    assert names == ["a", "b", OTHER]
    assert places.tolist() == [0, 1, 2, 2, 2]
    names, _ = find_levels(codes, list("abcde"), 1, 3)
    assert names == ["a", "b", "c", OTHER]


def test_unknown_positions_are_zero_everywhere():
    encoder = OneHotLevels([["a", "b"]], [np.array([0, 1])], sparse=True)
    found = encoder.transform([[-1.0], [2.0], [0.5], [np.nan], [1.0]])
    assert found.toarray().tolist() == [[0, 0]] * 4 + [[0, 1]]
    assert encoder.get_feature_names_out(["x"]).tolist() == ["x=a", "x=b"]


def test_missing_numbers_and_years():
    assert flag_missing(np.array([[1.0, np.nan]])).tolist() == [[0, 1]]
    days = days_of([datetime.datetime(1969, 12, 31, 23), datetime.datetime(2000, 2, 29), None])
    found = years(days[:, None])[:, 0]
    assert found[:2].tolist() == [1969, 2000]
    assert np.isnan(found[2])
