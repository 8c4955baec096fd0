"""Turn the words of a text into numbers, many at once.

The text is split at its separators. Eight bytes of every word at a time are read as one integer, so
that a few array operations sum digits, or look words up in lists. Words that cannot be read in this
way, such as ``inf`` or a very long name, are reported as odd, and the caller reads them one by one.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

WIDTH = 8  # bytes read at once
DIGITS = 19  # whole numbers of 19 digits fit into 64 bits
LONGEST = 4 * WIDTH  # bytes of the longest word that is looked up
COMMA, SPACE, NEWLINE, POINT, PLUS, MINUS, ZERO, MISSING, LETTER_E = b", \n.+-0?e"
UNSURE = re.compile("[\0'\"]")  # zeros mean no byte, and quotes change the meaning of a comma
SPREAD = np.uint64(0x9E3779B97F4A7C15)  # an odd number, so that the same word differs between lists
WHOLE_POWERS = 10 ** np.arange(DIGITS + 1, dtype=np.uint64)
# Whole numbers up to EXACT and these powers of ten are exact floats. Long floats with a mantissa of
# 64 bits represent all whole numbers of DIGITS digits, and more powers, exactly.
EXACT = 2**53
POWERS = np.multiply.accumulate([1.0] + 22 * [10.0])
LONG_POWERS = np.multiply.accumulate(np.array([1] + 27 * [10], dtype=np.longdouble))
HAS_LONG = np.finfo(np.longdouble).nmant == 63 and int(LONG_POWERS[-1]) == 10**27


@dataclass(frozen=True)
class Tokens:
    """The positions of words in a text.

    Attributes
    ----------
    text : bytes
        The text.
    starts : int array
        The first byte of each word.
    ends : int array
        The byte after each word.
    points : int array
        The last decimal point of each word, or its end if there is none.
    """

    text: bytes
    starts: np.ndarray
    ends: np.ndarray
    points: np.ndarray

    def __len__(self) -> int:
        return len(self.ends)

    def __getitem__(self, which: np.ndarray | slice) -> "Tokens":
        return Tokens(self.text, self.starts[which], self.ends[which], self.points[which])

    def bytes_at(self, places: np.ndarray) -> np.ndarray:
        """Return the bytes of the text at the given positions."""
        return np.asarray(np.frombuffer(self.text, dtype=np.uint8)[places])

    def to_list(self) -> list[str]:
        """Return the words as strings."""
        spans = zip(self.starts.tolist(), self.ends.tolist(), strict=True)
        return [self.text[start:end].decode() for start, end in spans]


def cut(text: str, separator: int) -> Tokens:
    """Split a text that ends with a separator: the given one, or a comma and perhaps a space."""
    if "\0" in text:
        raise ValueError("zero bytes")
    data = b"," + text.encode() + bytes(WIDTH)  # so that WIDTH bytes follow any start
    seen = np.frombuffer(data, dtype=np.uint8)
    is_end = seen == COMMA
    is_end[1:] |= (seen[1:] == separator) & ~is_end[:-1]
    marks = np.flatnonzero(is_end | (seen == POINT))
    at = np.flatnonzero(is_end[marks])
    ends = marks[at]
    starts = ends[:-1] + 1
    if b" " in data:
        starts += seen[starts] == SPACE
    # A mark between two ends is a point; the last of them comes just before the second end.
    return Tokens(data, starts, ends[1:], marks[at[1:] - (np.diff(at) > 1)])


def _eights(text: bytes, ends: np.ndarray, lengths: np.ndarray, mask: int = 0) -> np.ndarray:
    """Return the last eight bytes of each word, masked, as one integer with the last byte highest.

    Shorter words are filled with zeros.
    """
    x: np.ndarray
    if lengths.max(initial=0) <= 1:  # as columns of 0 and 1 have
        x = np.frombuffer(text, dtype=np.uint8)[ends - 1].astype(np.uint64)
        x ^= np.uint64(mask & 0xFF)
        x *= lengths.astype(np.uint64) << np.uint64(56)
        return x
    windows = np.ndarray(len(text) - WIDTH + 1, dtype="<u8", buffer=text, strides=(1,))
    lengths = np.minimum(lengths, WIDTH)
    x = windows[ends - lengths]
    x ^= np.uint64(mask)
    x <<= (8 * (WIDTH - lengths)).astype(np.uint64)
    return x


def _digits(text: bytes, ends: np.ndarray, lengths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return whole numbers of up to DIGITS digits (0 for an empty word), and a mask of the odd."""
    x = _eights(text, ends, lengths, mask=0x3030303030303030)  # digits become 0 to 9
    high_bits = x + np.uint64(0x7676767676767676)  # sets the high bit of a byte above 9
    high_bits |= x
    high_bits &= np.uint64(0x8080808080808080)
    odd = high_bits != 0
    odd |= lengths > DIGITS
    # Neighbours are joined three times: to two digits, to four, to all eight.
    for bits, ten, mask in (
        (8, 10, 0x00FF00FF00FF00FF),
        (16, 100, 0x0000FFFF0000FFFF),
        (32, 10000, 0xFFFFFFFF),
    ):
        x *= np.uint64((ten << bits) + 1)
        x >>= np.uint64(bits)
        x &= np.uint64(mask)
    if lengths.max(initial=0) > WIDTH:
        long = np.flatnonzero((lengths > WIDTH) & ~odd)
        high, other = _digits(text, ends[long] - WIDTH, lengths[long] - WIDTH)
        x[long] += high * np.uint64(10**WIDTH)
        odd[long] |= other
    return x, odd


