"""The one form every data source ends in."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Dataset:
    """Samples, labels and their names.

    Attributes
    ----------
    X : (n, d) dense or sparse features
    Y : (n, m) 0/1 label matrix, dense or sparse
    feature_names, label_names : names of the columns of X and Y
    source : where it comes from
    truth : what is known about planted data, by name
    """

    X: Any
    Y: Any
    feature_names: np.ndarray
    label_names: np.ndarray
    source: str = ""
    truth: dict[str, np.ndarray] = field(default_factory=dict)

    def __repr__(self) -> str:
        n, d = self.X.shape
        return f"Dataset({n} samples, {d} features, {self.Y.shape[1]} labels; {self.source})"
