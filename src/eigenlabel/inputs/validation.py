"""Names that moved to ``parameters``, ``data``, ``sparse``, ``scale`` and ``sklearn_private``."""

# ruff: noqa: PLC0414
from eigenlabel.inputs.data import check_data as check_data
from eigenlabel.inputs.data import check_names as check_names
from eigenlabel.inputs.data import check_row_weights as check_row_weights
from eigenlabel.inputs.data import check_scores as check_scores
from eigenlabel.inputs.data import check_table as check_table
from eigenlabel.inputs.data import check_unique_columns as check_unique_columns
from eigenlabel.inputs.data import check_weights as check_weights
from eigenlabel.inputs.data import is_estimator as is_estimator
from eigenlabel.inputs.data import unmasked as unmasked
from eigenlabel.inputs.parameters import check_choice as check_choice
from eigenlabel.inputs.parameters import check_flag as check_flag
from eigenlabel.inputs.parameters import check_jobs as check_jobs
from eigenlabel.inputs.parameters import check_number as check_number
from eigenlabel.inputs.scale import beyond_rounding as beyond_rounding
from eigenlabel.inputs.scale import check_largest as check_largest
from eigenlabel.inputs.scale import check_scale as check_scale
from eigenlabel.inputs.scale import check_spread as check_spread
from eigenlabel.inputs.sklearn_private import column_names as column_names
from eigenlabel.inputs.sklearn_private import is_list_of_splits as is_list_of_splits
from eigenlabel.inputs.sklearn_private import routing_enabled as routing_enabled
from eigenlabel.inputs.sklearn_private import take_rows as take_rows
from eigenlabel.inputs.sklearn_private import take_samples as take_samples
from eigenlabel.inputs.sklearn_private import takes_weights as takes_weights
from eigenlabel.inputs.sparse import SelectorMixin as SelectorMixin
from eigenlabel.inputs.sparse import canonical as canonical
from eigenlabel.inputs.sparse import check_sparse as check_sparse
from eigenlabel.inputs.sparse import check_sparse_format as check_sparse_format
