"""The features between the transformers of a model, and their names.

Contributions are named after the features of the last transformer that has names. Projections have
none (``pca0``, ``pca1``): their outputs are affine maps of features that have names, so the
contributions are computed there.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.exceptions import NotFittedError
from sklearn.preprocessing import FunctionTransformer, add_dummy_feature

from eigenlabel.datasets.tables.texts import WORD
from eigenlabel.inputs.sklearn_private import column_names, take_columns
from eigenlabel.inspection.affine_transformers import (
    Affine,
    as_matrix,
    find_projection,
    find_scaling,
    row_factors,
    scales_rows,
)
from eigenlabel.inspection.words import TextColumn, Tokeniser, as_texts, tokeniser_of
from eigenlabel.linalg._types import Floats, Matrix
from eigenlabel.linalg.operators import is_sparse
from eigenlabel.preprocessing import TablePreparation


class WidthError(ValueError):
    """A model does not use the features that it gets in the way that is expected."""


@dataclass(frozen=True)
class Source:
    """Named features of which the columns of a space are affine maps.

    The columns are ``values M' + shift``.

    Attributes
    ----------
    values : (n, p) array or CSR matrix, or None
        The features of the samples; None if there are no samples.
    names : (p,) array of str
        Their names.
    M : (d, p) array or sparse matrix, or None
        The linear part of the map; None if the columns are the features.
    shift : (n, d) array
        The constant part. It differs between samples if their rows are scaled. Without samples it
        has one row.
    """

    values: Matrix | None
    names: np.ndarray
    M: Matrix | None
    shift: Floats

    def then(self, step: Affine) -> "Source":
        """Return the source of the columns after another affine map."""
        shift = np.asarray(self.shift @ step.M.T) + step.c
        return replace(self, M=step.M if self.M is None else step.M @ self.M, shift=shift)

    def full_map(self) -> Matrix:
        """Return the linear part of the map as a matrix."""
        return sp.eye_array(len(self.names), format="csr") if self.M is None else self.M

    def times(self, factors: Floats) -> "Source":
        """Return the source of the columns after each sample is multiplied by a factor."""
        assert self.values is not None
        scaled = (
            sp.csr_array(sp.diags_array(factors) @ self.values)
            if is_sparse(self.values)
            else factors[:, None] * self.values
        )
        return replace(self, values=scaled, shift=factors[:, None] * self.shift)


@dataclass(frozen=True)
class Space:
    """Samples between two transformers, or the names of their columns alone.

    Attributes
    ----------
    X : array, sparse matrix, frame or list of str, or None
        The samples; None if only names are followed.
    names : (d,) array of str, or None
        The names of the columns; None if they are unknown.
    source : Source or None
        The named features of which the columns are affine maps; None if the columns themselves are
        named.
    notes : tuple of str
        Why names are not those of the user's own features.
    texts : tuple of TextColumn
        The texts whose words are features.
    word : str
        What stands before the number of a column without a name.
    """

    X: Any
    names: np.ndarray | None = None
    source: Source | None = None
    notes: tuple[str, ...] = ()
    texts: tuple[TextColumn, ...] = ()
    word: str = "x"

    def named(self, width: int) -> Source:
        """Return the named features of which the ``width`` columns are affine maps."""
        if self.source is not None:
            return self.source
        values = None if self.X is None else as_matrix(self.X)
        if values is not None and values.shape[1] != width:
            raise WidthError(f"{values.shape[1]} columns, {width} are expected.")
        return Source(values, self.column_names(width), None, np.zeros((1, width)))

    def column_names(self, width: int) -> np.ndarray:
        """Return the names of the ``width`` columns: x0, x1, ... if they are unknown."""
        if self.names is not None and len(self.names) == width:
            return self.names
        return _numbered(self.word, width)


def start(X: Any, feature_names: Any = None, seen: Any = None) -> Space:
    """Return the space of the samples that a user passes, with the names of their columns.

    The names are those passed, those of a frame, those seen in ``fit``, or x0, x1 and so on.
    """
    shape: tuple[int, ...] = getattr(X, "shape", ())
    names = column_names(X) if feature_names is None else feature_names
    if names is None and (X is None or (len(shape) == 2 and np.shape(seen) == shape[1:])):
        names = seen
    if names is None and len(shape) == 2:
        names = [f"x{j}" for j in range(shape[1])]
    if names is None:
        return Space(X)
    found = np.array([str(name) for name in names], dtype=object)
    width = shape[1] if len(shape) == 2 else len(found)
    if len(found) != width:
        raise ValueError(f"{len(found)} feature_names for {width} columns of X: pass one for each.")
    return Space(X, found)


def follow(step: Any, space: Space) -> Space:
    """Return the space after a fitted transformer."""
    if step is None or (isinstance(step, str) and step == "passthrough"):
        return space
    if hasattr(step, "steps"):
        for _, part in step.steps:
            space = follow(part, space)
        return space
    blocks = _blocks(step, space)
    if blocks is not None:
        joined = _join(step, space, list(blocks))
        if joined is not None:
            return joined
    return _single(step, space)


def _single(step: Any, space: Space) -> Space:
    """Return the space after a transformer of all columns."""
    X = None if space.X is None else step.transform(space.X)
    names, note = _names_after(step, space.names, None if X is None else X.shape[1])
    word = "x" if names is not None or not note else _word(step)
    after = Space(X, names, None, space.notes, space.texts + _texts(step, space.X), word)
    width = getattr(step, "n_features_in_", None)
    projection = find_projection(step)
    if projection is not None:
        source = space.named(projection.M.shape[1])
        return replace(after, source=source.then(projection))
    if space.source is not None and width is not None:
        scaled = _scaled(step, space, after, width)
        if scaled is not None:
            return replace(after, source=scaled)
    if isinstance(step, ClassNamePrefixFeaturesOutMixin) or space.source is not None:
        note = f"The features are the outputs of {_name(step)}, which is not a linear map."
    return replace(after, notes=(*after.notes, *([note] if note else [])))


def _scaled(step: Any, space: Space, after: Space, width: int) -> Source | None:
    """Return the source after a transformer that only selects or scales columns or rows."""
    assert space.source is not None
    scaling = find_scaling(step, width)
    if scaling is not None:
        return space.source.then(scaling)
    if not scales_rows(step, width):
        return None
    if space.X is None:
        return space.source  # the factors are positive, and differ between samples
    factors = row_factors(_dense(space.X), _dense(after.X))
    return None if factors is None else space.source.times(factors)


def _names_after(
    step: Any, names: np.ndarray | None, width: int | None
) -> tuple[np.ndarray | None, str]:
    """Return the names of the columns of a transformer, and a note if it does not name them."""
    found = None
    for given in (names, None) if names is not None else (None,):
        try:
            found = step.get_feature_names_out(given)
            break
        except (AttributeError, ValueError, TypeError, NotFittedError):
            continue
    if found is None and isinstance(step, FunctionTransformer):
        if step.func is None:
            return names, ""
        if step.func is add_dummy_feature and names is not None:
            return np.array(["constant", *names], dtype=object), ""
    if found is not None and width in (None, len(found)):
        return np.array([str(name) for name in found], dtype=object), ""
    note = f"{_name(step)} does not name its columns: they are numbered."
    if width is None:
        return None, note
    return _numbered(_word(step), width), note


def _texts(step: Any, X: Any) -> tuple[TextColumn, ...]:
    """Return the texts that a vectorizer of words is applied to."""
    if isinstance(step, TablePreparation):
        return _texts_of_table(step, X)
    tokeniser = tokeniser_of(step)
    texts = None if tokeniser is None or X is None else as_texts(X)
    if tokeniser is None or texts is None:
        return ()
    return (TextColumn(str(getattr(X, "name", None) or ""), texts, tokeniser),)


def _texts_of_table(step: TablePreparation, X: Any) -> tuple[TextColumn, ...]:
    """Return the texts of a table."""
    shortest, longest = step.ngram_range
    tokeniser = Tokeniser(WORD, lengths=range(shortest, longest + 1))
    found = {} if X is None else step.read_texts(X)
    return tuple(
        TextColumn(name, texts, tokeniser, words=words) for name, (texts, words) in found.items()
    )


# Transformers side by side


class SidePart(NamedTuple):
    """A transformer of some columns.

    Attributes
    ----------
    step : transformer
        The fitted transformer.
    space : Space
        The columns that it is applied to.
    prefix : str
        What the names of its outputs start with.
    """

    step: Any
    space: Space
    prefix: str


def _blocks(step: Any, space: Space) -> Iterator[SidePart] | None:
    """Return the parts of a transformer that applies several side by side, or None."""
    verbose = getattr(step, "verbose_feature_names_out", True)
    if hasattr(step, "transformers_") and hasattr(step, "groups"):  # our ColumnGroups
        parts = zip(step.groups, step.transformers_, strict=True)
        return (SidePart(fitted, _columns(space, columns), "") for (_, _, columns), fitted in parts)
    if hasattr(step, "transformers_"):  # ColumnTransformer
        return (
            SidePart(fitted, _columns(space, columns), f"{name}__" if verbose is True else "")
            for name, fitted, columns in step.transformers_
            if not (isinstance(fitted, str) and fitted == "drop") and np.size(columns)
        )
    if hasattr(step, "transformer_list"):  # FeatureUnion
        plain = replace(space, texts=(), notes=())
        return (
            SidePart(fitted, plain, f"{name}__" if verbose is True else "")
            for name, fitted in step.transformer_list
            if not (isinstance(fitted, str) and fitted == "drop")
        )
    return None


def _columns(space: Space, columns: Any) -> Space:
    """Return some columns of a space; a single name selects a column that is not a matrix."""
    X = None if space.X is None else take_columns(space.X, columns)
    if space.names is None:
        return Space(X)
    names = space.names
    if isinstance(columns, slice) or np.asarray(columns).dtype.kind not in "UO":
        return Space(X, np.atleast_1d(names[columns]))
    return Space(X, np.atleast_1d(np.asarray(columns, dtype=object)))


def _join(step: Any, space: Space, blocks: list[SidePart]) -> Space | None:
    """Return the space after transformers side by side; None if they cannot be told apart."""
    found = [follow(block.step, block.space) for block in blocks]
    X = None if space.X is None else step.transform(space.X)
    prefixed = [
        [block.prefix + name for name in ([] if part.names is None else part.names)]
        for block, part in zip(blocks, found, strict=True)
    ]
    widths = [
        len(names) if part.X is None else part.X.shape[1]
        for names, part in zip(prefixed, found, strict=True)
    ]
    if X is not None and sum(widths) != X.shape[1]:
        return None
    names, unnamed = _names_after(step, space.names, sum(widths))
    together = np.array([name for part in prefixed for name in part], dtype=object)
    if unnamed and len(together) == sum(widths):
        names = together
    notes = tuple(dict.fromkeys(note for part in (space, *found) for note in part.notes))
    if space.source is not None:
        notes = (*notes, f"The features are the outputs of {_name(step)}.")
    texts = tuple(
        _with_prefix(text, block.prefix)
        for block, part in zip(blocks, found, strict=True)
        for text in part.texts
    )
    after = Space(X, names, None, notes, (*space.texts, *texts))
    if all(part.source is None for part in found) or space.source is not None:
        return after
    sources = []
    for block, part, width in zip(blocks, found, widths, strict=True):
        own = part.named(width)
        own_names = np.array([block.prefix + name for name in own.names], dtype=object)
        sources.append(replace(own, names=own_names))
    return replace(after, source=_side_by_side(sources, 1 if X is None else X.shape[0]))


def _with_prefix(text: TextColumn, prefix: str) -> TextColumn:
    """Return a text whose features have names that start with a prefix."""
    words = None if text.words is None else {prefix + k: v for k, v in text.words.items()}
    return replace(text, prefix=prefix + text.prefix, words=words)


def _side_by_side(sources: list[Source], n: int) -> Source:
    values: list[Any] = [source.values for source in sources]
    joined: Matrix | None = None
    if all(part is not None for part in values):
        sparse = any(map(is_sparse, values))
        joined = sp.csr_array(sp.hstack(values, format="csr")) if sparse else np.hstack(values)
    return Source(
        joined,
        np.concatenate([source.names for source in sources]),
        sp.csr_array(sp.block_diag([source.full_map() for source in sources], format="csr")),
        np.hstack([np.broadcast_to(s.shift, (n, s.shift.shape[1])) for s in sources]),
    )


def _dense(X: Any) -> Floats:
    found = as_matrix(X)
    return np.asarray(found.toarray() if is_sparse(found) else found)


def _name(step: Any) -> str:
    return type(step).__name__


def _word(step: Any) -> str:
    """Return what the numbered outputs of a transformer are called."""
    return _name(step).lower()


def _numbered(word: str, width: int) -> np.ndarray:
    return np.array([f"{word}{j}" for j in range(width)], dtype=object)
