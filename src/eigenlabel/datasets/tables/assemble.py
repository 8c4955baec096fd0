"""Make a Dataset from a table and the roles of its columns."""

from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp

from eigenlabel.datasets.dataset import Dataset
from eigenlabel.datasets.files.errors import DataError, show
from eigenlabel.datasets.files.names import name_array
from eigenlabel.datasets.matching import LIKE
from eigenlabel.datasets.tables.columns import RawTable
from eigenlabel.datasets.tables.features import column_block
from eigenlabel.datasets.tables.labels import about_others, read_labels, with_separator
from eigenlabel.datasets.tables.roles import (
    SAMPLE_NAME,
    TEXT_NAME,
    ColumnOptions,
    Roles,
    check_names,
    find_roles,
)
from eigenlabel.datasets.tables.texts import check_texts, text_block, word_ranges
from eigenlabel.inputs.messages import Message, Parameter, join
from eigenlabel.linalg._types import Matrix

# The names of features, and their values.
FeatureBlock: TypeAlias = tuple[list[str], Matrix]


def to_dataset(
    table: RawTable, options: ColumnOptions, like: Any = None, source: str = ""
) -> Dataset:
    """Return a table as a Dataset; with ``like``, one with the same features and labels."""
    if not table.height:
        raise DataError(table.path, "no rows")
    roles = find_roles(table, options, like)
    notes: list[str] = []
    given, options = options.separator, with_separator(table, roles, options)
    if like is None and given is None and options.separator and roles.cells is not None:
        notes += about_others(table.words(roles.cells), roles.cells, options.separator)
    if like is None and table.index is not None:
        notes.append("the first column has no name and numbers the rows: left out")
    if like is None and roles.samples not in (None, options.samples, SAMPLE_NAME):
        notes.append(f"column {roles.samples!r} names the samples; rename it if it is a feature")
    Y, label_names = read_labels(table, roles, options, like, notes)
    views: dict[str, slice] = {}
    words: dict[str, slice] = {}
    if hasattr(like, "read_table"):  # a model that reads tables itself
        X, names = like.read_table(table), list(map(str, like.feature_names))
        categories, types = dict(like.categories), dict(like.column_types)
    else:
        blocks, categories, types = _blocks(table, roles, options, like, notes)
        X, names, views, words = _join(blocks, table.height, roles.text, like)
    if X.shape[1] == 0:
        raise DataError(table.path, join("; ", ["no column is left for the features", *notes]))
    return Dataset(
        X=X,
        Y=Y,
        feature_names=name_array(table.path, names),
        label_names=name_array(table.path, label_names),
        sample_names=_sample_names(table, roles.samples),
        views=views,
        categories=categories,
        column_types=types,
        words=words,
        options={} if options.separator is None else {"separator": options.separator},
        source=source,
        notes=tuple(notes),
    )


def _sample_names(table: RawTable, name: str | None) -> np.ndarray | None:
    if name is None:
        return None
    words = table.words(name)
    values = [*words.values, ""]
    return name_array(table.path, [values[code] for code in words.codes])


def _blocks(
    table: RawTable, roles: Roles, options: ColumnOptions, like: Any, notes: list[str]
) -> tuple[dict[str, FeatureBlock], dict[str, tuple[str, ...]], dict[str, str]]:
    """Return the names and values of the features from columns, sparse features and text.

    The values of categories and the types of the columns are returned too.
    """
    columns, features, words = _wanted(table, roles, options, like)
    X, categories, types = column_block(table, columns, options, like, notes)
    columns = list(types)
    blocks: dict[str, FeatureBlock] = {"columns": (columns, X)} if columns else {}
    if table.sparse is not None and (features or table.sparse[0]):
        check_names(table.path, [*columns, *table.sparse[0]])
        blocks["features"] = _sparse_block(table.sparse, features)
    if roles.text:
        taken = {name for names, _ in blocks.values() for name in names}
        texts = [name for name in getattr(like, "words", {}) if name in roles.text] or roles.text
        if like is None and options.text is None:
            notes += [
                Message(
                    f"column {name!r} is read as text, and its words are counted; pass ",
                    Parameter("drop", name),
                    " to leave it out",
                )
                for name in texts
                if name.strip().lower() != TEXT_NAME
            ]
        blocks["text"] = text_block(table, texts, words, taken, notes)
    if like is not None:
        taken = set(columns)
        left_out = [name for name in roles.features if name not in taken]
        if left_out:
            absent = f" does not have them: {show(left_out)}"
            notes.append(Message("columns left out, as ", LIKE, absent))
    return blocks, categories, types


def _wanted(
    table: RawTable, roles: Roles, options: ColumnOptions, like: Any
) -> tuple[list[str], list[str] | None, list[str] | None]:
    """Return the names of the columns, sparse features and words to read; None means all."""
    if like is None:
        return roles.features, None, None
    names, there = list(map(str, like.feature_names)), set(roles.features)
    sparse = set(() if table.sparse is None else table.sparse[0])
    views = getattr(like, "views", {})
    if views and set(views) <= {"columns", "features", "text"}:
        columns, features, words = (
            names[views[kind]] if kind in views else [] for kind in ("columns", "features", "text")
        )
    else:
        columns = [n for n in names if n in there]
        others = [n for n in names if n not in there]
        features = [n for n in others if n in sparse or not roles.text]
        words = [n for n in others if n not in sparse and roles.text]
    if words and not roles.text and (there | sparse).intersection(words):
        features, words = [*features, *words], []  # they were counted before
    if words:
        check_texts(table, roles.text, options.text, like)
    if table.sparse is None:
        columns, features = [*columns, *features], []
    elsewhere = sparse - there
    features += [n for n in columns if n in elsewhere]
    columns = [n for n in columns if n not in elsewhere]
    missing = [n for n in columns if n not in there]
    if missing:
        raise DataError(table.path, f"no column for the features {show(missing)}")
    return columns, features, words


def _sparse_block(sparse: FeatureBlock, wanted: list[str] | None) -> FeatureBlock:
    """Return the wanted sparse features; those that do not occur are zero."""
    names, X = sparse
    if wanted is None:
        return names, X
    position = {name: i for i, name in enumerate(wanted)}
    new = np.array([position.get(name, -1) for name in names], dtype=np.int64)
    X = X[:, np.flatnonzero(new >= 0)].tocoo()
    columns = new[new >= 0][X.col]
    return wanted, sp.csr_array((X.data, (X.row, columns)), shape=(X.shape[0], len(wanted)))


def _join(
    blocks: dict[str, FeatureBlock], n: int, text: list[str], like: Any
) -> tuple[Matrix, list[str], dict[str, slice], dict[str, slice]]:
    """Return the blocks side by side, in the order of ``like``; also the names, views and words."""
    names = [name for part, _ in blocks.values() for name in part]
    views: dict[str, slice] = {}
    if set(blocks) <= {"columns"}:
        X = blocks["columns"][1] if blocks else np.zeros((n, 0))
    else:
        X = sp.csr_array(sp.hstack([sp.csr_array(block) for _, block in blocks.values()]))
        ends = np.cumsum([0, *(len(part) for part, _ in blocks.values())]).tolist()
        views = {kind: slice(*ends[k : k + 2]) for k, kind in enumerate(blocks)}
    if like is None:
        return X, names, views, word_ranges(names, text, views["text"]) if text else {}
    wanted = list(map(str, like.feature_names))
    if wanted != names:
        position = {name: i for i, name in enumerate(names)}
        X = X[:, [position[name] for name in wanted]]
    return X, wanted, dict(getattr(like, "views", {})), dict(getattr(like, "words", {}))
