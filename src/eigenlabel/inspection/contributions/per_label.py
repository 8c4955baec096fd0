"""The terms of models that have one classifier for each label."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier

from eigenlabel.estimators.meta.one_vs_rest_search import OneVsRestSearchCV
from eigenlabel.inputs.sklearn_private import is_constant
from eigenlabel.inspection.contributions.base import (
    FEATURE,
    SampleTerms,
    Terms,
    dense,
    select,
    used_columns,
)
from eigenlabel.inspection.contributions.linear import Coefficients, linear_terms
from eigenlabel.inspection.transformed_features import Space, WidthError
from eigenlabel.linalg._types import Bools, Floats, Ints

PER_LABEL = (OneVsRestClassifier, MultiOutputClassifier, OneVsRestSearchCV)


def each_label(model: Any) -> list[Any] | None:
    """Return the classifiers of a model that has one for each label, or None.

    Ensembles have ``estimators_`` too, but not one for each label.
    """
    return list(model.estimators_) if isinstance(model, PER_LABEL) else None


def constant_labels(estimators: list[Any]) -> Bools:
    """Return which labels have no classifier, because all training samples have them, or none."""
    return np.array([one is None or is_constant(one) for one in estimators], dtype=bool)


def stacked_terms(estimators: list[Any], constants: Floats, space: Space, n: int) -> Terms | None:
    """Return the terms of linear classifiers, one for each label; None if some are not linear.

    Parameters
    ----------
    estimators : list of q classifiers
        The classifiers, None for a label with a constant score.
    constants : (q,) array
        These scores.
    space : Space
        The samples.
    n : int
        The number of samples.
    """
    found = [None if one is None else Coefficients.of(one) for one in estimators]
    linear = [each for each in found if each is not None]
    if len(linear) < sum(one is not None for one in estimators):
        return None
    if not linear:
        nothing = np.zeros((len(estimators), 0))
        intercept = np.tile(constants, (n, 1))
        return Terms(FEATURE, np.zeros(0, dtype=object), np.zeros((n, 0)), nothing, intercept)
    if len({each.width for each in linear}) > 1:
        raise WidthError("The classifiers use different features.")
    columns: Any = slice(None)
    if space.source is None:  # only the features that samples have are stacked
        source = space.named(linear[0].width)
        columns = used_columns(source.values)
        space = replace(space, X=select(source.values, columns), names=source.names[columns])
    R = np.zeros((len(found), len(np.arange(linear[0].width)[columns])))
    intercept = constants.copy()
    for j, each in enumerate(found):
        if each is not None:
            R[j], intercept[j] = dense(each.R[:, columns])[0], each.intercept[0]
    return linear_terms(Coefficients(R, None, intercept), space, np.arange(len(R)))


@dataclass(frozen=True)
class Merged(Terms):
    """Terms of labels whose classifiers have transformers of their own.

    Attributes
    ----------
    parts : tuple of Terms or None
        The terms of each label, None for a label with a constant score.
    places : tuple of (c_l,) arrays of int
        The positions of these terms among all terms.
    """

    parts: tuple[Terms | None, ...] = ()
    places: tuple[Ints, ...] = ()

    def row(self, i: int, labels: slice = slice(None)) -> SampleTerms:
        """Return the terms of sample i and some of the labels."""
        contributions = np.zeros((len(self.parts[labels]), len(self.names)))
        values = np.zeros(len(self.names))
        for out, part, place in zip(
            contributions, self.parts[labels], self.places[labels], strict=True
        ):
            if part is not None:
                row = part.row(i)
                at = place[row.columns]
                np.add.at(out, at, row.contributions[0])
                values[at] = row.values
        columns = np.flatnonzero(contributions.any(axis=0))
        return SampleTerms(columns, values[columns], contributions[:, columns], None)

    def count(self, i: int) -> int:  # noqa: ARG002
        """Return the number of terms of all labels."""
        return len(self.names)

    def total(self) -> Floats:
        """Return the scores (n, q)."""
        return self._by_label(lambda part: part.total())

    def size(self) -> Floats:
        """Return the sum of the absolute values of all terms (n, q)."""
        return self._by_label(lambda part: part.size())

    def _by_label(self, of: Callable[[Terms], Floats]) -> Floats:
        columns = [
            self.intercept[:, j] if part is None else of(part)[:, 0]
            for j, part in enumerate(self.parts)
        ]
        return np.column_stack(columns)


def merge(parts: list[Terms | None], constants: Floats, n: int) -> Terms:
    """Return the terms of several labels as one; terms with the same name are the same.

    Parameters
    ----------
    parts : list of Terms or None
        The terms of each label, None for a label with a constant score.
    constants : (q,) array
        These scores.
    n : int
        The number of samples.
    """
    there = [part for part in parts if part is not None]
    names = dict.fromkeys(str(name) for part in there for name in part.names)
    place = {name: k for k, name in enumerate(names)}
    places = [
        np.array([] if p is None else [place[str(name)] for name in p.names], dtype=np.intp)
        for p in parts
    ]
    intercept = np.column_stack(
        [
            np.full(n, constants[j]) if part is None else part.intercept[:, 0]
            for j, part in enumerate(parts)
        ]
    )
    return Merged(
        there[0].kind,
        np.array(list(names), dtype=object),
        np.zeros((n, len(names))),
        np.zeros((len(parts), len(names))),
        intercept,
        scale=there[0].scale,
        parts=tuple(parts),
        places=tuple(places),
    )
