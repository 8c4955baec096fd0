"""Turn the words of a text into numbers, many at once.

A text is cut at its separators, and the last eight bytes of every word are taken as one integer:
a few array operations then sum digits, or look words up in lists. Words for which this is not
enough, such as 1e-5 or a long name, are told apart as odd, for the caller to read by themselves.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

WIDTH = 8  # bytes taken at once
DIGITS = 15  # whole numbers of so many digits, and powers of ten up to there, are exact floats
POWERS = 10.0 ** np.arange(DIGITS + 1)
COMMA, SPACE, NEWLINE, POINT, PLUS, MINUS, ZERO = b", \n.+-0"
UNSURE = re.compile("[\0'\"]")  # zeros stand for no byte, and quotes change what a comma means
SPREAD = np.uint64(0x9E3779B97F4A7C15)  # sets the same word apart in different lists


@dataclass(frozen=True)
class Words:
    """Where the words of a text begin and end, and where the last point in each is, if any."""

    text: bytes
    starts: np.ndarray
    ends: np.ndarray
    points: np.ndarray  # the end where there is no point

    def __len__(self) -> int:
        return len(self.ends)

    def __getitem__(self, which: np.ndarray | slice) -> "Words":
        return Words(self.text, self.starts[which], self.ends[which], self.points[which])

    def marks(self) -> bytes:
        """Give the separators that end the words."""
        return np.frombuffer(self.text, dtype=np.uint8)[self.ends].tobytes()

    def get(self, i: int) -> str:
        """Give one word."""
        return self.text[self.starts[i] : self.ends[i]].decode()


def cut(text: str, separator: int) -> Words:
    """Cut a text that ends with a separator: a comma, with or without a space, or the given."""
    if "\0" in text:
        raise ValueError("zero bytes")
    data = b"," + text.encode() + bytes(WIDTH)  # WIDTH bytes from any start
    seen = np.frombuffer(data, dtype=np.uint8)
    is_end = seen == COMMA
    is_end[1:] |= (seen[1:] == separator) & ~is_end[:-1]
    marks = np.flatnonzero(is_end | (seen == POINT))
    at = np.flatnonzero(is_end[marks])
    ends, before = marks[at], marks[at[1:] - 1]
    starts, ends = ends[:-1] + 1, ends[1:]
    starts += seen[starts] == SPACE
    return Words(data, starts, ends, np.where(is_end[before], ends, before))


def _eights(text: bytes, ends: np.ndarray, lengths: np.ndarray, mask: int = 0) -> np.ndarray:
    """Take the last eight bytes of each word, masked, as one integer, the last byte the highest.

    Zeros stand for what a word of less than eight bytes lacks.
    """
    windows = np.ndarray(len(text) - WIDTH + 1, dtype="<u8", buffer=text, strides=(1,))
    lengths = np.minimum(lengths, WIDTH)
    x = windows[ends - lengths]
    x ^= np.uint64(mask)
    x <<= (8 * (WIDTH - lengths)).view(np.uint64)
    return x


def _digits(text: bytes, ends: np.ndarray, lengths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Read whole numbers of at most DIGITS digits, an empty one as 0, and tell the odd."""
    x = _eights(text, ends, lengths, mask=0x3030303030303030)  # digits become 0 to 9
    odd = ((x + np.uint64(0x7676767676767676) | x) & np.uint64(0x8080808080808080)) != 0
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


def read_indices(words: Words) -> tuple[np.ndarray, np.ndarray]:
    """Read words of digits alone, and tell the odd."""
    lengths = words.ends - words.starts
    x, odd = _digits(words.text, words.ends, lengths)
    return x.astype(np.int64), odd | (lengths == 0)


def read_numbers(words: Words) -> tuple[np.ndarray, np.ndarray]:
    """Read plain decimals as float() does, to the last bit, and tell the odd.

    All digits make one exact integer, which one exact power of ten divides: one rounding.
    """
    seen = np.frombuffer(words.text, dtype=np.uint8)
    first = seen[words.starts]
    minus = first == MINUS
    lengths = words.points - words.starts - (minus | (first == PLUS))
    # One digit before the point is by far the most frequent.
    x = seen[words.points - 1] - ZERO
    odd = x > 9
    other = np.flatnonzero(lengths != 1)
    values = x.astype(float)
    if len(other):
        values[other], odd[other] = _digits(words.text, words.points[other], lengths[other])
    has_point = words.points < words.ends
    if has_point.any():
        decimals = words.ends - words.points - has_point
        x, not_digits = _digits(words.text, words.ends, decimals)
        lengths += decimals
        odd |= not_digits | (lengths > DIGITS)
        power = POWERS.take(decimals, mode="clip")
        values *= power
        values += x
        values /= power
    odd |= lengths == 0
    values *= 1.0 - 2.0 * minus  # also gives -0.0
    return values, odd


class Lists:
    """Lists of words with a number for each, to look many words up at once."""

    def __init__(self, lists: Sequence[Mapping[str, float]]) -> None:
        short = [
            (i, int.from_bytes(word.encode().rjust(WIDTH, b"\0"), "little"), value)
            for i, codes in enumerate(lists)
            for word, value in codes.items()
            if len(word.encode()) <= WIDTH and not UNSURE.search(word)
        ]
        keys = np.array([key for _, key, _ in short], dtype=np.uint64)
        spread = keys + np.array([i for i, _, _ in short], dtype=np.uint64) * SPREAD
        order = np.argsort(spread)
        self._keys, self._spread = keys[order], spread[order]
        self._values = np.array([value for _, _, value in short])[order]

    def look_up(self, words: Words, lists: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Find each word in the list of the given number, and tell the odd."""
        lengths = words.ends - words.starts
        keys = _eights(words.text, words.ends, lengths)
        spread = keys + lists.astype(np.uint64) * SPREAD
        at = np.searchsorted(self._spread[:-1], spread)
        odd = (self._spread[at] != spread) | (self._keys[at] != keys) | (lengths > WIDTH)
        return self._values[at], odd
