"""The terms of models of several views: features, or training samples, of each view."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from eigenlabel.estimators.agreement.fasttag import FastTag
from eigenlabel.estimators.agreement.kgha import KGHA
from eigenlabel.estimators.views.tables import as_float
from eigenlabel.inputs.views import Layout, Part, is_several
from eigenlabel.inspection.affine_transformers import as_matrix
from eigenlabel.inspection.contributions.base import (
    FEATURE,
    TRAINING,
    Terms,
    select,
    training_names,
    used_columns,
)
from eigenlabel.inspection.transformed_features import Space, follow
from eigenlabel.linalg._types import Floats, Ints, Matrix
from eigenlabel.linalg.operators import is_sparse

EITHER = "feature or training sample"


def kgha_terms(model: KGHA, space: Space, labels: Ints, names: Any) -> Terms:
    """Return the scores of KGHA as sums over the views and their training samples or features.

    A view whose kernel is linear or replaced by features adds what its features add, another view
    what its training samples add. A view counts with its weight among the views that a sample has.
    """
    parts = model._layout.read(model, space.X)
    n = len(parts[0].here)
    given = [(part, w) for part, w in zip(parts, model.view_weights_, strict=True) if w]
    total = sum((w * part.here for part, w in given), np.zeros(n))
    decoder = 2.0 * model.decoder_[:, labels]
    intercept = np.tile(2.0 * model.label_intercept_[labels] - 1.0, (n, 1))
    values, weights, shown, kinds = [], [], [], set()
    for part, w in given:
        if not part.here.any():
            continue
        view, share = model.views_[part.name], w * part.here / np.where(total > 0, total, 1.0)
        table = view.prepare(part)
        compared = view.X is not None or view.columns is not None
        if view.X is not None:
            table = view.kernel.values(as_float(table), view.X, "these samples")
        values.append(_spread(table, share, part))
        weights.append((view.coef @ decoder).T)
        intercept += share[:, None] * (view.intercept @ decoder)
        kinds.add(TRAINING if compared else FEATURE)
        own = _training(view, names, len(model.object_scores_), table.shape[1])
        if not compared:
            own = _features(space, model._layout, part, (view.transformer, view.features))
        shown += _prefixed(own, part.name, model._layout)
    kind = kinds.pop() if len(kinds) == 1 else EITHER
    return _side_by_side(kind, shown, values, weights, intercept)


def fasttag_terms(model: FastTag, space: Space, labels: Ints) -> Terms:
    """Return the scores of FastTag as sums over the features of all views."""
    parts = model._layout.read(model, space.X)
    F = model._features(parts)
    n = len(parts[0].here)
    shown: list[str] = []
    for part in parts:
        view, width = model.views_[part.name], model._widths[part.name]
        found = _features(space, model._layout, part, (view.transformer,))
        found = found if len(found) == width else [f"x{j}" for j in range(width)]
        shown += _prefixed(found, part.name, model._layout)
    weights = 2.0 * np.asarray(model.coef_)[:, labels].T
    intercept = np.tile(2.0 * model.intercept_[labels] - 1.0, (n, 1))
    return _side_by_side(FEATURE, shown, [as_matrix(F)], [weights], intercept)


def _side_by_side(
    kind: str,
    names: list[str],
    values: list[Matrix],
    weights: list[Floats],
    intercept: Floats,
) -> Terms:
    if not values:  # samples that no view has
        return Terms(
            kind,
            np.zeros(0, dtype=object),
            np.zeros((len(intercept), 0)),
            np.zeros((intercept.shape[1], 0)),
            intercept,
        )
    sparse = any(map(is_sparse, values))
    joined = sp.csr_array(sp.hstack(values, format="csr")) if sparse else np.hstack(values)
    columns = used_columns(joined)
    return Terms(
        kind,
        np.array(names, dtype=object)[columns],
        select(joined, columns),
        np.hstack(weights)[:, columns],
        intercept,
    )


def _spread(table: Any, share: Floats, part: Part) -> Matrix:
    """Return the values of a view for all samples, times its share; zero where it is missing."""
    table = as_matrix(table)
    rows = part.rows
    if is_sparse(table):
        entries = (share[rows], (rows, np.arange(len(rows))))
        return sp.csr_array(sp.csr_array(entries, shape=(len(share), len(rows))) @ table)
    spread = np.zeros((len(share), table.shape[1]))
    spread[rows] = share[rows, None] * table
    return spread


def _training(view: Any, names: Any, n: int, width: int) -> list[str]:
    """Return the names of the training samples of a view."""
    if view.columns is not None:
        return list(training_names(names, n)) if len(view.columns) == n else _numbered(width)
    return list(training_names(names, n)) if width == n else _numbered(width)


def _numbered(width: int) -> list[str]:
    """Return names of the training samples of a view that some samples are missing in."""
    return [f"training sample {i} of this view" for i in range(width)]


def _features(space: Space, layout: Layout, part: Part, steps: tuple[Any, ...]) -> list[str]:
    """Return the names of the features of a view after its transformers."""
    if is_several(space.X):
        given = layout.column_names[part.name]
        names = None if given is None else np.array(given, dtype=object)
    else:
        names = _of_one_matrix(space, layout, part)
    found = Space(part.table, names)
    for step in steps:
        found = follow(step, found)
    width = 0 if found.X is None else found.X.shape[1]
    return [str(name) for name in found.column_names(width)]


def _of_one_matrix(space: Space, layout: Layout, part: Part) -> np.ndarray:
    """Return the names of the columns of one matrix that belong to a view."""
    names = space.column_names(np.shape(space.X)[1])
    if layout.columns is None:
        return names
    columns = layout.columns[part.name]
    if not isinstance(columns, slice):
        columns = np.atleast_1d(np.asarray(columns))
        if columns.dtype.kind in "OU":
            return np.asarray(columns, dtype=object)
    return np.asarray(names[columns])


def _prefixed(names: list[str], view: str, layout: Layout) -> list[str]:
    """Return names with that of the view before them if there are several views."""
    return names if len(layout.names) == 1 else [f"{view}: {name}" for name in names]
