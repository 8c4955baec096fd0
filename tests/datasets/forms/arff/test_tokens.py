"""Numbers and listed words, many at once: equal to float() and a dictionary, or marked as odd."""

import re

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from eigenlabel.datasets.forms.arff import tokens
from eigenlabel.datasets.forms.arff.tokens import (
    COMMA,
    NEWLINE,
    SPACE,
    TokenLists,
    cut,
    read_indices,
    read_numbers,
)

DIGIT = st.sampled_from("0123456789")
SIGN = st.sampled_from(["", "", "+", "-"])
DECIMALS = st.builds(
    lambda sign, whole, point, rest, e: sign + whole + point + rest + e,
    SIGN,
    st.text(DIGIT, max_size=22),
    st.sampled_from(["", "."]),
    st.text(DIGIT, max_size=22),
    st.builds(
        lambda e, sign, digits: e + sign + digits,
        st.sampled_from(["", "", "e", "E"]),
        SIGN,
        st.text(DIGIT, max_size=4),
    ),
)
FLOATS = st.builds(
    lambda number, form: form % number,
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from(["%r", "%.6f", "%.15g", "%.17g", "%.18e", "%.3e", "%g"]),
)


def words_of(words):
    return cut("".join(f"{word}," for word in words), COMMA)


def as_float(word):
    try:
        return float(word)
    except ValueError:
        return None


def bits(values):
    return np.asarray(values, dtype=float).view(np.uint64)


@given(st.lists(DECIMALS | FLOATS, min_size=1, max_size=30))
@example(["9007199254740993", "9007199254740993.0000", "9007199254740995e-1"])  # half way
@example(["420215759.9354031384", "17.73064132856982944", "6911.080036682069931"])  # after 64 bits
def test_numbers_equal_float_to_the_last_bit(words):
    values, odd = read_numbers(words_of(words))
    expected = [as_float(word) for word in words]
    assert all(number is not None for number, o in zip(expected, odd, strict=True) if not o)
    read = np.flatnonzero(~odd)
    np.testing.assert_array_equal(bits(values[read]), bits([expected[i] for i in read]))


@settings(deadline=None)
@given(st.lists(st.floats(1e-3, 1e9).map(lambda number: f"{number:.6g}"), min_size=1))
def test_usual_numbers_are_never_odd(words):
    values, odd = read_numbers(words_of(words))
    assert not odd.any()
    np.testing.assert_array_equal(values, [float(word) for word in words])


PLAIN = ["0", "-0", "+7", "00012", ".5", "5.", "-.25", "+5.", "1e5", "1E-5", "-2.50e+07", "1.e3"]
PLAIN += ["12345678", "123456789", "123456789012345", "12345678.1234567", "0.000000000000001"]
LONG = ["0.30000000000000004", "1234567890123456789", "1.234567890123456789e-05", "1e-27", "1e27"]


@pytest.mark.parametrize("word", [*PLAIN, *LONG])
def test_every_form_of_number_is_read_or_odd(word, monkeypatch):
    (value,), (odd,) = read_numbers(words_of([word]))
    if word in PLAIN or tokens.HAS_LONG:
        assert not odd
        assert bits(value) == bits(float(word))
    monkeypatch.setattr(tokens, "HAS_LONG", False)  # as where long floats are short
    (value,), (odd,) = read_numbers(words_of([word]))
    assert odd == (word in LONG)
    assert odd or bits(value) == bits(float(word))


ODD = "- + . -. e e5 .e5 1e 1e+ 1e2.5 1e1e1 --1 +-1 1- 1.2.3 1_0 0x10 nan inf a : / 1: '1' ?a ??"
ODD = [*ODD.split(), "??1", "", "1 2", "1 ", "  1", "²", "٣", "é", "1é", "1e-400", "\x01", "1\x7f"]


@pytest.mark.parametrize("word", [*ODD, "12345678901234567890"])
def test_words_that_are_not_numbers_are_odd(word):
    _, odd = read_numbers(words_of(["1", word, "2"]))
    assert odd.tolist() == [False, True, False]


def test_missing_numbers_are_nan():
    values, odd = read_numbers(words_of(["1", "?", "-3e0", "?"]))
    np.testing.assert_array_equal(values, [1, np.nan, -3, np.nan])
    assert not odd.any()


def test_text_is_cut_into_words():
    words = cut("a,b, c d ,,e.5\nf,", NEWLINE)
    assert words.to_list() == ["a", "b", "c d ", "", "e.5", "f"]
    assert words.bytes_at(words.ends).tobytes() == b",,,,\n,"
    assert cut("0 1,2 3, 4 5,", SPACE).to_list() == ["0", "1", "2", "3", "4", "5"]
    assert len(cut("", COMMA)) == 0
    with pytest.raises(ValueError, match="zero bytes"):
        cut("a\0,", COMMA)


def test_indices_of_up_to_eight_digits_are_read():
    words = ["0", "7", "00000012", "12345678", "", "123456789", "1.", "+1", "-1", "1e1", "x", "²"]
    values, odd = read_indices(words_of(words))
    assert odd.tolist() == [False] * 4 + [True] * 8
    assert values[:4].tolist() == [0, 7, 12, 12345678]


NAMES = st.text(st.sampled_from("abé '\\\""), max_size=40).filter(lambda word: word == word.strip())


@pytest.mark.parametrize("spread", [tokens.SPREAD, np.uint64(1)])
@given(data=st.data())
def test_lists_equal_dictionaries(spread, data):
    old, tokens.SPREAD = tokens.SPREAD, spread  # a poor one makes words collide
    try:
        lists = data.draw(st.lists(st.dictionaries(NAMES, st.floats(), min_size=1), min_size=1))
        known = [word for codes in lists for word in codes]
        words = data.draw(st.lists(NAMES | st.sampled_from(known), min_size=1, max_size=50))
        which = data.draw(st.lists(st.integers(0, len(lists) - 1), min_size=len(words)))
        which = np.array(which[: len(words)])
        values, odd = TokenLists(lists).look_up(words_of(words), which)
    finally:
        tokens.SPREAD = old
    for word, i, value, o in zip(words, which, values, odd, strict=True):
        short = len(word.encode()) <= tokens.LONGEST and not re.search("['\"]", word)
        if not o:
            assert bits(value) == bits(lists[i][word])
            assert short
        elif spread == old:  # then all that can be found is
            assert word not in lists[i] or not short


def test_words_longer_than_those_of_the_lists_are_odd():
    words = words_of(["abcdefgh", "aabcdefgh", "b" * 8 + "abcdefgh"])
    _, odd = TokenLists([{"abcdefgh": 1.0}]).look_up(words, np.zeros(3, int))
    assert odd.tolist() == [False, True, True]


def test_words_that_collide_are_odd(monkeypatch):
    monkeypatch.setattr(tokens, "SPREAD", np.uint64(1))  # then b in list 0 is as a in list 1
    lists = TokenLists([{"bxxxxxxx": 1.0}, {"cxxxxxxx": 2.0}])
    _, odd = lists.look_up(words_of(["bxxxxxxx", "axxxxxxx"]), np.array([0, 1]))
    assert odd.tolist() == [False, True]