def read_indices(words: Tokens) -> tuple[np.ndarray, np.ndarray]:
    """Return words of one to eight digits as numbers, and a mask of the odd."""
    lengths = words.ends - words.starts
    x, odd = _digits(words.text, words.ends, lengths)
    return x.astype(np.int64), odd | (lengths == 0) | (lengths > WIDTH)


def _mantissas(words: Tokens, first: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return all digits as one whole number, its power of ten, and a mask of the odd."""
    lengths = words.points - words.starts - ((first == MINUS) | (first == PLUS))
    digit = words.bytes_at(words.points - 1) - np.uint8(ZERO)
    whole, odd = digit.astype(np.uint64), digit > 9
    other = np.flatnonzero(lengths != 1)  # one digit before the point is by far the most frequent
    if len(other):
        whole[other], odd[other] = _digits(words.text, words.points[other], lengths[other])
    has_point = words.points < words.ends
    decimals = words.ends - words.points - has_point
    if has_point.any():
        x, not_digits = _digits(words.text, words.ends, decimals)
        whole *= WHOLE_POWERS.take(decimals, mode="clip")
        whole += x
        lengths += decimals
        odd |= not_digits | (lengths > DIGITS)
    return whole, -decimals, odd | (lengths == 0)


def _scale(whole: np.ndarray, power: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return whole numbers times powers of ten, rounded as by float(), and a mask of the odd."""
    values = whole.astype(float)
    values /= POWERS.take(-power, mode="clip")
    odd = whole >= EXACT
    if power.max(initial=0) > 0 or power.min(initial=0) <= -len(POWERS):  # only with exponents
        values *= POWERS.take(power, mode="clip")  # one of the two powers is 1
        odd |= np.abs(power) >= len(POWERS)
    if HAS_LONG and odd.any():
        hard = np.flatnonzero(odd)
        long = whole[hard].astype(np.longdouble)
        long /= LONG_POWERS.take(-power[hard], mode="clip")
        long *= LONG_POWERS.take(power[hard], mode="clip")
        values[hard] = long.astype(float)
        # A second rounding, from 64 bits to 53, is wrong only half way between two floats.
        half = long.view(np.uint64)[::2] & np.uint64(0x7FF) == 0x400
        odd[hard] = half | (np.abs(power[hard]) >= len(LONG_POWERS))
    return values, odd


def _with_exponents(words: Tokens, first: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the number before an e, the power of ten after it, and a mask of the odd."""
    at = words.ends
    for back in range(2, 6):  # one digit after the e, up to a sign and three
        place = words.ends - back
        is_e = (words.bytes_at(place) | 0x20 == LETTER_E) & (place > words.starts)
        at = np.where(is_e, place, at)
    before = Tokens(words.text, words.starts, at, np.minimum(words.points, at))
    whole, power, odd = _mantissas(before, first)
    sign = words.bytes_at(at + 1)
    lengths = words.ends - at - 1 - ((sign == MINUS) | (sign == PLUS))
    x, not_digits = _digits(words.text, words.ends, np.maximum(lengths, 0))
    power += x.astype(np.int64) * np.where(sign == MINUS, -1, 1)
    return whole, power, odd | not_digits | (lengths < 1)


def read_numbers(words: Tokens) -> tuple[np.ndarray, np.ndarray]:
    """Return numbers exactly as float() reads them, NaN for ``?``, and a mask of the odd."""
    first = words.bytes_at(words.starts)
    whole, power, odd = _mantissas(words, first)
    other = np.flatnonzero(odd)
    if len(other):
        found = _with_exponents(words[other], first[other])
        whole[other], power[other], odd[other] = found
    values, not_exact = _scale(whole, power)
    odd |= not_exact
    values *= 1.0 - 2.0 * (first == MINUS)  # also turns 0.0 into -0.0
    missing = other[(first[other] == MISSING) & ((words.ends - words.starts)[other] == 1)]
    values[missing], odd[missing] = np.nan, False
    return values, odd


class TokenLists:
    """Lists of words with a number for each, in which many words are looked up at once.

    Parameters
    ----------
    lists : sequence of mappings of str to float
        The number of each word of each list.
    """

    def __init__(self, lists: Sequence[Mapping[str, float]]) -> None:
        found = [
            (i, word.encode(), value)
            for i, codes in enumerate(lists)
            for word, value in codes.items()
            if len(word.encode()) <= LONGEST and not UNSURE.search(word)
        ]
        found.append((len(lists), b"", np.nan))  # in no list, so that there is always one
        text = b"".join(word for _, word, _ in found) + bytes(WIDTH)
        lengths = np.array([len(word) for _, word, _ in found], dtype=np.int64)
        self._widest = int(lengths.max(initial=1))
        keys = self._keys_of(text, np.cumsum(lengths), lengths)
        spread = self._spread_of(keys, np.array([i for i, _, _ in found], dtype=np.int64))
        order = np.argsort(spread)
        self._keys, self._spread = [key[order] for key in keys], spread[order]
        self._values = np.array([value for _, _, value in found])[order]

    def _keys_of(self, text: bytes, ends: np.ndarray, lengths: np.ndarray) -> list[np.ndarray]:
        """Return all bytes of each word, eight at a time from its end."""
        steps = range(0, self._widest, WIDTH)
        return [_eights(text, np.maximum(ends - k, 0), np.maximum(lengths - k, 0)) for k in steps]

    def _spread_of(self, keys: list[np.ndarray], lists: np.ndarray) -> np.ndarray:
        """Return a hash of each word and its list."""
        spread = lists.astype(np.uint64)
        for key in keys:
            spread = spread * SPREAD + key
        return spread

    def look_up(self, words: Tokens, lists: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the number of each word in the list of the given number, and a mask of the odd."""
        lengths = words.ends - words.starts
        keys = self._keys_of(words.text, words.ends, lengths)
        spread = self._spread_of(keys, lists)
        at = np.searchsorted(self._spread[:-1], spread)
        odd = (self._spread[at] != spread) | (lengths > self._widest)
        for key, known in zip(keys, self._keys, strict=True):
            odd |= known[at] != key
        return self._values[at], odd
