"""The tables of views: how those of new samples become like those in fit."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from eigenlabel.inputs.parameters import CheckedBy, ColumnsByView, Declaration, values_by_view
from eigenlabel.inputs.views import Part, is_precomputed
from eigenlabel.linalg._types import Ints
from eigenlabel.linalg.operators import is_sparse

# What an estimator of several views declares, besides its kernels or distances.
VIEW_PARAMETERS: Mapping[str, Declaration] = {
    "views": ColumnsByView(),
    "transformers": CheckedBy("fresh_transformers"),
}


def as_float(table: Any) -> Any:
    """Return a table in float64: differences of float32 values would be rounding errors."""
    return table.astype(float, copy=False)


@dataclass
class FittedTable:
    """What a new table of one view needs to become like the one in fit.

    Attributes
    ----------
    width : int
        The number of columns in fit.
    transformer : object or None
        The fitted transformer.
    X : array, sparse matrix or None
        The training samples that new ones are compared with, if any are needed.
    columns : (n_view_samples,) array of int, or None
        The columns of the training samples if pairs are precomputed.
    """

    width: int
    transformer: Any = None
    X: Any = None
    columns: Ints | None = None

    def prepare(self, part: Part) -> Any:
        """Select and transform the columns of a table as in fit."""
        table = part.table
        if table.shape[1] != self.width:
            raise ValueError(
                f"View {part.name!r} has {table.shape[1]} columns, but {self.width} in fit."
            )
        if self.columns is None:
            return table if self.transformer is None else self.transformer.transform(table)
        table = as_float(table[:, self.columns])
        if not np.isfinite(table.data if is_sparse(table) else table).all():
            raise ValueError(
                f"View {part.name!r} has infinity or NaN between samples that are there."
            )
        return table


def fresh_transformers(transformers: Any, names: Collection[str]) -> dict[str, Any]:
    """Return an unfitted transformer for each view that has one."""
    if not isinstance(transformers, Mapping):
        given = dict.fromkeys(names, transformers)
    else:
        given = {str(name): one for name, one in transformers.items()}
        strange = sorted(set(given) - set(names))
        if strange:
            raise ValueError(f"transformers has {strange[0]!r}; views are {list(names)}.")
    given = {name: one for name, one in given.items() if one is not None}
    for one in given.values():
        if isinstance(one, type) or not hasattr(one, "fit_transform"):
            raise TypeError(
                "transformers must be a transformer such as StandardScaler(), a dict of names -> "
                f"transformers, or None, got {one!r}."
            )
    return {name: clone(one) for name, one in given.items()}


def check_pairs(what: str, part: Part, more: Any) -> None:
    """Raise ValueError unless a table of pairs fits its rows and no more preparation is asked for.

    ``what`` is the parameter that is "precomputed", and ``more`` is a transformer or an
    approximation.
    """
    if more is not None:
        raise ValueError(
            f"View {part.name!r} is a precomputed {what}: it accepts neither transformers nor "
            "approximation."
        )
    width, last = part.table.shape[1], part.source.max()
    if last >= width:
        raise ValueError(
            f"The {what} of view {part.name!r} has {width} columns for {last + 1} samples: it must "
            "be square in fit. To cross-validate pass eigenlabel.Views, which keeps track of rows "
            "and columns."
        )


def view_tags(tags: Any, columns: Any, measure: Any, histograms: Any, dense: Any) -> Any:
    """Set the tags of an estimator that depend on the measure of its views, and return them.

    Parameters
    ----------
    tags : Tags
        The tags to change.
    columns : mapping or None
        The parameter ``views``.
    measure : str, callable, mapping or sequence
        The kernel or metric.
    histograms : collection of str
        The measures that need values >= 0.
    dense : collection of str
        The measures that need dense features.
    """
    named = {each for each in values_by_view(measure) if isinstance(each, str)}
    tags.input_tags.pairwise = columns is None and is_precomputed(measure)
    tags.input_tags.positive_only = bool(named & set(histograms))
    tags.input_tags.sparse = not named & set(dense)
    tags.input_tags.allow_nan = columns is not None
    return tags
