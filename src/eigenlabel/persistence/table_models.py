"""Models that prepare tables themselves, in the form of models that read files."""

import copy
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer

from eigenlabel.datasets.files.errors import DataError
from eigenlabel.datasets.tables.columns import RawTable
from eigenlabel.datasets.tables.texts import holds_text
from eigenlabel.estimators.meta.blend.blend import MultilabelBlend
from eigenlabel.linalg._types import Matrix
from eigenlabel.persistence.models import SavedModel
from eigenlabel.preprocessing.column_kinds import TableLayout, read_layout
from eigenlabel.preprocessing.preparation import to_dense
from eigenlabel.preprocessing.table_preparation import TablePreparation

TEXT = "text"  # the column of texts in a file for a model of plain texts


@dataclass(frozen=True)
class TableModel(SavedModel):
    """A model whose own preparation reads the columns of a file.

    Attributes
    ----------
    table : TablePreparation
        The preparation, which knows the kinds of the columns.
    """

    table: TablePreparation = field(kw_only=True)

    def read_table(self, table: RawTable) -> Matrix:
        """Return the columns that the model was fitted to as numbers; raise DataError otherwise."""
        layout = self.table._layout
        assert layout is not None
        if self.table._texts:
            layout = _with_text_of(table, layout)
        try:
            found = read_layout(table, layout, tuple(self.table.ngram_range))
        except DataError:
            raise
        except ValueError as error:
            raise DataError(table.path, str(error)) from error
        return self.table._stored(found)


def for_files(saved: SavedModel) -> SavedModel:
    """Return a model that reads files: one that prepares tables itself does so in two steps.

    The first step reads the columns as numbers, by their kinds in ``fit``; the second is the model
    on these numbers. Other models are returned as they are.

    Parameters
    ----------
    saved : SavedModel
        The model.
    """
    if isinstance(saved.model, MultilabelBlend):
        table, steps = getattr(saved.model, "preparation_", None), [("model", saved.model)]
    elif isinstance(saved.model, Pipeline):
        table, steps = saved.model[0], list(saved.model.steps[1:])
    else:
        return saved
    if not isinstance(table, TablePreparation) or table._layout is None:
        return saved
    if isinstance(saved.model, MultilabelBlend):
        steps = [("model", _on_numbers(saved.model))]
    described = table._layout.describe()
    known = {one.name: getattr(saved, one.name) for one in fields(SavedModel)}
    known |= {
        "model": Pipeline([("prepare", table._prepare), *_form(table), *steps]),
        "feature_names": np.asarray(described["feature_names"], dtype=str),
        "categories": {name: tuple(values) for name, values in table._layout.categories.items()},
        "column_types": described["column_types"],
    }
    return TableModel(**known, table=table)


def _form(table: TablePreparation) -> list[tuple[str, Any]]:
    """Return the step that makes the features dense or sparse, if the user chose one of them."""
    if table.sparse_output == "auto":
        return []
    make = sp.csr_array if table.sparse_output else to_dense
    step = FunctionTransformer(make, accept_sparse=True, feature_names_out="one-to-one")
    return [("form", step)]


def _on_numbers(blend: MultilabelBlend) -> MultilabelBlend:
    """Return a blend that reads what its preparation returns."""
    own = next((name for name in blend._reads_tables if name in blend.members_), None)
    if own is not None:
        raise ValueError(
            f"member {own!r} of the blend is a pipeline that reads a frame, which a file is not: "
            "use the model from Python"
        )
    twin = copy.copy(blend)
    twin.n_features_in_ = len(blend.preparation_.get_feature_names_out())
    for name in ("preparation_", "feature_names_in_"):
        twin.__dict__.pop(name, None)
    return twin


def _with_text_of(table: RawTable, layout: TableLayout) -> TableLayout:
    """Return the layout of a model of plain texts, which a column of the table contains."""
    name = layout.texts[0]
    found = [n for n in table.names if n == name]
    found = found or [n for n in table.names if n.strip().lower() == TEXT]
    found = found or [n for n in table.names if holds_text(table.column(n))]
    if len(found) != 1:
        which = "several" if found else "no"
        raise DataError(
            table.path,
            f"the model reads texts, and the file has {which} columns of texts: call one {TEXT!r}",
        )
    return TableLayout({found[0]: "text"}, vocabulary={found[0]: layout.vocabulary[name]})
