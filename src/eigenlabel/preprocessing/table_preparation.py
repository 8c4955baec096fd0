"""TablePreparation: mixed tables and texts become features of a linear model."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from eigenlabel.datasets.files.errors import DataError, show, unknown
from eigenlabel.datasets.tables.columns import RawTable, Words
from eigenlabel.inputs.data import check_largest, check_sparse
from eigenlabel.inputs.fitting import TransformerMixin, all_or_nothing, plain_arrays
from eigenlabel.inputs.messages import Doubt, Message, Parameter
from eigenlabel.inputs.parameters import (
    COUNT,
    CheckedBy,
    Flag,
    Parameters,
    ParameterTypeError,
    ParameterValueError,
    WordOr,
    check_parameters,
)
from eigenlabel.inputs.sklearn_private import feature_names
from eigenlabel.inputs.warning import warn
from eigenlabel.linalg._types import Ints, Matrix
from eigenlabel.linalg.machine import memory_limit
from eigenlabel.linalg.operators import is_sparse
from eigenlabel.preprocessing.column_kinds import (
    KINDS,
    Settings,
    TableLayout,
    learn_layout,
    read_layout,
    word_name,
)
from eigenlabel.preprocessing.preparation import (
    ENOUGH,
    MANY_LEVELS,
    make_preparation,
    to_dense,
)
from eigenlabel.preprocessing.sample_forms import Samples, number_names, read_samples

WIDE = 100  # columns of categories from which the result is sparse


class TablePreparation(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Turn a table of any columns, or texts, into features of a linear model.

    The kind of each column is found by its type, and by its content if it contains words:

    ==========  =================================  ===============================================
    kind        found if                           features
    ==========  =================================  ===============================================
    "number"    numbers, also written as words     the number, standardised; a missing one is the
                ("n/a" is missing)                 mean, and a column says where it is missing
    "boolean"   type bool                          as a number
    "category"  categorical type, or words that    one column of 0 and 1 for each value
                occur again
    "date"      dates, also written as words       days since 1970 and year, standardised; columns
                                                   of 0 and 1 for month, weekday and hour; times
                                                   with a zone in UTC
    "text"      words that mostly differ, with     tf-idf of words and pairs of words, rows of
                several in a cell                  length 1
    "drop"      one value, or a different word     none
                in each row
    ==========  =================================  ===============================================

    The features are those of the command line's ``--prepare auto``, see
    :func:`eigenlabel.preprocessing.make_preparation`. Each is named after the column: ``age``,
    ``age is missing``, ``colour=red``, ``joined: month=3``, ``abstract: 'neural'``.

    Cost: one pass over the cells. X is not modified.

    Parameters
    ----------
    columns : dict, default=None
        Name of a column -> its kind, one of the table above, for columns whose kind is not to be
        found by type and content. The columns of an array are called x0, x1 and so on.
    ngram_range : (int, int), default=(1, 2)
        The least and the largest number of consecutive words of a text that are one feature.
    min_df : int or "auto", default="auto"
        Words in the texts of fewer samples are left out. "auto" is 2, or 1 with fewer than 100
        samples.
    max_words : int, default=50000
        The number of words of each text, those of most samples, that are features.
    min_frequency : int or "auto", default="auto"
        Values of a category with fewer samples have one column together, ``colour=(other)``.
        "auto" is 2, or 1 with fewer than 100 samples.
    max_levels : int, default=200
        The number of values of a category, the most frequent ones, that have a column of their
        own. The others have one column together.
    sparse_output : bool or "auto", default="auto"
        Whether ``transform`` returns a sparse matrix. "auto" does so if X is sparse, if there is a
        text, or if the categories have more than 100 values. ``set_output`` needs a dense result.

    Attributes
    ----------
    kinds_ : dict of str to str
        The kind of each column. It is empty if X in ``fit`` is a matrix of numbers.
    notes_ : tuple of str
        What was decided about columns that are left out or hard to read.
    n_features_in_ : int
        The number of columns of X in ``fit``; 1 for texts.
    feature_names_in_ : array of str of shape (n_features_in_,)
        The names of the columns, if X in ``fit`` is a frame.

    Notes
    -----
    X may be a frame of pandas, polars or another library that narwhals reads, a two-dimensional
    array or list of rows (an array of objects is read by content), a sparse matrix, or a list,
    vector or series of texts. In an array of numbers all columns are numbers and none is left out;
    a sparse matrix of counts becomes tf-idf, and any other stays as it is.

    In ``transform``, columns are found by name. Their order does not matter, columns that ``fit``
    did not see are ignored, and a column that ``fit`` used must be there. An array is accepted in
    place of a frame if it has as many columns. Missing values and values of a category that ``fit``
    did not see are zero in all columns of the category. An empty text is zero everywhere.

    Examples
    --------
    >>> import pandas as pd
    >>> from eigenlabel.preprocessing import TablePreparation
    >>> frame = pd.DataFrame({
    ...     "age": [31, None, 40, 25],
    ...     "colour": ["red", "blue", "red", "red"],
    ...     "joined": ["2024-01-31", "2024-02-01", "2024-01-30", "2024-02-06"],
    ...     "comment": ["good and quick", "far too slow", "quick and cheap", "slow but good"],
    ... })
    >>> prepare = TablePreparation(ngram_range=(1, 1)).fit(frame)
    >>> prepare.kinds_
    {'age': 'number', 'colour': 'category', 'joined': 'date', 'comment': 'text'}
    >>> prepare.transform(frame).shape
    (4, 18)
    >>> prepare.get_feature_names_out()[:5].tolist()
    ['age', 'joined', 'age is missing', 'joined: month=1', 'joined: month=2']
    >>> prepare.get_feature_names_out()[-2:].tolist()
    ["comment: 'slow'", "comment: 'too'"]
    """

    _parameters: ClassVar[Parameters] = {
        "columns": CheckedBy("TablePreparation.fit"),
        "ngram_range": CheckedBy("TablePreparation.fit"),
        "min_df": WordOr(("auto",), COUNT),
        "max_words": COUNT,
        "min_frequency": WordOr(("auto",), COUNT),
        "max_levels": COUNT,
        "sparse_output": WordOr(("auto",), Flag()),
    }

    def __init__(
        self,
        columns: Any = None,
        *,
        ngram_range: Any = (1, 2),
        min_df: Any = "auto",
        max_words: int = 50_000,
        min_frequency: Any = "auto",
        max_levels: int = MANY_LEVELS,
        sparse_output: Any = "auto",
    ) -> None:
        self.columns = columns
        self.ngram_range = ngram_range
        self.min_df = min_df
        self.max_words = max_words
        self.min_frequency = min_frequency
        self.max_levels = max_levels
        self.sparse_output = sparse_output

    @all_or_nothing
    def fit(self, X: Any, y: Any = None) -> "TablePreparation":  # noqa: ARG002
        """Find the kinds of the columns, and what is made of them.

        Parameters
        ----------
        X : frame, array, sparse matrix, or list of str
            The training samples.
        y : object, default=None
            Not used.

        Returns
        -------
        self : TablePreparation
            The fitted transformer.
        """
        self._fit(X)
        return self

    @all_or_nothing
    def fit_transform(self, X: Any, y: Any = None) -> Any:  # noqa: ARG002
        """Fit the transformer and return the features of the training samples.

        Parameters
        ----------
        X : frame, array, sparse matrix, or list of str
            The training samples.
        y : object, default=None
            Not used.

        Returns
        -------
        X_new : array or sparse matrix of shape (n_samples, n_prepared)
            The features.
        """
        return self._prepared(self._fit(X))

    def transform(self, X: Any) -> Any:
        """Return the features of samples.

        Parameters
        ----------
        X : frame, array, sparse matrix, or list of str
            The samples.

        Returns
        -------
        X_new : array or sparse matrix of shape (n_samples, n_prepared)
            The features.
        """
        check_is_fitted(self)
        if self._dense and is_sparse(X):
            check_sparse(X, "X")
            X = to_dense(X)
        samples = read_samples(X)
        if self._layout is None:
            self._check_columns(samples)
            return self._prepared(samples.as_matrix())
        with _named_as_here():
            table = self._table(samples)
            return self._prepared(read_layout(table, self._layout, tuple(self.ngram_range)))

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the features.

        Parameters
        ----------
        input_features : array of str, default=None
            The names of the columns. By default they are those of X in ``fit``.

        Returns
        -------
        names : array of str of shape (n_prepared,)
            The names.
        """
        check_is_fitted(self)
        given = feature_names(self, input_features)
        if self._layout is None:
            return np.asarray(self._prepare.get_feature_names_out(given), dtype=object)
        names = dict(zip(self._names, self._names if self._texts else given, strict=True))
        layout = self._layout.describe(names)["feature_names"]
        return np.asarray(self._prepare.get_feature_names_out(layout), dtype=object)

    def number_columns(self) -> Ints | None:
        """Return the positions of the columns that are used, or None if some held words or dates.

        Returns
        -------
        columns : array of int or None
            The positions.
        """
        check_is_fitted(self)
        if self._layout is None:
            return np.arange(self.n_features_in_)
        kinds = {self.kinds_[name] for name in self._layout.used}
        if self._words or not kinds <= {"number", "boolean"}:
            return None
        return np.array([self._names.index(name) for name in self._layout.columns])

    def read_texts(self, X: Any) -> dict[str, tuple[list[str], dict[str, str]]]:
        """Return the texts of samples, and the words that are features.

        Parameters
        ----------
        X : frame, array, sparse matrix, or list of str
            The samples.

        Returns
        -------
        texts : dict of str to (list of str, dict of str to str)
            Name of a text -> the text of each sample, and the word of each feature by its name. The
            name of a list of texts is empty.
        """
        check_is_fitted(self)
        if self._layout is None or not self._layout.texts:
            return {}
        table, found = self._table(read_samples(X)), {}
        for name in self._layout.texts:
            words = table.words(name)
            values = [*words.values, ""]
            features = {word_name(name, word): word for word in self._layout.words(name)}
            found[name] = [values[code] for code in words.codes], features
        return found

    def _table(self, samples: Samples) -> RawTable:
        """Return samples as a table with the names of the columns in ``fit``."""
        self._check_columns(samples)
        return samples.as_table(None if samples.named and self._named else self._names)

    def _fit(self, X: Any) -> Matrix:
        """Fit everything, and return the training samples as numbers."""
        check_parameters(self)
        _check_range(self.ngram_range)
        samples = read_samples(X)
        self._remember_columns(samples)
        notes: list[str] = []
        columns = _check_kinds(self.columns, self._names)
        with _named_as_here():
            if samples.table is None and not columns:
                layout, matrix = None, samples.as_matrix()
                if not is_sparse(matrix) and np.isnan(matrix).all():
                    raise ValueError("X has no value: all numbers are NaN.")
            else:
                table = samples.as_table()
                settings = self._settings(columns, samples.texts, table.height)
                layout, matrix = learn_layout(table, settings, notes)
        self._layout: TableLayout | None = layout
        self._dense = samples.table is not None or not is_sparse(matrix)
        self._words = layout is not None and any(
            isinstance(samples.as_table().column(name), Words) for name in layout.used
        )
        self.kinds_ = {} if layout is None else dict(layout.kinds)
        self.notes_ = tuple(_spell_out(note) for note in notes)
        for note in notes:
            if isinstance(note, Doubt):
                warn(f"{_spell_out(note)[0].upper()}{_spell_out(note)[1:]}.", UserWarning)
        if not matrix.shape[1]:
            raise ValueError(
                f"No column of X is left: {'; '.join(self.notes_) or 'all are dropped'}."
            )
        check_largest(matrix, least=0.0)
        described: dict[str, Any] = {} if layout is None else layout.describe()
        self._wide = layout is not None and sum(map(len, layout.categories.values())) > WIDE
        limits = {"min_frequency": self.min_frequency, "max_levels": self.max_levels}
        matrix = self._stored(matrix)
        with plain_arrays():
            self._prepare = make_preparation("auto", matrix, **described, **limits).fit(matrix)
        return matrix

    def _settings(self, columns: Mapping[str, str], texts: bool, n: int) -> Settings:
        if texts:
            columns = {self._names[0]: "text"}
        least = (2 if n >= ENOUGH else 1) if self.min_df == "auto" else self.min_df
        return Settings(columns, tuple(self.ngram_range), least, self.max_words)

    def _stored(self, matrix: Matrix) -> Matrix:
        """Return the numbers of a table as a sparse matrix if the features are to be sparse."""
        return sp.csr_array(matrix) if self._wide and not is_sparse(matrix) else matrix

    def _prepared(self, matrix: Matrix) -> Matrix:
        """Return the features of samples that are read as numbers."""
        check_largest(matrix, least=0.0)
        with plain_arrays():
            found = self._prepare.transform(self._stored(matrix))
        if self.sparse_output == "auto":
            return found
        if not self.sparse_output and is_sparse(found):
            needed, allowed = 8 * found.shape[0] * found.shape[1], memory_limit() / 2
            if needed > allowed:
                raise MemoryError(
                    f"The dense result needs {needed / 1e9:.1f} GB, {allowed / 1e9:.1f} GB are "
                    "free: pass sparse_output=True, or fewer max_words or max_levels."
                )
            return found.toarray()
        return sp.csr_array(found) if self.sparse_output and not is_sparse(found) else found

    def _remember_columns(self, samples: Samples) -> None:
        """Store the number and the names of the columns of X."""
        self.__dict__.pop("feature_names_in_", None)
        self._named, self._texts = samples.named, samples.texts
        self.n_features_in_ = samples.width
        self._names = (
            number_names(samples.width) if samples.table is None else list(samples.table.names)
        )
        if samples.named:
            self.feature_names_in_ = np.array(self._names, dtype=object)

    def _check_columns(self, samples: Samples) -> None:
        """Compare the columns of new samples with those in ``fit``, where they have no names."""
        if samples.named and self._named:
            return
        if samples.width != self.n_features_in_:
            raise ValueError(
                f"X has {samples.width} features, but {type(self).__name__} is expecting "
                f"{self.n_features_in_} features as input."
            )
        if self._named and not samples.texts:
            warn(
                "X has no column names, but had them in fit: the columns are taken in the order of "
                "fit.",
                UserWarning,
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_prepare")


def _check_range(lengths: Any) -> None:
    """Raise an error unless the lengths of features of texts are two numbers in order."""
    name = "ngram_range"
    if not isinstance(lengths, (tuple, list)) or len(lengths) != 2:
        raise ParameterTypeError(name, f"must be two integers, got {lengths!r}.")
    for each in lengths:
        COUNT.check(name, each)
    if lengths[0] > lengths[1]:
        raise ParameterValueError(name, f"must be in ascending order, got {lengths!r}.")


def _check_kinds(columns: Any, names: list[str]) -> dict[str, str]:
    """Return the kinds that a user chose; raise an error for unknown kinds and columns."""
    if columns is None:
        return {}
    if not isinstance(columns, Mapping):
        raise ParameterTypeError("columns", f"must be a dict of names -> kinds, got {columns!r}.")
    for name, kind in columns.items():
        if kind not in KINDS:
            raise ParameterValueError(
                "columns", f"must have kinds among {show(KINDS)}, got {kind!r} for {name!r}."
            )
        if str(name) not in names:
            raise ParameterValueError(
                "columns", f"names no column of X: {unknown('column', str(name), names)}"
            )
    return {str(name): kind for name, kind in columns.items()}


@contextmanager
def _named_as_here() -> Iterator[None]:
    """Turn errors of readers into those of this class, which has other parameters."""
    try:
        yield
    except DataError as error:
        raise ValueError(_spell_out(error.args[0])) from None


def _spell_out(message: str) -> str:
    """Return a message of a reader with the parameters of this class."""
    if not isinstance(message, Message):
        return message
    return message.render(_parameter)


def _parameter(parameter: Parameter) -> str:
    kinds = {"drop": "drop", "samples": "drop", "text": "text"}
    if parameter.name in kinds:
        return f"TablePreparation(columns={{{parameter.value!r}: {kinds[parameter.name]!r}}})"
    return "fit" if parameter.name == "like" else str(parameter)
