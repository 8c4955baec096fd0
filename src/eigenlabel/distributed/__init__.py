"""Fit and predict on a Dask cluster: statistics of blocks, added up in a tree.

Every worker collects the statistics of its own blocks of rows; what travels is one d x d and one
d x m matrix per block and merge (five of each where parameters are tuned), never the samples. The
equations are solved where the model is. Needs the extra ``dask``.
"""

from eigenlabel.distributed.cluster import connect, wait_for_workers
from eigenlabel.distributed.fitting import fit
from eigenlabel.distributed.predicting import decision_function, predict, transform

__all__ = ["connect", "decision_function", "fit", "predict", "transform", "wait_for_workers"]
