"""Features from columns of text: counts of their words."""

import re
from collections import Counter
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import CountVectorizer

from eigenlabel.datasets.files.errors import DataError, show
from eigenlabel.datasets.readers import as_names
from eigenlabel.datasets.tables.columns import RawTable, Words, is_empty
from eigenlabel.inputs.messages import Message, Parameter
from eigenlabel.linalg._types import Matrix

LETTERS = re.compile(r"[^\W\d_]{2,}")
MANY_VALUES = 100  # different values from which long ones are texts
FEW_VALUES = 20  # different values up to which short ones are categories
WORD = r"(?u)\b\w\w+\b"
SUFFIX = " (word)"  # added to a word that is also the name of a column; no word contains a space
OF_TEXT = "="  # between the name of a text and a word of it, if there are several texts


def check_texts(table: RawTable, there: list[str], text: Any, like: Any) -> None:
    """Raise DataError if a text is missing whose words are features of ``like``."""
    wanted = _split_texts(like)
    if not wanted:  # one text, or several whose words are counted together
        wanted = [name for name in as_names(text or ()) if "*" not in name]
    missing = [name for name in wanted if name not in there]
    if missing or not there:
        which = f" {show(missing or getattr(like, 'words', {}))}".rstrip()
        reason = Message(
            f"no column of text{which}, whose words are features; pass ",
            Parameter("text", ...),
            " if it has another name",
        )
        raise DataError(table.path, reason)


def _split_texts(like: Any) -> list[str]:
    """Return the texts of ``like`` whose features start with the name of the column."""
    found = []
    for text, columns in getattr(like, "words", {}).items():
        first = list(map(str, like.feature_names[columns][:1]))
        found += [text for name in first if name.startswith(text + OF_TEXT)]
    return found


def holds_text(column: Any) -> bool:
    """Return True if a column holds words that are texts rather than values of a category.

    Most texts differ and have several words. Values of a category occur again.
    """
    if not isinstance(column, Words) or not column.values:
        return False
    distinct, filled = len(column.values), int((column.codes >= 0).sum())
    length = float(np.mean([len(LETTERS.findall(value)) for value in column.values]))
    if length >= 3:
        return distinct > min(MANY_VALUES, filled / 2)
    return length >= 1.5 and distinct > max(FEW_VALUES, filled / 2)


def text_block(
    table: RawTable, names: list[str], words: list[str] | None, taken: set[str], notes: list[str]
) -> tuple[list[str], Matrix]:
    """Return the words of columns of text, and their counts in each row.

    The words of each column are counted separately, except for known words that do not start with
    the name of a column, which are counted in all columns together. Words that are ``taken`` as
    the name of another feature get a suffix.
    """
    if words is not None:
        return words, _count_known(table, names, words)
    blocks = {name: count_words(table, [name], None) for name in names}
    without = [name for name, (found, _) in blocks.items() if not found]
    if len(without) == len(names):
        raise DataError(table.path, f"no word in {show(names)}")
    notes += [f"column {name!r} has no word to count" for name in without]
    several = len(names) > 1
    found = [
        name + OF_TEXT + word if several else word
        for name, (part, _) in blocks.items()
        for word in part
    ]
    X = sp.csr_array(sp.hstack([counts for _, counts in blocks.values()]))
    return [word + SUFFIX if word in taken else word for word in found], X


def _count_known(table: RawTable, names: list[str], words: list[str]) -> Matrix:
    """Count known words, each in the column that its name starts with, or in all columns."""
    groups: dict[str | None, list[int]] = {}
    cut = [word.removesuffix(SUFFIX).rpartition(OF_TEXT) for word in words]
    for k, (start, sign, _) in enumerate(cut):
        groups.setdefault(start if sign and start in names else None, []).append(k)
    X: Matrix = sp.csr_array((table.height, len(words)))
    for column, places in groups.items():
        known = ["".join(cut[k]) if column is None else cut[k][-1] for k in places]
        _, counts = count_words(table, names if column is None else [column], known)
        found = counts.tocoo()
        parts = found.data, (found.row, np.array(places)[found.col])
        X = X + sp.csr_array(parts, shape=X.shape)
    return X


def count_words(
    table: RawTable, names: list[str], known: list[str] | None, lengths: tuple[int, int] = (1, 1)
) -> tuple[list[str], Matrix]:
    """Return the words of columns, or the known ones, and their counts in each row.

    ``lengths`` are the least and the largest number of consecutive words that are counted as one.
    """
    columns = [table.words(name) for name in names]
    values = [value for column in columns for value in column.values]
    texts = ["" if is_empty(value) else value.lower() for value in values]
    counter = CountVectorizer(
        lowercase=False,
        token_pattern=WORD,
        ngram_range=lengths,
        vocabulary=known,
        dtype=np.float64,
    )
    try:
        counts = sp.csr_array(counter.fit_transform(texts))
    except ValueError:  # there is no word
        return [], sp.csr_array((table.height, 0))
    words = counter.get_feature_names_out().tolist()
    X: Matrix = sp.csr_array((table.height, len(words)))
    start = 0
    for column in columns:
        stop = start + len(column.values)
        nothing = sp.csr_array((1, len(words)))  # for the code -1, a cell without a value
        X = X + sp.vstack([counts[start:stop], nothing], format="csr")[column.codes]
        start = stop
    return words, X


def word_ranges(names: list[str], text: list[str], columns: slice) -> dict[str, slice]:
    """Return the columns of X that count the words of each text."""
    if len(text) == 1:
        return {text[0]: columns}
    counts = Counter(name.rpartition(OF_TEXT)[0] for name in names[columns])
    ends = np.cumsum([columns.start, *counts.values()]).tolist()
    return {name: slice(*ends[k : k + 2]) for k, name in enumerate(counts)}
