"""The outcome of a search over the grid of ML-LS, as the fitted attributes show it."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from eigenlabel.estimators.subspace.grid import Grid
from eigenlabel.linalg._types import Floats, Ints
from eigenlabel.model_selection.search import SearchResult


@dataclass(frozen=True)
class Tuning:
    """The results of all grid points, and the best one.

    Attributes
    ----------
    cv_results : dict
        The results of all grid points.
    best_index : int
        The position of the best grid point.
    best_score : float
        Its score.
    best_params : dict
        Its values of alpha, beta and n_components.
    score_grid : (n_alphas, n_betas, n_dimensions) array
        The scores in the order of the lists of parameters.
    oof_scores : (n_samples, n_labels) array
        The held-out scores of the best grid point, NaN for samples that were never held out.
    """

    cv_results: dict[str, Any]
    best_index: int
    best_score: float
    best_params: dict[str, Any]
    score_grid: Floats
    oof_scores: Floats

    @classmethod
    def of(cls, result: SearchResult, grid: Grid, rows: Ints, n_samples: int) -> "Tuning":
        """Return the outcome of a search on some rows of ``n_samples`` samples."""
        assert result.oof_scores is not None
        best = int(result.best)
        oof_scores = np.full((n_samples, result.oof_scores.shape[1]), np.nan)
        oof_scores[rows] = result.oof_scores
        return cls(
            result.table,
            best,
            float(result.score),
            dict(result.table["params"][best]),
            grid.arrange(result.table["pooled_test_score"]),
            oof_scores,
        )

    @property
    def point(self) -> tuple[float, float, int]:
        """The best alpha, beta and dimension of the shared subspace."""
        best = self.best_params
        return best["alpha"], best["beta"], best["n_components"]
