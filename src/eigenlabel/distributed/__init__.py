"""Fit and predict on a Dask cluster, from statistics of blocks that are summed in a tree.

Every worker collects the statistics of its own blocks of rows. One d x d and one d x m matrix is
sent for each block and merge (five of each if parameters are tuned), but no samples. The equations
are solved in the process of the model. The extra ``dask`` must be installed.
"""

from eigenlabel.distributed.cluster import connect, wait_for_workers
from eigenlabel.distributed.fitting import fit
from eigenlabel.distributed.predicting import (
    decision_function,
    predict,
    predict_proba,
    transform,
)

__all__ = [
    "connect",
    "decision_function",
    "fit",
    "predict",
    "predict_proba",
    "transform",
    "wait_for_workers",
]
