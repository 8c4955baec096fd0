"""Data sets: planted ones with a known answer, and where real ones are looked for."""

from eigenlabel.datasets._dataset import Dataset
from eigenlabel.datasets._synthetic import make_shared_subspace

__all__ = ["Dataset", "make_shared_subspace"]
