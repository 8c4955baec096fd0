"""The one form every data source ends in."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Dataset:
    """Samples, labels and their names.

    Attributes
    ----------
    X : (n, d) dense or sparse features
    Y : (n, m) 0/1 label matrix; sparse if it was read from a file
    feature_names, label_names : names of the columns of X and Y
    sample_names : names of the rows, or None
    views : name -> columns of X, where the features come from several sources
    splits : name -> (training rows, test rows), as published with the data
    categories : feature name -> its values, where a column of X holds their positions
    source : where it comes from
    notes : what a reader passed over or had to decide
    truth : what is known about planted data, by name
    """

    X: Any
    Y: Any
    feature_names: np.ndarray
    label_names: np.ndarray
    sample_names: np.ndarray | None = None
    views: Mapping[str, slice] = field(default_factory=dict)
    splits: Mapping[str, tuple[np.ndarray, np.ndarray]] = field(default_factory=dict)
    categories: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    source: str = ""
    notes: tuple[str, ...] = ()
    truth: Mapping[str, np.ndarray] = field(default_factory=dict)

    def view(self, name: str) -> Any:
        """Give the columns of X that belong to a view."""
        if name not in self.views:
            known = ", ".join(map(repr, self.views)) or "none"
            raise KeyError(f"No view {name!r}; there are: {known}.")
        return self.X[:, self.views[name]]

    def __repr__(self) -> str:
        n, d = self.X.shape
        parts = [f"{n} samples", f"{d} features", f"{self.Y.shape[1]} labels"]
        if len(self.views) > 1:
            parts.append(f"{len(self.views)} views")
        return f"Dataset({', '.join(parts)}; {self.source})"
